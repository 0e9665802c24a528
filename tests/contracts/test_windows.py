"""Maintenance windows: what a task, a group or everything does while one is open, and when it goes on."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from contracts.elapse import instances, ledger, moment, only, skips
from contracts.resting import EVERY, OF_LANES, SCOPES, made_ahead, paused, recorded
from contracts.resting import at as instant
from contracts.windowing import at, by_calendar, opened, pass_time
from hourhand.model.hints import Hint
from hourhand.model.pause import PauseScope
from hourhand.model.window import Days
from hourhand.model.words import MisfirePolicy, SkipReason, Status, TriggeredBy

if TYPE_CHECKING:
    from contracts.world import World

WINDOW = SkipReason.WINDOW

# The schedule rests


@pytest.mark.parametrize("scope", SCOPES)
async def test_the_instants_in_a_window_are_one_recorded_skip(world: World, scope: PauseScope) -> None:
    task = await world.task(schedule=EVERY)
    await opened(world, task, scope, begin=30, seconds=3_600)
    await pass_time(world, 55)
    early = await world.store.materialise()
    assert (early.tasks, early.instants, early.skipped) == (1, 0, 0), "not before they have come"
    await pass_time(world, 60 * 20)
    assert (await world.store.materialise()).skipped == 1
    assert await recorded(world, task) == [(WINDOW, 20)]
    (skip,) = await skips(world, task)
    assert skip.error_message == "skipped: inside a maintenance window (20 instants)"
    assert await ledger(world, task) == {}


@pytest.mark.parametrize("scope", SCOPES)
async def test_a_window_opens_and_closes_by_itself(world: World, scope: PauseScope) -> None:
    task = await world.task(schedule=EVERY, overlap_policy="parallel")
    await opened(world, task, scope, begin=90, seconds=120)  # the second and the third
    for _ in range(5):
        await pass_time(world, 55)
        await world.store.materialise()
        await pass_time(world, 5)
        await world.store.materialise()
    task = await world.store.get_task(task.id)
    assert sum(count for _, count in await recorded(world, task)) == 2
    assert {reason for reason, _ in await recorded(world, task)} == {WINDOW}
    assert list(await ledger(world, task)) == [instant(task, number) for number in (1, 4, 5)]


async def test_a_task_is_looked_at_when_the_window_closes(world: World) -> None:
    task = await made_ahead(world)
    await opened(world, task, seconds=30)
    await world.store.materialise()
    resting = await world.store.get_task(task.id)
    assert resting.wake_at is not None
    assert resting.wake_at - await world.store.now() < timedelta(seconds=30)


@pytest.mark.parametrize("scope", SCOPES)
async def test_what_was_made_ahead_for_instants_inside_is_taken_back(world: World, scope: PauseScope) -> None:
    await world.executor()
    task = await made_ahead(world, concurrency_key="k")
    await opened(world, task, scope, seconds=3_600)
    assert await instances(world, task) == []
    assert await ledger(world, task) == {}
    assert (await world.store.get_task(task.id)).next_fire_at == instant(task, 1)
    await world.store.materialise()
    await pass_time(world, 10)
    await world.store.materialise()
    assert await world.claim() == []


async def test_what_was_made_ahead_for_other_instants_stays(world: World) -> None:
    task = await made_ahead(world)
    before = await only(world, task)
    await opened(world, task, PauseScope.ALL, begin=30, seconds=3_600)
    assert await only(world, task) == before


async def test_a_window_counts_for_the_instants_it_held_however_late_they_are_looked_at(world: World) -> None:
    task = await world.task(schedule=EVERY, misfire_policy=MisfirePolicy.CATCH_UP, misfire_grace_seconds=1)
    await opened(world, task, begin=90, seconds=120)
    await pass_time(world, 390)
    await world.store.materialise()
    task = await world.store.get_task(task.id)
    assert list(await ledger(world, task)) == [instant(task, number) for number in (1, 4, 5, 6)]
    assert await recorded(world, task) == [(WINDOW, 2)]


async def test_a_window_is_no_business_of_instants_before_it_was_made(world: World) -> None:
    task = await world.task(schedule=EVERY, misfire_policy=MisfirePolicy.CATCH_UP, misfire_grace_seconds=1)
    await pass_time(world, 125)
    await opened(world, task, begin=-3_600, seconds=7_200)
    await pass_time(world, 60)
    await world.store.materialise()
    task = await world.store.get_task(task.id)
    assert list(await ledger(world, task)) == [instant(task, number) for number in (1, 2)]
    assert await recorded(world, task) == [(WINDOW, 1)]


async def test_windows_and_pauses_add_up(world: World) -> None:
    task = await world.task(schedule=EVERY, misfire_policy=MisfirePolicy.CATCH_UP, overlap_policy="parallel")
    await opened(world, task, begin=30, seconds=60)
    await opened(world, task, PauseScope.ALL, begin=50, seconds=160)
    await paused(world, task, seconds=70)
    await pass_time(world, 300)
    await world.store.materialise()
    task = await world.store.get_task(task.id)
    assert await recorded(world, task) == [(SkipReason.PAUSED, 1), (WINDOW, 2)]
    assert list(await ledger(world, task)) == [instant(task, number) for number in (4, 5)]


async def test_a_window_that_is_not_enabled_does_nothing(world: World) -> None:
    await world.executor()
    task = await made_ahead(world)
    await opened(world, task, PauseScope.ALL, seconds=3_600, enabled=False)
    await pass_time(world, 10)
    assert len(await world.claim()) == 1


async def test_a_window_follows_its_own_clock_also_over_a_gap(world: World) -> None:
    # On 2025-03-30 the clock in Berlin went from 02:00 to 03:00, at 01:00 UTC: what opens at 02:30 opened then.
    task = await world.task(schedule="0 0/30 0-4 30 3 ? 2099", misfire_policy=MisfirePolicy.SKIP)
    await opened(world, task, seconds=7_200, schedule="30 2 * * *", timezone="Europe/Berlin")
    start = datetime(2025, 3, 30, tzinfo=UTC)
    await world.execute(
        "UPDATE tasks SET schedule = '0 0/30 0-4 30 3 ? 2025', next_fire_at = :at, wake_at = :at",
        at=moment(world, start),
    )
    await world.execute(
        "UPDATE maintenance_windows SET active_since = :at", at=moment(world, start - timedelta(days=9))
    )
    await world.store.materialise()
    found = [
        (one.scheduled_time - start, one.skip_reason, (one.summary or {})["count"]) for one in await skips(world, task)
    ]
    assert found == [
        (timedelta(0), SkipReason.MISFIRE, 2),
        (timedelta(hours=1), WINDOW, 4),
        (timedelta(hours=3), SkipReason.MISFIRE, 4),
    ]


async def test_a_window_that_recurs_is_open_by_the_clock_of_its_zone(world: World) -> None:
    await world.executor()
    task = await world.task()
    await world.submit(task)
    there = (await world.store.now()).astimezone(ZoneInfo("Asia/Kolkata")) - timedelta(minutes=5)
    daily = f"{there.minute} {there.hour} * * *"
    window = await opened(world, task, PauseScope.ALL, seconds=3_600, schedule=daily, timezone="Asia/Kolkata")
    assert await world.claim() == []
    await world.store.edit_window(window.id, {"timezone": "Asia/Tokyo"}, by="ann")
    assert len(await world.claim()) == 1


# Tasks of other kinds


async def test_an_after_task_goes_on_its_delay_after_the_window(world: World) -> None:
    await world.executor()
    task = await world.task(schedule="@after 60s")
    await world.store.materialise()
    await opened(world, task, seconds=120)
    await world.run_all()
    await pass_time(world, 100)
    await world.store.materialise()
    assert await recorded(world, task) == [(WINDOW, 1)]
    await pass_time(world, 65)
    assert (await world.store.materialise()).instants == 1


async def test_a_broadcast_rests_too(world: World) -> None:
    await world.executor("e1")
    task = await world.task(schedule=EVERY, broadcast=True)
    await opened(world, task, begin=30, seconds=60)
    await pass_time(world, 125)
    await world.store.materialise()
    assert await recorded(world, task) == [(WINDOW, 1)]
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
    await opened(world, task, scope, seconds=600)
    await opened(world, task, PauseScope.TASK, begin=3_600, seconds=600)
    await world.end(claimed)
    assert await recorded(world, task) == ([] if made else [(WINDOW, 1)])
    assert [one.status for one in await instances(world, task)] == [Status.PENDING] * made


async def test_who_depends_on_a_task_in_a_window_does_not_wait_for_the_record(world: World) -> None:
    task = await world.task(schedule=EVERY)
    await world.task(schedule="@upstream", dependency_ids=(task.id,))
    await opened(world, task, begin=30, seconds=3_600)
    await pass_time(world, 55)
    await world.store.materialise()
    resting = await world.store.get_task(task.id)
    assert resting.wake_at == resting.next_fire_at


async def test_a_window_can_be_backfilled_also_before_it_is_recorded(world: World) -> None:
    await world.executor()
    task = await world.task(schedule=EVERY)
    await opened(world, task, begin=30, seconds=3_600)
    await pass_time(world, 185)
    task = await world.store.get_task(task.id)
    assert await world.store.backfill(task.id, instant(task, 1), instant(task, 3), by="ann") == 3
    assert await recorded(world, task) == [(WINDOW, 3)]
    assert [one.triggered_by for one in await instances(world, task)] == [TriggeredBy.BACKFILL] * 3
    assert len(await world.claim()) == 3, "its schedule rests, what people ask for runs"


# Lanes


@pytest.mark.parametrize("scope", OF_LANES)
async def test_nothing_is_claimed_while_it_is_open_and_what_runs_goes_on(world: World, scope: PauseScope) -> None:
    await world.executor()
    task = await world.task()
    await world.submit(task)
    await opened(world, task, scope, begin=60, seconds=60)
    running = await world.claim()
    assert len(running) == 1, "it is not open yet"
    waiting = await world.submit(task)
    await pass_time(world, 65)
    assert await world.claim() == []
    (ended,) = await world.end(running)
    assert ended.status is Status.SUCCESS
    await pass_time(world, 60)
    assert [one.instance_id for one in await world.claim()] == [waiting]


async def test_another_group_goes_on(world: World) -> None:
    await world.executor("e1")
    await world.executor("e2", group="other")
    task, other = await world.task(), await world.task(group="other")
    await opened(world, task, PauseScope.GROUP, seconds=600)
    await world.submit(task)
    passing = await world.submit(other)
    assert await world.claim("e1") == []
    assert [one.instance_id for one in await world.claim("e2")] == [passing]


async def test_an_executor_that_registers_in_a_window_has_no_lanes(world: World) -> None:
    await world.executor()
    task = await world.task()
    await world.submit(task)
    await opened(world, task, PauseScope.ALL, seconds=600)
    assert (await world.store.beat(await world.executor("e2"))).lanes == ()


async def test_what_is_submitted_to_a_task_in_a_window_runs(world: World) -> None:
    await world.executor()
    task = await world.task(schedule=EVERY)
    await opened(world, task, seconds=600)
    instance_id = await world.submit(task)
    assert [one.instance_id for one in await world.claim()] == [instance_id]


async def test_a_group_in_a_window_is_given_no_permits(world: World) -> None:
    await world.executor("e1")
    await world.executor("e2", group="other")
    task = await world.task(concurrency_key="k", priority=0)
    other = await world.task(concurrency_key="k", group="other")
    await opened(world, task, PauseScope.GROUP, seconds=600)
    await world.submit(task)
    passing = await world.submit(other)
    assert [one.instance_id for one in await world.claim("e2")] == [passing]
    await world.run_all("e2")
    assert (await only(world, task)).status is Status.PLANNED


# Changes


async def test_a_window_that_is_moved_takes_back_what_it_now_covers_and_lets_go_of_the_rest(world: World) -> None:
    task = await made_ahead(world)
    window = await opened(world, task, begin=600, seconds=600)
    assert len(await instances(world, task)) == 1
    now = await world.store.now()
    await world.store.edit_window(window.id, {"schedule": at(now)}, by="ann")
    assert await instances(world, task) == []
    await world.store.materialise()
    assert (await world.store.materialise()).tasks == 0, "it rests"
    await world.store.edit_window(window.id, {"schedule": at(now + timedelta(hours=1))}, by="ann")
    assert (await world.store.materialise()).instants == 1


async def test_what_came_before_a_change_is_judged_by_what_the_window_was(world: World) -> None:
    task = await world.task(schedule=EVERY, misfire_policy=MisfirePolicy.CATCH_UP, misfire_grace_seconds=1)
    window = await opened(world, task, begin=30, seconds=600)
    await pass_time(world, 125)
    await world.store.edit_window(window.id, {"schedule": at(await world.store.now() + timedelta(days=1))}, by="ann")
    await pass_time(world, 60)
    await world.store.materialise()
    task = await world.store.get_task(task.id)
    assert await recorded(world, task) == [(WINDOW, 2)]
    assert list(await ledger(world, task)) == [instant(task, 3)]


@pytest.mark.parametrize("deleted", [True, False])
async def test_a_window_that_is_deleted_or_disabled_while_it_is_open_ends_now(world: World, *, deleted: bool) -> None:
    await world.executor()
    task = await world.task(schedule=EVERY, misfire_policy=MisfirePolicy.CATCH_UP)
    window = await opened(world, task, PauseScope.ALL, seconds=3_600)
    await pass_time(world, 55)
    await world.store.materialise()
    await pass_time(world, 120)  # five seconds before the third
    if deleted:
        await world.store.delete_window(window.id)
    else:
        await world.store.edit_window(window.id, {"enabled": False}, by="ann")
    assert (await world.store.materialise()).instants == 1
    assert await recorded(world, task) == [(WINDOW, 2)]
    await pass_time(world, 6)
    assert len(await world.claim()) == 1


async def test_a_name_and_a_reason_change_nothing_else(world: World) -> None:
    task = await made_ahead(world)
    window = await opened(world, task, seconds=600)
    await world.store.materialise()
    edited = await world.store.edit_window(window.id, {"name": "other", "reason": "x"}, by="bob")
    assert (edited.name, edited.reason, edited.updated_by, edited.created_by) == ("other", "x", "bob", "ann")
    assert edited.active_since == window.active_since
    assert await world.count("past_windows") == 0
    assert (await world.store.materialise()).tasks == 0


async def test_a_window_may_be_given_another_scope(world: World) -> None:
    task = await made_ahead(world)
    other = await world.task(schedule=EVERY)
    window = await opened(world, task, seconds=600)
    moved = await world.store.edit_window(window.id, {"scope_id": other.id}, by="ann")
    assert moved.task_name == other.name
    assert (await world.store.materialise()).instants == 1
    await world.store.edit_window(window.id, {"scope": PauseScope.ALL, "scope_id": None}, by="ann")
    assert await instances(world, task) == []


async def test_an_edit_of_a_task_in_a_window_skips_what_came_before_it(world: World) -> None:
    task = await world.task(schedule=EVERY)
    await opened(world, task, begin=30, seconds=3_600)
    await pass_time(world, 125)
    await world.store.edit_task(task.id, {"schedule": "@every 30s"}, by="ann")
    assert await recorded(world, task) == [(WINDOW, 2)]


async def test_schedulers_and_executors_are_told(world: World) -> None:
    task = await world.task()
    heard: list[Hint] = []
    forget = [
        world.store.listen(Hint.WAKE, lambda _: heard.append(Hint.WAKE)),
        world.store.listen(Hint.PENDING, lambda _: heard.append(Hint.PENDING)),
    ]
    async with asyncio.timeout(30):
        window = await opened(world, task, seconds=600)
        while set(heard) < {Hint.WAKE, Hint.PENDING}:
            await asyncio.sleep(0.01)
        heard.clear()
        await world.store.delete_window(window.id)
        while set(heard) < {Hint.WAKE, Hint.PENDING}:
            await asyncio.sleep(0.01)
    for one in forget:
        one()


# Calendars


async def test_a_window_is_open_on_the_days_of_its_calendar(world: World) -> None:
    await world.executor()
    task = await made_ahead(world)
    today = (await world.store.now()).date()
    days = tuple(today + timedelta(days=number) for number in (-1, 0, 1))
    calendar = await world.store.create_calendar("now", Days(include=days))
    await by_calendar(world, task, PauseScope.ALL, calendar="now")
    assert await instances(world, task) == []
    await world.submit(task)
    assert await world.claim() == []
    await world.store.edit_calendar(calendar.id, {"definition": Days(include=(today - timedelta(days=9),))})
    assert (await world.store.materialise()).instants == 1
    assert len(await world.claim()) == 1
    await world.store.edit_calendar(calendar.id, {"definition": Days(include=days)})
    assert [one.triggered_by for one in await instances(world, task)] == [TriggeredBy.API]


async def test_what_came_before_a_change_of_its_calendar_is_judged_by_what_that_was(world: World) -> None:
    task = await world.task(schedule=EVERY, misfire_policy=MisfirePolicy.CATCH_UP, misfire_grace_seconds=1)
    today = (await world.store.now()).date()
    days = tuple(today + timedelta(days=number) for number in (-1, 0, 1))
    calendar = await world.store.create_calendar("now", Days(include=days))
    await by_calendar(world, task, calendar="now")
    await pass_time(world, 125)
    await world.store.edit_calendar(calendar.id, {"definition": Days(include=days, exclude=days)})
    await pass_time(world, 60)
    await world.store.materialise()
    assert await recorded(world, task) == [(WINDOW, 2)]
    assert len(await ledger(world, task)) == 1
