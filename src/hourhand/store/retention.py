"""Store: retention: the past is removed by whole days; the living and what they need are never touched."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import BigInteger, Text, bindparam, delete, func, select, text

from hourhand.model.answers import Retained
from hourhand.store.backfill import LEDGER_FLOOR
from hourhand.store.database import Database, Tx
from hourhand.store.schema import executors, lanes, store_values, task_instances
from hourhand.store.schema_access import idempotency_keys, sessions, stats_minutely
from hourhand.store.sql import insert, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Instant, to_micros

IDEMPOTENCY = timedelta(hours=24)
_BATCH = 5_000

_OLDEST_LIVING = Statement(
    # By id, which is the order of creation: one step into the primary key instead of a scan.
    select(task_instances.c.created_at).order_by(task_instances.c.id).limit(1)
)
_floor = insert(store_values).values(name=bindparam("name", type_=Text), number=bindparam("number", type_=BigInteger))
_RAISE_FLOOR = Statement(
    _floor.on_conflict_do_update(
        index_elements=["name"],
        set_={"number": func.greatest(store_values.c.number, _floor.excluded.number)},
    )
)
# Each task's newest ended and newest successful instant stay for ever: dependents and backfill read them. The others
# stay at least as long as the logs of their instances, which go by when they ended.
_PRUNE = Statement(
    text(
        """
DELETE FROM task_instants WHERE (task_id, scheduled_time) IN (
    SELECT i.task_id, i.scheduled_time FROM task_instants i
    WHERE i.scheduled_time < :before AND i.ended_at < :before AND i.outcome IS NOT NULL AND i.unsettled IS NULL
        AND i.scheduled_time < (SELECT max(n.scheduled_time) FROM task_instants n
            WHERE n.task_id = i.task_id AND n.outcome IS NOT NULL)
        AND NOT (i.outcome = 'success' AND i.scheduled_time = (SELECT max(s.scheduled_time) FROM task_instants s
            WHERE s.task_id = i.task_id AND s.outcome = 'success'))
        AND NOT EXISTS (SELECT 1 FROM instance_waits w
            WHERE w.upstream_task_id = i.task_id AND w.upstream_time = i.scheduled_time)
    LIMIT :batch)
"""
    ).bindparams(bindparam("before", type_=Instant()), bindparam("batch", type_=BigInteger))
)
_PRUNE_STATS = Statement(delete(stats_minutely).where(stats_minutely.c.minute < bindparam("before", type_=Instant())))
_PRUNE_KEYS = Statement(
    delete(idempotency_keys).where(idempotency_keys.c.created_at < bindparam("before", type_=Instant()))
)
_PRUNE_SESSIONS = Statement(delete(sessions).where(sessions.c.expires_at < store_clock()))
# The lanes of executors that are gone, once nothing living is in them.
_PRUNE_LANES = Statement(
    delete(lanes).where(
        lanes.c.target_executor_id != "",
        lanes.c.target_executor_id.not_in(select(executors.c.id)),
        lanes.c.id.not_in(select(task_instances.c.lane_id)),
    )
)


async def retain(database: Database, *, days: int, now: datetime) -> Retained:
    """Remove what ended more than `days` days ago."""
    before = now - timedelta(days=days)
    oldest = await database.read(_oldest_living)
    # What a living instance wrote, and its earlier attempts, stay as long as it lives.
    spared = before if oldest is None else min(before, oldest)
    # First the floor: whoever reads a pruned ledger must already be told that it is pruned.
    await database.write(lambda tx: tx.run(_RAISE_FLOOR, name=LEDGER_FLOOR, number=to_micros(before)))
    removed = Retained(
        execution_logs=await database.drop_days("execution_logs", before),
        instance_attempts=await database.drop_days("instance_attempts", spared),
        instance_logs=await database.drop_days("instance_logs", spared),
        instants=await _prune_ledger(database, before),
    )
    await database.write(lambda tx: _prune_small(tx, before, now))
    return removed


async def _oldest_living(tx: Tx) -> datetime | None:
    rows = await tx.fetch(_OLDEST_LIVING)
    return rows[0]["created_at"] if rows else None


async def _prune_ledger(database: Database, before: datetime) -> int:
    removed = 0
    while True:
        count = await database.write(lambda tx: tx.run(_PRUNE, before=before, batch=_BATCH))
        removed += count
        if count < _BATCH:
            return removed


async def _prune_small(tx: Tx, before: datetime, now: datetime) -> None:
    await tx.run(_PRUNE_STATS, before=before)
    await tx.run(_PRUNE_KEYS, before=now - IDEMPOTENCY)
    await tx.run(_PRUNE_SESSIONS)
    await tx.run(_PRUNE_LANES)
