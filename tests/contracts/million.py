"""A store with a past and a backlog for the plan tests: a million execution logs over ten days, 200,000 living."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import asyncpg

from hourhand.store.partitions import partition_name
from hourhand.store.types import to_micros

if TYPE_CHECKING:
    from pathlib import Path

LOGS, LIVING, TASKS, INSTANTS, DAYS = 1_000_000, 200_000, 20_000, 400_000, 10
RARE_TASK, RARE_GROUP, RARE_EXECUTOR, RARE_SOURCE = 900_001, 2, "silent", 7

_TASK = """
INSERT INTO tasks (id, name, type, schedule, enabled, payload, group_id, timezone, priority, misfire_policy,
    misfire_grace_seconds, catch_up_limit, overlap_policy, dependency_mode, upstream_failure_policy,
    dependency_timeout_seconds, retry_delay_seconds, retry_backoff, executor_loss_policy, broadcast, concurrency_limit,
    executor_labels, tags, anchored_at, next_fire_at, wake_at, version, created_at, updated_at, created_by, updated_by)
SELECT {id}, 'task ' || {id}, '{type}', '@every 1h', {true}, '{{"command": ["true"]}}', {group}, 'UTC', 5, 'skip',
    60, 100, 'skip', 'all', 'wait', 864000, 10, 'fixed', 'requeue', {false}, 1, '{{}}', '[]', {now},
    {now} + {seconds} * n, {now} + {seconds} * n, 1, {now}, {now}, 'test', 'test' FROM {numbers}
"""
# The rarest of each kind lie at the far end, behind everything that others did since.
_LOG = """
INSERT INTO {table} (id, instance_id, task_name, task_id, task_version, group_id, scheduled_time, status, created_at,
    lane_id, priority, available_at, triggered_by, start_time, end_time, duration_ms, executor_id, data_source_id)
SELECT n, n, 'task', CASE WHEN n < 2000 AND n % 100 = 1 THEN 900001 ELSE n % 1000 + 1 END, 1,
    CASE WHEN n < 2000 AND n % 100 = 2 THEN 2 ELSE 1 END, t,
    CASE WHEN n < 2000 AND n % 100 = 3 THEN 'cancelled' WHEN n % 50 = 4 THEN 'failed' ELSE 'success' END, t,
    1, 5, t, CASE WHEN n < 2000 AND n % 100 = 5 THEN 'backfill' WHEN n % 2 = 0 THEN 'api' ELSE 'scheduler' END, t, t, 5,
    CASE WHEN n < 2000 AND n % 100 = 6 THEN 'silent' ELSE 'e' || (n % 50) END,
    CASE WHEN n < 2000 AND n % 100 = 7 THEN 7 END
FROM (SELECT n, {now} - {seconds} * {back} AS t FROM {numbers}) logs
"""
_LIVE = """
INSERT INTO task_instances (id, task_id, task_version, group_id, scheduled_time, status, blocked_by, executor_id,
    created_at, lane_id, priority, available_at, triggered_by, lease_until, start_time, in_ledger, concurrency_key,
    data_source_id)
SELECT {logs} + n, n % 1000 + 1, 1, 1, {now} - {seconds} * n,
    CASE WHEN n % 100 = 0 THEN 'running' WHEN n % 100 < 5 THEN 'planned' ELSE 'pending' END,
    CASE WHEN n % 100 IN (1, 2) THEN 'dependencies' WHEN n % 100 IN (3, 4) THEN 'permit' END,
    CASE WHEN n % 100 = 0 THEN 'e' || (n % 7) END, {now} - {seconds} * n, 1, n % 10, {now} - {seconds} * n,
    CASE WHEN n % 2 = 0 THEN 'api' ELSE 'scheduler' END, CASE WHEN n % 100 = 0 THEN {now} + {seconds} * 86400 END,
    CASE WHEN n % 100 = 0 THEN {now} END, {false}, CASE WHEN n % 100 IN (3, 4) THEN 'key ' || (n % 20) END,
    CASE WHEN n % 20000 = 77 THEN 7 END
FROM {numbers}
"""
_INSTANT = """
INSERT INTO task_instants (task_id, scheduled_time, outcome, shards_left, shards_failed, ended_at, unsettled)
SELECT n % 1000 + 1, {now} - {seconds} * n, CASE WHEN n % 10 > 0 THEN 'success' END, 0, 0, {now},
    CASE WHEN n % 50000 = 1 THEN n END FROM {numbers}
