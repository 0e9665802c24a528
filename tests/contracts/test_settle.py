"""Settle: what follows from an ending: dependents are released once, and are released."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from contracts.elapse import align, elapse, instances, ledger, moment, only, report
from contracts.world import endings
from hourhand.model.words import (
    BlockedBy,
    DependencyMode,
    OutcomeKind,
    OverlapPolicy,
    Status,
    TriggeredBy,
    UpstreamFailurePolicy,
)

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.instance import Assignment
    from hourhand.model.task import Task

RELEASED = {
    UpstreamFailurePolicy.WAIT: Status.PLANNED,
    UpstreamFailurePolicy.FAIL: Status.FAILED,
    UpstreamFailurePolicy.RUN: Status.PENDING,
}
POLICIES = pytest.mark.parametrize("policy", UpstreamFailurePolicy)


async def every(world: World, seconds: int, *upstreams: Task, **changes: Any) -> Task:
    """A task due every so many seconds, whatever else lives."""
    values = {"overlap_policy": OverlapPolicy.PARALLEL, "dependency_ids": tuple(one.id for one in upstreams), **changes}
    return await world.task(schedule=f"@every {seconds}s", **values)


async def claim(world: World, task: Task) -> list[Assignment]:
    """Claim, keeping those of one task and handing the others back."""
    claimed = await world.claim()
    await world.end([one for one in claimed if one.task_id != task.id], OutcomeKind.HANDED_BACK)
    return [one for one in claimed if one.task_id == task.id]


async def finish(world: World, task: Task, kind: OutcomeKind = OutcomeKind.SUCCESS) -> None:
    claimed = await claim(world, task)
    assert claimed, f"nothing of {task.name} could be claimed"
    await world.end(claimed, kind)


async def statuses(world: World, task: Task) -> list[Status]:
    return [one.status for one in await instances(world, task)]


async def pair(world: World, **changes: Any) -> tuple[Task, Task]:
    """An upstream and its dependent, due in the same second, both made."""
    await world.executor()
    upstream = await every(world, 60)
    dependent = await every(world, 60, upstream, **changes)
    await align(world, upstream, dependent)
    await elapse(world, 65)
    await world.store.materialise()
    return upstream, dependent


# Success


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
        at=moment(world, await world.store.now()),
    )
    await world.execute("UPDATE tasks SET wake_at = created_at WHERE id = :id", id=dependent.id)
    assert (await world.store.materialise(limit=1)).instants == 1
    assert await statuses(world, dependent) == [Status.PLANNED]
    assert (await world.store.materialise()).skipped == 1
    await world.store.sweep()
    # Its former instant was a success; where there is none, the upstream counts as failed, and failed means wait.
    assert await statuses(world, dependent) == [Status.PENDING if made_before else Status.PLANNED]


# Failure


@POLICIES
@pytest.mark.parametrize("kind", [OutcomeKind.FAILED, OutcomeKind.CANCELLED])
async def test_when_the_upstream_does_not_succeed_the_policy_decides(
    world: World, policy: UpstreamFailurePolicy, kind: OutcomeKind
) -> None:
    upstream, dependent = await pair(world, upstream_failure_policy=policy)
    await finish(world, upstream, kind)
    one = await only(world, dependent)
    assert one.status is RELEASED[policy]
    if policy is UpstreamFailurePolicy.FAIL:
        word = "failed" if kind is OutcomeKind.FAILED else "cancelled"
        assert one.error_message is not None
        assert one.error_message.startswith(f"upstream failed: task {upstream.id} at ")
        assert one.error_message.endswith(f"({word})")


@POLICIES
@pytest.mark.parametrize("how", ["disabled", "deleted", "never made"])
async def test_an_upstream_with_nothing_to_come_counts_as_failed(
    world: World, policy: UpstreamFailurePolicy, how: str
) -> None:
    upstream = await every(world, 60)
    dependent = await every(world, 60, upstream, upstream_failure_policy=policy)
    if how == "never made":
        await world.store.edit_task(upstream.id, {"schedule": "@manual"}, by="test")
    await elapse(world, 45)
    if how == "disabled":
        await world.store.edit_task(upstream.id, {"enabled": False}, by="test")
    elif how == "deleted":
        await world.store.delete_task(upstream.id, force=True, by="test")
    await elapse(world, 20)
    await world.store.materialise()
    assert await statuses(world, dependent) == [RELEASED[policy]]


@pytest.mark.parametrize("how", ["disabled", "deleted"])
async def test_a_dependent_that_waits_already_learns_that_nothing_will_come(world: World, how: str) -> None:
    upstream = await every(world, 60)
    dependent = await every(world, 60, upstream, upstream_failure_policy=UpstreamFailurePolicy.FAIL)
    await align(world, upstream, dependent)
    await elapse(world, 55)
    await world.store.materialise()
    if how == "disabled":
        await world.store.edit_task(upstream.id, {"enabled": False}, by="test")
    else:
        await world.store.delete_task(upstream.id, force=True, by="test")
    await world.store.sweep()
    assert await statuses(world, dependent) == [Status.FAILED]


async def test_a_disabled_upstream_still_has_its_former_success(world: World) -> None:
    await world.executor()
    upstream = await every(world, 60)
    dependent = await every(world, 120, upstream)
    await align(world, upstream, dependent)
    await elapse(world, 65)
    await world.store.materialise()
    await finish(world, upstream)
    await world.store.edit_task(upstream.id, {"enabled": False}, by="test")
    await elapse(world, 60)
    await world.store.materialise()
    assert await statuses(world, dependent) == [Status.PENDING]


@pytest.mark.parametrize("times", [1, 2])
async def test_a_retried_upstream_releases_whoever_still_waits(world: World, times: int) -> None:
    upstream, dependent = await pair(world)
    await finish(world, upstream, OutcomeKind.FAILED)
    for left in reversed(range(times)):
        assert await statuses(world, dependent) == [Status.PLANNED]
        await world.store.retry((await only(world, upstream)).id)
        assert await statuses(world, dependent) == [Status.PLANNED]
        await finish(world, upstream, OutcomeKind.FAILED if left else OutcomeKind.SUCCESS)
    assert await statuses(world, dependent) == [Status.PENDING]


async def test_failures_cascade(world: World) -> None:
    await world.executor()
    tasks = [await every(world, 60)]
    for _ in range(4):
        tasks.append(await every(world, 60, tasks[-1], upstream_failure_policy=UpstreamFailurePolicy.FAIL))
    await align(world, *tasks)
    await elapse(world, 65)
    await world.store.materialise()
    await finish(world, tasks[0], OutcomeKind.FAILED)
    assert [await statuses(world, task) for task in tasks] == [[Status.FAILED]] * 5
    assert await world.count("instance_waits") == 0


async def test_whoever_waits_too_long_fails(world: World) -> None:
    upstream, dependent = await pair(world, dependency_timeout_seconds=100)
    await world.store.sweep()
    assert await statuses(world, dependent) == [Status.PLANNED]
    await elapse(world, 101)
    assert await world.store.sweep() == 1
    one = await only(world, dependent)
    assert one.status is Status.FAILED
    assert (one.error_message or "").startswith(f"waited too long for: task {upstream.id} at ")


@pytest.mark.parametrize(
    ("first", "second", "policy", "expected"),
    [
        ("success", None, UpstreamFailurePolicy.WAIT, Status.PENDING),
        ("failed", None, UpstreamFailurePolicy.FAIL, Status.PLANNED),
        ("failed", "success", UpstreamFailurePolicy.FAIL, Status.PENDING),
        ("failed", "failed", UpstreamFailurePolicy.FAIL, Status.FAILED),
        ("failed", "failed", UpstreamFailurePolicy.WAIT, Status.PLANNED),
        ("failed", "failed", UpstreamFailurePolicy.RUN, Status.PENDING),
    ],
)
async def test_mode_any_needs_one(
    world: World, first: str, second: str | None, policy: UpstreamFailurePolicy, expected: Status
) -> None:
    await world.executor()
    upstreams = [await every(world, 60), await every(world, 60)]
    dependent = await every(world, 60, *upstreams, dependency_mode=DependencyMode.ANY, upstream_failure_policy=policy)
    await align(world, *upstreams, dependent)
    await elapse(world, 65)
    await world.store.materialise()
    for upstream, kind in zip(upstreams, (first, second), strict=True):
        if kind is not None:
            await finish(world, upstream, OutcomeKind(kind))
    assert await statuses(world, dependent) == [expected]


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
