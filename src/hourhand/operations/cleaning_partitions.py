"""Operations: whole partitions that a cleaning takes: by their bounds, and by the rows that are really in them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Step
from hourhand.operations.catalog.table import Column, Partition, Table
from hourhand.operations.cleaning_condition import Condition, moment
from hourhand.operations.failures import NotVerified
from hourhand.operations.quoting import literal, quoted
from hourhand.operations.work import LiveWork

_RISING = re.compile(r"RANGE \((to_days|to_seconds|unix_timestamp|year)\(`?(.+?)`?\)\)", re.IGNORECASE)
"""Functions of a time that never fall, so that a bound of theirs is a bound of the time."""
_IDENTITY = """
SELECT c.oid, pg_get_expr(c.relpartbound, c.oid) AS bound
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2
"""


@dataclass(frozen=True, slots=True)
class Whole:
    """A partition of which every row goes."""

    partition: Partition
    kept: str
    """The query for a row of it that does not qualify, whatever its bounds say."""
    oid: int | None = None
    """PostgreSQL's: another table of the same name is another table."""
    bound: str | None = None
    """PostgreSQL's, as it writes it."""


async def whole_partitions(session: Session, table: Table, time_column: str, condition: Condition) -> list[Whole]:
    """The partitions that hold nothing but what goes."""
    column = table.column(time_column)
    if column is None or not condition.only_time or table.strategy != "range" or not table.partitions:
        return []
    found = []
    for one in table.partitions:
        if one.default or one.high is None or one.pending_detach or not one.leaf:
            continue
        if await _ends_before(session, table, column, one, condition):
            kept = kept_sql(table, one, column, condition)
            if not await session.fetch(kept):
                found.append(Whole(one, kept, *await _identity(session, table, one)))
    if table.dialect is not Dialect.POSTGRESQL and len(found) == len(table.partitions):
        found.pop()  # one must be left, or it would be no table
    return found


async def _ends_before(
    session: Session, table: Table, column: Column, partition: Partition, condition: Condition
) -> bool:
    """Whether its upper bound is not above the cut-off, as the database compares the two."""
    assert condition.cutoff is not None  # noqa: S101 - the time alone decides
    assert partition.high is not None  # noqa: S101 - nothing is above an open end
    cutoff = moment(table.dialect, column, condition.cutoff)
    if table.partition_key == (column.name,):
        high = literal(table.dialect, partition.high)
        of = f"::{column.type}" if table.dialect is Dialect.POSTGRESQL else ""
        cast = (high, cutoff) if of else (f"CAST({high} AS DATETIME(6))", f"CAST({cutoff} AS DATETIME(6))")
        rows = await session.fetch(f"SELECT {cast[0]}{of} <= {cast[1]}{of} AS ends")
        return bool(rows[0]["ends"])
    rising = _RISING.fullmatch(table.partition_expression or "")
    if rising is None or rising[2] != column.name or not partition.high.lstrip("-").isdigit():
        return False
    rows = await session.fetch(f"SELECT {partition.high} <= {rising[1]}({cutoff}) AS ends")
    return bool(rows[0]["ends"])


def kept_sql(table: Table, partition: Partition, column: Column, condition: Condition) -> str:
    """The query for a row of the partition that must stay; written so that an index on the time answers it."""
    assert condition.cutoff is not None  # noqa: S101 - the time alone decides
    place = (
        table.partition_sql(partition)
        if table.dialect is Dialect.POSTGRESQL
        else f"{table.sql} PARTITION ({quoted(table.dialect, partition.name)})"
    )
    name = quoted(table.dialect, column.name)
    later = f"{name} >= {moment(table.dialect, column, condition.cutoff)} OR {name} IS NULL"
    return f"SELECT 1 AS one FROM {place} WHERE {later} LIMIT 1"  # noqa: S608


async def _identity(session: Session, table: Table, partition: Partition) -> tuple[int | None, str | None]:
    if table.dialect is not Dialect.POSTGRESQL:
        return None, None
    row = (await session.fetch(_IDENTITY, partition.schema or table.schema, partition.name))[0]
    return int(row["oid"]), str(row["bound"])


def drop_step(table: Table, whole: Whole) -> Step:
    """Take a partition out and away at once."""
    one, dialect = whole.partition, table.dialect
    if dialect is Dialect.POSTGRESQL:
        sql: tuple[str, ...] = (
            f"LOCK TABLE ONLY {table.sql} IN ACCESS EXCLUSIVE MODE",
            f"ALTER TABLE {table.sql} DETACH PARTITION {table.partition_sql(one)}",
            f"DROP TABLE {table.partition_sql(one)}",
        )
        done = f"SELECT NOT EXISTS (SELECT 1 FROM pg_class WHERE oid = {whole.oid}) AS done"  # noqa: S608
        count = f"SELECT count(*) AS n FROM {table.partition_sql(one)}"  # noqa: S608
    else:
        sql = (f"ALTER TABLE {table.sql} DROP PARTITION {quoted(dialect, one.name)}",)
        # By its bound too: the name may be given to another one since.
        done = (
            "SELECT NOT EXISTS (SELECT 1 FROM information_schema.PARTITIONS WHERE "  # noqa: S608
            f"TABLE_SCHEMA = {literal(dialect, table.schema)} AND TABLE_NAME = {literal(dialect, table.name)} AND "
            f"PARTITION_NAME = {literal(dialect, one.name)} AND "
            f"TRIM(BOTH '''' FROM PARTITION_DESCRIPTION) = {literal(dialect, one.high)}) AS done"
        )
        count = f"SELECT count(*) AS n FROM {table.sql} PARTITION ({quoted(dialect, one.name)})"  # noqa: S608
    return Step(
        name=f"drop partition {one.name}",
        phase="drop",
        sql=sql,
        lock=f"ACCESS EXCLUSIVE on {table.shown} for a moment"
        if dialect is Dialect.POSTGRESQL
        else f"an exclusive metadata lock on {table.shown} for a moment",
        transaction=dialect is Dialect.POSTGRESQL,
        done_check=done,
        action="drop",
        destructive=True,
        values={
            "partition": one.name,
            "kept": whole.kept,
            "count": count,
            "bound": f"SELECT pg_get_expr(relpartbound, oid) AS bound FROM pg_class WHERE oid = {whole.oid}"  # noqa: S608
            if whole.oid is not None
            else None,
            "is": whole.bound,
        },
    )


async def do_drop(work: LiveWork, step: Step) -> None:
    """Count the partition's rows, look once more that none must stay, and drop it."""
    values = step.values
    if await work.source.fetch(values["kept"]):
        raise NotVerified(f"{values['partition']} has rows since that must stay: preview and start again")
    counted = int((await work.source.fetch(values["count"]))[0]["n"])
    work.facts["partitions"] = {**work.facts.get("partitions", {}), values["partition"]: counted}
    await work.save({"rows": counted}, 0.5)

    async def body() -> None:
        for place, sql in enumerate(step.sql):
            await work.change(step, sql)
            # Under the lock: rows can only lie within the bounds, so these are all there is to look at.
            if place == 0 and values["bound"] is not None:
                found = await work.source.fetch(values["bound"])
                if not found or found[0]["bound"] != values["is"]:
                    raise NotVerified(f"{values['partition']} has other bounds than approved: preview and start again")

    await work.climb(step, body)
