"""Operations: deleting rows in chunks, which data_cleanup and log_cleanup share.

A chunk is one transaction. Before it, its range and how many rows it has are made durable; so an attempt that takes
over sees by the chunk's last row whether it was committed, and no row is counted twice or left out of the count.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import Field

from hourhand.contracts.operation import Look, Session
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Precondition, Step
from hourhand.operations.catalog import read_table
from hourhand.operations.catalog.table import Table
from hourhand.operations.cleaning_condition import Condition, read_condition
from hourhand.operations.cleaning_keys import Reference, cascades, foreign_keys_precondition, references
from hourhand.operations.cleaning_partitions import Whole, drop_step, whole_partitions
from hourhand.operations.config import Age, Config, Name
from hourhand.operations.failures import NotVerified
from hourhand.operations.quoting import quoted
from hourhand.operations.transfer.keyset import (
    Key,
    Keyset,
    Pace,
    check_key,
    choose_key,
    from_json,
    mark,
    to_json,
    unmarked,
)
from hourhand.operations.work import LiveWork
from hourhand.rules.operations import cutoff

_CLOCK = re.compile(r"\b(now|sysdate|curdate|current_(date|time|timestamp)|localtime(stamp)?)\b", re.IGNORECASE)
_COUNTED = 100_000
"""So many rows are counted at once; of more a guess will do."""
_PASSES = 3
"""How often what was added meanwhile is looked for; what comes after that is left for the next time."""


class CleaningConfig(Config):
    """Which rows go, and how fast."""

    where: str | None = Field(default=None, min_length=1, max_length=10_000)
    """A condition in SQL for the rows that go, such as `status = 'done'`."""
    older_than: Age | None = None
    """Rows older than this go: `36h`, `400d`, `6w`, `13m` (months), `2y`; reckoned in UTC, from the beginning of that
    hour, day or month. Together with `where` both must hold."""
    time_column: Name | None = None
    """The column that says how old a row is."""
    key_columns: tuple[Name, ...] = ()
    """The columns of the unique key to go by; by default the primary key."""
    chunk_rows: int = Field(default=2_000, ge=1, le=100_000)
    """How many rows the first chunk has; each chunk is one transaction."""
    chunk_target_ms: int | None = Field(default=500, ge=10, le=60_000)
    """How long a chunk should take: the next ones become larger or smaller; empty: all are alike."""
    sleep_ms: int = Field(default=0, ge=0, le=600_000)
    """How long to wait between two chunks."""
    max_rows: int | None = Field(default=None, ge=1)
    """Delete no more rows than this; by default all that qualify."""
    prefer_partition_drop: bool = True
    """Drop partitions of which every row goes, in place of deleting the rows; never together with `max_rows`."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What was found of the rows that go."""

    table: Table
    condition: Condition
    key: tuple[str, ...]
    partitions: tuple[Whole, ...] = ()
    references: tuple[Reference, ...] = ()
    may_delete: bool = True


async def find_rows(config: CleaningConfig, look: Look, schema: str | None, name: str) -> Rows:
    """Look at the table, the condition, the key, the partitions and who refers to it."""
    session = look.source
    table = await read_table(session, schema, name)
    before = None if config.older_than is None else cutoff(config.older_than, look.now, field="config.older_than")
    condition = await read_condition(session, table, where=config.where, time_column=config.time_column, cutoff=before)
    key = choose_key(table, config.key_columns, order=config.time_column)
    await check_key(session, table, Keyset(table.dialect, table.sql, key))
    found = await references(session, table, condition.sql)
    whole: list[Whole] = []
    if config.prefer_partition_drop and config.max_rows is None and config.time_column is not None and not found:
        whole = await whole_partitions(session, table, config.time_column, condition)
    return Rows(table, condition, key, tuple(whole), found, await _may_delete(session, table))


async def _may_delete(session: Session, table: Table) -> bool:
    if session.dialect is not Dialect.POSTGRESQL:
        return True
    return bool((await session.fetch("SELECT has_table_privilege($1, 'DELETE') AS may", table.sql))[0]["may"])


