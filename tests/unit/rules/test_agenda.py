from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise, takewhile
from typing import Any

import pytest

from hourhand.model.agenda import Clocked, Load
from hourhand.model.errors import InvalidInput
from hourhand.model.pause import PauseScope
from hourhand.model.window import Recurrence, Rest
from hourhand.rules import agenda
from hourhand.rules.agenda import Agenda, period, steps, usual_step
from hourhand.rules.schedule import next_instant, parse

DAY = datetime(2026, 11, 15, tzinfo=UTC)
HOUR = timedelta(hours=1)


def at(hours: float) -> datetime:
    return DAY + hours * HOUR


def task(number: int, schedule: str, first: datetime | None = None, **changes: Any) -> Clocked:
    zone = changes.pop("timezone", "UTC")
    if first is None:
        first = next_instant(parse(schedule, zone), DAY - timedelta(microseconds=1), DAY)
    assert first is not None
    values: dict[str, Any] = {"group": "default", "group_id": 1, "anchored_at": DAY, **changes}
    return Clocked(
        task_id=number, task_name=f"task {number}", schedule=schedule, timezone=zone, next_fire_at=first, **values
    )


def rest(scope: PauseScope, scope_id: int | None = None, begin: float = 0, end: float | None = None) -> Rest:
    return Rest(scope=scope, scope_id=scope_id, begin=at(begin), end=None if end is None else at(end))


def window(schedule: str, seconds: int) -> Rest:
    recurrence = Recurrence(schedule=schedule, duration_seconds=seconds)
    return Rest(scope=PauseScope.ALL, scope_id=None, begin=DAY, recurrence=recurrence, name="nightly")


def seen(found: Agenda, begin: datetime, count: int, after: tuple[datetime, int] | None = None) -> list[Any]:
    return [((one.at - DAY) / HOUR, one.task_id) for one in islice(found.upcoming(begin, after), count)]


# One by one


def test_instants_of_all_tasks_come_by_time_then_by_task() -> None:
    found = Agenda([task(2, "0 */2 * * *"), task(1, "0 * * * *"), task(3, "@at 2026-11-15T01:30Z")], [])
    assert seen(found, DAY, 7) == [(0, 1), (0, 2), (1, 1), (1.5, 3), (2, 1), (2, 2), (3, 1)]
    assert seen(found, at(2.5), 2) == [(3, 1), (4, 1)]
    first = next(found.upcoming(at(2)))
    assert (first.task_name, first.group, first.timezone, first.note) == ("task 1", "default", "UTC", None)


def test_one_goes_on_behind_any_of_them() -> None:
    found = Agenda([task(number, "@every 20m") for number in (1, 2, 3)], [])
    whole = list(islice(found.upcoming(DAY), 12))
    for place, one in enumerate(whole):
        going_on = islice(found.upcoming(DAY, (one.at, one.task_id)), 11 - place)
        assert list(going_on) == whole[place + 1 :]


def test_what_lies_before_the_period_or_was_made_already_is_passed_over() -> None:
    found = Agenda([task(1, "0 * * * *", at(3)), task(2, "@after 30s", at(1)), task(3, "@after 30s", at(4))], [])
    assert seen(found, at(2), 4) == [(3, 1), (4, 1), (4, 3), (5, 1)]


def test_a_schedule_that_this_host_cannot_read_has_only_its_next_instant() -> None:
    found = Agenda([task(1, "0 * * * *", at(1), timezone="UTC")], [])
    unread = Agenda([Clocked(**{**_values(task(1, "0 * * * *", at(1))), "timezone": "Mars/Base"})], [])
    assert seen(found, DAY, 2) == [(1, 1), (2, 1)]
    assert seen(unread, DAY, 2) == [(1, 1)]
    assert sum(counts(unread.load(DAY, at(24), 3_600, "UTC"))) == 0


def _values(one: Clocked) -> dict[str, Any]:
    return {name: getattr(one, name) for name in Clocked.__dataclass_fields__}


def test_what_falls_into_a_rest_says_so() -> None:
    rests = [rest(PauseScope.TASK, 1, 1, 2), rest(PauseScope.GROUP, 2), window("30 2 * * *", 1800)]
    found = Agenda([task(1, "30 * * * *"), task(2, "@daily", group="other", group_id=2)], rests)
    notes = {(one.at, one.task_id): one.note for one in islice(found.upcoming(DAY), 5)}
    assert notes == {
        (DAY, 2): "it falls into a pause and is skipped",
        (at(0.5), 1): None,
        (at(1.5), 1): "it falls into the pause until 2026-11-15T02:00:00Z and is skipped",
        (at(2.5), 1): "it falls into the maintenance window 'nightly' and is skipped",
        (at(3.5), 1): None,
    }


