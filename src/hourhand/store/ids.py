"""Store: when an id was allocated: a lower bound for when its instance ended, so that few partitions are read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time

from sqlalchemy import BigInteger, bindparam, func, literal_column, select, text

from hourhand.model.errors import NotFound
from hourhand.store.database import Tx
from hourhand.store.schema import id_days
from hourhand.store.statements import Statement

MOST = 2**63 - 1
# A day that has not come was entered by a clock that was ahead, and says nothing of when its ids were given out.
_DAY = {
    dialect: Statement(
        select(func.max(id_days.c.day).label("day")).where(
            id_days.c.first_id <= bindparam("id", type_=BigInteger), id_days.c.day <= literal_column(today)
        )
    )
    for dialect, today in {
        "postgresql": "CAST(clock_timestamp() AT TIME ZONE 'UTC' AS date)",
        "sqlite": "date(clock_timestamp() / 1000000, 'unixepoch')",
    }.items()
}
_LAST = {
    "postgresql": Statement(
        # A sequence that was never used stands at its first number too.
        text("SELECT last_value - CAST(NOT is_called AS integer) AS last FROM instance_ids").columns(last=BigInteger)
    ),
    "sqlite": Statement(
        text("SELECT number AS last FROM store_values WHERE name = 'instance_ids'").columns(last=BigInteger)
    ),
}
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Allocation:
    """Whether an id was ever given out, and the beginning of a day before which it was not."""

    allocated: bool
    start: datetime


def possible(number: int, *, most: int = MOST) -> bool:
    """Whether a store could have given it out at all; no driver takes a larger one."""
    return 0 < number <= most


async def allocated_since(tx: Tx, instance_id: int) -> Allocation:
    """Look an id up."""
    start = await first_day(tx, instance_id)
    last = await tx.fetch(_LAST[tx.dialect])
    return Allocation(bool(last) and 0 < instance_id <= last[0]["last"], start)


async def first_day(tx: Tx, instance_id: int) -> datetime:
    """The beginning of the day on which the id was allocated, or of an earlier one; refuses what can be no id."""
    if not possible(instance_id):
        raise NotFound("instance", instance_id)
    (row,) = await tx.fetch(_DAY[tx.dialect], id=instance_id)
    return _BEGINNING if row["day"] is None else datetime.combine(row["day"], time(), UTC)
