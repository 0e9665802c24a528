"""Store: retention: the past is removed by whole days; the living and what they need are never touched."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import BigInteger, Text, and_, bindparam, delete, exists, func, literal_column, select, text, union

from hourhand.model.answers import Retained
from hourhand.store import alert_outbox
from hourhand.store.backfill import LEDGER_FLOOR
from hourhand.store.database import Database, Tx
from hourhand.store.schema import PENDING, PLANNED, RUNNING, executors, lanes, store_values, task_instances
from hourhand.store.schema_access import idempotency_keys, pauses, sessions, sign_in_failures, stats_minutely
from hourhand.store.schema_windows import past_windows
from hourhand.store.sql import any_of, insert, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Instant, to_micros

IDEMPOTENCY = timedelta(hours=24)
PAUSES = timedelta(days=30)
"""What a scheduler finds that was away for so long was missed, whether or not it was paused."""
FAILURES = timedelta(days=1)
_BATCH = 5_000

_before = bindparam("before", type_=Instant())
# By id, which is the order of creation: the primary key is read up to the first that is younger than the period, so
# that a million that wait since yesterday cost nothing. Only what was ever attempted (fence > 0: every way into
# running raises it, and a retry keeps it) has written anything.
_younger = (
    select(task_instances.c.id).where(task_instances.c.created_at >= _before).order_by(task_instances.c.id).limit(1)
)
_OLDEST_ATTEMPTED = Statement(
    select(task_instances.c.created_at)
    .where(
        task_instances.c.fence > literal_column("0"),
        task_instances.c.id < func.coalesce(_younger.scalar_subquery(), literal_column(str(2**63 - 1))),
    )
    .order_by(task_instances.c.id)
    .limit(1)
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
_PRUNE_WINDOWS = Statement(
    delete(past_windows).where(past_windows.c.active_until < bindparam("before", type_=Instant()))
)
_PRUNE_PAUSES = Statement(delete(pauses).where(pauses.c.until < bindparam("before", type_=Instant())))
_PRUNE_SESSIONS = Statement(delete(sessions).where(sessions.c.expires_at < store_clock()))
_PRUNE_FAILURES = Statement(
    delete(sign_in_failures).where(sign_in_failures.c.failed_at < bindparam("before", type_=Instant()))
)
# The lanes of executors that are gone, once nothing living is in them.
_LOCK_LANES = Statement(
    select(lanes.c.id)
    .where(lanes.c.target_executor_id != "", ~exists().where(executors.c.id == lanes.c.target_executor_id))
    .order_by(lanes.c.id)
    .with_for_update(skip_locked=True)
)
_USED_LANES = Statement(
    # One part for each partial index: by itself the lane has none.
    union(
        *[
            select(task_instances.c.lane_id).where(any_of(task_instances.c.lane_id, "lanes"), condition)
            for condition in (
                and_(task_instances.c.status == PENDING, task_instances.c.loss_count < text("2")),
                and_(task_instances.c.status == PENDING, task_instances.c.loss_count > text("1")),
                and_(task_instances.c.status == RUNNING, task_instances.c.executor_id.is_not(None)),
                and_(task_instances.c.status == PLANNED, task_instances.c.blocked_by.is_not(None)),
            )
        ]
    )
)
_DELETE_LANES = Statement(delete(lanes).where(any_of(lanes.c.id, "ids")))


async def retain(database: Database, *, days: int, now: datetime) -> Retained:
    """Remove what ended more than `days` days ago."""
    before = now - timedelta(days=days)
    # Logs may go by whole days, and the ledger must not go before them.
    midnight = before.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    # What a living instance wrote, and its earlier attempts, stay as long as it lives.
    spared = await database.read(lambda tx: _oldest_attempted(tx, before)) or before
    # First the floor: whoever reads a pruned ledger must already be told that it is pruned.
    await database.write(lambda tx: tx.run(_RAISE_FLOOR, name=LEDGER_FLOOR, number=to_micros(midnight)))
    removed = Retained(
        execution_logs=await database.drop_days("execution_logs", before),
        instance_attempts=await database.drop_days("instance_attempts", spared),
        instance_logs=await database.drop_days("instance_logs", spared),
        instants=await _prune_ledger(database, midnight),
    )
    await database.write(lambda tx: _prune_small(tx, before, now))
    return removed


async def _oldest_attempted(tx: Tx, before: datetime) -> datetime | None:
    """When the oldest living instance that was ever attempted was created, if that was before."""
    rows = await tx.fetch(_OLDEST_ATTEMPTED, before=before)
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
    await alert_outbox.prune(tx, before)
    await tx.run(_PRUNE_PAUSES, before=now - PAUSES)
    await tx.run(_PRUNE_WINDOWS, before=now - PAUSES)
    await tx.run(_PRUNE_FAILURES, before=now - FAILURES)
    await _prune_lanes(tx)


async def _prune_lanes(tx: Tx) -> None:
    """Remove lanes that nobody serves and nobody is in.

    Locked before it is asked who is in them: whoever puts an instance into one holds it until that is committed.
    """
    gone = {row["id"] for row in await tx.fetch(_LOCK_LANES)}
    if gone:
        used = {row["lane_id"] for row in await tx.fetch(_USED_LANES, lanes=sorted(gone))}
        await tx.run(_DELETE_LANES, ids=sorted(gone - used))