def row_steps(config: CleaningConfig, rows: Rows) -> list[Step]:
    """The partitions as a whole, then the rows of the others, then what was added meanwhile."""
    table, keys = rows.table, Keyset(rows.table.dialect, rows.table.sql, rows.key, rows.condition.sql)
    statements = tuple(
        f"DELETE FROM {unmarked(table.dialect, table.sql)} WHERE {keys.where(lo=lo)}"  # noqa: S608
        for lo in (False, True)
    )
    values = {"table": table.sql, "columns": list(rows.key), "condition": rows.condition.sql}
    lock = {
        Dialect.POSTGRESQL: f"ROW EXCLUSIVE on {table.shown}, and each chunk's rows until it is committed",
        Dialect.SQLITE: "the file, for writers, while a chunk is deleted",
    }.get(table.dialect, f"each chunk's rows of {table.shown}, and the gaps between them, until it is committed")
    delete = Step(
        name=f"delete rows of {table.shown}",
        phase="delete",
        sql=statements,
        lock=lock,
        duration=Duration.BY_SIZE,
        weight=20.0,
        action="delete",
        values=values,
        destructive=True,
    )
    steps = [*(drop_step(table, one) for one in rows.partitions), delete]
    if config.verify != "none":
        count = f"SELECT count(*) AS n FROM {table.sql} WHERE {rows.condition.sql}"  # noqa: S608
        verify = replace(
            delete,
            name=f"look that nothing of {table.shown} is left that qualifies",
            phase="verify",
            sql=(count,) if config.max_rows is not None else (count, *statements),
            weight=2.0,
            action="verify",
            lock=None if config.max_rows is not None else lock,
            destructive=config.max_rows is None,  # what was written meanwhile goes as well
        )
        steps.append(verify)
    return steps


def row_preconditions(rows: Rows) -> list[Precondition]:
    """What must hold for the rows to go."""
    table = rows.table
    found = [
        foreign_keys_precondition(rows.references),
        Precondition(
            name="privilege",
            ok=rows.may_delete,
            detail="may delete"
            if rows.may_delete
            else f"this user may not delete rows of {table.shown}: GRANT DELETE, or sign in as another",
        ),
    ]
    if rows.partitions:
        detail = (
            "owned" if table.owned else f"{table.shown} belongs to {table.owner}: set prefer_partition_drop to false"
        )
        found.append(Precondition(name="ownership", ok=table.owned, detail=detail))
    return found


def row_notes(config: CleaningConfig, rows: Rows) -> list[str]:
    """What whoever approves it should know."""
    table, notes = rows.table, cascades(rows.references)
    if rows.condition.cutoff is not None:
        notes.append(f"what is before {rows.condition.cutoff:%Y-%m-%d %H:%M} UTC goes")
        column = table.column(config.time_column or "")
        if column is not None and column.nullable:
            notes.append(f"rows whose {column.name} is NULL stay")
    if config.where is not None and _CLOCK.search(config.where):
        notes.append("`where` asks the clock, so that more rows qualify while it is at work: `older_than` is fixed")
    if table.triggers:
        fired = "not fired for dropped partitions" if rows.partitions else "fired for each row if they are for DELETE"
        notes.append(f"triggers {', '.join(table.triggers)} are {fired}")
    if table.row_security and not table.owned:
        notes.append(f"{table.shown} has row security: only rows that this user sees are deleted")
    return notes


async def estimated(look: Look, plan: Plan) -> Plan:
    """The plan with the planner's guess of how many rows go, and by which step."""
    steps, dropped = [], 0
    for step in plan.steps:
        found = None
        if step.action == "drop":
            found = await _guessed(look.source, step.values["count"].replace("count(*) AS n", "1", 1))
            dropped += found
        elif step.action == "delete":  # whose condition is that of the whole table, and comes after the drops
            found = max(0, await guess(look.source, step.values["table"], step.values["condition"]) - dropped)
        steps.append(step if found is None else replace(step, rows=found))
    return replace(plan, steps=tuple(steps))


async def guess(session: Session, table: str, condition: str) -> int:
    """How many rows qualify, as the database's planner thinks; SQLite's has no opinion, and counts."""
    return await _guessed(session, f"SELECT 1 FROM {table} WHERE {condition}")  # noqa: S608


async def about(session: Session, relation: str, condition: str, told: int) -> int:
    """How many rows there are, where the catalog may tell 0 for want of statistics: few are counted, many guessed."""
    if condition:
        return await guess(session, relation, condition)
    if told:
        return told
    query = f"SELECT count(*) AS n FROM (SELECT 1 AS one FROM {relation} LIMIT {_COUNTED + 1}) AS few"  # noqa: S608
    few = int((await session.fetch(query))[0]["n"])
    return few if few <= _COUNTED else await guess(session, relation, "1 = 1")


async def _guessed(session: Session, query: str) -> int:
    match session.dialect:
        case Dialect.POSTGRESQL:
            told = (await session.fetch(f"EXPLAIN (FORMAT JSON) {query}"))[0]["QUERY PLAN"]
            return int((json.loads(told) if isinstance(told, str) else told)[0]["Plan"]["Plan Rows"])
        case Dialect.MARIADB | Dialect.MYSQL:
            row = (await session.fetch(f"EXPLAIN {query}"))[0]
            return round(float(row["rows"] or 0) * float(row.get("filtered") or 100) / 100)
    return int((await session.fetch(f"SELECT count(*) AS n FROM ({query})"))[0]["n"])  # noqa: S608


