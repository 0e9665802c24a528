"""Store: when an id was allocated: a lower bound for when its instance ended, so that few partitions are read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time

from sqlalchemy import BigInteger, bindparam, func, select, text

from hourhand.store.database import Tx
from hourhand.store.schema import id_days
from hourhand.store.statements import Statement

_DAY = Statement(
    select(func.max(id_days.c.day).label("day")).where(id_days.c.first_id <= bindparam("id", type_=BigInteger))
)
_LAST = {
    "postgresql": Statement(text("SELECT last_value AS last FROM instance_ids").columns(last=BigInteger)),
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


async def allocated_since(tx: Tx, instance_id: int) -> Allocation:
    """Look an id up."""
    last = await tx.fetch(_LAST[tx.dialect])
    return Allocation(bool(last) and 0 < instance_id <= last[0]["last"], await first_day(tx, instance_id))


async def first_day(tx: Tx, instance_id: int) -> datetime:
    """The beginning of the day on which the id was allocated, or of an earlier one."""
    (row,) = await tx.fetch(_DAY, id=instance_id)
    return _BEGINNING if row["day"] is None else datetime.combine(row["day"], time(), UTC)
