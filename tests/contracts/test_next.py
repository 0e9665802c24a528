"""When the next instance, or the next permit, is due: so that nobody has to look before."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from hourhand.model.words import OutcomeKind

if TYPE_CHECKING:
    from contracts.world import World


async def lanes(world: World) -> tuple[int, ...]:
    return (await world.store.beat("e1")).lanes


async def test_nothing_to_come_is_none(world: World) -> None:
    await world.executor()
    assert await world.store.next_available(()) is None
    assert await world.store.next_permit() is None


async def test_the_next_instance_of_a_lane_is_so_many_seconds_away(world: World) -> None:
    await world.executor()
    task = await world.task()
    now = await world.store.now()
    for minutes, priority in ((9, 0), (5, 9), (7, 5)):
        await world.submit(task, run_at=now + timedelta(minutes=minutes), priority=priority)
    seconds = await world.store.next_available(await lanes(world))
    assert seconds == pytest.approx(300, abs=30)


async def test_what_can_be_claimed_now_is_not_to_come(world: World) -> None:
    await world.executor()
    await world.submit(await world.task())
    assert await world.store.next_available(await lanes(world)) is None


async def test_what_lost_its_executor_and_what_is_retried_are_to_come_as_well(world: World) -> None:
    await world.executor()
    await world.submit(await world.task(max_retries=1, retry_delay_seconds=100, retry_backoff="fixed"))
    await world.end(await world.claim(), OutcomeKind.FAILED)
    await world.execute("UPDATE task_instances SET loss_count = 2")
    seconds = await world.store.next_available(await lanes(world))
    assert seconds is not None
    assert 30 < seconds < 300


async def test_other_lanes_do_not_count(world: World) -> None:
    await world.executor()
    await world.store.ensure_group("elsewhere")
    now = await world.store.now()
    await world.submit(await world.task(group="elsewhere"), run_at=now + timedelta(minutes=1))
    await world.submit(await world.task(), run_at=now + timedelta(minutes=5))
    assert await world.store.next_available(await lanes(world)) == pytest.approx(300, abs=30)


async def test_the_next_permit_is_so_many_seconds_away(world: World) -> None:
    task = await world.task(concurrency_key="k")
    now = await world.store.now()
    for minutes in (9, 5):
        await world.submit(task, run_at=now + timedelta(minutes=minutes))
    assert await world.store.next_permit() == pytest.approx(300, abs=30)


async def test_permits_are_given_to_all_that_wait_unless_keys_are_named(world: World) -> None:
    task = await world.task(concurrency_key="${k}")
    ids = [await world.submit(task, args={"k": key}) for key in "ab"]
    await world.executor()
    assert await world.store.give_permits(["a"]) == 1
    assert await world.store.give_permits() == 1
    assert {one.instance_id for one in await world.claim()} == set(ids)