# Counted


def counts(found: Load) -> list[int]:
    return [one.count for one in found.steps]


def test_each_step_tells_how_many_fire() -> None:
    tasks = [task(1, "*/20 * * * *"), task(2, "*/20 * * * *"), task(3, "30 2 * * *"), task(4, "@every 50m")]
    found = Agenda(tasks, []).load(DAY, at(4), 3_600, "UTC")
    assert [one.at for one in found.steps] == [at(n) for n in range(4)]
    assert counts(found) == [6 + 1, 6 + 1, 6 + 1 + 1, 6 + 1]
    assert [(one.task_id, one.count) for one in found.busiest] == [(1, 12), (2, 12), (4, 4), (3, 1)]
    assert (found.begin, found.end, found.step_seconds, found.truncated) == (DAY, at(4), 3_600, False)
    assert Agenda(tasks, []).load(DAY, at(4), 3_600, "UTC", truncated=True).truncated


def test_only_the_busiest_are_named() -> None:
    tasks = [task(number, f"@every {number}m") for number in range(1, 30)]
    found = Agenda(tasks, []).load(DAY, at(1), 3_600, "UTC")
    assert [one.task_id for one in found.busiest] == list(range(1, 11))
    assert (found.busiest[0].task_name, found.busiest[0].group, found.busiest[0].count) == ("task 1", "default", 59)


def test_what_fires_every_second_for_weeks_is_counted_without_going_through_it() -> None:
    for text in ("@every 1s", "* * * * * ?"):
        found = Agenda([task(1, text)], []).load(DAY, at(24 * 40), 3_600, "UTC")
        assert set(counts(found)[1:]) == {3_600}
        assert not found.truncated


@pytest.mark.parametrize("text", ["30 2 * * *", "@every 7h", "*/5 * * * *", "15 2 * * SUN", "@at 2026-11-17T05:00Z"])
@pytest.mark.parametrize("zone", ["UTC", "Australia/Lord_Howe"])
def test_a_count_is_that_of_the_instants_gone_through(text: str, zone: str) -> None:
    one, begin, end = task(1, text, timezone=zone), at(5.3), at(24 * 30)
    found = Agenda([one], [rest(PauseScope.TASK, 1, 100, 200)]).load(begin, end, 10_800, zone)
    edges = [*(step.at for step in found.steps), found.end]
    fired = [each.at for each in takewhile(lambda each: each.at < end, Agenda([one], []).upcoming(edges[0]))]
    awake = [each for each in fired if not at(100) <= each < at(200)]
    assert counts(found) == [sum(low <= each < high for each in awake) for low, high in pairwise(edges)]


def test_what_is_paused_for_good_never_counts() -> None:
    found = Agenda([task(1, "@hourly")], [rest(PauseScope.ALL, begin=2)]).load(DAY, at(5), 3_600, "UTC")
    assert counts(found) == [1, 1, 0, 0, 0]


def test_the_first_step_begins_at_the_last_whole_one_and_what_was_made_does_not_count() -> None:
    found = Agenda([task(1, "*/10 * * * *", at(0.5))], []).load(at(0.3), at(1.25), 3_600, "UTC")
    assert (found.begin, found.end, counts(found)) == (DAY, at(1.25), [3, 2])


def test_what_rests_does_not_count() -> None:
    rests = [rest(PauseScope.TASK, 1, 1, 2.5), window("0 3 * * *", 1800), rest(PauseScope.TASK, 2)]
    tasks = [task(1, "*/10 * * * *"), task(2, "* * * * *"), task(3, "@hourly"), task(4, "@hourly", group_id=2)]
    found = Agenda(tasks, [*rests, rest(PauseScope.GROUP, 2, 0, 4)]).load(DAY, at(5), 3_600, "UTC")
    assert counts(found) == [6 + 1, 0 + 1, 3 + 1, 3 + 0, 6 + 1 + 1]


