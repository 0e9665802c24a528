"""Settle: what becomes of dependents whose upstreams fail, are skipped, disabled, deleted, or never end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contracts.dependencies import every, finish, pair, statuses
from contracts.elapse import align, elapse, only
from hourhand.model.words import (
    DependencyMode,
    OutcomeKind,
    Status,
    UpstreamFailurePolicy,
)

if TYPE_CHECKING:
    from contracts.world import World

RELEASED = {
    UpstreamFailurePolicy.WAIT: Status.PLANNED,
    UpstreamFailurePolicy.FAIL: Status.FAILED,
    UpstreamFailurePolicy.RUN: Status.PENDING,
}
POLICIES = pytest.mark.parametrize("policy", UpstreamFailurePolicy)


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


@pytest.mark.parametrize("followed", [True, False])
@pytest.mark.parametrize("policy", [UpstreamFailurePolicy.RUN, UpstreamFailurePolicy.FAIL])
async def test_whoever_waits_follows_a_policy_that_is_changed_meanwhile(
    world: World, policy: UpstreamFailurePolicy, monkeypatch: pytest.MonkeyPatch, *, followed: bool
) -> None:
    upstream, dependent = await pair(world)
    await finish(world, upstream, OutcomeKind.FAILED)
    assert (await only(world, dependent)).status is Status.PLANNED
    with monkeypatch.context() as crash:
        if not followed:  # whoever edited died before it could look after what follows

            async def nothing(_: object) -> None:
                return

            crash.setattr(world.store, "follow", nothing)
        await world.store.edit_task(dependent.id, {"upstream_failure_policy": policy.value}, by="test")
    await world.store.sweep()
    assert (await only(world, dependent)).status is RELEASED[policy]
