"""Pauses: begun, listed, ended, refused, kept; and what happens when others are at work at the same time."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.elapse import elapse, instances, ledger, transaction
from contracts.plans import PostgresqlPlans, statements
from contracts.resting import EVERY, paused
from hourhand.model.audit import Author, Once
from hourhand.model.errors import InvalidInput, NotFound
from hourhand.model.pause import PauseScope

if TYPE_CHECKING:
    from contracts.world import World


# The pauses themselves


async def test_the_pauses_in_force_are_listed_with_their_names(world: World) -> None:
    task = await world.task("close_books", schedule=EVERY)
    gone = await world.task(schedule=EVERY)
    first = await paused(world, task)
    second = await paused(world, task, PauseScope.GROUP, seconds=60)
    third = await paused(world, task, PauseScope.ALL)
    await paused(world, gone)
    await world.store.delete_task(gone.id, by="ann")
    listed = await world.store.list_pauses()
    assert listed == [first, second, third]
    assert [(one.scope, one.scope_id, one.task_name, one.group) for one in listed] == [
        (PauseScope.TASK, task.id, "close_books", "default"),
        (PauseScope.GROUP, task.group_id, None, "default"),
        (PauseScope.ALL, None, None, None),
    ]
    assert (first.reason, first.owner, first.until) == ("the ledger moves", "ann", None)
    await world.store.resume(first.id)
    assert await world.store.list_pauses() == [second, third]
    assert (await world.store.get_pause(first.id)).until is not None


async def test_a_pause_that_is_over_cannot_be_resumed(world: World) -> None:
    pause = await paused(world, await world.task())
    await world.store.resume(pause.id)
    for pause_id in (pause.id, 999, 2**70, -1):
        with pytest.raises(NotFound):
            await world.store.resume(pause_id)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"reason": "  "}, "reason"),
        ({"reason": "x" * 1_001}, "reason"),
        ({"reason": "a\0b"}, "reason"),
        ({"until": timedelta(seconds=-1)}, "has passed"),
        ({"scope": PauseScope.ALL, "scope_id": 1}, "everything has no id"),
        ({"scope": PauseScope.TASK, "scope_id": None}, "name the task"),
    ],
)
async def test_a_pause_that_makes_no_sense_is_refused(world: World, wrong: dict[str, Any], said: str) -> None:
    values = {"scope": PauseScope.ALL, "scope_id": None, "reason": "r", "by": "ann", **wrong}
    if "until" in values:
        values["until"] = await world.store.now() + values["until"]
    scope, scope_id = values.pop("scope"), values.pop("scope_id")
    with pytest.raises(InvalidInput, match=said):
        await world.store.pause(scope, scope_id, **values)
    assert await world.store.list_pauses() == []


async def test_a_time_without_a_zone_is_refused(world: World) -> None:
    naive = (await world.store.now() + timedelta(days=1)).replace(tzinfo=None)
    with pytest.raises(InvalidInput, match="no time zone"):
        await world.store.pause(PauseScope.ALL, reason="r", until=naive, by="ann")


@pytest.mark.parametrize("scope", [PauseScope.TASK, PauseScope.GROUP])
async def test_what_there_is_not_cannot_be_paused(world: World, scope: PauseScope) -> None:
    for scope_id in (999, 2**70):
        with pytest.raises(NotFound, match=scope.value):
            await world.store.pause(scope, scope_id, reason="r", by="ann")
    deleted = await world.task()
    await world.store.delete_task(deleted.id, by="ann")
    with pytest.raises(NotFound):
        await paused(world, deleted)


async def test_a_pause_is_begun_once_and_kept_in_the_audit(world: World) -> None:
    once = Once(principal="user:1", route="/pauses", key="k", request_hash="h")
    store = world.store.on_behalf(Author(id="user:1", name="ann"), once=once)
    first = await store.pause(PauseScope.ALL, reason="r", by="ann")
    assert await store.pause(PauseScope.ALL, reason="r", by="ann") == first
    assert await world.store.list_pauses() == [first]
    await store.resume(first.id)
    rows = await world.sql("SELECT action, resource_type, resource_id, summary FROM audit_logs ORDER BY id")
    assert [tuple(dict(row).values()) for row in rows] == [
        ("create", "pause", str(first.id), "everything: r"),
        ("delete", "pause", str(first.id), "everything: r"),
    ]


async def test_the_audit_says_what_rests_and_why(world: World) -> None:
    task = await world.task("close_books")
    store = world.store.on_behalf(Author(id="user:1", name="ann"))
    await store.pause(PauseScope.TASK, task.id, reason="the year is closed", by="ann")
    group = await world.store.add_group("night")
    resting = await store.pause(PauseScope.GROUP, group.id, reason="a new machine", by="ann")
    await store.resume(resting.id)
    assert [one.summary for one in (await world.store.list_audit()).items] == [
        "group 'night': a new machine",
        "group 'night': a new machine",
        "task 'close_books': the year is closed",
    ]


async def test_retention_removes_what_ended_a_month_ago(world: World) -> None:
    task = await world.task()
    for seconds in (60, 3_600 * 24 * 40, None):
        await paused(world, task, seconds=seconds)
    await elapse(world, 3_600 * 24 * 31)
    await world.store.retain(days=30)
    assert await world.count("pauses") == 2


# Races


async def test_a_scheduler_that_has_not_seen_the_pause_has_what_it_makes_taken_back(cluster_world: World) -> None:
    world = cluster_world
    task = await world.task(schedule=EVERY)
    await elapse(world, 55)
    async with transaction(world) as scheduler:
        await scheduler.fetch("SELECT * FROM tasks WHERE id = $1 FOR UPDATE", task.id)
        assert await scheduler.fetch("SELECT * FROM pauses") == []
        pausing = asyncio.create_task(paused(world, task, PauseScope.ALL))
        async with asyncio.timeout(30):
            while not await scheduler.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
                await asyncio.sleep(0.01)
        made = "INSERT INTO task_instants (task_id, scheduled_time) VALUES ($1, clock_timestamp() + interval '5 s')"
        await scheduler.execute(made, task.id)
        await scheduler.execute(
            "INSERT INTO task_instances (id, task_id, task_version, group_id, scheduled_time, status, created_at,"
            " lane_id, priority, available_at, triggered_by, in_ledger)"
            " SELECT 1, task_id, 1, $2, scheduled_time, 'pending', clock_timestamp(), 1, 5, scheduled_time,"
            " 'scheduler', true FROM task_instants WHERE task_id = $1",
            task.id,
            task.group_id,
        )
    await pausing
    assert await instances(world, task) == []
    assert await ledger(world, task) == {}


async def test_a_scheduler_that_still_knows_of_the_pause_does_not_put_off_what_was_resumed(
    cluster_world: World,
) -> None:
    world = cluster_world
    task = await world.task(schedule=EVERY)
    pause = await paused(world, task)
    async with transaction(world) as scheduler:
        await scheduler.fetch("SELECT * FROM tasks WHERE id = $1 FOR UPDATE", task.id)
        resuming = asyncio.create_task(world.store.resume(pause.id))
        async with asyncio.timeout(30):
            while not await scheduler.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
                await asyncio.sleep(0.01)
        await scheduler.execute("UPDATE tasks SET wake_at = clock_timestamp() + interval '10 min'")
    await resuming
    woken = await world.store.get_task(task.id)
    assert woken.next_fire_at is not None
    assert woken.wake_at == woken.next_fire_at - world.store.look_ahead


async def test_pausing_everything_reads_no_backlog(cluster_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world = cluster_world
    task = await world.task(schedule=EVERY)
    await world.execute(
        "INSERT INTO task_instances (id, task_id, task_version, group_id, scheduled_time, status, created_at,"
        " lane_id, priority, available_at, triggered_by)"
        " SELECT n, 1000 + n % 1000, 1, :g, now(), 'pending', now(), 1, 5, now(), 'api'"
        " FROM generate_series(1000, 31000) n",
        g=task.group_id,
    )
    await world.execute(
        "INSERT INTO task_instants (task_id, scheduled_time)"
        " SELECT 1000 + n % 1000, now() + n * interval '1 s' FROM generate_series(1000, 31000) n"
    )
    for table in ("task_instances", "task_instants"):
        async with world.store.database.pool.acquire() as connection:  # type: ignore[attr-defined]  # PostgreSQL
            await connection.execute(f"ANALYZE {table}")
    await elapse(world, 55)
    await world.store.materialise()
    with statements(monkeypatch) as seen:
        await paused(world, task, PauseScope.ALL)
    plans = PostgresqlPlans(world.store)
    for statement, params in seen:
        scans = await plans.scans(statement, params, unavoidable=True)
        assert [one for one in scans if "Seq Scan on tasks" not in one] == [], "it is about all tasks"
