"""Settle: what follows from an ending: dependents are released once, and are released."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from contracts.dependencies import claim, every, finish, pair, statuses
from contracts.elapse import align, elapse, instances, ledger, moment, only, report
from contracts.world import endings
from hourhand.model.words import (
    BlockedBy,
    OutcomeKind,
    Status,
    TriggeredBy,
    UpstreamFailurePolicy,
)

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.task import Task


async def test_a_dependent_is_released_by_the_end_of_its_upstreams_instant(world: World) -> None:
    upstream, dependent = await pair(world)
    one = await only(world, dependent)
    assert (one.status, one.blocked_by) == (Status.PLANNED, BlockedBy.DEPENDENCIES)
    await finish(world, upstream)
    one = await only(world, dependent)
    assert (one.status, one.blocked_by) == (Status.PENDING, None)
    assert await world.count("instance_waits") == 0
    assert await world.count("task_instants", "unsettled IS NOT NULL") == 0


@pytest.mark.parametrize("first", ["upstream", "dependent"])
async def test_of_two_tasks_due_in_the_same_second_either_may_be_made_first(world: World, first: str) -> None:
    await world.executor()
    upstream = await every(world, 60)
    dependent = await every(world, 60, upstream)
    await align(world, upstream, dependent)
    await elapse(world, 65)
    earlier = upstream if first == "upstream" else dependent
    await world.execute("UPDATE tasks SET wake_at = created_at WHERE id = :id", id=earlier.id)
    assert (await world.store.materialise(limit=1)).instants == 1
    assert len(await instances(world, earlier)) == 1
    await world.store.sweep()
    if first == "dependent":
        assert await statuses(world, dependent) == [Status.PLANNED]
    else:
        await finish(world, upstream)
    await world.store.materialise()
    if first == "dependent":
        assert await statuses(world, dependent) == [Status.PLANNED]
        await finish(world, upstream)
    assert await statuses(world, dependent) == [Status.PENDING]


async def test_a_diamond_runs_from_top_to_bottom(world: World) -> None:
    await world.executor()
    top = await every(world, 60)
    left, right = await every(world, 60, top), await every(world, 60, top)
    bottom = await every(world, 60, left, right)
    await align(world, top, left, right, bottom)
    await elapse(world, 65)
    await world.store.materialise()
    for task, before in ((top, []), (left, [top]), (right, [top, left])):
        assert await statuses(world, bottom) == [Status.PLANNED], [one.name for one in before]
        await finish(world, task)
    assert await statuses(world, bottom) == [Status.PENDING]


async def test_across_schedules_the_latest_instant_not_after_its_own_is_waited_for(world: World) -> None:
    await world.executor()
    upstream = await every(world, 60, misfire_grace_seconds=900)
    dependent = await every(world, 90, upstream)
    await align(world, upstream, dependent)
    await elapse(world, 125)  # 60 and 120 of the one, 90 of the other
    await world.store.materialise()
    at_60, at_120 = await world.claim()
    assert at_60.scheduled_time < at_120.scheduled_time
    await world.end([at_120])
    assert await statuses(world, dependent) == [Status.PLANNED]
    await world.end([at_60])
    assert await statuses(world, dependent) == [Status.PENDING]


@pytest.mark.parametrize("made_before", [False, True])
async def test_a_skipped_instant_is_passed_over(world: World, *, made_before: bool) -> None:
    await world.executor()
    upstream = await every(world, 60)
    dependent = await every(world, 120, upstream)
    await align(world, upstream, dependent)
    if made_before:
        await elapse(world, 65)
        await world.store.materialise()
        await finish(world, upstream)
        await elapse(world, 60)
    else:
        await elapse(world, 125)
    await world.execute(
        "INSERT INTO pauses (scope, scope_id, reason, owner, created_at) VALUES ('task', :id, 'r', 'o', :at)",
        id=upstream.id,
        at=moment(world, await world.store.now() - timedelta(days=1)),
    )
    await world.execute("UPDATE tasks SET wake_at = created_at WHERE id = :id", id=dependent.id)
    assert (await world.store.materialise(limit=1)).instants == 1
    assert await statuses(world, dependent) == [Status.PLANNED]
    assert (await world.store.materialise()).skipped == 1
    await world.store.sweep()
    # Its former instant was a success; where there is none, the upstream counts as failed, and failed means wait.
    assert await statuses(world, dependent) == [Status.PENDING if made_before else Status.PLANNED]


# Other schedules


async def test_upstream_tasks_follow_several_schedules(world: World) -> None:
    await world.executor()
    often, seldom = await every(world, 60, misfire_grace_seconds=900), await every(world, 180)
    report_task = await world.task(schedule="@upstream", dependency_ids=(often.id, seldom.id))
    await align(world, often, seldom)
    await elapse(world, 185)
    await world.store.materialise()
    *early, last = sorted(await claim(world, often), key=lambda one: one.scheduled_time)
    await world.end([last])
    one = await only(world, report_task)
    assert (one.scheduled_time, one.triggered_by, one.status) == (
        last.scheduled_time,
        TriggeredBy.DEPENDENCY,
        Status.PLANNED,
    )
    await finish(world, seldom)
    assert (await only(world, report_task)).status is Status.PENDING, "made once, though both of them ended there"
    await elapse(world, 60)
    await world.store.materialise()
    await finish(world, often)
    assert await statuses(world, report_task) == [Status.PENDING] * 2, "the other one's former success is its latest"
    await world.end(early)
    assert await statuses(world, report_task) == [Status.PLANNED] * 2 + [Status.PENDING] * 2, "no instant, no success"


async def test_a_failed_upstream_instant_also_makes_an_upstream_instance(world: World) -> None:
    await world.executor()
    upstream = await every(world, 60)
    follower = await world.task(
        schedule="@upstream", dependency_ids=(upstream.id,), upstream_failure_policy=UpstreamFailurePolicy.FAIL
    )
    await elapse(world, 65)
    await world.store.materialise()
    await finish(world, upstream, OutcomeKind.FAILED)
    assert await statuses(world, follower) == [Status.FAILED]


async def test_a_disabled_upstream_task_follows_nothing(world: World) -> None:
    await world.executor()
    upstream = await every(world, 60)
    follower = await world.task(schedule="@upstream", dependency_ids=(upstream.id,), enabled=False)
    await elapse(world, 65)
    await world.store.materialise()
    await finish(world, upstream)
    assert await instances(world, follower) == []


@pytest.mark.parametrize(("bad", "expected"), [(0, Status.PENDING), (1, Status.FAILED)])
async def test_a_broadcast_upstream_counts_when_all_its_shards_have_ended(
    world: World, bad: int, expected: Status
) -> None:
    for name in ("e1", "e2", "e3"):
        await world.executor(name)
    upstream = await every(world, 60, broadcast=True)
    dependent = await every(world, 60, upstream, upstream_failure_policy=UpstreamFailurePolicy.FAIL)
    await align(world, upstream, dependent)
    await elapse(world, 65)
    await world.store.materialise()
    for number, name in enumerate(("e1", "e2", "e3")):
        assert await statuses(world, dependent) == [Status.PLANNED]
        await world.end(await world.claim(name), OutcomeKind.FAILED if number < bad else OutcomeKind.SUCCESS)
    assert await statuses(world, dependent) == [expected]
    (row,) = (await ledger(world, upstream)).values()
    assert (row["shards_left"], row["shards_failed"], row["outcome"]) == (0, bad, "failed" if bad else "success")


async def test_a_submission_waits_for_dependencies_only_when_asked_to(world: World) -> None:
    await world.executor()
    upstream = await world.task()
    dependent = await world.task(dependency_ids=(upstream.id,))
    by_hand = await world.submit(upstream)
    ignoring, waiting = await world.submit(dependent), await world.submit(dependent, wait=True)
    assert (await world.store.get_instance(ignoring)).status is Status.PENDING
    assert (await world.store.get_instance(waiting)).status is Status.PLANNED
    await finish(world, upstream)
    assert (await world.store.get_instance(by_hand)).status is Status.SUCCESS
    assert (await world.store.get_instance(waiting)).status is Status.PENDING


# Crashes


async def crash_after_the_end(world: World, upstream: Task) -> None:
    """The end is committed; whoever reported it dies before anything follows."""
    await world.store.flush(endings(await claim(world, upstream)))


@pytest.mark.parametrize("by", ["settle", "sweep"])
async def test_a_crash_between_the_end_and_the_release_only_delays(world: World, by: str) -> None:
    upstream, dependent = await pair(world)
    await crash_after_the_end(world, upstream)
    assert await statuses(world, dependent) == [Status.PLANNED]
    assert await world.count("task_instants", "unsettled IS NOT NULL") == 1
    assert await (world.store.settle() if by == "settle" else world.store.sweep()) == 1
    assert await statuses(world, dependent) == [Status.PENDING]
    await world.store.settle()
    assert await world.count("task_instants", "unsettled IS NOT NULL") == 0
    assert await world.store.settle() == 0


@pytest.mark.parametrize("schedule", ["@upstream", "@after 30s"])
async def test_a_crash_delays_what_else_follows_from_an_end(world: World, schedule: str) -> None:
    await world.executor()
    upstream = await world.task(schedule="@after 30s")
    follower = await world.task(schedule="@upstream", dependency_ids=(upstream.id,))
    await world.store.materialise()
    await crash_after_the_end(world, upstream)
    assert (await world.store.get_task(upstream.id)).next_fire_at is None
    assert await instances(world, follower) == []
    await world.store.settle()
    if schedule == "@upstream":
        assert await statuses(world, follower) == [Status.PENDING]
    else:
        assert (await world.store.get_task(upstream.id)).next_fire_at is not None


async def test_an_instance_made_but_never_evaluated_is_found_by_the_sweep(world: World) -> None:
    upstream, dependent = await pair(world)
    await crash_after_the_end(world, upstream)
    await world.execute("UPDATE task_instants SET unsettled = NULL")
    assert await world.store.sweep() == 1
    assert await statuses(world, dependent) == [Status.PENDING]
    assert await world.store.sweep() == 0


async def test_whoever_settles_and_however_often_a_dependent_is_released_once(world: World) -> None:
    upstream, dependent = await pair(world)
    await crash_after_the_end(world, upstream)
    await asyncio.gather(*[world.store.settle() for _ in range(4)], *[world.store.sweep() for _ in range(4)])
    (claimed,) = await claim(world, dependent)
    assert claimed.fence == 1
    await asyncio.gather(*[world.store.settle() for _ in range(4)], *[world.store.sweep() for _ in range(4)])
    one = await only(world, dependent)
    assert (one.status, one.fence) == (Status.RUNNING, 1)
    await report(world, one)
