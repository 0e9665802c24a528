"""Turns: of a task whose instances may not overlap never two run at once, whatever is cancelled in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contracts.elapse import elapse, instances
from hourhand.model.words import MisfirePolicy, OutcomeKind, OverlapPolicy, Status

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.task import Task


async def three_due(world: World, policy: OverlapPolicy) -> Task:
    """The first instance runs, the second and third came due behind it."""
    await world.executor()
    task = await world.task(schedule="@every 60s", overlap_policy=policy)
    await elapse(world, 61)
    await world.store.materialise()
    assert len(await world.claim()) == 1
    for _ in range(2):
        await elapse(world, 60)
        await world.store.materialise()
    return task


async def test_replace_waits_for_the_one_that_runs_although_the_one_between_is_gone(world: World) -> None:
    task = await three_due(world, OverlapPolicy.REPLACE)

    assert await world.claim() == []
    first, second, third = await instances(world, task)
    assert (first.status, first.cancel_requested) == (Status.RUNNING, True)
    assert second.status is Status.CANCELLED
    assert third.status is Status.PLANNED


async def test_replace_goes_on_when_the_one_that_ran_has_stopped(world: World) -> None:
    task = await three_due(world, OverlapPolicy.REPLACE)
    first, *_ = await instances(world, task)
    (running,) = [one for one in await instances(world, task) if one.status is Status.RUNNING]

    await world.store.finish(
        [world.ending(running.id, running.fence, OutcomeKind.CANCELLED)],
    )

    assert [one.scheduled_time for one in await world.claim()] == [(await instances(world, task))[2].scheduled_time]
    assert (await world.store.get_instance(first.id)).error_message == (
        "replaced by the next instance (overlap_policy is replace)"
    )


async def test_serial_keeps_its_turn_when_the_one_before_it_is_cancelled(world: World) -> None:
    task = await three_due(world, OverlapPolicy.SERIAL)
    first, second, third = await instances(world, task)

    await world.store.cancel(second.id, reason="not needed")

    assert await world.claim() == []
    await world.store.finish([world.ending(first.id, first.fence, OutcomeKind.SUCCESS)])
    assert [one.instance_id for one in await world.claim()] == [third.id]


async def test_a_retried_predecessor_neither_counts_nor_holds_its_successor(world: World) -> None:
    task = await three_due(world, OverlapPolicy.SERIAL)
    first, second, _third = await instances(world, task)
    await world.store.finish([world.ending(first.id, first.fence, OutcomeKind.FAILED)])

    await world.store.retry(first.id)

    assert sorted(one.instance_id for one in await world.claim()) == [first.id, second.id]


@pytest.mark.parametrize("policy", [OverlapPolicy.SKIP, OverlapPolicy.SERIAL])
async def test_what_is_caught_up_comes_one_after_the_other(world: World, policy: OverlapPolicy) -> None:
    await world.executor()
    await world.task(schedule="@every 60s", misfire_policy=MisfirePolicy.CATCH_UP, overlap_policy=policy)
    await elapse(world, 60 * 4 + 50)

    await world.store.materialise()

    turns = 0
    while claimed := await world.claim():
        assert len(claimed) == 1
        await world.end(claimed)
        turns += 1
    assert turns == (3 if policy is OverlapPolicy.SKIP else 4)  # the fourth is not missed: for it `skip` holds
