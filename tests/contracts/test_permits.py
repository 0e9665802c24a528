"""Permits: how many instances of a concurrency key are pending or running at once, exactly."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.elapse import elapse, instances, silence
from contracts.world import endings
from hourhand.model.words import BlockedBy, OutcomeKind, Status

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.task import Task

IN_USE = "concurrency_key IS NOT NULL AND status IN ('pending', 'running')"


async def keyed(world: World, limit: int = 1, **changes: Any) -> Task:
    return await world.task(concurrency_key="db", concurrency_limit=limit, **changes)


async def submit(world: World, task: Task, count: int, **changes: Any) -> list[int]:
    return [await world.submit(task, **changes) for _ in range(count)]


async def status(world: World, instance_id: int) -> Status:
    return (await world.store.get_instance(instance_id)).status


async def given(world: World, ids: list[int]) -> list[int]:
    """The positions of those that may be claimed."""
    return [number for number, one in enumerate(ids) if await status(world, one) is Status.PENDING]


# How many


@pytest.mark.parametrize("limit", [1, 3])
async def test_as_many_as_the_limit_may_be_claimed_and_no_more(world: World, limit: int) -> None:
    await world.executor()
    ids = await submit(world, await keyed(world, limit), 5)
    assert await given(world, ids) == list(range(limit))
    waiting = await world.store.get_instance(ids[-1])
    assert (waiting.status, waiting.blocked_by, waiting.concurrency_key) == (Status.PLANNED, BlockedBy.PERMIT, "db")
    assert len(await world.claim()) == limit
    assert await world.claim() == []


async def test_each_end_lets_the_next_one_in(world: World) -> None:
    await world.executor()
    ids = await submit(world, await keyed(world), 3)
    done = []
    while claimed := await world.claim():
        assert len(claimed) == 1
        done.append(claimed[0].instance_id)
        await world.end(claimed)
    assert done == ids
    assert await world.count("concurrency_permits") == 0


@pytest.mark.parametrize(("most", "of_the_task", "expected"), [(3, 1, 3), (1, 3, 1)])
async def test_the_limits_table_overrides_the_tasks(world: World, most: int, of_the_task: int, expected: int) -> None:
    await world.executor()
    await world.execute("INSERT INTO concurrency_limits (key, max) VALUES ('db', :max)", max=most)
    ids = await submit(world, await keyed(world, of_the_task), 5)
    assert len(await given(world, ids)) == expected


async def test_a_lowered_limit_is_reached_by_endings(world: World) -> None:
    await world.executor()
    task = await keyed(world, 3)
    await submit(world, task, 6)
    claimed = await world.claim()
    await world.store.edit_task(task.id, {"concurrency_limit": 1}, by="test")
    for one in claimed:
        assert await world.count("task_instances", IN_USE) <= 3
        await world.end([one])
        await world.store.sweep()
    assert await world.count("task_instances", IN_USE) == 1


async def test_several_tasks_share_a_key(world: World) -> None:
    await world.executor()
    ids = [(await submit(world, await keyed(world, 2), 2))[0] for _ in range(3)]
    assert await world.count("task_instances", IN_USE) == 2
    assert await given(world, ids) == [0]


async def test_of_tasks_that_share_a_key_each_keeps_its_own_limit(world: World) -> None:
    wide, narrow = await keyed(world, 3), await keyed(world, 1)
    ids = [await world.submit(task) for task in (wide, wide, narrow, wide)]
    await world.executor()
    await world.store.sweep()
    assert await given(world, ids) == [0, 1], "the third has no room beside others, and nobody overtakes it"
    await world.end(await world.claim())
    assert await given(world, ids) == [2]


async def test_arguments_make_keys_of_their_own(world: World) -> None:
    await world.executor()
    task = await world.task(concurrency_key="tenant-${tenant}")
    ids = [await world.submit(task, args={"tenant": name}) for name in ("a", "a", "b", "b", "a")]
    assert await given(world, ids) == [0, 2]
    assert (await world.store.get_instance(ids[3])).concurrency_key == "tenant-b"


# Who


async def test_permits_go_by_priority_and_then_by_age(world: World) -> None:
    task = await keyed(world)
    ids = [await world.submit(task, priority=priority) for priority in (5, 9, 1, 5, 1)]
    await world.executor()
    await world.store.sweep()
    done = [one.instance_id for one in await world.run_all()]
    assert [ids.index(one) for one in done] == [2, 4, 0, 3, 1]


@pytest.mark.parametrize("why", ["dead", "other group", "other labels"])
async def test_no_permit_is_given_to_a_lane_that_nobody_serves(world: World, why: str) -> None:
    await world.store.ensure_group("elsewhere")
    await world.executor()
    unserved: dict[str, Any] = {"other group": {"group": "elsewhere"}, "other labels": {"executor_labels": {"a": "b"}}}
    nobodys = await keyed(world, **unserved.get(why, {}))
    if why == "dead":
        await silence(world, "e1")
    (first,) = await submit(world, nobodys, 1)
    await world.store.sweep()
    assert await status(world, first) is Status.PLANNED
    if why != "dead":
        (behind,) = await submit(world, await keyed(world), 1)
        assert await status(world, behind) is Status.PENDING, "it does not wait behind one that nobody could execute"


async def test_no_permit_is_given_before_its_time(world: World) -> None:
    await world.executor()
    task = await keyed(world)
    later = await world.submit(task, priority=0, run_at=await world.store.now() + timedelta(seconds=60))
    (now,) = await submit(world, task, 1)
    assert [await status(world, one) for one in (later, now)] == [Status.PLANNED, Status.PENDING]
    await world.run_all()
    assert await status(world, later) is Status.PLANNED
    await elapse(world, 61)
    await world.store.sweep()
    assert await status(world, later) is Status.PENDING


async def test_a_scheduled_instance_gets_its_permit_at_its_instant(world: World) -> None:
    await world.executor()
    task = await keyed(world, schedule="@every 60s")
    await elapse(world, 55)
    await world.store.materialise()
    await world.store.sweep()
    assert [one.status for one in await instances(world, task)] == [Status.PLANNED]
    await elapse(world, 6)
    await world.store.sweep()
    assert [one.status for one in await instances(world, task)] == [Status.PENDING]


async def test_a_permit_is_asked_for_only_once_all_dependencies_are_met(world: World) -> None:
    await world.executor()
    upstream = await world.task()
    await world.submit(await world.task(dependency_ids=(upstream.id,)))  # so that the upstream has a ledger
    await world.submit(upstream)
    dependent = await keyed(world, dependency_ids=(upstream.id,))
    waiting = await world.submit(dependent, wait=True)
    (other,) = await submit(world, dependent, 1)
    assert [await status(world, one) for one in (waiting, other)] == [Status.PLANNED, Status.PENDING]
    await world.run_all()
    assert await status(world, waiting) is Status.SUCCESS


# Freed


@pytest.mark.parametrize(
    "kind", [OutcomeKind.SUCCESS, OutcomeKind.FAILED, OutcomeKind.TIMED_OUT, OutcomeKind.CANCELLED]
)
async def test_every_end_frees_the_permit(world: World, kind: OutcomeKind) -> None:
    await world.executor()
    ids = await submit(world, await keyed(world), 2)
    await world.end(await world.claim(), kind)
    assert await given(world, ids) == [1]
    assert await world.count("concurrency_permits") == 1


@pytest.mark.parametrize("how", ["retried", "lost", "handed back"])
async def test_an_attempt_that_goes_round_again_needs_a_new_permit(world: World, how: str) -> None:
    await world.executor()
    task = await keyed(world, max_retries=3, retry_delay_seconds=60)
    ids = await submit(world, task, 2, priority=9)
    ids.append(await world.submit(task, priority=0))
    claimed = await world.claim()
    if how == "retried":
        await world.end(claimed, OutcomeKind.FAILED)
    elif how == "handed back":
        await world.end(claimed, OutcomeKind.HANDED_BACK)
    else:
        await elapse(world, 3_600)
        assert (await world.store.reap()).requeued == 1
    assert await given(world, ids) == [2]
    first = await world.store.get_instance(ids[0])
    assert (first.status, first.blocked_by) == (Status.PLANNED, BlockedBy.PERMIT)
    assert await world.count("concurrency_permits") == 1


@pytest.mark.parametrize("how", ["cancelled", "deleted"])
async def test_one_that_never_started_gives_its_permit_back(world: World, how: str) -> None:
    await world.executor()
    task = await keyed(world)
    ids = [*await submit(world, task, 1), *await submit(world, await keyed(world), 1)]
    assert await given(world, ids) == [0]
    if how == "cancelled":
        await world.store.cancel(ids[0], reason="test")
    else:
        await world.store.delete_task(task.id, by="test")
    assert await given(world, ids) == [1]


async def test_a_manual_retry_waits_for_a_permit(world: World) -> None:
    await world.executor()
    ids = await submit(world, await keyed(world), 2)
    await world.end(await world.claim(), OutcomeKind.FAILED)
    await world.store.retry(ids[0])
    assert [await status(world, one) for one in ids] == [Status.PLANNED, Status.PENDING]


@pytest.mark.parametrize("of", ["nobody", "one that waits"])
async def test_the_sweep_frees_permits_that_nobody_uses(world: World, of: str) -> None:
    task = await keyed(world)
    (waiting,) = await submit(world, task, 1)
    holder = 999_999 if of == "nobody" else waiting
    await world.execute("INSERT INTO concurrency_permits VALUES ('db', 0, :holder)", holder=holder)
    await world.executor()
    await world.store.sweep()
    assert await status(world, waiting) is Status.PENDING
    assert await world.count("concurrency_permits") == 1


async def test_the_sweep_spares_permits_in_use(world: World) -> None:
    await world.executor()
    await submit(world, await keyed(world, 2), 4)
    await world.claim(limit=1)
    await world.store.sweep()
    assert await world.count("concurrency_permits") == await world.count("task_instances", IN_USE) == 2


# At once


async def finisher(world: World) -> int:
    done = 0
    idle = 0
    while idle < 3:
        claimed = await world.claim(limit=3)
        if done % 5 == 1:
            await world.store.flush(endings(claimed))  # it dies before it could let the next one in
        else:
            await world.end(claimed)
        idle = 0 if claimed else idle + 1
        done += len(claimed)
    return done


async def watch(world: World, until: asyncio.Event) -> int:
    """The most that were ever seen in use."""
    most = 0
    while not until.is_set():
        most = max(most, await world.count("task_instances", IN_USE))
    return most


async def test_eight_finishers_never_exceed_the_limit_and_leave_nobody_waiting(world: World) -> None:
    await world.executor()
    task = await keyed(world, 4)
    await submit(world, task, 200)
    over = asyncio.Event()
    watching = asyncio.create_task(watch(world, over))
    done = 0
    for _ in range(100):
        done += sum(await asyncio.gather(*[finisher(world) for _ in range(8)]))
        if done == 200:
            break
        await asyncio.gather(*[world.store.sweep() for _ in range(4)])
    over.set()
    assert (done, await watching) == (200, 4)
    assert await world.count("concurrency_permits") == 0
