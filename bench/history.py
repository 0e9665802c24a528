"""A million execution logs: the first page of a list beside one deep in the past, and how long a day takes to go.

python bench/history.py [--rows 1000000] [--store sqlite|postgresql]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median

from sqlalchemy import text

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from hourhand.model.filters import InstanceFilter
from hourhand.model.words import Status, TriggeredBy
from hourhand.store import Store, open_store
from hourhand.store.paging import write_cursor
from hourhand.store.partitions import _make
from hourhand.store.postgresql import PostgresqlDatabase
from hourhand.store.statements import Statement
from hourhand.store.types import to_micros
from postgres import Cluster

DAYS = 20
COLUMNS = (
    "id, instance_id, task_name, task_id, task_version, group_id, scheduled_time, status, created_at, lane_id, "
    "priority, available_at, triggered_by, end_time, duration_ms"
)
FILTERS = {
    "all": InstanceFilter(),
    "of one task": InstanceFilter(task_id=7),
    "failed": InstanceFilter(status=Status.FAILED),
    "by hand": InstanceFilter(triggered_by=TriggeredBy.MANUAL),
}


def rows(time_of: str, series: str) -> str:
    """An INSERT of that many rows, spread evenly over the days, a tenth failed, a tenth by hand."""
    return (
        f"INSERT INTO execution_logs ({COLUMNS}) SELECT n, n, 'task', n % 100 + 1, 1, 1, {time_of}, "
        f"CASE WHEN n % 10 = 3 THEN 'failed' ELSE 'success' END, {time_of}, 1, 5, {time_of}, "
        f"CASE WHEN n % 10 = 4 THEN 'manual' ELSE 'scheduler' END, {time_of}, 5 FROM {series}"
    )


async def fill(store: Store, count: int, now: datetime) -> None:
    """One statement."""
    step = DAYS * 86_400 * 1_000_000 // count
    if isinstance(store.database, PostgresqlDatabase):
        async with store.database.pool.acquire() as connection:
            for ago in range(2, DAYS + 2):
                await _make(connection, "execution_logs", (now - timedelta(days=ago)).date())
            moment = f"CAST('{now.isoformat()}' AS timestamptz) - n * interval '{step} microseconds'"
            await connection.execute(rows(moment, f"generate_series(1, {count}) n"), timeout=600)
            await connection.execute("ANALYZE execution_logs", timeout=600)
    else:
        series = f"(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {count}) SELECT n FROM s)"
        insert = Statement(text(rows(f"{to_micros(now)} - n * {step}", series)))
        await store.database.write(lambda tx: tx.run(insert))


async def milliseconds(work: Callable[[], Awaitable[object]], times: int = 15) -> float:
    """The median of some runs."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        await work()
        taken.append(time.perf_counter() - begin)
    return median(taken) * 1_000


async def measure(url: str, count: int) -> None:
    """Fill, list, drop."""
    store = await open_store(url, migrate=True)
    try:
        now = await store.now()
        await fill(store, count, now)
        deep = write_cursor("ended", to_micros(now - timedelta(days=DAYS * 0.9)), 1)
        for name, wanted in FILTERS.items():
            first = await milliseconds(lambda wanted=wanted: store.list_logs(wanted))  # type: ignore[misc]
            last = await milliseconds(lambda wanted=wanted: store.list_logs(wanted, cursor=deep))  # type: ignore[misc]
            print(f"  {name:<12} first page {first:6.2f} ms   page {int(count * 0.9) // 50:,} {last:6.2f} ms")
        begin = time.perf_counter()
        removed = await store.database.drop_days("execution_logs", now - timedelta(days=DAYS - 1))
        print(f"  the oldest day: {removed} removed in {(time.perf_counter() - begin) * 1_000:.0f} ms")
    finally:
        await store.close()


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--store", choices=["sqlite", "postgresql"])
    given = parser.parse_args()
    if given.store in (None, "sqlite"):
        print(f"SQLite, {given.rows:,} execution logs over {DAYS} days")
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(measure(f"sqlite:///{folder}/bench.db", given.rows))
    if given.store in (None, "postgresql"):
        print(f"PostgreSQL, {given.rows:,} execution logs over {DAYS} days")
        cluster = Cluster()
        cluster.start()
        try:
            asyncio.run(measure(cluster.create_database(), given.rows))
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