def test_of_what_follows_its_last_instance_the_next_instant_counts() -> None:
    tasks = [task(1, "@after 1m", at(1)), task(2, "@after 1m", at(2)), task(3, "@after 1m", at(-1))]
    rests = [rest(PauseScope.TASK, 2, 1, 3), rest(PauseScope.TASK, 1, 1.5, 1.75)]
    assert counts(Agenda(tasks, rests).load(DAY, at(4), 3_600, "UTC")) == [0, 1, 0, 0]


def test_what_is_too_much_to_count_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [task(number, f"@every {number}m") for number in range(1, 10)]
    monkeypatch.setattr(agenda, "MOST_CELLS", 5)
    found = Agenda(tasks, []).load(DAY, at(1), 3_600, "UTC")
    assert found.truncated
    assert counts(found) == [59 + 29 + 19 + 14 + 11]


def test_what_rests_too_often_is_looked_at_only_so_far() -> None:
    found = Agenda([task(1, "@every 15s")], [window("* * * * *", 30)]).load(DAY, at(24), 3_600, "UTC")
    assert found.truncated
    assert counts(found)[:2] == [120, 120]
    assert not Agenda([task(1, "@every 15s")], [window("0 * * * *", 30)]).load(DAY, at(24), 3_600, "UTC").truncated


def test_steps_follow_the_clock_of_a_zone() -> None:
    begin = datetime(2027, 3, 27, 22, 30, tzinfo=UTC)  # 23:30 in Berlin, the night before the clock goes forward
    edges = steps(begin, begin + timedelta(hours=5), 3_600, "Europe/Berlin")
    # 02:00 is not there: the clock goes from 02:00 to 03:00.
    assert [f"{one:%H:%M}" for one in edges] == ["22:00", "23:00", "00:00", "01:00", "02:00", "03:00", "03:30"]
    days = steps(begin, begin + timedelta(days=2), 86_400, "Europe/Berlin")
    assert [f"{one:%d %H:%M}" for one in days] == ["26 23:00", "27 23:00", "28 22:00", "29 22:00", "29 22:30"]
    back = steps(
        datetime(2027, 10, 30, 23, 10, tzinfo=UTC), datetime(2027, 10, 31, 4, tzinfo=UTC), 7_200, "Europe/Berlin"
    )
    # From 02:00 to 04:00 on the wall clock it is three hours.
    assert [f"{one:%H:%M}" for one in back] == ["22:00", "00:00", "03:00", "04:00"]
    assert steps(DAY, at(1), 1_800, "Asia/Kathmandu")[0] == at(-0.25)
    again = datetime(2027, 10, 31, 1, 40, tzinfo=UTC)  # 02:40 in Berlin for the second time: no step has begun since
    edges = steps(again, again + timedelta(hours=1), 900, "Europe/Berlin")
    assert [f"{one:%H:%M}" for one in edges] == ["00:45", "02:00", "02:15", "02:30", "02:40"]


@pytest.mark.parametrize("seconds", [0, 30, 7 * 60, 5 * 3_600, 36 * 3_600, 63 * 86_400, 999_999_999 * 86_400])
def test_a_step_is_a_part_of_a_day_or_whole_days(seconds: int) -> None:
    with pytest.raises(InvalidInput, match="a day can be divided into"):
        steps(DAY, at(1), seconds, "UTC")


def test_what_cannot_be_had_is_refused() -> None:
    with pytest.raises(InvalidInput, match="there would be 1,001"):
        steps(DAY, DAY + timedelta(minutes=1_001), 60, "UTC")
    with pytest.raises(InvalidInput, match="is not an IANA time zone"):
        steps(DAY, at(1), 3_600, "Mars/Base")
    with pytest.raises(InvalidInput, match="is not before"):
        period(DAY, DAY, timedelta(days=62))
    with pytest.raises(InvalidInput, match="more than 62 days after"):
        period(DAY, at(24 * 62 + 1), timedelta(days=62))
    period(DAY, at(24 * 62), timedelta(days=62))


def test_the_usual_step_is_an_hour_or_what_fits() -> None:
    assert [usual_step(DAY, DAY + timedelta(days=days)) for days in (1, 31, 40, 45, 62)] == [3_600] * 3 + [7_200] * 2
    for days in range(1, 63):
        begin, end = at(0.7), at(0.7) + timedelta(days=days)
        assert len(steps(begin, end, usual_step(begin, end), "Europe/Berlin")) <= 1_001