"""
_WAIT = """
INSERT INTO instance_waits (instance_id, upstream_task_id, upstream_time, requires)
SELECT id, task_id % 1000 + 1, scheduled_time, 'success' FROM task_instances WHERE blocked_by = 'dependencies'
"""
_GROUP = "INSERT INTO groups (id, name, created_at, updated_at) VALUES (2, 'rare', {now}, {now})"
_LANE = "INSERT INTO lanes (id, group_id, requires, labels) VALUES (1, 1, 'builtin', '{{}}')"


def _small(words: dict[str, str], numbers: str, few: str) -> list[str]:
    return [
        _GROUP.format(**words),
        _LANE.format(**words),
        _TASK.format(**words, id="n", type="command", group=1, numbers=numbers),
        _TASK.format(**words, id="(900000 + n)", type="http", group=2, numbers=few),
    ]


async def fill_postgresql(url: str) -> None:
    """Days are filled first and indexed when they are attached, which is several times faster."""
    connection = await asyncpg.connect(url, timeout=60)
    now = datetime.now(UTC)
    words = {
        "now": f"timestamptz '{now.isoformat()}'",
        "seconds": "interval '1 second'",
        "true": "true",
        "false": "false",
        "logs": str(LOGS),
    }
    step = DAYS * 86_400 / LOGS

    def numbers(first: int, last: int) -> str:
        return f"generate_series({first}, {last}) n"

    try:
        await connection.execute("SET synchronous_commit = off; SET maintenance_work_mem = '256MB'")
        for statement in _small(words, numbers(1, TASKS), numbers(1, 1)):
            await connection.execute(statement)
        begin = datetime(now.year, now.month, now.day, tzinfo=UTC) - timedelta(days=DAYS)
        for day in range(DAYS):
            first = begin + timedelta(days=day)
            table = partition_name("execution_logs", first.date())
            if await connection.fetchval("SELECT to_regclass($1)", table) is None:
                await connection.execute(
                    f"CREATE TABLE {table} (LIKE execution_logs INCLUDING DEFAULTS INCLUDING CONSTRAINTS)"
                )
                attach = (
                    f"ALTER TABLE execution_logs ATTACH PARTITION {table} "
                    f"FOR VALUES FROM ('{first.isoformat()}') TO ('{(first + timedelta(days=1)).isoformat()}')"
                )
            else:
                attach = "SELECT 1"
            count = LOGS // DAYS
            series = numbers(day * count + 1, (day + 1) * count)
            log = _LOG.format(
                **{**words, "now": f"timestamptz '{begin.isoformat()}'"},
                back=f"(-{step} * (n - 1))",
                table=table,
                numbers=series,
            )
            await connection.execute(log, timeout=120)
            await connection.execute(attach, timeout=120)
        await connection.execute(_LIVE.format(**words, numbers=numbers(1, LIVING)), timeout=120)
        await connection.execute(_INSTANT.format(**words, numbers=numbers(1, INSTANTS)), timeout=120)
        await connection.execute(_WAIT.format(**words), timeout=120)
        await connection.execute("DELETE FROM id_days")
        await connection.execute(f"SELECT setval('instance_ids', {LOGS + LIVING}), setval('execution_log_ids', {LOGS})")
        for table in ("execution_logs", "task_instances", "task_instants", "instance_waits", "tasks"):
            await connection.execute(f"ANALYZE {table}", timeout=120)
    finally:
        await connection.close()


def fill_sqlite(path: Path) -> None:
    """Indexes are taken away and made again, for the same reason."""
    connection = sqlite3.connect(path, isolation_level=None)
    words = {
        "now": str(to_micros(datetime.now(UTC))),
        "seconds": "1000000",
        "true": "1",
        "false": "0",
        "logs": str(LOGS),
    }

    def numbers(last: int) -> str:
        return f"(WITH RECURSIVE s(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM s WHERE n < {last}) SELECT n FROM s)"  # noqa: S608 - a number

    indexes = [
        row
        for row in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
        if "execution_logs" in row[1] or "task_instances" in row[1]
    ]
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA cache_size = -262144")
    connection.execute("BEGIN")
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    for statement in _small(words, numbers(TASKS), numbers(1)):
        connection.execute(statement)
    step = DAYS * 86_400_000_000 // LOGS
    back = f"(({LOGS} - n) * {step} / 1000000.0)"
    log = _LOG.format(**words, back=back, table="execution_logs", numbers=numbers(LOGS))
    connection.execute(log.replace(f"1000000 * {back}", f"({LOGS} - n) * {step}"))
    connection.execute(_LIVE.format(**words, numbers=numbers(LIVING)))
    for _, sql in indexes:
        connection.execute(sql)
    connection.execute(_INSTANT.format(**words, numbers=numbers(INSTANTS)))
    connection.execute(_WAIT.format(**words))
    counters = [("instance_ids", LOGS + LIVING), ("execution_log_ids", LOGS)]
    connection.executemany("INSERT INTO store_values (name, number) VALUES (?, ?)", counters)
    connection.execute("COMMIT")
    connection.close()