@dataclass(slots=True)
class _Progress:
    """Where a step is; what is kept of it is its position."""

    lo: Key | None = None
    deleted: int = 0
    presumed: int = 0
    """Of these, rows of a chunk that was committed while its executor was lost: counted before, not by the delete."""
    total: int = 0
    found: int = 0
    """How many rows this pass was to delete."""

    def kept(self, hi: Key | None, rows: int) -> dict[str, Any]:
        """With the chunk that is about to be deleted."""
        return {
            "lo": to_json(self.lo), "hi": to_json(hi), "rows": rows, "deleted": self.deleted,
            "presumed": self.presumed, "total": self.total, "found": self.found,
        }  # fmt: skip

    @property
    def fraction(self) -> float:
        """Below 1 until it has ended."""
        return min(self.deleted / max(self.total, 1), 0.98)


async def do_delete(work: LiveWork, step: Step) -> int:
    """Delete chunk after chunk; how many rows the last pass was to delete and did not."""
    keys = Keyset(work.plan.dialect, step.values["table"], tuple(step.values["columns"]), step.values["condition"])
    config = work.config
    assert isinstance(config, CleaningConfig)  # noqa: S101 - of the kinds that have this step
    if work.source.dialect is Dialect.SQLITE:
        await work.source.execute("PRAGMA foreign_keys = ON")  # or ON DELETE CASCADE would do nothing
    at = await _resumed(work, keys)
    first, further = step.sql[-2:]
    pace = Pace(config.chunk_rows, config.chunk_target_ms)
    while True:
        most = pace.rows if config.max_rows is None else min(pace.rows, config.max_rows - at.deleted)
        bound = await keys.next_bound(work.source, at.lo, most) if most > 0 else None
        if bound is None:
            break
        await work.save(at.kept(bound.hi, bound.rows), at.fraction)
        sql, params = (first if at.lo is None else further), keys.params(at.lo, bound.hi)
        started = time.monotonic()
        gone = await work.climb(step, lambda sql=sql, params=params: work.change(step, sql, *params))  # type: ignore[misc]
        pace.took(bound.rows, (time.monotonic() - started) * 1000)
        at.deleted, at.found, at.lo = at.deleted + gone, at.found + bound.rows, bound.hi
        if config.sleep_ms:
            await asyncio.sleep(config.sleep_ms / 1000)
        await work.breathe()
    work.facts["rows_deleted"] = work.facts.get("rows_deleted", 0) + at.deleted
    if at.presumed:
        work.facts["rows_presumed"] = work.facts.get("rows_presumed", 0) + at.presumed
    return at.found - at.deleted


async def _resumed(work: LiveWork, keys: Keyset) -> _Progress:
    """Where the attempt before was, and whether its last chunk was committed: all of it, or nothing."""
    kept = work.position
    if "hi" not in kept:
        return _Progress(total=await guess(work.source, keys.table, keys.condition))
    at = _Progress(
        from_json(kept["lo"]), int(kept["deleted"]), int(kept["presumed"]), int(kept["total"]), int(kept["found"])
    )
    hi = from_json(kept["hi"]) or ()
    alike = " AND ".join(
        f"{unmarked(keys.dialect, quoted(keys.dialect, name))} = {mark(keys.dialect, place)}"
        for place, name in enumerate(keys.columns, 1)
    )
    left = await work.source.fetch(
        f"SELECT 1 AS one FROM {unmarked(keys.dialect, keys.table)} "  # noqa: S608
        f"WHERE ({unmarked(keys.dialect, keys.condition)}) AND {alike}",
        *hi,
    )
    if not left:
        rows = int(kept["rows"])
        at = replace(at, lo=hi, deleted=at.deleted + rows, presumed=at.presumed + rows, found=at.found + rows)
    return at


async def do_verify(work: LiveWork, step: Step) -> None:
    """Count what is left; what was added behind the chunks goes too."""
    count, *statements = step.sql
    stayed = await do_delete(work, step) if "hi" in work.position else 0
    for number in range(_PASSES + 1):
        left = work.facts["rows_left"] = int((await work.source.fetch(count))[0]["n"])
        await work.save({}, number / (_PASSES + 1))
        if not left or not statements:
            return
        if 0 < stayed <= left:
            raise NotVerified(
                f"{left} rows are still there that qualify, though the database was told to delete them and named no "
                "error: a trigger or a rule keeps them"
            )
        if number < _PASSES:
            stayed = await do_delete(work, step)
    work.log(f"{left} rows that qualify were added meanwhile: they are left for the next time", level="warning")


def counted(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The summary: rows by the chunk and by the partition, each counted by the database."""
    partitions: Mapping[str, int] = facts.get("partitions", {})
    told = {name: value for name, value in facts.items() if name != "partitions"}
    if partitions:
        told |= {"partitions_dropped": list(partitions), "rows_dropped": sum(partitions.values())}
    return told
