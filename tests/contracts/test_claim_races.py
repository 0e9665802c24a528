"""Claim under load: eight claimers and eight finishers on 100,000 instances, each claimed once and ended once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contracts.world import endings
from hourhand.model.instance import Ending, Outcome, Submission
from hourhand.model.words import OutcomeKind

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.instance import Assignment

logger = logging.getLogger(__name__)  # the figures, for who asks with --log-cli-level=INFO
INSTANCES = 100_000
ACTORS = 8
BATCH = 500


@dataclass
class Tally:
    """What the actors saw."""

    claims: Counter[int] = field(default_factory=Counter)
    ends: Counter[int] = field(default_factory=Counter)
    fenced: int = 0
    stale: int = 0
    queue: asyncio.Queue[list[Assignment] | None] = field(default_factory=asyncio.Queue)


async def claimer(world: World, name: str, tally: Tally) -> None:
    await world.executor(name)
    lanes = (await world.store.beat(name)).lanes
    while claimed := await world.store.claim(name, lanes, limit=BATCH):
        tally.claims.update(one.instance_id for one in claimed)
        await tally.queue.put(claimed)


async def finisher(world: World, tally: Tally) -> None:
    """End what was claimed, each flush with a few outcomes of superseded attempts before and after the right ones."""
    while (claimed := await tally.queue.get()) is not None:
        late = Outcome(kind=OutcomeKind.FAILED, error_message="stale")
        stale = [
            Ending(instance_id=one.instance_id, fence=one.fence + off, outcome=late)
            for one in claimed[:5]
            for off in (-1, 1)
        ]
        tally.stale += len(stale)
        for answer in await world.store.finish([*stale[:5], *endings(claimed), *stale[5:]]):
            tally.fenced += answer.fenced
            if not answer.fenced:
                tally.ends[answer.instance_id] += 1


async def test_each_of_a_hundred_thousand_is_claimed_once_and_ended_once(world: World) -> None:
    tasks = [await world.task(priority=priority) for priority in (0, 3, 5, 9)]
    batch = [Submission(task_id=tasks[number % 4].id) for number in range(4_000)]
    began = time.perf_counter()
    for _ in range(INSTANCES // len(batch)):
        await world.store.submit(batch)
    logger.info("submissions a second: %d", INSTANCES / (time.perf_counter() - began))

    tally, began = Tally(), time.perf_counter()
    finishers = [asyncio.create_task(finisher(world, tally)) for _ in range(ACTORS)]
    await asyncio.gather(*[claimer(world, f"e{number}", tally) for number in range(ACTORS)])
    for _ in finishers:
        await tally.queue.put(None)
    await asyncio.gather(*finishers)
    logger.info("claimed and ended a second: %d", INSTANCES / (time.perf_counter() - began))

    assert len(tally.claims) == len(tally.ends) == INSTANCES
    assert set(tally.claims.values()) == set(tally.ends.values()) == {1}
    assert tally.fenced == tally.stale > 0
    assert await world.count("task_instances") == 0
    assert await world.count("execution_logs") == INSTANCES
    assert (
        await world.count("execution_logs", "status = 'success' AND fence = 1 AND error_message IS NULL") == INSTANCES
    )
    assert await world.count("(SELECT DISTINCT instance_id FROM execution_logs) AS ended") == INSTANCES


async def test_claimers_at_once_never_share_an_instance(world: World) -> None:
    task = await world.task()
    names = [f"e{number}" for number in range(ACTORS)]
    for name in names:
        await world.executor(name)
    for turn in range(20):
        await world.store.submit([Submission(task_id=task.id) for _ in range(40)])

        claimed = await asyncio.gather(*[world.claim(name, limit=5) for name in names])

        taken = [one.instance_id for each in claimed for one in each]
        assert len(taken) == len(set(taken)) == 40
        assert await world.count("task_instances", "status = 'running'") == 40 * (turn + 1)
