"""Claim under load: eight claimers and eight finishers on 100,000 instances, each claimed once and ended once."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import TYPE_CHECKING

from contracts.world import endings
from hourhand.model.instance import Ending, Outcome, Submission
from hourhand.model.words import OutcomeKind

if TYPE_CHECKING:
    import pytest

    from contracts.world import World
    from hourhand.model.instance import Assignment

INSTANCES = 100_000
ACTORS = 8
BATCH = 500


async def test_each_of_a_hundred_thousand_is_claimed_once_and_ended_once(
    world: World, record_property: pytest.FixtureRequest
) -> None:
    t0 = time.perf_counter()
    tasks = [await world.task(priority=priority) for priority in (0, 3, 5, 9)]
    one = [Submission(task_id=tasks[number % 4].id) for number in range(4_000)]
    for _ in range(INSTANCES // len(one)):
        await world.store.submit(one)
    t1 = time.perf_counter()
    queue: asyncio.Queue[list[Assignment] | None] = asyncio.Queue()
    claims: Counter[int] = Counter()
    ends: Counter[int] = Counter()
    fenced = 0

    async def claimer(name: str) -> None:
        await world.executor(name)
        lanes = (await world.store.beat(name)).lanes
        while claimed := await world.store.claim(name, lanes, limit=BATCH):
            claims.update(each.instance_id for each in claimed)
            await queue.put(claimed)

    async def finisher() -> None:
        nonlocal fenced
        while (claimed := await queue.get()) is not None:
            stale = [
                Ending(instance_id=each.instance_id, fence=each.fence - 1, outcome=Outcome(kind=OutcomeKind.FAILED))
                for each in claimed[:5]
            ]
            for answer in await world.store.finish([*stale, *endings(claimed)]):
                fenced += answer.fenced
                if not answer.fenced:
                    ends[answer.instance_id] += 1

    finishers = [asyncio.create_task(finisher()) for _ in range(ACTORS)]
    await asyncio.gather(*[claimer(f"e{number}") for number in range(ACTORS)])
    for _ in finishers:
        await queue.put(None)
    await asyncio.gather(*finishers)
    t2 = time.perf_counter()
    print("submit/s", INSTANCES / (t1 - t0), "claim+finish/s", INSTANCES / (t2 - t1))

    assert len(claims) == len(ends) == INSTANCES
    assert set(claims.values()) == set(ends.values()) == {1}
    assert fenced > 0
    assert await world.count("task_instances") == 0
    assert await world.count("execution_logs", "status = 'success' AND fence = 1") == INSTANCES
    assert await world.count("(SELECT DISTINCT instance_id FROM execution_logs) AS x") == INSTANCES
    print("check", time.perf_counter() - t2)
