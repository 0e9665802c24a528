"""Raw speed of the store's contract: submit, claim and finish in batches, nothing executed.

    python bench/store.py [--instances 20000] [--batch 500] [--store sqlite|postgresql]

Beside it, in the same run and on the same server, a prototype: claim a batch, run a no-op coroutine for each, finish
the batch into a log table, in two statements on two narrow tables, without lanes, ledger, permits, partitions or
policies; so that the ratio means something on a noisy machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from hourhand.model.instance import Ending, Outcome, Submission
from hourhand.model.registry import Executor
from hourhand.model.task import TaskDefinition
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.store import Store, open_store
from postgres import Cluster

SUCCESS = Outcome(kind=OutcomeKind.SUCCESS, result={"value": None}, duration_ms=1)


class Stopwatch:
    """Wall and CPU time of this process."""

    def __init__(self) -> None:
        self.wall = time.perf_counter()
        self.cpu = _cpu()

    def line(self, name: str, count: int) -> float:
        """Print what was measured; the rate."""
        wall, cpu = time.perf_counter() - self.wall, _cpu() - self.cpu
        print(f"  {name:<34} {count / wall:>9,.0f} /s   {cpu / count * 1e6:>7.1f} µs Python CPU each")
        return count / wall


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def contract(store: Store, instances: int, batch: int) -> float:
    """Submit everything, then claim and finish it; the rate of claim to finish."""
    definition = TaskDefinition(name="no-op", type=TaskType.COMMAND, payload={"command": ["true"]})
    task = await store.create_task(definition, by="bench")
    watch = Stopwatch()
    for _ in range(instances // batch):
        await store.submit([Submission(task_id=task.id) for _ in range(batch)])
    watch.line(f"submit, batches of {batch}", instances)
    lanes = await store.register(Executor(id="bench", group="default"))
    watch = Stopwatch()
    done = 0
    while claimed := await store.claim("bench", lanes, limit=batch):
        endings = [Ending(instance_id=one.instance_id, fence=one.fence, outcome=SUCCESS) for one in claimed]
        done += len(await store.finish(endings))
    if done != instances:
        raise SystemExit(f"{done} of {instances} ended")
    return watch.line(f"claim → finish, batches of {batch}", done)


PROTOTYPE = """
CREATE TABLE proto (id bigserial PRIMARY KEY, state text NOT NULL, fence bigint NOT NULL DEFAULT 0, at timestamptz
    NOT NULL DEFAULT now(), args jsonb) WITH (fillfactor = 50);
CREATE INDEX ON proto (at, id) WHERE state = 'pending';
CREATE TABLE proto_log (id bigint, fence bigint, args jsonb, result jsonb, ended timestamptz NOT NULL DEFAULT now());
CREATE INDEX ON proto_log (ended, id);
CREATE INDEX ON proto_log (id);
"""
CLAIM = """
WITH c AS MATERIALIZED (SELECT id FROM proto WHERE state = 'pending' AND at <= now() ORDER BY at, id LIMIT $1
    FOR UPDATE SKIP LOCKED)
UPDATE proto SET state = 'running', fence = fence + 1 WHERE id = ANY (ARRAY(SELECT id FROM c)) RETURNING id, fence, args
"""
FINISH = """
WITH d AS (DELETE FROM proto WHERE id = ANY ($1::bigint[]) AND state = 'running' RETURNING id, fence, args)
INSERT INTO proto_log SELECT d.id, d.fence, d.args, CAST(r.result AS jsonb)
FROM d JOIN unnest($1::bigint[], $2::bigint[], $3::text[]) AS r(id, fence, result) ON r.id = d.id AND r.fence = d.fence
"""


async def _nothing() -> None:
    """What the prototype executes."""


async def prototype(url: str, instances: int, batch: int) -> float:
    """The least that could be called claim and finish."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(PROTOTYPE)
        await connection.execute("INSERT INTO proto (state) SELECT 'pending' FROM generate_series(1, $1)", instances)
        watch = Stopwatch()
        done = 0
        while claimed := await connection.fetch(CLAIM, batch):
            await asyncio.gather(*[asyncio.create_task(_nothing()) for _ in claimed])
            results = [json.dumps({"value": None}) for _ in claimed]
            await connection.execute(FINISH, [row["id"] for row in claimed], [row["fence"] for row in claimed], results)
            done += len(claimed)
        return watch.line(f"prototype, batches of {batch}", done)
    finally:
        await connection.close()


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Store]:
    """A migrated store."""
    store = await open_store(url, migrate=True)
    try:
        yield store
    finally:
        await store.close()


async def measure_postgresql(instances: int, batch: int) -> None:
    """Both in the same server, twice, in turn."""
    print(f"PostgreSQL, {instances:,} instances")
    cluster = Cluster()
    cluster.start()
    try:
        for _ in range(2):
            bare = await prototype(cluster.create_database(), instances, batch)
            async with opened(cluster.create_database()) as store:
                ours = await contract(store, instances, batch)
            print(f"  ratio to the prototype: {ours / bare:.2f}")
    finally:
        cluster.stop()


async def measure_sqlite(instances: int, batch: int) -> None:
    """WAL, synchronous = FULL."""
    print(f"SQLite, {instances:,} instances")
    with tempfile.TemporaryDirectory() as folder:
        async with opened(f"sqlite:///{folder}/bench.db") as store:
            await contract(store, instances, batch)


MEASURES: dict[str, Callable[..., object]] = {"sqlite": measure_sqlite, "postgresql": measure_postgresql}


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--instances", type=int, default=20_000)
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--store", choices=sorted(MEASURES))
    given = parser.parse_args()
    for name, measure in MEASURES.items():
        if given.store in (None, name):
            asyncio.run(measure(given.instances, given.batch))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
