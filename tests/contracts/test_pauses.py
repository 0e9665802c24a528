"""Pauses: what a task, a group or everything does while it rests, and when it goes on."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from contracts.elapse import elapse, instances, ledger, only, skips
from contracts.resting import EVERY, OF_LANES, SCOPES, at, made_ahead, paused, recorded
from hourhand.model.hints import Hint
from hourhand.model.pause import PauseScope
from hourhand.model.words import MisfirePolicy, OutcomeKind, SkipReason, Status, TriggeredBy
from hourhand.store.materialise import RECORDED_EVERY

if TYPE_CHECKING:
    from contracts.world import World


# The schedule rests


@pytest.mark.parametrize("scope", SCOPES)
async def test_the_instants_of_a_pause_are_one_recorded_skip(world: World, scope: PauseScope) -> None:
    task = await world.task(schedule=EVERY)
    await paused(world, task, scope)
    await elapse(world, 55)
    early = await world.store.materialise()
    assert (early.tasks, early.instants, early.skipped) == (1, 0, 0), "not before they have come"
    await elapse(world, 60 * 20)
    assert (await world.store.materialise()).skipped == 1
    assert await recorded(world, task) == [(SkipReason.PAUSED, 20)]
    (skip,) = await skips(world, task)
    assert skip.error_message == "skipped: the task, its group or everything was paused (20 instants)"
    assert await ledger(world, task) == {}


async def test_what_falls_due_in_a_pause_is_recorded_every_ten_minutes(world: World) -> None:
    task = await world.task(schedule=EVERY)
    await paused(world, task)
    await elapse(world, 55)
    await world.store.materialise()
    resting = await world.store.get_task(task.id)
    assert resting.wake_at is not None
    now = await world.store.now()
    assert abs(resting.wake_at - now - RECORDED_EVERY) < timedelta(seconds=30)


async def test_who_depends_on_a_paused_task_does_not_wait_for_the_record(world: World) -> None:
    task = await world.task(schedule=EVERY)
    await world.task(schedule="@upstream", dependency_ids=(task.id,))
    await paused(world, task)
    await elapse(world, 55)
    await world.store.materialise()
    resting = await world.store.get_task(task.id)
    assert resting.wake_at == resting.next_fire_at


@pytest.mark.parametrize("scope", SCOPES)
async def test_what_was_made_ahead_is_taken_back_and_cannot_be_claimed(world: World, scope: PauseScope) -> None:
    await world.executor()
    task = await made_ahead(world, concurrency_key="k", dependency_ids=())
    other = await world.task(schedule="@manual")
    left = await world.submit(other)
    await paused(world, task, scope)
    assert await instances(world, task) == []
    assert await ledger(world, task) == {}
    assert (await world.store.get_task(task.id)).next_fire_at == at(task, 1)
    assert (await world.store.get_instance(left)).status is Status.PENDING
    await world.store.materialise()
    await elapse(world, 600)
    await world.store.materialise()
    claimed = [] if scope in OF_LANES else [left]
    assert [one.instance_id for one in await world.claim()] == claimed
    assert [reason for reason, _ in await recorded(world, task)] == [SkipReason.PAUSED]


async def test_what_waited_for_a_turn_or_for_others_is_taken_back_with_its_waits(world: World) -> None:
    upstream = await world.task(schedule=EVERY)
    task = await world.task(schedule=EVERY, dependency_ids=(upstream.id,))
    await elapse(world, 55)
    assert (await world.store.materialise()).instants == 2
    assert await world.count("instance_waits") == 1
    await paused(world, task)
    assert await world.count("instance_waits") == 0
    assert len(await instances(world, upstream)) == 1, "it is not paused"


@pytest.mark.parametrize("scope", SCOPES)
async def test_instants_after_the_end_are_made_as_usual(world: World, scope: PauseScope) -> None:
    task = await made_ahead(world)
    await paused(world, task, scope, seconds=30)
    await world.store.materialise()
    resting = await world.store.get_task(task.id)
    assert resting.wake_at is not None
    assert resting.wake_at - await world.store.now() < timedelta(seconds=30), "it is looked at when the pause ends"
    await elapse(world, 55)
    assert (await world.store.materialise()).instants == 1
    assert await recorded(world, task) == [(SkipReason.PAUSED, 1)]
    assert list(await ledger(world, task)) == [at(await world.store.get_task(task.id), 2)]


async def test_a_pause_that_is_over_counts_for_the_instants_it_held_however_late_they_are_looked_at(
    world: World,
) -> None:
    task = await world.task(schedule=EVERY)
    await elapse(world, 150)
    await paused(world, task, seconds=120)  # two instants came before it, two lie in it
    await elapse(world, 60 * 60)
    await world.store.materialise()
    missed, paused_then, missed_then, _overlap = await recorded(world, task)
    assert (missed, paused_then, missed_then[0]) == (
        (SkipReason.MISFIRE, 2),
        (SkipReason.PAUSED, 2),
        SkipReason.MISFIRE,
    )
    assert len(await instances(world, task)) == 1, "fire_once"


async def test_caught_up_is_what_was_missed_but_not_what_was_paused(world: World) -> None:
    task = await world.task(schedule=EVERY, misfire_policy=MisfirePolicy.CATCH_UP, misfire_grace_seconds=1)
    await elapse(world, 90)
    await paused(world, task, seconds=120)
    await elapse(world, 300)
    await world.store.materialise()
    task = await world.store.get_task(task.id)
    assert list(await ledger(world, task)) == [at(task, number) for number in (1, 4, 5, 6)]
    assert await recorded(world, task) == [(SkipReason.PAUSED, 2)]


async def test_a_run_of_skips_ends_where_an_instant_was_made(world: World) -> None:
    task = await world.task(schedule=EVERY, misfire_policy=MisfirePolicy.CATCH_UP, misfire_grace_seconds=0)
    await paused(world, task, seconds=90)
    await elapse(world, 150)
    await paused(world, task, seconds=60)
    await elapse(world, 60)
    await world.store.materialise()
    assert await recorded(world, task) == [(SkipReason.PAUSED, 1), (SkipReason.PAUSED, 1)]


async def test_pauses_add_up(world: World) -> None:
    task = await made_ahead(world)
    first = await paused(world, task, PauseScope.ALL)
    await paused(world, task, PauseScope.TASK, seconds=120)
    await world.store.resume(first.id)
    await world.store.materialise()
    await elapse(world, 130)
    await world.store.materialise()
    assert await recorded(world, task) == [(SkipReason.PAUSED, 2)]
    assert [one.scheduled_time for one in await instances(world, task)] == [at(await world.store.get_task(task.id), 3)]


async def test_resuming_makes_what_comes_next_and_records_what_has_passed(world: World) -> None:
    task = await world.task(schedule=EVERY)
    pause = await paused(world, task)
    await elapse(world, 55)
    await world.store.materialise()
    await elapse(world, 120)  # five seconds before the third
    assert (await world.store.materialise()).tasks == 0, "it rests"
    await world.store.resume(pause.id)
    assert (await world.store.materialise()).instants == 1
    assert await recorded(world, task) == [(SkipReason.PAUSED, 2)]
    task = await world.store.get_task(task.id)
    assert list(await ledger(world, task)) == [at(task, 3)]


async def test_an_after_task_goes_on_its_delay_after_the_pause(world: World) -> None:
    await world.executor()
    task = await world.task(schedule="@after 60s")
    await world.store.materialise()
    pause = await paused(world, task)
    await world.run_all()
    await elapse(world, 300)
    await world.store.materialise()
    assert await recorded(world, task) == [(SkipReason.PAUSED, 1)]
    assert (await world.store.get_task(task.id)).next_fire_at is not None
    await world.store.resume(pause.id)
    await elapse(world, 65)
    assert (await world.store.materialise()).instants == 1


async def test_an_after_task_that_was_made_ahead_is_taken_back(world: World) -> None:
    await world.executor()
    task = await world.task(schedule="@after 5s")
    await world.store.materialise()
    await world.run_all()
    assert (await world.store.materialise()).instants == 1
    pause = await paused(world, task)
    assert await world.count("task_instances") == 0
    await world.store.resume(pause.id)
    assert (await world.store.materialise()).instants == 1


async def test_a_broadcast_rests_too(world: World) -> None:
    await world.executor("e1")
    task = await world.task(schedule=EVERY, broadcast=True)
    await paused(world, task, seconds=90)
    await elapse(world, 125)
    await world.store.materialise()
    assert await recorded(world, task) == [(SkipReason.PAUSED, 1)]
    assert [one.target_executor_id for one in await instances(world, task)] == ["e1"]


@pytest.mark.parametrize(
    ("scope", "made"), [(PauseScope.TASK, False), (PauseScope.GROUP, True), (PauseScope.ALL, True)]
)
async def test_what_follows_an_upstream_is_skipped_if_its_task_rests_and_waits_if_its_group_does(
    world: World, scope: PauseScope, *, made: bool
) -> None:
    await world.executor()
    upstream = await world.task(schedule="@manual")
    task = await world.task(schedule="@upstream", dependency_ids=(upstream.id,))
    await world.submit(upstream)
    claimed = await world.claim()
    await paused(world, task, scope)
    await world.end(claimed)
    assert await recorded(world, task) == ([] if made else [(SkipReason.PAUSED, 1)])
    assert [one.status for one in await instances(world, task)] == [Status.PENDING] * made


async def test_an_upstream_that_ends_again_in_a_pause_does_not_skip_what_was_made(world: World) -> None:
    await world.executor()
    upstream = await world.task(schedule="@manual")
    task = await world.task(schedule="@upstream", dependency_ids=(upstream.id,))
    instance_id = await world.submit(upstream)
    await world.run_all(kind=OutcomeKind.FAILED)
    await paused(world, task)
    await world.store.retry(instance_id)
    await world.run_all()
    assert await recorded(world, task) == []
    assert len(await instances(world, task)) == 1


# Edits, backfills


async def test_an_edit_in_a_pause_changes_what_comes_after_it(world: World) -> None:
    task = await made_ahead(world)
    await paused(world, task, seconds=3_600)
    await elapse(world, 65)
    await world.store.edit_task(task.id, {"schedule": "@every 30s"}, by="ann")
    assert await recorded(world, task) == [(SkipReason.PAUSED, 2)]
    await world.store.materialise()
    await elapse(world, 3_600)
    await world.store.materialise()
    reasons = [reason for reason, _ in await recorded(world, task)]
    assert reasons[:2] == [SkipReason.PAUSED, SkipReason.PAUSED]
    assert (await instances(world, task))[0].task_version == 2


async def test_a_task_that_leaves_a_paused_group_fires_again(world: World) -> None:
    other = await world.store.ensure_group("other")
    task = await world.task(schedule=EVERY, group="other")
    await world.store.pause(PauseScope.GROUP, other.id, reason="r", by="ann")
    await elapse(world, 65)
    await world.store.edit_task(task.id, {"group": "default"}, by="ann")
    await elapse(world, 60)
    assert (await world.store.materialise()).instants == 1
    assert await recorded(world, task) == [(SkipReason.PAUSED, 1)]


async def test_a_paused_stretch_can_be_backfilled_also_before_it_is_recorded(world: World) -> None:
    await world.executor()
    task = await world.task(schedule=EVERY)
    await paused(world, task)
    await elapse(world, 185)
    task = await world.store.get_task(task.id)
    made = await world.store.backfill(task.id, at(task, 1), at(task, 3), by="ann")
    assert made == 3
    assert await recorded(world, task) == [(SkipReason.PAUSED, 3)]
    assert [one.triggered_by for one in await instances(world, task)] == [TriggeredBy.BACKFILL] * 3
    assert len(await world.claim()) == 3, "its schedule rests, what people ask for runs"


# Lanes


@pytest.mark.parametrize("scope", OF_LANES)
async def test_nothing_is_claimed_until_the_pause_is_over_and_what_runs_goes_on(
    world: World, scope: PauseScope
) -> None:
    await world.executor()
    task = await world.task()
    await world.submit(task)
    running = await world.claim()
    waiting = await world.submit(task)
    pause = await paused(world, task, scope)
    assert await world.claim() == []
    (ended,) = await world.end(running)
    assert ended.status is Status.SUCCESS
    await world.store.resume(pause.id)
    assert [one.instance_id for one in await world.claim()] == [waiting]


async def test_what_is_submitted_to_a_paused_task_runs(world: World) -> None:
    await world.executor()
    task = await world.task(schedule=EVERY)
    await paused(world, task)
    instance_id = await world.submit(task)
    assert [one.instance_id for one in await world.claim()] == [instance_id]


async def test_a_pause_ends_by_itself(world: World) -> None:
    await world.executor()
    task = await world.task()
    await world.submit(task)
    await paused(world, task, PauseScope.ALL, seconds=60)
    assert await world.claim() == []
    await elapse(world, 61)
    assert len(await world.claim()) == 1
    assert await world.store.list_pauses() == []


async def test_a_paused_group_is_given_no_permits(world: World) -> None:
    await world.executor("e1")
    await world.executor("e2", group="other")
    task = await world.task(concurrency_key="k", priority=0)
    other = await world.task(concurrency_key="k", group="other")
    pause = await paused(world, task, PauseScope.GROUP)
    await world.submit(task)
    passing = await world.submit(other)
    assert [one.instance_id for one in await world.claim("e2")] == [passing]
    await world.store.resume(pause.id)
    await world.run_all("e2")
    assert (await only(world, task)).status is Status.PLANNED, "the permit is still taken"


async def test_schedulers_and_executors_are_told(world: World) -> None:
    task = await world.task()
    heard: list[Hint] = []
    forget = [
        world.store.listen(Hint.WAKE, lambda _: heard.append(Hint.WAKE)),
        world.store.listen(Hint.PENDING, lambda _: heard.append(Hint.PENDING)),
    ]
    pause = await paused(world, task)
    async with asyncio.timeout(30):
        while set(heard) < {Hint.WAKE, Hint.PENDING}:
            await asyncio.sleep(0.01)
        heard.clear()
        await world.store.resume(pause.id)
        while set(heard) < {Hint.WAKE, Hint.PENDING}:
            await asyncio.sleep(0.01)
    for one in forget:
        one()
