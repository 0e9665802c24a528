"""Maintenance windows and calendars: made, listed, changed, refused, kept; and what they cost when there are none."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from contracts.elapse import elapse, instances, ledger, transaction
from contracts.plans import PostgresqlPlans, statements
from contracts.resting import EVERY, paused
from contracts.windowing import at, by_calendar, opened, pass_time
from hourhand.model.audit import Author, Once
from hourhand.model.errors import Conflict, DuplicateName, InvalidInput, NotFound, StoreError
from hourhand.model.explanation import Code
from hourhand.model.pause import PauseScope
from hourhand.model.window import Days, WindowDefinition
from hourhand.store import calendars, window_edits

if TYPE_CHECKING:
    from contracts.world import World

NIGHTLY = WindowDefinition(
    name="nightly", scope=PauseScope.ALL, schedule="0 2 * * *", duration_seconds=7_200, reason="a backup"
)
WEEKEND = Days(weekdays=(6, 7))


# The windows themselves


async def test_windows_are_listed_with_the_names_around_them(world: World) -> None:
    task = await world.task("close_books", schedule=EVERY)
    await world.store.create_calendar("weekend", WEEKEND)
    third = await opened(world, task, seconds=60, name="c")
    first = await opened(world, task, PauseScope.ALL, seconds=60, name="a", enabled=False)
    second = await by_calendar(world, task, PauseScope.GROUP, name="b", calendar="weekend", timezone="Asia/Shanghai")
    assert await world.store.list_windows() == [first, second, third]
    assert [await world.store.get_window(one.id) for one in (first, second, third)] == [first, second, third]
    assert (third.scope_id, third.task_name, third.group) == (task.id, "close_books", "default")
    assert (second.scope_id, second.task_name, second.group) == (task.group_id, None, "default")
    assert (first.scope_id, first.task_name, first.group, first.enabled) == (None, None, None, False)
    assert (second.calendar, second.schedule, second.duration_seconds) == ("weekend", None, None)
    assert (second.recurrence.days, second.recurrence.timezone) == (WEEKEND, "Asia/Shanghai")
    assert (third.reason, third.created_by) == ("the ledger moves", "ann")


async def test_what_there_is_not_is_not_found(world: World) -> None:
    for number in (999, 2**70, -1):
        for ask in (
            world.store.get_window,
            world.store.delete_window,
            partial(world.store.edit_window, changes={"name": "x"}, by="ann"),
            world.store.get_calendar,
            world.store.delete_calendar,
            partial(world.store.edit_calendar, changes={"name": "x"}),
            world.store.rests_of_task,
        ):
            with pytest.raises(NotFound):
                await ask(number)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"scope": PauseScope.TASK, "scope_id": 999}, "there is no task"),
        ({"scope": PauseScope.GROUP, "scope_id": 2**70}, "there is no group"),
        ({"scope_id": 1}, "everything has no id"),
        ({"scope": PauseScope.TASK}, "name the task"),
        ({"calendar": "none"}, "give a `schedule`"),
        ({"calendar": "none", "schedule": None, "duration_seconds": None}, "there is none at all"),
        ({"schedule": "@every 60s"}, "opens no window"),
        ({"duration_seconds": 0}, "duration_seconds"),
        ({"timezone": "Mars"}, "time zone"),
        ({"reason": ""}, "reason"),
        ({"colour": "red"}, "is no field"),
    ],
)
async def test_a_window_that_makes_no_sense_is_refused(world: World, wrong: dict[str, Any], said: str) -> None:
    made = await world.store.create_window(NIGHTLY, by="ann")
    with pytest.raises((InvalidInput, NotFound), match=said):
        await world.store.edit_window(made.id, {"schedule": NIGHTLY.schedule, **wrong}, by="ann")
    if "colour" not in wrong:
        values = {name: getattr(NIGHTLY, name) for name in WindowDefinition.__dataclass_fields__}
        with pytest.raises((InvalidInput, NotFound), match=said):
            await world.store.create_window(WindowDefinition(**{**values, "name": "other", **wrong}), by="ann")
    assert await world.store.list_windows() == [made]


async def test_a_calendar_that_there_is_not_is_refused_with_those_there_are(world: World) -> None:
    await world.store.create_calendar("weekend", WEEKEND)
    with pytest.raises(InvalidInput, match="there are: 'weekend'"):
        await by_calendar(world, await world.task(), calendar="weekends")


async def test_names_are_taken_once(world: World) -> None:
    first = await world.store.create_window(NIGHTLY, by="ann")
    with pytest.raises(DuplicateName):
        await world.store.create_window(NIGHTLY, by="ann")
    second = await opened(world, await world.task(), seconds=60)
    with pytest.raises(DuplicateName):
        await world.store.edit_window(second.id, {"name": "nightly"}, by="ann")
    assert (await world.store.edit_window(first.id, {"name": "nightly"}, by="ann")).name == "nightly"
    one = await world.store.create_calendar("weekend", WEEKEND)
    with pytest.raises(DuplicateName):
        await world.store.create_calendar("weekend", WEEKEND)
    await world.store.create_calendar("other", WEEKEND)
    with pytest.raises(DuplicateName):
        await world.store.edit_calendar(one.id, {"name": "other"})


async def test_there_are_only_so_many(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calendars, "MOST", 1)
    monkeypatch.setattr(window_edits, "MOST", 1)
    await world.store.create_window(NIGHTLY, by="ann")
    with pytest.raises(Conflict, match="there are 1 maintenance windows already"):
        await opened(world, await world.task(), seconds=60)
    await world.store.create_calendar("weekend", WEEKEND)
    with pytest.raises(Conflict, match="there are 1 calendars already"):
        await world.store.create_calendar("other", WEEKEND)


async def test_a_calendar_takes_the_place_of_a_schedule_and_the_other_way_round(world: World) -> None:
    window = await world.store.create_window(NIGHTLY, by="ann")
    await world.store.create_calendar("weekend", WEEKEND)
    edited = await world.store.edit_window(window.id, {"calendar": "weekend"}, by="ann")
    assert (edited.calendar, edited.schedule, edited.duration_seconds) == ("weekend", None, None)
    back = await world.store.edit_window(window.id, {"schedule": "@DAILY", "duration_seconds": 60}, by="ann")
    assert (back.calendar, back.schedule, back.duration_seconds) == (None, "@daily", 60)


async def test_a_calendar_that_a_window_needs_stays_also_under_another_name(world: World) -> None:
    calendar = await world.store.create_calendar("weekend", WEEKEND)
    window = await by_calendar(world, await world.task(), calendar="weekend", name="rest")
    await world.store.edit_calendar(calendar.id, {"name": "Sundays"})
    assert (await world.store.get_window(window.id)).calendar == "Sundays"
    assert await world.count("past_windows") == 0, "its days are the same"
    with pytest.raises(Conflict, match="'Sundays' is needed by the maintenance windows 'rest'"):
        await world.store.delete_calendar(calendar.id)
    await world.store.delete_window(window.id)
    await world.store.delete_calendar(calendar.id)
    assert await world.store.list_calendars() == []


async def test_calendars_are_listed_by_name(world: World) -> None:
    second = await world.store.create_calendar("b", Days(country="CN", exclude=(date(2026, 10, 10),)))
    first = await world.store.create_calendar("a", Days(market="XNYS"))
    assert await world.store.list_calendars() == [first, second]
    edited = await world.store.edit_calendar(first.id, {"definition": WEEKEND})
    assert (edited.name, edited.definition) == ("a", WEEKEND)
    assert await world.store.get_calendar(first.id) == edited


async def test_the_windows_of_a_group_go_with_it(world: World) -> None:
    group = await world.store.ensure_group("other")
    definition = {name: getattr(NIGHTLY, name) for name in WindowDefinition.__dataclass_fields__}
    definition |= {"scope": PauseScope.GROUP, "scope_id": group.id}
    await world.store.create_window(WindowDefinition(**definition), by="ann")
    await world.store.delete_group(group.id)
    assert await world.store.list_windows() == []


async def test_all_is_done_once_and_kept_in_the_audit(world: World) -> None:
    author = Author(id="user:1", name="ann")
    once = Once(principal="user:1", route="/maintenance-windows", key="k", request_hash="h")
    store = world.store.on_behalf(author, once=once)
    window = await store.create_window(NIGHTLY, by="ann")
    assert await store.create_window(NIGHTLY, by="ann") == window
    store = world.store.on_behalf(author, once=Once(principal="user:1", route="/c", key="k", request_hash="h"))
    calendar = await store.create_calendar("weekend", WEEKEND)
    assert await store.create_calendar("weekend", WEEKEND) == calendar
    await store.edit_calendar(calendar.id, {"name": "other"})
    await store.edit_window(window.id, {"enabled": False}, by="ann")
    await store.delete_window(window.id)
    await store.delete_calendar(calendar.id)
    rows = await world.sql("SELECT action, resource_type, resource_id FROM audit_logs ORDER BY id")
    assert [tuple(dict(row).values()) for row in rows] == [
        ("create", "maintenance-window", str(window.id)),
        ("create", "calendar", str(calendar.id)),
        ("edit", "calendar", str(calendar.id)),
        ("edit", "maintenance-window", str(window.id)),
        ("delete", "maintenance-window", str(window.id)),
        ("delete", "calendar", str(calendar.id)),
    ]


async def test_retention_removes_what_windows_were_a_month_ago(world: World) -> None:
    task = await world.task(schedule=EVERY)
    window = await opened(world, task, seconds=60)
    await world.store.edit_window(window.id, {"duration_seconds": 120}, by="ann")
    await elapse(world, 3_600 * 24 * 31)
    await world.store.edit_window(window.id, {"duration_seconds": 180}, by="ann")
    assert await world.count("past_windows") == 2
    await world.store.retain(days=30)
    assert await world.count("past_windows") == 1
    assert await world.count("maintenance_windows") == 1


async def test_a_window_that_cannot_be_read_here_blocks_nothing(world: World) -> None:
    await world.executor()
    task = await world.task(schedule=EVERY)
    broken = await opened(world, task, PauseScope.ALL, seconds=600)
    await world.execute("UPDATE maintenance_windows SET timezone = 'Moon/Sea'")
    await elapse(world, 65)
    assert (await world.store.materialise()).instants == 1
    assert len(await world.claim()) == 1
    assert await world.store.list_windows() == []
    with pytest.raises(StoreError, match="Moon/Sea"):
        await world.store.get_window(broken.id)


async def test_a_calendar_that_cannot_be_read_here_blocks_nothing(world: World) -> None:
    task = await world.task(schedule=EVERY)
    calendar = await world.store.create_calendar("weekend", Days(weekdays=(1, 2, 3, 4, 5, 6, 7)))
    await by_calendar(world, task, calendar="weekend")
    await world.execute("""UPDATE calendars SET definition = '{"moon": "full"}'""")
    await elapse(world, 65)
    assert (await world.store.materialise()).instants == 1
    assert await world.store.list_calendars() == []
    with pytest.raises(StoreError, match="weekend"):
        await world.store.get_calendar(calendar.id)


async def test_a_task_is_told_what_it_rests_in(world: World) -> None:
    task, other = await world.task(schedule=EVERY), await world.task(schedule="@manual")
    pause = await paused(world, task, PauseScope.GROUP)
    window = await opened(world, task, begin=600, seconds=60)
    of_task = await world.store.rests_of_task(task.id)
    assert {(one.name, one.begin) for one in of_task} == {
        ("", pause.created_at),
        (window.name, window.active_since),
    }
    assert [one.begin for one in await world.store.rests_of_task(other.id)] == [pause.created_at]
    await world.store.delete_task(task.id, by="ann")
    with pytest.raises(NotFound):
        await world.store.rests_of_task(task.id)


@pytest.mark.parametrize("scope", list(PauseScope))
async def test_an_open_window_explains_what_it_holds_up(world: World, scope: PauseScope) -> None:
    await world.executor()
    task = await world.task()
    instance_id = await world.submit(task)
    window = await opened(world, task, scope, begin=-60, seconds=600)
    await opened(world, task, scope, begin=600, seconds=600)
    await opened(world, task, scope, seconds=600, enabled=False)
    (reason,) = (await world.store.explain(instance_id)).reasons
    if scope is PauseScope.TASK:
        assert reason.code is Code.CLAIMABLE
    else:
        assert (reason.code, reason.data["window_id"]) == (Code.WINDOW, window.id)
        assert reason.until is not None
        assert reason.until > await world.store.now()


# Races, and what it costs


async def test_a_scheduler_that_has_not_seen_the_window_has_what_it_makes_taken_back(cluster_world: World) -> None:
    world = cluster_world
    task = await world.task(schedule=EVERY)
    await elapse(world, 55)
    async with transaction(world) as scheduler:
        await scheduler.fetch("SELECT * FROM tasks WHERE id = $1 FOR UPDATE", task.id)
        opening = asyncio.create_task(opened(world, task, PauseScope.ALL, seconds=600))
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
    await opening
    assert await instances(world, task) == []
    assert await ledger(world, task) == {}


async def test_changes_of_windows_and_calendars_at_once_wait_for_each_other(world: World) -> None:
    task = await world.task(schedule=EVERY)
    calendar = await world.store.create_calendar("weekend", WEEKEND)
    windows = [await by_calendar(world, task, scope, calendar="weekend") for scope in PauseScope]
    await asyncio.gather(
        *(world.store.edit_calendar(calendar.id, {"definition": Days(weekdays=(day,))}) for day in range(1, 6)),
        *(world.store.edit_window(one.id, {"timezone": "Asia/Tokyo"}, by="ann") for one in windows),
        *(world.store.materialise() for _ in range(3)),
    )
    assert {one.timezone for one in await world.store.list_windows()} == {"Asia/Tokyo"}
    assert await world.count("past_windows") == 5 * 3 + 3


async def test_windows_that_are_closed_ask_no_more_of_the_store(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.executor()
    task = await world.task(schedule=EVERY)
    counts = []
    for _ in range(2):
        await pass_time(world, 60)
        with statements(monkeypatch) as seen:
            await world.store.materialise()
            await world.store.beat("e1")
            await world.store.give_permits()
        counts.append(len([statement for statement, _ in seen]))
        await world.run_all()
        await opened(world, task, PauseScope.GROUP, begin=36_000, seconds=60)
    assert counts[1] <= counts[0] + 1, "whether somebody depends on what may rest"


async def test_without_windows_next_to_nothing_is_read(cluster_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world = cluster_world
    await world.task(schedule=EVERY)
    await elapse(world, 60)
    with statements(monkeypatch) as seen:
        await world.store.materialise()
    asked = [(one, params) for one, params in seen if "past_windows" in one.compiled("postgresql").sql]
    assert len(asked) == 1
    assert await PostgresqlPlans(world.store).cost(*asked[0]) <= 5


async def test_making_a_window_of_everything_reads_no_backlog(
    cluster_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = cluster_world
    task = await world.task(schedule=EVERY)
    await world.execute(
        "INSERT INTO task_instances (id, task_id, task_version, group_id, scheduled_time, status, created_at,"
        " lane_id, priority, available_at, triggered_by)"
        " SELECT n, 1000 + n % 1000, 1, :g, now(), 'pending', now(), 1, 5, now(), 'api'"
        " FROM generate_series(1000, 31000) n",
        g=task.group_id,
    )
    async with world.store.database.pool.acquire() as connection:  # type: ignore[attr-defined]  # PostgreSQL
        await connection.execute("ANALYZE task_instances")
    await elapse(world, 55)
    await world.store.materialise()
    with statements(monkeypatch) as seen:
        window = await opened(world, task, PauseScope.ALL, seconds=600)
        later = at(await world.store.now() + timedelta(days=1))
        await world.store.edit_window(window.id, {"schedule": later}, by="ann")
        await world.store.delete_window(window.id)
    plans = PostgresqlPlans(world.store)
    for statement, params in seen:
        scans = await plans.scans(statement, params, unavoidable=True)
        assert [one for one in scans if "task_instances" in one] == []
