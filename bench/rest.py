"""Every list and every figure of the API: 20,000 tasks and a million execution logs beside an almost empty store.

python bench/rest.py [--store sqlite|postgresql] [--repeat 30]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from api.in_process import serving
from contracts.million import fill_postgresql, fill_sqlite
from contracts.world import World
from hourhand.store import Store, open_store
from hourhand.store.statements import Statement
from postgres import Cluster

API = "/api/v1"
ASKED = (
    "/tasks?limit=50",
    "/tasks?limit=200",
    "/tasks?q=task+19",
    "/tasks?group=rare",
    "/tasks/graph",
    "/tasks/{task}/versions",
    "/tasks/{task}/upcoming",
    "/instances?limit=50",
    "/instances?limit=200",
    "/instances?status=pending",
    "/instances?status=failed",
    "/instances?group=rare",
    "/instances?task_id={task}",
    "/execution-logs?limit=50",
    "/execution-logs?limit=200",
    "/execution-logs?status=failed",
    "/execution-logs?triggered_by=backfill",
    "/groups",
    "/executors",
    "/pauses",
    "/audit-logs",
    "/alert-rules",
    "/alerts",
    "/users",
    "/tokens",
    "/sessions",
    "/stats/overview",
    "/stats/series?step=1h",
    "/stats/distribution",
    "/stats/long-running?minutes=30",
    "/stats/failures?days=7",
)
_counted = 0
_compiled = Statement.compiled


def _counting(self: Statement, dialect: str) -> object:
    global _counted  # noqa: PLW0603 - one process, one count
    _counted += 1
    return _compiled(self, dialect)


async def _measured(store: Store, repeat: int) -> dict[str, tuple[float, int]]:
    """Milliseconds (median) and statements of each."""
    world = World(store)
    await store.ensure_group("rare")
    task = await world.task("measured")
    found = {}
    async with serving(store) as client:
        for path in ASKED:
            asked = f"{API}{path.format(task=task.id)}"
            times = []
            for _ in range(repeat):
                before = _counted
                begin = time.perf_counter()
                answer = await client.get(asked)
                times.append((time.perf_counter() - begin) * 1_000)
                statements = _counted - before
                if answer.status_code != httpx.codes.OK:
                    raise SystemExit(f"{asked}: {answer.text}")
            found[path] = (median(times), statements)
    return found


async def _on(kind: str, repeat: int) -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        cluster = Cluster()
        cluster.start()
        stack.callback(cluster.stop)
        urls = {}
        for size in ("empty", "full"):
            urls[size] = f"sqlite:///{folder}/{size}.db" if kind == "sqlite" else cluster.create_database()
            await (await open_store(urls[size], migrate=True)).close()
        if kind == "sqlite":
            fill_sqlite(Path(folder) / "full.db")
        else:
            await fill_postgresql(urls["full"])
            name = urls["full"].rpartition("/")[2]
            for table, most in (("tasks", 2_000_000), ("groups", 100)):  # it was filled with ids of its own
                cluster.sql(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {most})", name)
        measured = {}
        for size, url in urls.items():
            store = await open_store(url)
            while await store.fold_stats():
                pass
            measured[size] = await _measured(store, repeat)
            await store.close()
    print(f"{kind}: ms (median of {repeat}), statements; almost empty, then full, then their ratio")
    for path in ASKED:
        (small, few), (large, many) = measured["empty"][path], measured["full"][path]
        print(f"  {path:40} {small:7.1f} ms {few:3}   {large:8.1f} ms {many:3}   x {large / small:6.1f}")


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", choices=("sqlite", "postgresql"), action="append")
    parser.add_argument("--repeat", type=int, default=30)
    given = parser.parse_args()
    Statement.compiled = _counting  # type: ignore[method-assign,assignment]
    for kind in given.store or ("sqlite", "postgresql"):
        asyncio.run(_on(kind, given.repeat))


if __name__ == "__main__":
    main()
