"""Figures of what lives: what waits, what runs, who is there to do it, and what has been running for long."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from contracts.elapse import silence
from contracts.past import end
from contracts.rows import expire, shift, stamp
from hourhand.model.errors import InvalidInput
from hourhand.model.instance import Progress
from hourhand.model.words import TaskType

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.stats import Standing


def living(one: Standing) -> tuple[int, ...]:
    return one.pending_due, one.pending_later, one.planned, one.running, one.zombies


async def test_what_waits_and_runs_is_counted_in_all_and_by_group(world: World) -> None:
    await world.executor("e1", capacity=3)
    await world.executor("e2", capacity=5, group="second")
    await world.executor("e3", capacity=100)
    await silence(world, "e3")
    first, second = await world.task(), await world.task(group="second")
    for _ in range(5):
        await world.submit(first)
    await world.claim("e1", limit=3)
    later = await world.store.now() + timedelta(hours=1)
    await world.submit(first, run_at=later)
    await world.submit(first, held=True)
    await world.submit(second)
    found = await world.store.overview()
    assert [one.group_id for one in found.groups] == [first.group_id, second.group_id]
    by_default, by_second = found.groups
    assert living(by_default) == (2, 1, 1, 3, 0)
    assert living(by_second) == (1, 0, 0, 0, 0)
    assert living(found.total) == (3, 1, 1, 3, 0)
    assert [(one.executors, one.capacity) for one in (*found.groups, found.total)] == [(1, 3), (1, 5), (2, 8)]
    limited = await world.store.overview(groups=[second.group_id])
    assert limited.groups == (by_second,)
    assert living(limited.total) == living(by_second)
    assert (limited.total.executors, limited.total.capacity) == (1, 5)


async def test_a_zombie_is_counted_until_it_is_reaped_and_then_as_a_loss(world: World) -> None:
    await world.executor()
    task = await world.task(max_retries=3)
    one = await world.submit(task)
    for losses in range(3):
        await world.claim()
        assert living((await world.store.overview()).total) == (0, 0, 0, 1, 0)
        await expire(world)
        assert living((await world.store.overview()).total) == (0, 0, 0, 1, 1)
        await world.store.reap()
        waiting = 1 if losses < 2 else 0
        total = (await world.store.overview()).total
        assert living(total) == (waiting, 0, 0, 0, 0), "also one that has lost two executors waits"
    assert (total.failed, total.losses) == (1, 3)
    (failure,) = (await world.store.failures()).reasons
    assert (failure.instance_id, [task.id for task in failure.tasks]) == (one, [task.id])
    assert "was lost" in failure.reason


async def test_the_distribution_counts_the_living_by_type_and_kind(world: World) -> None:
    await world.executor()
    task, other = await world.task(), await world.task(group="default")
    await world.execute("UPDATE tasks SET type = 'operation' WHERE id = :id", id=other.id)
    await world.submit(task)
    await world.claim()
    await world.submit(task)
    await world.submit(task, held=True)
    await world.submit(other, operation_kind="archive")
    now = await world.store.now()
    found = (await world.store.distribution(now - timedelta(hours=1), now)).shares
    assert [(one.type, one.operation_kind, one.planned, one.pending, one.running) for one in found] == [
        ("command", None, 1, 1, 1),
        ("operation", "archive", 0, 1, 0),
    ]
    assert (await world.store.distribution(now - timedelta(hours=1), now, groups=[])).shares == ()


async def running(world: World, count: int) -> list[int]:
    """Instances that began an hour, two hours, three hours ago."""
    await world.executor(capacity=100)
    ids = []
    for number in range(count):
        one = await world.submit(await world.task())
        await world.claim()
        await shift(world, "start_time", -3600 * (number + 1), f"id = {one}")
        ids.append(one)
    return ids


async def test_what_runs_longer_than_asked_for_is_listed_the_longest_first(world: World) -> None:
    ids = await running(world, 3)
    (claimed,) = [one for one in (await world.store.list_instances()).items if one.id == ids[2]]
    await world.store.report_progress(
        [Progress(instance_id=ids[2], fence=claimed.fence, progress=0.25, phase="copying")]
    )
    await expire(world, f"id = {ids[1]}")
    found = (await world.store.long_running(minutes=30)).items
    assert [one.instance_id for one in found] == ids[::-1]
    assert [one.instance_id for one in (await world.store.long_running(minutes=90)).items] == ids[:0:-1]
    assert (await world.store.long_running(minutes=181)).items == ()
    first = found[0]
    assert (first.progress, first.phase, first.executor_id, first.type) == (0.25, "copying", "e1", TaskType.COMMAND)
    assert (first.task_id, first.task_name) == (claimed.task_id, claimed.task_name)
    assert 3 * 3_600 <= first.running_seconds < 3 * 3_600 + 600
    assert [one.zombie for one in found] == [False, True, False]
    assert all(one.median_ms is None for one in found)
    assert len((await world.store.long_running(task_type=TaskType.COMMAND)).items) == 3
    assert (await world.store.long_running(task_type=TaskType.HTTP)).items == ()
    assert (await world.store.long_running(groups=[])).items == ()


async def test_long_running_ones_come_in_pages(world: World) -> None:
    ids = await running(world, 5)
    began = await world.store.now() - timedelta(hours=9)
    await world.execute(f"UPDATE task_instances SET start_time = :at WHERE id >= {ids[3]}", at=stamp(world, began))  # noqa: S608 - an id
    seen, cursor = [], None
    for size in (2, 2, 1):
        page = await world.store.long_running(limit=2, cursor=cursor)
        assert len(page.items) == size
        seen += [one.instance_id for one in page.items]
        cursor = page.next_cursor
    assert cursor is None
    assert seen == [ids[3], ids[4], ids[2], ids[1], ids[0]]
    for limit in (0, 201):
        with pytest.raises(InvalidInput, match="out of range"):
            await world.store.long_running(limit=limit)
    with pytest.raises(InvalidInput, match="is not a cursor"):
        await world.store.long_running(cursor="x")


async def test_beside_it_stands_the_median_of_what_its_task_took_lately(world: World) -> None:
    (one,) = await running(world, 1)
    task_id = (await world.store.get_instance(one)).task_id
    now = await world.store.now()
    ended = {"task_id": task_id, "group_id": 1}
    times = [5, 7, 1_000, 11, 13]
    await end(
        world,
        [
            *({**ended, "end_time": now - timedelta(minutes=n), "duration_ms": ms} for n, ms in enumerate(times)),
            {**ended, "end_time": now, "duration_ms": 10**6, "status": "failed"},
        ],
    )
    (found,) = (await world.store.long_running()).items
    assert found.median_ms == 11
    # Of many only the last fifty count.
    many = [{**ended, "end_time": now - timedelta(seconds=1, milliseconds=n), "duration_ms": 40} for n in range(50)]
    await end(world, many)
    (found,) = (await world.store.long_running()).items
    assert found.median_ms == 40
