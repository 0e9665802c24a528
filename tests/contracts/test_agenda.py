"""The instants to come of all tasks: one by one in pages, and how many there are step by step."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.resting import paused
from hourhand.model.errors import InvalidInput
from hourhand.model.pause import PauseScope
from hourhand.rules import agenda as rule
from hourhand.store import agenda

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.agenda import UpcomingInstant

YEAR = 2100
BEGIN = datetime(YEAR, 1, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


async def _three(world: World) -> list[int]:
    await world.store.ensure_group("other")
    tasks = [
        await world.task("hourly", schedule="@hourly"),
        await world.task("often", schedule="*/20 * * * *", group="other", timezone="Asia/Shanghai"),
        await world.task("once", schedule=f"@at {YEAR}-01-01T01:30:00Z"),
    ]
    for words in ({"schedule": "@manual"}, {"schedule": "@upstream"}, {"schedule": "@hourly", "enabled": False}):
        dependency = (tasks[0].id,) if words["schedule"] == "@upstream" else ()
        await world.task(dependency_ids=dependency, **words)
    await world.store.delete_task((await world.task(schedule="@hourly")).id, by="test")
    return [task.id for task in tasks]


async def test_the_instants_of_all_enabled_tasks_come_soonest_first(world: World) -> None:
    await _three(world)
    found = await world.store.upcoming(BEGIN, BEGIN + 2 * HOUR)
    assert [((one.at - BEGIN) / timedelta(minutes=10), one.task_name) for one in found.items] == [
        (0, "hourly"),
        (0, "often"),
        (2, "often"),
        (4, "often"),
        (6, "hourly"),
        (6, "often"),
        (8, "often"),
        (9, "once"),
        (10, "often"),
    ]
    assert (found.next_cursor, found.truncated) == (None, False)
    assert {(one.group, one.timezone) for one in found.items} == {("default", "UTC"), ("other", "Asia/Shanghai")}


async def test_by_default_it_is_a_day_from_now(world: World) -> None:
    task = await world.task(schedule="0 */6 * * *")
    now = await world.store.now()
    found = (await world.store.upcoming()).items
    assert len(found) == 4
    assert all(one.task_id == task.id and now <= one.at < now + DAY + HOUR for one in found)
    # What was made ahead has become an instance, and is not to come any more.
    await world.execute("UPDATE tasks SET next_fire_at = NULL, wake_at = NULL")
    assert (await world.store.upcoming()).items == ()


async def test_pages_are_of_one_period_and_leave_nothing_out(world: World) -> None:
    await _three(world)
    whole = (await world.store.upcoming(BEGIN, BEGIN + 5 * HOUR)).items
    seen: list[UpcomingInstant] = []
    cursor = None
    while True:
        page = await world.store.upcoming(BEGIN, BEGIN + 5 * HOUR, limit=4, cursor=cursor)
        seen += page.items
        assert len(page.items) <= 4
        if page.next_cursor is None:
            break
        cursor = page.next_cursor
    assert tuple(seen) == whole
    assert len(whole) == 5 + 15 + 1
    first = await world.store.upcoming(BEGIN, limit=1)
    rest = [first, await world.store.upcoming(limit=200, cursor=first.next_cursor)]
    assert sum(len(one.items) for one in rest) == 24 * 4 + 1, "who gives only the cursor stays in the period"


async def test_they_are_limited_to_groups_or_a_task(world: World) -> None:
    hourly, often, _ = await _three(world)
    other = (await world.store.ensure_group("other")).id
    found = await world.store.upcoming(BEGIN, BEGIN + HOUR, groups=[other])
    assert {one.task_id for one in found.items} == {often}
    assert (await world.store.upcoming(BEGIN, BEGIN + HOUR, groups=[])).items == ()
    assert [one.at for one in (await world.store.upcoming(BEGIN, BEGIN + HOUR, task_id=hourly)).items] == [BEGIN]
    assert (await world.store.upcoming(BEGIN, BEGIN + HOUR, groups=[other], task_id=hourly)).items == ()
    assert (await world.store.upcoming(BEGIN, BEGIN + HOUR, task_id=2**70)).items == ()


async def test_they_are_those_of_tasks_with_a_name_however_many_others_come_sooner(world: World) -> None:
    hourly, often, _ = await _three(world)
    found = await world.store.upcoming(BEGIN, BEGIN + 2 * HOUR, q="HOUR", limit=1)
    assert [one.task_id for one in found.items] == [hourly]
    assert found.next_cursor is not None
    after = await world.store.upcoming(BEGIN, BEGIN + 2 * HOUR, q="HOUR", cursor=found.next_cursor)
    assert {one.task_id for one in after.items} == {hourly}
    assert (await world.store.upcoming(BEGIN, BEGIN + HOUR, q="o_ce")).items == (), "a sign stands for itself"
    assert {one.task_id for one in (await world.store.upcoming(BEGIN, BEGIN + HOUR, q="ft")).items} == {often}


async def test_what_rests_is_noted_and_not_counted(world: World) -> None:
    task, free = await world.task(schedule="@every 60s"), await world.task(schedule="@every 60s")
    now = await world.store.now()
    await paused(world, task, seconds=600)
    found = await world.store.upcoming(now, now + timedelta(minutes=20), task_id=task.id)
    notes = [one.note is None for one in found.items]
    assert notes == sorted(notes)
    assert 9 <= notes.count(False) <= 10
    assert "it falls into the pause until" in str(found.items[0].note)
    load = await world.store.load(now, now + timedelta(minutes=20), step_seconds=60)
    assert sum(step.count for step in load.steps) == len(found.items) * 2 - notes.count(False)
    assert [one.task_id for one in load.busiest] == [free.id, task.id]
    await paused(world, free, PauseScope.ALL)
    noted = (await world.store.upcoming(now, now + HOUR)).items
    assert {one.note for one in noted if one.task_id == free.id} == {"it falls into a pause and is skipped"}
    assert (await world.store.load(now, now + HOUR)).busiest == ()


async def test_the_load_is_told_step_by_step(world: World) -> None:
    await _three(world)
    load = await world.store.load(BEGIN, BEGIN + 3 * HOUR)
    assert [(step.at, step.count) for step in load.steps] == [
        (BEGIN, 4),
        (BEGIN + HOUR, 5),
        (BEGIN + 2 * HOUR, 4),
    ]
    assert [(one.task_name, one.count) for one in load.busiest] == [("often", 9), ("hourly", 3), ("once", 1)]
    assert (load.step_seconds, load.truncated) == (3_600, False)
    other = (await world.store.ensure_group("other")).id
    limited = await world.store.load(BEGIN, BEGIN + DAY, step_seconds=86_400, groups=[other], timezone="Asia/Shanghai")
    assert limited.begin == BEGIN - 8 * HOUR
    assert [step.count for step in limited.steps] == [3 * 24, 3 * 8], "by the days of Shanghai"
    assert len((await world.store.load()).steps) in (168, 169)


async def test_only_so_many_tasks_are_looked_at(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await _three(world)
    end = BEGIN + 2 * HOUR
    # For what is to come only those are looked at in vain whose next instant lies before it.
    for most, upcoming, load in ((1, True, True), (2, False, True), (3, False, False)):
        monkeypatch.setattr(agenda, "MOST_TASKS", most)
        assert (await world.store.upcoming(BEGIN, end)).truncated is upcoming
        assert (await world.store.load(BEGIN, end)).truncated is load


async def test_tasks_that_fire_at_the_same_moment_come_in_pages_too(world: World) -> None:
    ids = [(await world.task(schedule=f"@at {YEAR}-01-01T00:00:00Z")).id for _ in range(7)]
    often = (await world.task(schedule="@every 1s")).id
    for begin in (BEGIN, BEGIN - timedelta(seconds=1)):
        seen, cursor = [], None
        for _ in range(4):
            page = await world.store.upcoming(begin, BEGIN + timedelta(seconds=1), limit=2, cursor=cursor)
            seen += [one.task_id for one in page.items if one.task_id != often]
            cursor = page.next_cursor
        assert seen == ids


async def test_what_cannot_be_had_is_refused(world: World) -> None:
    for limit in (0, 201):
        with pytest.raises(InvalidInput, match="out of range"):
            await world.store.upcoming(limit=limit)
    with pytest.raises(InvalidInput, match="is not a cursor"):
        await world.store.upcoming(cursor="x")
    for ask, longest in ((world.store.upcoming, 366), (world.store.load, 62)):
        with pytest.raises(InvalidInput, match="is not before"):
            await ask(BEGIN, BEGIN)
        with pytest.raises(InvalidInput, match=f"more than {longest} days"):
            await ask(BEGIN, BEGIN + timedelta(days=longest, seconds=1))
    with pytest.raises(InvalidInput, match="there would be 1,008"):
        await world.store.load(BEGIN, BEGIN + timedelta(days=42), step_seconds=3_600)


async def test_counting_does_not_hold_up_the_loop(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.task(schedule="@hourly")
    on_loop = asyncio.get_running_loop()

    def counted(*_: object, **__: object) -> int:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        assert on_loop.is_running()
        return 0

    monkeypatch.setattr(rule, "count_instants", counted)
    assert sum(step.count for step in (await world.store.load()).steps) >= 0


async def test_loads_are_counted_one_after_the_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.task(schedule="@hourly")
    together: list[int] = []
    counting = 0
    load = rule.Agenda.load

    def slowly(*given: Any, **named: Any) -> Any:
        nonlocal counting
        counting += 1
        together.append(counting)
        time.sleep(0.1)
        counting -= 1
        return load(*given, **named)

    monkeypatch.setattr(rule.Agenda, "load", slowly)
    await asyncio.gather(*[world.store.load(BEGIN, BEGIN + DAY) for _ in range(4)])
    assert together == [1, 1, 1, 1]
