"""Backfill: a range of instants on request, only those that were never made."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.elapse import elapse, instances, ledger, skips
from hourhand.model.errors import InvalidInput, NotFound
from hourhand.model.words import MisfirePolicy, Status, TriggeredBy
from hourhand.store.backfill import LEDGER_FLOOR
from hourhand.store.types import to_micros

if TYPE_CHECKING:
    from datetime import datetime

    from contracts.world import World
    from hourhand.model.task import Task


async def overslept(world: World, **changes: Any) -> Task:
    """Five instants have passed, the first four were skipped as missed."""
    task = await world.task(schedule="@every 60s", misfire_policy=MisfirePolicy.SKIP, **changes)
    await elapse(world, 330)
    await world.store.materialise()
    assert len(await skips(world, task)) >= 1
    return await world.store.get_task(task.id)


def at(task: Task, number: int) -> datetime:
    return task.anchored_at + timedelta(seconds=60 * number)


async def test_only_instants_that_were_never_made_are_made(world: World) -> None:
    task = await overslept(world)
    assert await world.store.backfill(task.id, at(task, 3), await world.store.now(), by="ann") == 2
    made = await instances(world, task)
    assert [(one.scheduled_time, one.triggered_by, one.requested_by) for one in made] == [
        (at(task, 3), TriggeredBy.BACKFILL, "ann"),
        (at(task, 4), TriggeredBy.BACKFILL, "ann"),
        (at(task, 5), TriggeredBy.SCHEDULER, None),
    ]
    assert all(one.status is Status.PENDING and one.in_ledger for one in made)
    assert await world.store.backfill(task.id, at(task, 3), await world.store.now(), by="ann") == 0


async def test_both_ends_of_the_range_belong_to_it(world: World) -> None:
    task = await overslept(world)
    assert await world.store.backfill(task.id, at(task, 2), at(task, 3), by="ann") == 2
    assert sorted(await ledger(world, task)) == [at(task, 2), at(task, 3), at(task, 5)]


@pytest.mark.parametrize("naive", ["from", "to"])
async def test_a_time_without_a_zone_is_refused(world: World, naive: str) -> None:
    task = await overslept(world)
    times = {"from": at(task, 2), "to": at(task, 3)}
    times[naive] = times[naive].replace(tzinfo=None)
    with pytest.raises(InvalidInput, match="no time zone") as refused:
        await world.store.backfill(task.id, times["from"], times["to"], by="ann")
    assert refused.value.errors[0].field == naive


async def test_instants_still_to_come_are_left_to_the_scheduler(world: World) -> None:
    task = await world.task(schedule="@every 60s", misfire_grace_seconds=900, overlap_policy="parallel")
    await elapse(world, 330)
    assert await world.store.backfill(task.id, at(task, -100), at(task, 1_000), by="ann") == 0
    assert (await world.store.materialise()).instants == 5
    assert await world.store.backfill(task.id, at(task, -100), at(task, 1_000), by="ann") == 0, "all are in the ledger"


async def test_of_a_disabled_task_all_that_has_passed_can_be_made(world: World) -> None:
    task = await world.task(schedule="@every 60s", enabled=False)
    await elapse(world, 150)
    task = await world.store.get_task(task.id)
    assert await world.store.backfill(task.id, at(task, 1), at(task, 9), by="ann") == 2


async def test_a_backfilled_instance_waits_for_its_dependencies(world: World) -> None:
    upstream = await world.task()
    task = await overslept(world, dependency_ids=(upstream.id,))
    await world.store.backfill(task.id, at(task, 3), at(task, 3), by="ann")
    assert (await instances(world, task))[0].status is Status.PLANNED


async def test_a_range_that_cannot_be_answered_is_refused_and_nothing_is_made(world: World) -> None:
    task, manual = await overslept(world), await world.task()
    now = await world.store.now()
    many = await world.task(schedule="@every 1s", enabled=False)
    await elapse(world, 20_000)
    floor = now - timedelta(seconds=15_000)
    await world.execute(
        "INSERT INTO store_values (name, number) VALUES (:name, :number)", name=LEDGER_FLOOR, number=to_micros(floor)
    )
    for task_id, begin, end, field, right in (
        (task.id, floor - timedelta(seconds=1), now, "from", "begin there or later"),
        (task.id, now, now - timedelta(seconds=1), "from", "is after `to`"),
        (manual.id, floor, now, "schedule", "run the task instead"),
        (many.id, floor, now, "to", "shorter"),
    ):
        with pytest.raises(InvalidInput) as refused:
            await world.store.backfill(task_id, begin, end, by="ann")
        assert [error.field for error in refused.value.errors] == [field]
        assert right in str(refused.value)
    assert await world.count("task_instances", "triggered_by = 'backfill'") == 0
    with pytest.raises(NotFound):
        await world.store.backfill(999_999, floor, now, by="ann")


async def test_a_broadcast_is_backfilled_to_those_alive_or_refused(world: World) -> None:
    task = await overslept(world, broadcast=True)
    with pytest.raises(InvalidInput, match="alive"):
        await world.store.backfill(task.id, at(task, 2), at(task, 2), by="ann")
    for name in ("e1", "e2"):
        await world.executor(name)
    assert await world.store.backfill(task.id, at(task, 2), at(task, 2), by="ann") == 1
    assert [one.target_executor_id for one in await instances(world, task)] == ["e1", "e2"]
