"""Rows that a newer release wrote, or somebody by hand: who cannot read one goes on with all others (guarantee 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts.dependencies import every, finish, pair, statuses
from contracts.elapse import align, elapse, instances
from contracts.newer import WORD, newer_version, newer_word
from contracts.rows import expire
from hourhand.model.errors import StoreError
from hourhand.model.instance import Held
from hourhand.model.words import OutcomeKind, Status
from hourhand.store.rows import say_once

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.instance import Assignment
    from hourhand.model.task import Task

DAMAGES: dict[str, dict[str, Any]] = {
    "type": {"type": "java"},
    "a policy": {"executor_loss_policy": WORD},
    "a number": {"max_retries": "three"},
    "a list": {"tags": 7},
    "a name": {"name": 5},
}


@pytest.fixture(autouse=True)
def silent() -> None:
    """Let what an earlier test has led to be said again."""
    say_once.cache_clear()


async def two_running(world: World, **damage: Any) -> tuple[Assignment, Assignment]:
    """Attempts of a task whose version cannot be read, and of one whose version can."""
    await world.executor()
    bad, good = await world.task(max_retries=3), await world.task(max_retries=3, retry_delay_seconds=0)
    for task in (bad, good):
        await world.submit(task)
    first, second = sorted(await world.claim(), key=lambda one: one.task_id)
    assert first.task_id == bad.id
    await newer_version(world, bad.id, **(damage or DAMAGES["type"]))
    return first, second


# Versions


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
async def test_a_version_that_cannot_be_read_is_left_out_of_the_definitions_and_said_once(
    world: World, damage: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    bad, good = await world.task(), await world.task()
    await newer_version(world, bad.id, **damage)

    for _ in range(3):
        assert list(await world.store.definitions([(bad.id, 1), (good.id, 1)])) == [(good.id, 1)]

    (said,) = [record.message for record in caplog.records]
    (name,) = damage
    assert f"version 1 of task {bad.id}" in said
    assert f"its {name} is {damage[name]!r}" in said


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
async def test_an_attempt_whose_version_cannot_be_read_ends_by_the_defaults_and_holds_up_nobody(
    world: World, damage: dict[str, Any]
) -> None:
    bad, good = await two_running(world, **damage)

    ended = await world.end([bad, good], OutcomeKind.FAILED)

    assert {one.instance_id: one.status for one in ended} == {
        bad.instance_id: Status.FAILED,  # no retries, by default
        good.instance_id: Status.PENDING,
    }


async def test_lost_attempts_are_taken_back_beside_one_whose_version_cannot_be_read(world: World) -> None:
    claimed = await two_running(world)
    await expire(world)

    assert (await world.store.reap()).requeued == 2

    assert {(await world.store.get_instance(one.instance_id)).status for one in claimed} == {Status.PENDING}


async def test_what_is_not_held_is_given_back_beside_one_whose_version_cannot_be_read(world: World) -> None:
    claimed = await two_running(world)

    await world.store.hand_back_unheld("e1", [])

    assert {(await world.store.get_instance(one.instance_id)).status for one in claimed} == {Status.PENDING}


async def test_the_list_of_versions_leaves_out_what_cannot_be_read(world: World) -> None:
    task = await world.task()
    await newer_version(world, task.id, type="java")
    await world.store.edit_task(task.id, {"priority": 1}, by="test")

    page = await world.store.list_versions(task.id)

    assert [one.version for one in page.items] == [2]


async def test_a_retry_that_needs_a_version_that_cannot_be_read_is_refused_in_words(world: World) -> None:
    await world.executor()
    task = await world.task(broadcast=True)
    shard = await world.submit(task)
    await world.store.cancel(shard, reason="test")
    await newer_version(world, task.id, type="java")

    with pytest.raises(StoreError, match=f"version 1 of task {task.id} cannot be read: its type is 'java'"):
        await world.store.retry(shard)


# Tasks


async def test_a_task_that_cannot_be_read_is_postponed_and_the_others_are_made(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    good, bad = await every(world, 60), await every(world, 60)
    await align(world, good, bad)
    await elapse(world, 65)
    due = (await world.store.get_task(bad.id)).next_fire_at

    async with newer_word(world, "tasks", "misfire_policy", bad.id):
        assert (await world.store.materialise()).tasks == 2
        assert (await world.store.materialise()).tasks == 0  # not before a while
        assert len(await instances(world, good)) == 1
    assert f"task {bad.id} ({bad.name!r}) cannot be read: its misfire_policy is {WORD!r}" in caplog.text

    kept = await world.store.get_task(bad.id)
    assert kept.next_fire_at == due
    assert kept.wake_at is not None
    assert kept.wake_at > await world.store.now()
    await elapse(world, 65)
    await world.store.materialise()
    assert await instances(world, bad)  # made late, not missed


async def test_a_scheduler_to_which_no_due_task_is_readable_goes_on(world: World) -> None:
    bad = await every(world, 60)
    await align(world, bad)
    await elapse(world, 65)

    async with newer_word(world, "tasks", "type", bad.id):
        assert (await world.store.materialise()).tasks == 1
        wake = await world.store.next_wake()

    assert wake is not None
    assert wake > await world.store.now()


async def test_a_task_that_cannot_be_read_is_missing_from_the_list_alone(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    tasks = [await world.task(f"t{number}") for number in range(4)]

    async with newer_word(world, "tasks", "overlap_policy", tasks[1].id):
        assert [one.name for one in (await world.store.list_tasks()).items] == ["t0", "t2", "t3"]
        found, cursor = [], None
        for _ in tasks:
            page = await world.store.list_tasks(limit=1, cursor=cursor)
            found += [one.name for one in page.items]
            cursor = page.next_cursor
        assert (found, cursor) == (["t0", "t2", "t3"], None)
        words = f"task {tasks[1].id} \\('t1'\\) cannot be read: its overlap_policy is '{WORD}'"
        for ask in (world.store.get_task(tasks[1].id), world.store.find_task("t1"), world.submit(tasks[1])):
            with pytest.raises(StoreError, match=words):
                await ask

    assert [record.message.count("'t1'") for record in caplog.records] == [1]
    assert (await world.store.find_task("t1")).id == tasks[1].id


async def _upstreams(world: World) -> tuple[Task, Task, Task]:
    """A task with two dependents that follow it, and its first instance claimed and ended unsettled."""
    await world.executor()
    upstream = await every(world, 60)
    following = [await world.task(schedule="@upstream", dependency_ids=(upstream.id,)) for _ in range(2)]
    await align(world, upstream)
    await elapse(world, 65)
    await world.store.materialise()
    return upstream, following[0], following[1]


async def test_an_ending_is_settled_for_all_dependents_but_the_one_that_cannot_be_read_which_follows_later(
    world: World,
) -> None:
    upstream, bad, good = await _upstreams(world)

    async with newer_word(world, "tasks", "retry_backoff", bad.id):
        await finish(world, upstream)
        assert len(await instances(world, good)) == 1
        assert await world.store.settle() == 0  # it is left to who can
        assert await instances(world, bad) == []

    assert await world.store.settle() == 1
    assert [len(await instances(world, one)) for one in (bad, good)] == [1, 1]
    assert await world.store.settle() == 0


async def test_who_waits_by_a_word_that_is_unknown_waits_and_the_others_are_released(world: World) -> None:
    upstream, bad = await pair(world)
    good = await every(world, 60, upstream)
    submitted = await world.submit(good, wait=True)

    async with newer_word(world, "tasks", "dependency_mode", bad.id):
        await finish(world, upstream)
        await world.store.sweep()
        assert await statuses(world, bad) == [Status.PLANNED]
        assert (await world.store.get_instance(submitted)).status is Status.PENDING

    await world.store.sweep()
    assert await statuses(world, bad) == [Status.PENDING]


# Instances and executors


async def test_an_instance_that_cannot_be_read_is_missing_from_the_list_alone(world: World) -> None:
    task = await world.task()
    ids = [await world.submit(task) for _ in range(3)]

    async with newer_word(world, "task_instances", "triggered_by", ids[1]):
        assert [one.id for one in (await world.store.list_instances()).items] == [ids[2], ids[0]]
        with pytest.raises(StoreError, match=f"instance {ids[1]} cannot be read: its triggered_by is '{WORD}'"):
            await world.store.get_instance(ids[1])


async def test_an_executor_that_cannot_be_read_goes_on_and_so_do_the_others(world: World) -> None:
    await world.executor("other")
    await world.executor("strange")
    await world.submit(await world.task())

    async with newer_word(world, "executors", "kind", "strange"):
        assert [one.id for one in await world.store.list_executors()] == ["other"]
        (claimed,) = await world.claim("strange")
        assert (await world.store.beat("strange", [Held(claimed.instance_id, claimed.fence)])).registered
        await world.submit(await world.task(broadcast=True))
        assert len(await world.claim("other")) == 1  # its shard; there is none for who cannot be read
        await expire(world)
        assert (await world.store.reap()).requeued == 2
