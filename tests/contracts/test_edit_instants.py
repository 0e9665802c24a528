"""Edit: instants up to the edit follow the old definition, later ones the new; none is lost, none made twice."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.elapse import elapse, instances, ledger, only, skips, transaction
from hourhand.model.words import MisfirePolicy, OverlapPolicy, SkipReason, Status, TriggeredBy
from hourhand.store.materialise import materialise
from hourhand.store.postgresql import PostgresqlTx

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.task import Task

EVERY = "@every 60s"
LOOK_AHEAD = timedelta(seconds=10)


def at(task: Task, number: int) -> datetime:
    return task.anchored_at + timedelta(seconds=60 * number)


async def change(world: World, task: Task, **changes: Any) -> Task:
    return await world.store.edit_task(task.id, changes, by="ann")


async def made_ahead(world: World, **changes: Any) -> Task:
    """Five seconds before its first instant, whose instance exists already."""
    task = await world.task(schedule=EVERY, **changes)
    await elapse(world, 55)
    assert (await world.store.materialise()).instants == 1
    return await world.store.get_task(task.id)


NOT_THE_SCHEDULE = [{"priority": 1}, {"dependency_ids": []}, {"broadcast": True}, {"payload": {"command": ["false"]}}]
THE_SCHEDULE = [{"schedule": "@every 90s"}, {"timezone": "Asia/Shanghai"}, {"enabled": False}]


@pytest.mark.parametrize("changes", [*NOT_THE_SCHEDULE[:1], *THE_SCHEDULE], ids=str)
async def test_what_came_due_before_the_edit_follows_the_old_definition(world: World, changes: dict[str, Any]) -> None:
    task = await world.task(schedule=EVERY, priority=5)
    await elapse(world, 65)
    due = at(await world.store.get_task(task.id), 1)
    await change(world, task, **changes)
    one = await only(world, task)
    assert (one.scheduled_time, one.task_version, one.priority) == (due, 1, 5)


async def test_what_was_missed_before_the_edit_is_skipped_by_the_old_policy(world: World) -> None:
    task = await world.task(schedule=EVERY, misfire_policy=MisfirePolicy.SKIP)
    await elapse(world, 330)
    task = await world.store.get_task(task.id)
    await change(world, task, schedule="@daily", misfire_policy="catch_up")
    (skip,) = await skips(world, task)
    assert (skip.skip_reason, skip.scheduled_time) == (SkipReason.MISFIRE, at(task, 1))
    assert skip.summary == {"count": 4, "last": at(task, 4).isoformat()}
    assert [one.scheduled_time for one in await instances(world, task)] == [at(task, 5)]


@pytest.mark.parametrize("changes", [{"schedule": "@daily"}, {"enabled": False}, "deleted"], ids=str)
async def test_however_many_came_due_before_the_edit_none_is_lost(world: World, changes: dict[str, Any] | str) -> None:
    task = await world.task(schedule="@every 1s", misfire_grace_seconds=7_200, overlap_policy=OverlapPolicy.PARALLEL)
    await elapse(world, 1_500)
    if isinstance(changes, dict):
        await change(world, task, **changes)
    else:
        await world.store.delete_task(task.id, by="ann")
    assert 1_500 <= len(await ledger(world, task)) <= 1_520


@pytest.mark.parametrize("changes", [NOT_THE_SCHEDULE[0], NOT_THE_SCHEDULE[3]], ids=str)
async def test_what_was_made_ahead_is_taken_back_and_made_again_from_the_new_definition(
    world: World, changes: dict[str, Any]
) -> None:
    task = await made_ahead(world)
    edited = await change(world, task, **changes)
    assert (await instances(world, task), await ledger(world, task)) == ([], {})
    assert (edited.next_fire_at, edited.wake_at) == (at(task, 1), at(task, 1) - LOOK_AHEAD)
    assert (await world.store.materialise()).instants == 1
    one = await only(world, task)
    assert (one.scheduled_time, one.task_version) == (at(task, 1), 2)


async def test_a_task_that_becomes_a_broadcast_is_made_at_the_instant(world: World) -> None:
    task = await made_ahead(world)
    edited = await change(world, task, broadcast=True)
    assert edited.wake_at == edited.next_fire_at == at(task, 1)


async def test_dependencies_that_were_added_are_waited_for(world: World) -> None:
    task, upstream = await made_ahead(world), await world.task()
    await change(world, task, dependency_ids=[upstream.id])
    await world.store.materialise()
    assert (await only(world, task)).status is Status.PLANNED
    await change(world, task, dependency_ids=[])
    assert await world.count("instance_waits") == 0
    await world.store.materialise()
    assert (await only(world, task)).status is Status.PENDING


async def test_a_new_schedule_begins_at_the_edit(world: World) -> None:
    task = await made_ahead(world)
    edited = await change(world, task, schedule="@every 90s")
    assert edited.anchored_at == edited.updated_at > task.anchored_at
    assert edited.next_fire_at == edited.anchored_at + timedelta(seconds=90)
    assert edited.wake_at == edited.next_fire_at - LOOK_AHEAD
    assert (await instances(world, task), await ledger(world, task)) == ([], {})


async def test_a_new_zone_moves_the_instants_of_a_cron(world: World) -> None:
    task = await world.task(schedule="0 12 * * *")
    edited = await change(world, task, timezone="Asia/Shanghai")
    assert edited.next_fire_at is not None
    assert edited.next_fire_at.hour == 4


async def test_an_edit_of_something_else_keeps_the_anchor(world: World) -> None:
    task = await world.task(schedule=EVERY)
    await elapse(world, 20)
    task = await world.store.get_task(task.id)
    edited = await change(world, task, priority=1)
    assert (edited.anchored_at, edited.next_fire_at) == (task.anchored_at, task.next_fire_at)


@pytest.mark.parametrize("claimed", [False, True])
async def test_an_instance_whose_instant_has_come_keeps_its_version(world: World, *, claimed: bool) -> None:
    await world.executor()
    task = await made_ahead(world)
    await elapse(world, 6)
    if claimed:
        assert len(await world.claim()) == 1
    await change(world, task, priority=1, schedule="@every 90s")
    one = await only(world, task)
    assert (one.task_version, one.status) == (1, Status.RUNNING if claimed else Status.PENDING)


async def test_disabling_takes_back_and_enabling_begins_anew(world: World) -> None:
    task = await made_ahead(world)
    disabled = await change(world, task, enabled=False)
    assert (disabled.next_fire_at, disabled.wake_at) == (None, None)
    assert await instances(world, task) == []
    await elapse(world, 600)
    assert (await world.store.materialise()).tasks == 0
    enabled = await change(world, task, enabled=True)
    now = await world.store.now()
    assert enabled.next_fire_at is not None
    assert now < enabled.next_fire_at <= now + timedelta(seconds=60)
    assert (enabled.next_fire_at - enabled.anchored_at) % timedelta(seconds=60) == timedelta(0)
    assert (await instances(world, task), await skips(world, task)) == ([], [])


async def test_enabling_an_after_task_fires_at_once(world: World) -> None:
    task = await world.task(schedule="@after 1h", enabled=False)
    await elapse(world, 600)
    enabled = await change(world, task, enabled=True)
    assert enabled.next_fire_at == enabled.updated_at
    assert (await world.store.materialise()).instants == 1


async def test_submissions_for_later_survive_an_edit(world: World) -> None:
    task = await made_ahead(world)
    later = await world.store.now() + timedelta(hours=1)
    by_hand = await world.submit(task, run_at=later, triggered_by=TriggeredBy.MANUAL)
    by_api = await world.submit(task, run_at=later)
    for changes in ({"priority": 1}, {"schedule": "@daily"}, {"enabled": False}):
        await change(world, task, **changes)
        assert {one.id for one in await instances(world, task)} == {by_hand, by_api}


async def test_a_retried_instance_of_a_later_instant_survives_an_edit(world: World) -> None:
    task = await made_ahead(world)
    ahead = await only(world, task)
    await world.store.cancel(ahead.id, reason="test")
    await world.store.retry(ahead.id)
    await change(world, task, priority=1)
    assert [one.id for one in await instances(world, task)] == [ahead.id]


async def test_an_edit_does_not_wait_for_instances_that_it_leaves_alone(cluster_world: World) -> None:
    world = cluster_world
    task = await made_ahead(world)
    later = await world.store.now() + timedelta(hours=1)
    others = [await world.submit(task), await world.submit(task, run_at=later)]
    async with transaction(world) as connection:
        await connection.fetch("SELECT 1 FROM task_instances WHERE id = ANY ($1) FOR UPDATE", others)
        async with asyncio.timeout(2):
            await change(world, task, priority=1)
    assert [one.id for one in await instances(world, task)] == others


async def test_whoever_waits_for_an_instance_that_is_taken_back_waits_for_its_successor(world: World) -> None:
    await world.executor()
    upstream = await world.task(schedule="@yearly")
    dependent = await world.task(schedule="@yearly", dependency_ids=(upstream.id,))
    await _wake_all(world)
    await change(world, upstream, priority=1)
    await world.store.sweep()
    assert (await only(world, dependent)).status is Status.PLANNED
    await _wake_all(world)
    await elapse(world, 366 * 86_400)
    await world.run_all()
    assert (await only(world, dependent)).status is Status.SUCCESS


async def _wake_all(world: World) -> None:
    """Look at every task now, a year ahead."""
    await world.execute("UPDATE tasks SET wake_at = anchored_at WHERE wake_at IS NOT NULL")
    ahead, world.store.look_ahead = world.store.look_ahead, timedelta(days=366)
    await world.store.materialise()
    world.store.look_ahead = ahead


# Races


@pytest.mark.parametrize("changes", [{"priority": 1}, {"schedule": "@every 45s"}, {"enabled": False}], ids=str)
async def test_an_edit_during_materialisation_neither_loses_nor_repeats_an_instant(
    world: World, changes: dict[str, Any]
) -> None:
    tasks = [await world.task(schedule=EVERY, overlap_policy=OverlapPolicy.PARALLEL) for _ in range(20)]
    await elapse(world, 115)  # one has passed, another is within the look-ahead
    await asyncio.gather(
        *[world.store.materialise(limit=3) for _ in range(10)], *[change(world, task, **changes) for task in tasks]
    )
    await world.store.materialise()
    for task in tasks:
        found = await instances(world, task)
        assert len({one.scheduled_time for one in found}) == len(found)
        assert found[0].scheduled_time == at(task, 1) - timedelta(seconds=115)
        assert [one.task_version for one in found[1:]] == [2] * ("priority" in changes)


async def test_an_edit_waits_for_the_materialisation_that_holds_its_task(cluster_world: World) -> None:
    world = cluster_world
    task = await world.task(schedule=EVERY)
    await elapse(world, 55)
    async with transaction(world) as connection:
        made = await materialise(PostgresqlTx(connection), limit=10, look_ahead=LOOK_AHEAD, lease_seconds=15)
        assert made.instants == 1
        editing = asyncio.create_task(change(world, task, priority=1))
        await asyncio.sleep(0.1)
        assert not editing.done()
    await editing
    assert await ledger(world, task) == {}
    await world.store.materialise()
    assert (await only(world, task)).task_version == 2
