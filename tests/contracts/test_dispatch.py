"""Dispatch: what was submitted as held stays planned until somebody lets it go on; a batch of them all or none."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from hourhand.model.errors import Conflict, NotFound
from hourhand.model.words import BlockedBy, Status

if TYPE_CHECKING:
    from contracts.world import World


async def test_what_is_held_is_planned_and_nobody_claims_it(world: World) -> None:
    await world.executor()

    instance = await world.store.get_instance(await world.submit(await world.task(), held=True))

    assert (instance.status, instance.blocked_by) == (Status.PLANNED, BlockedBy.DISPATCH)
    assert not await world.claim()


async def test_dispatch_makes_it_pending_from_now_on(world: World) -> None:
    await world.executor()
    held = await world.submit(await world.task(), held=True)
    before = await world.store.now()

    await world.store.dispatch([held])

    instance = await world.store.get_instance(held)
    assert (instance.status, instance.blocked_by) == (Status.PENDING, None)
    assert instance.available_at is not None
    assert instance.available_at >= before
    assert [one.instance_id for one in await world.claim()] == [held]


async def test_dispatch_keeps_a_run_at_that_is_still_to_come(world: World) -> None:
    later = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    held = await world.submit(await world.task(), held=True, run_at=later)

    await world.store.dispatch([held])

    assert (await world.store.get_instance(held)).available_at == later


async def test_a_batch_is_dispatched_together(world: World) -> None:
    task = await world.task()
    ids = [await world.submit(task, held=True) for _ in range(3)]

    await world.store.dispatch(ids)

    assert await world.count("task_instances", "status = 'pending'") == 3


async def test_one_with_a_concurrency_key_goes_on_to_wait_for_its_permit(world: World) -> None:
    held = await world.submit(await world.task(concurrency_key="k"), held=True)

    await world.store.dispatch([held])

    instance = await world.store.get_instance(held)
    assert (instance.status, instance.blocked_by) == (Status.PLANNED, BlockedBy.PERMIT)


@pytest.mark.parametrize("state", ["pending", "running", "success", "cancelled"])
async def test_what_is_not_held_refuses_the_whole_batch(world: World, state: str) -> None:
    task = await world.task()
    await world.executor()
    other = await world.submit(task)
    if state in ("running", "success"):
        claimed = await world.claim()
        if state == "success":
            await world.end(claimed)
    elif state == "cancelled":
        await world.store.cancel(other, reason="test")
    held = await world.submit(task, held=True)

    with pytest.raises(Conflict, match=f"instance {other} does not wait to be dispatched .*{state}"):
        await world.store.dispatch([held, other])

    assert (await world.store.get_instance(held)).blocked_by is BlockedBy.DISPATCH


async def test_an_unknown_instance_refuses_the_whole_batch(world: World) -> None:
    held = await world.submit(await world.task(), held=True)

    with pytest.raises(NotFound, match=f"there is no instance {held + 1}"):
        await world.store.dispatch([held, held + 1])

    assert (await world.store.get_instance(held)).blocked_by is BlockedBy.DISPATCH


async def test_of_many_who_dispatch_it_one_does(world: World) -> None:
    held = await world.submit(await world.task(), held=True)

    answers = await asyncio.gather(*[world.store.dispatch([held]) for _ in range(10)], return_exceptions=True)

    assert sum(answer is None for answer in answers) == 1
    assert all(isinstance(answer, Conflict) for answer in answers if answer is not None)
