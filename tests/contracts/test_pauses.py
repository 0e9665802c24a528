"""Pauses: what a task, a group or everything does while it rests, and when it goes on."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.elapse import elapse, instances, ledger, only, skips, transaction
from contracts.plans import PostgresqlPlans, statements
from hourhand.model.audit import Author, Once
from hourhand.model.errors import InvalidInput, NotFound
from hourhand.model.hints import Hint
from hourhand.model.pause import PauseScope
from hourhand.model.words import MisfirePolicy, OutcomeKind, SkipReason, Status, TriggeredBy
from hourhand.store.materialise import RECORDED_EVERY

if TYPE_CHECKING:
    from datetime import datetime

    from contracts.world import World
    from hourhand.model.pause import Pause
    from hourhand.model.task import Task

EVERY = "@every 60s"
SCOPES = list(PauseScope)
OF_LANES = [PauseScope.GROUP, PauseScope.ALL]


async def paused(
    world: World, task: Task, scope: PauseScope = PauseScope.TASK, *, seconds: float | None = None
) -> Pause:
    """Pause the task, its group or everything, for so long or until it is resumed."""
    scope_id = {PauseScope.TASK: task.id, PauseScope.GROUP: task.group_id, PauseScope.ALL: None}[scope]
    until = None if seconds is None else await world.store.now() + timedelta(seconds=seconds)
    return await world.store.pause(scope, scope_id, reason="the ledger moves", until=until, by="ann")


async def made_ahead(world: World, **changes: Any) -> Task:
    """Five seconds before its first instant, whose instance exists already."""
    task = await world.task(schedule=EVERY, **changes)
    await elapse(world, 55)
    assert (await world.store.materialise()).instants == 1
    return await world.store.get_task(task.id)


def at(task: Task, number: int) -> datetime:
    return task.anchored_at + timedelta(seconds=60 * number)


async def recorded(world: World, task: Task) -> list[tuple[SkipReason | None, int]]:
    """The skips of a task: why, and how many instants."""
    return [(one.skip_reason, (one.summary or {})["count"]) for one in await skips(world, task)]


# The schedule rests


@pytest.mark.parametrize("scope", SCOPES)
async def test_the_instants_of_a_pause_are_one_recorded_skip(world: World, scope: PauseScope) -> None:
    task = await world.task(schedule=EVERY)
    await paused(world, task, scope)
    await elapse(world, 55)
    early = await world.store.materialise()
    assert (early.tasks, early.instants, early.skipped) == (1, 0, 0), "not before they have come"
    await elapse(world, 60 * 20)
    assert (await world.store.materialise()).skipped == 1
    assert await recorded(world, task) == [(SkipReason.PAUSED, 20)]
    (skip,) = await skips(world, task)
    assert skip.error_message == "skipped: the task, its group or everything was paused (20 instants)"
    assert await ledger(world, task) == {}


async def test_what_falls_due_in_a_pause_is_recorded_every_ten_minutes(world: World) -> None:
    task = await world.task(schedule=EVERY)
    await paused(world, task)
    await elapse(world, 55)
    await world.store.materialise()
    resting = await world.store.get_task(task.id)
    assert resting.wake_at is not None
    now = await world.store.now()
    assert abs(resting.wake_at - now - RECORDED_EVERY) < timedelta(seconds=30)


async def test_who_depends_on_a_paused_task_does_not_wait_for_the_record(world: World) -> None:
    task = await world.task(schedule=EVERY)
    await world.task(schedule="@upstream", dependency_ids=(task.id,))
    await paused(world, task)
    await elapse(world, 55)
    await world.store.materialise()
    resting = await world.store.get_task(task.id)
    assert resting.wake_at == resting.next_fire_at


@pytest.mark.parametrize("scope", SCOPES)
async def test_what_was_made_ahead_is_taken_back_and_cannot_be_claimed(world: World, scope: PauseScope) -> None:
    await world.executor()
    task = await made_ahead(world, concurrency_key="k", dependency_ids=())
    other = await world.task(schedule="@manual")
    left = await world.submit(other)
    await paused(world, task, scope)
    assert await instances(world, task) == []
    assert await ledger(world, task) == {}
    assert (await world.store.get_task(task.id)).next_fire_at == at(task, 1)
    assert (await world.store.get_instance(left)).status is Status.PENDING
    await world.store.materialise()
    await elapse(world, 600)
    await world.store.materialise()
    claimed = [] if scope in OF_LANES else [left]
    assert [one.instance_id for one in await world.claim()] == claimed
    assert [reason for reason, _ in await recorded(world, task)] == [SkipReason.PAUSED]


async def test_what_waited_for_a_turn_or_for_others_is_taken_back_with_its_waits(world: World) -> None:
    upstream = await world.task(schedule=EVERY)
    task = await world.task(schedule=EVERY, dependency_ids=(upstream.id,))
    await elapse(world, 55)
    assert (await world.store.materialise()).instants == 2
    assert await world.count("instance_waits") == 1
    await paused(world, task)
    assert await world.count("instance_waits") == 0
    assert len(await instances(world, upstream)) == 1, "it is not paused"


@pytest.mark.parametrize("scope", SCOPES)
async def test_instants_after_the_end_are_made_as_usual(world: World, scope: PauseScope) -> None:
    task = await made_ahead(world)
    await paused(world, task, scope, seconds=30)
    await world.store.materialise()
    resting = await world.store.get_task(task.id)
    assert resting.wake_at is not None
    assert resting.wake_at - await world.store.now() < timedelta(seconds=30), "it is looked at when the pause ends"
    await elapse(world, 55)
    assert (await world.store.materialise()).instants == 1
    assert await recorded(world, task) == [(SkipReason.PAUSED, 1)]
    assert list(await ledger(world, task)) == [at(await world.store.get_task(task.id), 2)]


async def test_a_pause_that_is_over_counts_for_the_instants_it_held_however_late_they_are_looked_at(
    world: World,
) -> None:
    task = await world.task(schedule=EVERY)
    await elapse(world, 150)
    await paused(world, task, seconds=120)  # two instants came before it, two lie in it
    await elapse(world, 60 * 60)
    await world.store.materialise()
    missed, paused_then, missed_then, _overlap = await recorded(world, task)
    assert (missed, paused_then, missed_then[0]) == (
        (SkipReason.MISFIRE, 2),
        (SkipReason.PAUSED, 2),
        SkipReason.MISFIRE,
    )
    assert len(await instances(world, task)) == 1, "fire_once"


async def test_caught_up_is_what_was_missed_but_not_what_was_paused(world: World) -> None:
    task = await world.task(schedule=EVERY, misfire_policy=MisfirePolicy.CATCH_UP, misfire_grace_seconds=1)
    await elapse(world, 90)
    await paused(world, task, seconds=120)
    await elapse(world, 300)
    await world.store.materialise()
    task = await world.store.get_task(task.id)
    assert list(await ledger(world, task)) == [at(task, number) for number in (1, 4, 5, 6)]
    assert await recorded(world, task) == [(SkipReason.PAUSED, 2)]


async def test_a_run_of_skips_ends_where_an_instant_was_made(world: World) -> None:
    task = await world.task(schedule=EVERY, misfire_policy=MisfirePolicy.CATCH_UP, misfire_grace_seconds=0)
    await paused(world, task, seconds=90)
    await elapse(world, 150)
    await paused(world, task, seconds=60)
    await elapse(world, 60)
    await world.store.materialise()
    assert await recorded(world, task) == [(SkipReason.PAUSED, 1), (SkipReason.PAUSED, 1)]


async def test_pauses_add_up(world: World) -> None:
    task = await made_ahead(world)
    first = await paused(world, task, PauseScope.ALL)
    await paused(world, task, PauseScope.TASK, seconds=120)
    await world.store.resume(first.id)
    await world.store.materialise()
    await elapse(world, 130)
    await world.store.materialise()
    assert await recorded(world, task) == [(SkipReason.PAUSED, 2)]
    assert [one.scheduled_time for one in await instances(world, task)] == [at(await world.store.get_task(task.id), 3)]


async def test_resuming_makes_what_comes_next_and_records_what_has_passed(world: World) -> None:
    task = await world.task(schedule=EVERY)
    pause = await paused(world, task)
    await elapse(world, 55)
    await world.store.materialise()
    await elapse(world, 120)  # five seconds before the third
    assert (await world.store.materialise()).tasks == 0, "it rests"
    await world.store.resume(pause.id)
    assert (await world.store.materialise()).instants == 1
    assert await recorded(world, task) == [(SkipReason.PAUSED, 2)]
    task = await world.store.get_task(task.id)
    assert list(await ledger(world, task)) == [at(task, 3)]


async def test_an_after_task_goes_on_its_delay_after_the_pause(world: World) -> None:
    await world.executor()
    task = await world.task(schedule="@after 60s")
    await world.store.materialise()
    pause = await paused(world, task)
    await world.run_all()
    await elapse(world, 300)
    await world.store.materialise()
    assert await recorded(world, task) == [(SkipReason.PAUSED, 1)]
    assert (await world.store.get_task(task.id)).next_fire_at is not None
    await world.store.resume(pause.id)
    await elapse(world, 65)
    assert (await world.store.materialise()).instants == 1


async def test_an_after_task_that_was_made_ahead_is_taken_back(world: World) -> None:
    await world.executor()
    task = await world.task(schedule="@after 5s")
    await world.store.materialise()
    await world.run_all()
    assert (await world.store.materialise()).instants == 1
    pause = await paused(world, task)
    assert await world.count("task_instances") == 0
    await world.store.resume(pause.id)
    assert (await world.store.materialise()).instants == 1


async def test_a_broadcast_rests_too(world: World) -> None:
    await world.executor("e1")
    task = await world.task(schedule=EVERY, broadcast=True)
    await paused(world, task, seconds=90)
    await elapse(world, 125)
    await world.store.materialise()
    assert await recorded(world, task) == [(SkipReason.PAUSED, 1)]
    assert [one.target_executor_id for one in await instances(world, task)] == ["e1"]


@pytest.mark.parametrize(
    ("scope", "made"), [(PauseScope.TASK, False), (PauseScope.GROUP, True), (PauseScope.ALL, True)]
)
async def test_what_follows_an_upstream_is_skipped_if_its_task_rests_and_waits_if_its_group_does(
    world: World, scope: PauseScope, *, made: bool
) -> None:
    await world.executor()
    upstream = await world.task(schedule="@manual")
    task = await world.task(schedule="@upstream", dependency_ids=(upstream.id,))
    await world.submit(upstream)
    claimed = await world.claim()
    await paused(world, task, scope)
    await world.end(claimed)
    assert await recorded(world, task) == ([] if made else [(SkipReason.PAUSED, 1)])
    assert [one.status for one in await instances(world, task)] == [Status.PENDING] * made


async def test_an_upstream_that_ends_again_in_a_pause_does_not_skip_what_was_made(world: World) -> None:
    await world.executor()
    upstream = await world.task(schedule="@manual")
    task = await world.task(schedule="@upstream", dependency_ids=(upstream.id,))
    instance_id = await world.submit(upstream)
    await world.run_all(kind=OutcomeKind.FAILED)
    await paused(world, task)
    await world.store.retry(instance_id)
    await world.run_all()
    assert await recorded(world, task) == []
    assert len(await instances(world, task)) == 1


# Edits, backfills


async def test_an_edit_in_a_pause_changes_what_comes_after_it(world: World) -> None:
    task = await made_ahead(world)
    await paused(world, task, seconds=3_600)
    await elapse(world, 65)
    await world.store.edit_task(task.id, {"schedule": "@every 30s"}, by="ann")
    assert await recorded(world, task) == [(SkipReason.PAUSED, 2)]
    await world.store.materialise()
    await elapse(world, 3_600)
    await world.store.materialise()
    reasons = [reason for reason, _ in await recorded(world, task)]
    assert reasons[:2] == [SkipReason.PAUSED, SkipReason.PAUSED]
    assert (await instances(world, task))[0].task_version == 2


async def test_a_task_that_leaves_a_paused_group_fires_again(world: World) -> None:
    other = await world.store.ensure_group("other")
    task = await world.task(schedule=EVERY, group="other")
    await world.store.pause(PauseScope.GROUP, other.id, reason="r", by="ann")
    await elapse(world, 65)
    await world.store.edit_task(task.id, {"group": "default"}, by="ann")
    await elapse(world, 60)
    assert (await world.store.materialise()).instants == 1
    assert await recorded(world, task) == [(SkipReason.PAUSED, 1)]


async def test_a_paused_stretch_can_be_backfilled_also_before_it_is_recorded(world: World) -> None:
    await world.executor()
    task = await world.task(schedule=EVERY)
    await paused(world, task)
    await elapse(world, 185)
    task = await world.store.get_task(task.id)
    made = await world.store.backfill(task.id, at(task, 1), at(task, 3), by="ann")
    assert made == 3
    assert await recorded(world, task) == [(SkipReason.PAUSED, 3)]
    assert [one.triggered_by for one in await instances(world, task)] == [TriggeredBy.BACKFILL] * 3
    assert len(await world.claim()) == 3, "its schedule rests, what people ask for runs"


# Lanes


@pytest.mark.parametrize("scope", OF_LANES)
async def test_nothing_is_claimed_until_the_pause_is_over_and_what_runs_goes_on(
    world: World, scope: PauseScope
) -> None:
    await world.executor()
    task = await world.task()
    await world.submit(task)
    running = await world.claim()
    waiting = await world.submit(task)
    pause = await paused(world, task, scope)
    assert await world.claim() == []
    (ended,) = await world.end(running)
    assert ended.status is Status.SUCCESS
    await world.store.resume(pause.id)
    assert [one.instance_id for one in await world.claim()] == [waiting]


async def test_what_is_submitted_to_a_paused_task_runs(world: World) -> None:
    await world.executor()
    task = await world.task(schedule=EVERY)
    await paused(world, task)
    instance_id = await world.submit(task)
    assert [one.instance_id for one in await world.claim()] == [instance_id]


async def test_a_pause_ends_by_itself(world: World) -> None:
    await world.executor()
    task = await world.task()
    await world.submit(task)
    await paused(world, task, PauseScope.ALL, seconds=60)
    assert await world.claim() == []
    await elapse(world, 61)
    assert len(await world.claim()) == 1
    assert await world.store.list_pauses() == []


async def test_a_paused_group_is_given_no_permits(world: World) -> None:
    await world.executor("e1")
    await world.executor("e2", group="other")
    task = await world.task(concurrency_key="k", priority=0)
    other = await world.task(concurrency_key="k", group="other")
    pause = await paused(world, task, PauseScope.GROUP)
    await world.submit(task)
    passing = await world.submit(other)
    assert [one.instance_id for one in await world.claim("e2")] == [passing]
    await world.store.resume(pause.id)
    await world.run_all("e2")
    assert (await only(world, task)).status is Status.PLANNED, "the permit is still taken"


async def test_schedulers_and_executors_are_told(world: World) -> None:
    task = await world.task()
    heard: list[Hint] = []
    forget = [
        world.store.listen(Hint.WAKE, lambda _: heard.append(Hint.WAKE)),
        world.store.listen(Hint.PENDING, lambda _: heard.append(Hint.PENDING)),
    ]
    pause = await paused(world, task)
    async with asyncio.timeout(30):
        while set(heard) < {Hint.WAKE, Hint.PENDING}:
            await asyncio.sleep(0.01)
        heard.clear()
        await world.store.resume(pause.id)
        while set(heard) < {Hint.WAKE, Hint.PENDING}:
            await asyncio.sleep(0.01)
    for one in forget:
        one()


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
    rows = await world.sql("SELECT action, resource_type, resource_id FROM audit_logs ORDER BY id")
    assert [tuple(dict(row).values()) for row in rows] == [
        ("create", "pause", str(first.id)),
        ("delete", "pause", str(first.id)),
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
        scans = await plans.scans(statement, params)
        assert [one for one in scans if "Seq Scan on tasks" not in one] == [], "it is about all tasks"
