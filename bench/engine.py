"""The engine end to end: no-op async handlers from submitted to ended, idle pick-up, and many tasks due at once.

    python bench/engine.py [--instances 20000] [--due 10000] [--store sqlite|postgresql]

An executor with a real app runs in this process; beside it, in the same run on the same server, the prototype of
`bench/store.py` (claim a batch, run a no-op coroutine each, finish the batch; two narrow tables, no features).
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from bench.store import Stopwatch, prototype

from hourhand import App
from hourhand.bootstrap import engine
from hourhand.bootstrap.engine import Work
from hourhand.model.filters import InstanceFilter
from hourhand.model.instance import Submission
from hourhand.model.words import Status
from hourhand.rules.definition import definition_from
from hourhand.sdk.declare import declare
from hourhand.service.outage import Outage
from hourhand.service.signals import Stopping
from hourhand.settings import Settings
from hourhand.store import Store, open_store
from postgres import Cluster

app = App(name="bench")
BATCH = 2_000
PICK_UPS = 200


@app.task
async def noop() -> None:
    """Do nothing."""


async def measure(store: Store, settings: Settings, instances: int, due: int) -> float:
    """All figures of one store; the rate of no-op handlers."""
    await declare(app, store)
    task = await store.find_task("noop")
    watch = Stopwatch()
    for _ in range(instances // BATCH):
        await store.submit([Submission(task_id=task.id)] * BATCH)
    watch.line(f"submit, batches of {BATCH}", instances)
    stopping = Stopping()
    work = Work(scheduling=True, groups=("default",), handlers=app.handlers)
    watch = Stopwatch()
    running = asyncio.create_task(engine.run(store, settings, work, stopping, Outage()))
    await _until_all_ended(store)
    rate = watch.line("no-op handlers, claimed to ended", instances)
    await _pick_up(store, task.id)
    if due:
        await _due_at_once(store, due)
    stopping.stop.set()
    await running
    return rate


async def _until_all_ended(store: Store) -> None:
    while True:
        newest = (await store.list_instances(limit=1)).items
        if not newest or newest[0].status.ended:
            return
        await asyncio.sleep(0.2)


async def _pick_up(store: Store, task_id: int) -> None:
    """From the acknowledged submission to the claim, while nothing else is going on."""
    waits = []
    for _ in range(PICK_UPS):
        await asyncio.sleep(0.05)
        (one,) = await store.submit([Submission(task_id=task_id)])
        while not (ended := await store.get_instance(one.instance_id)).status.ended:  # noqa: ASYNC110 - it is measured
            await asyncio.sleep(0.002)
        waits.append((ended.start_time - ended.queued_at).total_seconds() * 1e3)  # type: ignore[operator]
    _show("idle pick-up", waits, "ms")


async def _due_at_once(store: Store, due: int) -> None:
    """So many tasks due in the same second."""
    at = (await store.now() + timedelta(seconds=20 + due / 500)).replace(microsecond=0)
    given = {"type": "python", "schedule": f"@at {at.isoformat()}", "payload": {"handler": "noop", "app": "bench"}}
    for begin in range(0, due, 100):
        definitions = [definition_from({**given, "name": f"at-{number}"}) for number in range(begin, begin + 100)]
        await asyncio.gather(*(store.create_task(one, by="bench") for one in definitions))
    left = (at - await store.now()).total_seconds()
    if left < 10:  # noqa: PLR2004 - the look-ahead
        print(f"  ({due} tasks took too long to add: {left:.1f} s were left)")
    await asyncio.sleep(max(0.0, left))
    late: list[float] = []
    deadline = time.monotonic() + 60
    while len(late) < due and time.monotonic() < deadline:
        await asyncio.sleep(1)
        late = await _lateness(store, at)
    print(f"  {due} tasks due in one second: {len(late)} started once, {due - len(late)} did not")
    _show("lateness", late, "ms")


async def _lateness(store: Store, at: datetime) -> list[float]:
    late: list[float] = []
    cursor = None
    while True:
        page = await store.list_logs(InstanceFilter(), limit=200, cursor=cursor)
        late += [
            (one.start_time - one.scheduled_time).total_seconds() * 1e3
            for one in page.items
            if one.scheduled_time == at and one.status is Status.SUCCESS and one.start_time is not None
        ]
        cursor = page.next_cursor
        if cursor is None or (page.items and page.items[-1].end_time < at):  # type: ignore[operator]
            return late


def _show(name: str, values: list[float], unit: str) -> None:
    cuts = statistics.quantiles(values, n=100)
    print(f"  {name:<34} p50 {cuts[49]:>7.1f} {unit}   p99 {cuts[98]:>7.1f} {unit}   max {max(values):>7.1f} {unit}")


async def on_postgresql(instances: int, due: int) -> None:
    """Measure beside the prototype on one server."""
    cluster = Cluster()
    try:
        cluster.start()
        url = cluster.create_database()
        with tempfile.TemporaryDirectory() as folder:
            store = await open_store(url, migrate=True)
            print("PostgreSQL")
            try:
                rate = await measure(store, Settings(store=url, data_dir=Path(folder)), instances, due)
            finally:
                await store.close()
        raw = await prototype(cluster.create_database(), instances, 500)
        print(f"  ratio to the prototype: {rate / raw:.2f}")
    finally:
        cluster.stop()


async def on_sqlite(instances: int, due: int) -> None:
    """Measure on a file."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/bench.db"
        store = await open_store(url, migrate=True)
        print("SQLite")
        try:
            await measure(store, Settings(store=url, data_dir=Path(folder)), instances, due)
        finally:
            await store.close()


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=20_000)
    parser.add_argument("--due", type=int, default=10_000)
    parser.add_argument("--store", choices=("sqlite", "postgresql"))
    given = parser.parse_args()
    if given.store != "sqlite":
        asyncio.run(on_postgresql(given.instances, given.due))
    if given.store != "postgresql":
        asyncio.run(on_sqlite(given.instances, given.due))


if __name__ == "__main__":
    main()
