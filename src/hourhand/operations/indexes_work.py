"""Operations: how PostgreSQL rebuilds an index while others write: what is cleared away first, how far it has come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from hourhand.contracts.operation import Row, Session
from hourhand.model.operation import Step
from hourhand.operations.failures import OperationFailure
from hourhand.operations.indexes import LEFTOVERS, is_leftover
from hourhand.operations.quoting import qualified
from hourhand.operations.work import LiveWork

_LOOK_SECONDS = 0.5
_PROGRESS = """
SELECT p.phase, p.blocks_done, p.blocks_total, p.tuples_done, p.tuples_total, p.current_locker_pid AS locker,
       a.usename, a.application_name, left(a.query, 120) AS query
FROM pg_stat_progress_create_index p LEFT JOIN pg_stat_activity a ON a.pid = nullif(p.current_locker_pid, 0)
WHERE p.pid = $1
"""
_PARTS = (
    ("building index: scanning table", 0.05, 0.45),
    ("building index: sorting", 0.45, 0.5),
    ("building index: loading", 0.5, 0.7),
    ("waiting for writers before validation", 0.7, 0.7),
    ("index validation: scanning index", 0.7, 0.8),
    ("index validation: sorting", 0.8, 0.85),
    ("index validation: scanning table", 0.85, 0.95),
    ("waiting for old snapshots", 0.95, 0.95),
    ("waiting for readers", 0.97, 0.97),
)
"""What share of the whole each phase is; those without an entry are at the beginning."""


async def rebuilt(work: LiveWork, step: Step) -> None:
    """Clear away what an attempt before has left; rebuild, unless that attempt had come so far."""
    await _cleared(work, step)
    if step.values["filenode"] != await _filenode(work.source, step):
        work.log(f"{step.name}: was rebuilt, and only the old one was left to drop")
        return
    # It holds up nobody who reads or writes, and what it has built would be lost each time it gave up waiting.
    await work.source.execute("SET SESSION lock_timeout = 0")
    async with _watched(work, step):
        await work.change(step, step.sql[-1])


async def _cleared(work: LiveWork, step: Step) -> None:
    values = step.values
    for row in await work.source.fetch(LEFTOVERS, values["table"]):
        if not is_leftover(row["name"], values["index"]):
            continue
        drop = f"DROP INDEX CONCURRENTLY IF EXISTS {qualified(work.source.dialect, row['schema'], row['name'])}"
        if drop in step.sql:
            work.log(f"drops {row['name']}, which a rebuild that was interrupted has left")
            await work.change(step, drop)
        else:
            work.log(f"{row['name']} is invalid and was not there when this was planned: left alone", level="warning")


async def _filenode(session: Session, step: Step) -> int:
    rows = await session.fetch("SELECT pg_relation_filenode(to_regclass($1))::bigint AS n", step.values["place"])
    return int(rows[0]["n"] or 0)


@asynccontextmanager
async def _watched(work: LiveWork, step: Step) -> AsyncIterator[None]:
    """Ask from a session beside it how far it has come, until it has ended."""
    ended = asyncio.Event()
    watching = asyncio.ensure_future(_watch(work, step, ended))
    try:
        yield
    finally:
        ended.set()
        await watching


async def _watch(work: LiveWork, step: Step, ended: asyncio.Event) -> None:
    pid: Any = getattr(work.source, "pid", None)
    said, most = None, 0.0
    while not ended.is_set():
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                await ended.wait()
            break
        except TimeoutError:
            pass
        try:
            beside = await work.open(work.config.data_source)
            rows = await beside.fetch(_PROGRESS, pid)
        except OperationFailure:
            return  # how far it has come is good to know, no more
        for row in rows:
            if (row["phase"], row["locker"]) != said:
                said = (row["phase"], row["locker"])
                work.log(f"{step.name}: {row['phase']}{_locker(row)}")
            most = max(most, share(row))
            await work.tell(most)


def share(row: Row) -> float:
    """How much of a rebuild is done, as `pg_stat_progress_create_index` tells."""
    for phase, begin, end in _PARTS:
        if row["phase"].startswith(phase):
            blocks = row["blocks_done"] / row["blocks_total"] if row["blocks_total"] else 0.0
            tuples = row["tuples_done"] / row["tuples_total"] if row["tuples_total"] else 0.0
            return begin + (end - begin) * min(max(blocks, tuples), 1.0)
    return 0.0


def _locker(row: Row) -> str:
    if not row["locker"]:
        return ""
    return f", held up by pid {row['locker']} ({row['usename']}, {row['application_name']}): {row['query']}"
