"""Following: `@after`, `@upstream` and waits, where the plain course of events is left."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from contracts.dependencies import every, finish, statuses
from contracts.elapse import align, elapse, instances, moment
from hourhand.model.instance import Submission
from hourhand.model.words import OutcomeKind, SkipReason, Status
from hourhand.store.release import EVALUATED_AT_ONCE

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.task import Task


@pytest.mark.parametrize("schedule", ["@after 30s", "@After  30S", "  @AFTER 30s "])
async def test_after_is_armed_again_however_it_is_written(world: World, schedule: str) -> None:
    await world.executor()
    task = await world.task(schedule=schedule)
    await world.store.materialise()

    await finish(world, task)

    assert (await world.store.get_task(task.id)).next_fire_at is not None


async def test_after_goes_on_when_the_clock_is_set_back(world: World) -> None:
    await world.executor()
    task = await world.task(schedule="@after 30s")
    await world.store.materialise()
    await finish(world, task)
    await elapse(world, -3_600)  # what was made now lies an hour ahead
    now = await world.store.now()
    await world.execute(
        "UPDATE tasks SET next_fire_at = :at, wake_at = :at WHERE id = :id", at=moment(world, now), id=task.id
    )
    await world.store.materialise()

    await finish(world, task)

    armed = (await world.store.get_task(task.id)).next_fire_at
    assert armed is not None
    assert armed > now + timedelta(minutes=50)  # above its newest instant, which is made only once


async def test_after_is_not_armed_by_a_retried_one_while_another_lives(world: World) -> None:
    await world.executor()
    task = await world.task(schedule="@after 1s")
    await world.store.materialise()
    (first,) = await world.claim()
    await world.end([first], OutcomeKind.FAILED)
    await elapse(world, 5)
    await world.store.materialise()
    (second,) = await world.claim()
    await world.store.retry(first.instance_id)
    (again,) = await world.claim()

    await world.end([again])
    assert (await world.store.get_task(task.id)).next_fire_at is None

    await world.end([second])
    assert (await world.store.get_task(task.id)).next_fire_at is not None


@pytest.mark.parametrize("schedule", ["@upstream", "@Upstream"])
async def test_a_broadcast_follows_its_upstream_to_every_executor(world: World, schedule: str) -> None:
    names = {await world.executor(name) for name in ("e1", "e2", "e3")}
    upstream = await world.task()
    dependent = await world.task(schedule=schedule, dependency_ids=(upstream.id,), broadcast=True)
    await world.submit(upstream)

    await finish(world, upstream)

    made = await instances(world, dependent)
    assert {one.target_executor_id for one in made} == names
    assert {one.shard_total for one in made} == {3}


async def test_a_broadcast_that_nobody_can_receive_is_a_recorded_skip(world: World) -> None:
    await world.executor()
    upstream = await world.task()
    labels = {"gpu": "yes"}
    dependent = await world.task(
        schedule="@upstream", dependency_ids=(upstream.id,), broadcast=True, executor_labels=labels
    )
    await world.submit(upstream)

    await finish(world, upstream)

    logs = (await world.store.list_logs()).items
    assert [one.skip_reason for one in logs if one.task_id == dependent.id] == [SkipReason.NO_EXECUTOR]


async def test_a_dependent_goes_on_when_the_skipped_instant_it_lacked_is_backfilled(world: World) -> None:
    await world.executor()
    upstream = await every(world, 60, misfire_policy="skip", misfire_grace_seconds=1)
    dependent = await every(world, 60, upstream)
    await align(world, upstream, dependent)
    await elapse(world, 65)
    await world.store.materialise()
    await world.store.sweep()
    assert await statuses(world, dependent) == [Status.PLANNED]

    task = await world.store.get_task(upstream.id)
    assert await world.store.backfill(upstream.id, task.anchored_at, await world.store.now(), by="me") == 1
    await finish(world, upstream)
    await world.store.sweep()

    assert await statuses(world, dependent) == [Status.PENDING]


async def test_more_dependents_than_one_transaction_evaluates_are_all_released(world: World) -> None:
    await world.executor()
    upstream = await world.task()
    dependent: Task = await world.task(dependency_ids=(upstream.id,))
    await world.submit(upstream)
    count = EVALUATED_AT_ONCE * 2 + 7
    await world.store.submit([Submission(task_id=dependent.id, wait=True) for _ in range(count)])
    assert await world.count("task_instances", "blocked_by = 'dependencies'") == count

    await finish(world, upstream)

    assert await world.count("task_instances", "status = 'pending'") == count
    assert await world.count("task_instants", "unsettled IS NOT NULL") == 0
