"""Figures of this very moment are those that plain counting finds, and the signs tell who does the work."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from contracts.elapse import elapse, silence, transaction
from hourhand.model.figures import GroupFigures
from hourhand.store import figures

if TYPE_CHECKING:
    from contracts.world import World


async def of(world: World, group: str = "default") -> GroupFigures:
    found = {one.group: one for one in await world.store.figures()}
    return found[group]


async def test_an_empty_store_has_groups_and_nothing_in_them(world: World) -> None:
    await world.store.ensure_group("idle")
    assert await world.store.figures() == [GroupFigures(group="default"), GroupFigures(group="idle")]


async def test_what_waits_and_what_runs_is_told_by_group(world: World) -> None:
    for name in ("default", "other"):
        await world.executor(f"e of {name}", group=name, capacity=5)
    mine = await world.task()
    theirs = await world.task(group="other", priority=2)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    for _ in range(4):
        await world.submit(mine)
    await world.submit(mine, run_at=tomorrow)
    await world.submit(mine, held=True)
    for _ in range(3):
        await world.submit(theirs)
    await world.submit(theirs, run_at=tomorrow)
    await world.claim("e of default", limit=1)
    one, other = await of(world), await of(world, "other")
    assert (one.due, one.later, one.planned, one.running, one.zombies) == (3, 1, 1, 1, 0)
    assert (other.due, other.later, other.planned, other.running) == (3, 1, 0, 0)
    assert (one.executors, one.slots, other.executors, other.slots) == (1, 5, 1, 5)


async def test_the_oldest_due_one_says_how_long_claiming_is_behind(world: World) -> None:
    task = await world.task()
    await world.submit(task)
    await elapse(world, 500)
    await world.submit(task, priority=0)
    assert 500 <= (await of(world)).oldest_due_seconds < 560


async def test_what_has_lost_two_executors_waits_in_the_same_figure(world: World) -> None:
    await world.executor()
    task = await world.task()
    await world.submit(task)
    for _ in range(2):
        await world.claim()
        await elapse(world, 60)
        await world.store.reap()
    assert await world.count("task_instances", "loss_count = 2") == 1
    assert (await of(world)).due == 1


async def test_a_zombie_runs_by_the_store_and_has_no_lease(world: World) -> None:
    await world.executor()
    await world.submit(await world.task())
    await world.claim()
    await elapse(world, 60)
    found = await of(world)
    assert (found.running, found.zombies) == (1, 1)


async def test_slots_are_taken_by_what_executors_hold_up_to_what_they_have(world: World) -> None:
    await world.executor("busy", capacity=2)
    await world.executor("silent", capacity=50)
    await silence(world, "silent")
    await world.execute("UPDATE executors SET running = 7 WHERE id = 'busy'")
    found = await of(world)
    assert (found.executors, found.slots, found.slots_used) == (1, 2, 2)


async def test_what_has_piled_up_is_counted_up_to_a_bound(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "COUNTED_AT_MOST", 3)
    task = await world.task()
    for _ in range(5):
        await world.submit(task)
        await world.submit(task, held=True)
    await world.submit(task, priority=1)
    found = await of(world)
    assert (found.due, found.planned) == (4, 3), "three of one priority, one of another"


async def test_a_scheduler_leaves_its_sign(world: World) -> None:
    assert (await world.store.signs()).cycle_seconds is None
    await world.store.sign_cycle("s1")
    await world.store.sign_cycle("s2")
    seconds = (await world.store.signs()).cycle_seconds
    assert seconds is not None
    assert 0 <= seconds < 30


async def test_days_ahead_are_looked_at_and_not_made(cluster_world: World) -> None:
    assert (await cluster_world.store.signs()).days_ahead == 14
    day = datetime.now(UTC).date() + timedelta(days=2)
    async with transaction(cluster_world) as connection:
        await connection.execute(f"DROP TABLE instance_logs_{day:%Y%m%d}")
    assert (await cluster_world.store.signs()).days_ahead == 1
    assert (await cluster_world.store.signs()).days_ahead == 1
    await cluster_world.store.ensure_partitions()
    assert (await cluster_world.store.signs()).days_ahead == 14


async def test_sqlite_needs_no_days_ahead(sqlite_world: World) -> None:
    assert (await sqlite_world.store.signs()).days_ahead is None
