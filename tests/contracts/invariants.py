"""What must hold in a store when nothing is left to do, whatever was done to it and in whatever order."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from contracts.rows import expire
from hourhand.model.errors import Conflict
from hourhand.model.words import OutcomeKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from contracts.world import World

_LIVES = "SELECT id FROM task_instances"
_COUNTS = """
SELECT instance_id, sum(CASE WHEN superseded_at IS NULL THEN 1 ELSE 0 END) AS current
FROM execution_logs GROUP BY instance_id
"""
# What the logs say of each instant that has a ledger row: what counts is every shard's newest end.
_LOGGED = """
SELECT l.task_id, l.scheduled_time, count(*) AS shards, count(DISTINCT l.shard_index) AS indexes,
    min(l.shard_total) AS total, min(l.status) AS status,
    sum(CASE WHEN l.status = 'success' THEN 0 ELSE 1 END) AS failed
FROM execution_logs l WHERE l.in_ledger AND l.superseded_at IS NULL AND l.skip_reason IS NULL
GROUP BY l.task_id, l.scheduled_time
"""
_LEDGER = "SELECT * FROM task_instants"
# What somebody waits for who would rather wait than fail.
_WAITED_FOR = """
SELECT DISTINCT l.instance_id FROM instance_waits w
    JOIN execution_logs l ON l.task_id = w.upstream_task_id AND l.scheduled_time = w.upstream_time
WHERE l.in_ledger AND l.superseded_at IS NULL AND l.status <> 'success' AND w.requires = 'success'
"""


async def let_everything_finish(world: World, executors: Sequence[str]) -> None:
    """Do what schedulers, executors and a patient person do until nothing lives; fails if something is stuck."""
    held = [row["id"] for row in await world.sql("SELECT id FROM task_instances WHERE blocked_by = 'dispatch'")]
    await world.store.dispatch(held)
    world.store._marks.clear()  # noqa: SLF001 - as at the next full probe
    await expire(world)
    for _ in range(200):
        while (reaped := await world.store.reap()).requeued or reaped.ended:
            pass
        while await world.store.settle():
            pass
        await world.store.sweep()
        for executor in executors:
            while claimed := await world.claim(executor):
                await world.end(claimed, OutcomeKind.SUCCESS)
        if not await world.count("task_instances"):
            return
        for row in await world.sql(_WAITED_FOR):
            with suppress(Conflict):  # its key may be taken by another for the moment
                await world.store.retry(row["instance_id"])
    stuck = await world.sql("SELECT * FROM task_instances ORDER BY id LIMIT 5")
    raise AssertionError(f"{await world.count('task_instances')} are stuck, such as {[dict(row) for row in stuck]}")


async def assert_quiet(world: World, accepted: Iterable[int]) -> None:
    """Nothing lives, and what has ended is told consistently."""
    ends = {row["instance_id"]: row["current"] for row in await world.sql(_COUNTS)}
    assert await world.sql(_LIVES) == []
    assert set(accepted) <= set(ends), "accepted and lost"
    assert {one: count for one, count in ends.items() if count != 1} == {}, "not exactly one end that counts"
    assert await world.count("concurrency_permits") == 0
    assert await world.count("instance_waits") == 0
    ledger = {(row["task_id"], row["scheduled_time"]): dict(row) for row in await world.sql(_LEDGER)}
    logged = {(row["task_id"], row["scheduled_time"]): dict(row) for row in await world.sql(_LOGGED)}
    assert set(ledger) == set(logged), "instants without an end, or ends without an instant"
    for point, instant in ledger.items():
        told = logged[point]
        assert told["shards"] == told["indexes"] == told["total"], (instant, told)
        assert (instant["shards_left"], instant["shards_failed"]) == (0, told["failed"]), (instant, told)
        assert instant["unsettled"] is None, (instant, told)
        single = told["status"] if told["total"] == 1 else ("failed" if told["failed"] else "success")
        assert instant["outcome"] == single, (instant, told)
