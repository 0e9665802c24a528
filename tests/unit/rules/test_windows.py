from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from hourhand.model.errors import InvalidInput
from hourhand.model.pause import PauseScope
from hourhand.model.window import Days, Opening, Recurrence, WindowDefinition
from hourhand.rules.calendars import year_of
from hourhand.rules.windows import check, next_begin, open_at, openings

BERLIN = "Europe/Berlin"
NIGHTLY = WindowDefinition(
    name="nightly backup", scope=PauseScope.ALL, schedule="0 2 * * *", duration_seconds=7200, reason="a backup"
)
WEEKEND = Days(weekdays=(6, 7))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def scheduled(schedule: str, seconds: int, timezone: str = "UTC") -> Recurrence:
    return Recurrence(schedule=schedule, duration_seconds=seconds, timezone=timezone)


def days_of(days: Days, year: int) -> Mapping[date, str]:
    return year_of(days, year, {})


def on(days: Days, timezone: str = "UTC") -> Recurrence:
    return Recurrence(days=days, days_of=days_of, timezone=timezone)


def opening(begin: str, end: str) -> Opening:
    return Opening(utc(begin), utc(end))


# By a schedule


@pytest.mark.parametrize(
    ("instant", "is_open"),
    [
        ("2026-11-15T01:59:59.999999", False),
        ("2026-11-15T02:00:00", True),
        ("2026-11-15T03:59:59.999999", True),
        ("2026-11-15T04:00:00", False),
    ],
)
def test_a_window_is_open_from_its_beginning_up_to_its_end(instant: str, *, is_open: bool) -> None:
    expected = opening("2026-11-15T02:00", "2026-11-15T04:00") if is_open else None
    assert open_at(scheduled("0 2 * * *", 7200), utc(instant)) == expected


def test_a_window_may_be_open_for_days_and_over_the_end_of_a_year() -> None:
    weekly = scheduled("0 0 22 ? * FRI", 2 * 86_400 + 3600)
    assert open_at(weekly, utc("2027-01-03T22:59")) == opening("2027-01-01T22:00", "2027-01-03T23:00")
    assert open_at(weekly, utc("2027-01-03T23:00")) is None


def test_a_window_opens_once_by_a_time() -> None:
    once = scheduled("@at 2027-01-01T09:00:00+08:00", 3600)
    assert openings(once, utc("2026-01-01T00:00"), 5) == [opening("2027-01-01T01:00", "2027-01-01T02:00")]
    assert open_at(once, utc("2027-01-01T01:30")) is not None
    assert openings(once, utc("2027-01-01T02:00"), 5) == []


def test_in_a_gap_a_window_opens_right_after_it_and_is_open_as_long_as_ever() -> None:
    nightly = scheduled("30 2 * * *", 7200, BERLIN)
    # On 2027-03-28 the clock goes from 02:00 to 03:00, which is 01:00 UTC.
    assert open_at(nightly, utc("2027-03-28T00:59:59")) is None
    assert open_at(nightly, utc("2027-03-28T01:00")) == opening("2027-03-28T01:00", "2027-03-28T03:00")
    assert open_at(nightly, utc("2027-03-27T01:30")) == opening("2027-03-27T01:30", "2027-03-27T03:30")


def test_in_a_fold_a_window_opens_once() -> None:
    nightly = scheduled("30 2 * * *", 1800, BERLIN)
    # On 2026-10-25 there are two times 02:30: at 00:30 and at 01:30 UTC.
    assert open_at(nightly, utc("2026-10-25T00:30")) == opening("2026-10-25T00:30", "2026-10-25T01:00")
    assert open_at(nightly, utc("2026-10-25T01:30")) is None


def test_the_next_openings_begin_with_the_one_that_is_open() -> None:
    nightly = scheduled("0 2 * * *", 7200)
    assert openings(nightly, utc("2026-11-15T03:00"), 2) == [
        opening("2026-11-15T02:00", "2026-11-15T04:00"),
        opening("2026-11-16T02:00", "2026-11-16T04:00"),
    ]
    assert openings(nightly, utc("2026-11-15T04:00"), 1) == [opening("2026-11-16T02:00", "2026-11-16T04:00")]


def test_a_window_that_opens_again_before_it_closes_is_always_open() -> None:
    always = scheduled("@hourly", 7200)
    assert open_at(always, utc("2026-11-15T03:30")) == opening("2026-11-15T03:00", "2026-11-15T05:00")
    assert len(openings(always, utc("2026-11-15T03:30"), 5)) == 5


def test_what_cannot_open_a_window_is_refused_wherever_it_comes_from() -> None:
    for schedule in ("@manual", "@every 60s", "nonsense"):
        with pytest.raises(InvalidInput):
            open_at(scheduled(schedule, 60), utc("2026-11-15T03:30"))


# By a calendar


def test_days_in_a_row_are_one_occurrence() -> None:
    weekend = on(WEEKEND, "Asia/Shanghai")
    expected = opening("2026-11-13T16:00", "2026-11-15T16:00")
    assert open_at(weekend, expected.begin - timedelta(seconds=1)) is None
    assert open_at(weekend, expected.begin) == expected
    assert open_at(weekend, expected.end - timedelta(seconds=1)) == expected
    assert open_at(weekend, expected.end) is None
    assert openings(weekend, expected.begin, 2) == [expected, opening("2026-11-20T16:00", "2026-11-22T16:00")]
    assert next_begin(weekend, utc("2026-11-16T00:00")) == utc("2026-11-20T16:00")


def test_a_day_is_as_long_as_it_is_in_its_zone() -> None:
    short = on(Days(include=(date(2027, 3, 28),)), BERLIN)
    assert openings(short, utc("2027-01-01T00:00"), 5) == [opening("2027-03-27T23:00", "2027-03-28T22:00")]
    long = on(Days(include=(date(2026, 10, 25),)), BERLIN)
    assert openings(long, utc("2026-01-01T00:00"), 5) == [opening("2026-10-24T22:00", "2026-10-25T23:00")]


def test_a_day_begins_after_a_gap_at_midnight() -> None:
    # On 2018-11-04 the clock in São Paulo went from 00:00 to 01:00, which was 03:00 UTC.
    day = on(Days(include=(date(2018, 11, 4),)), "America/Sao_Paulo")
    assert openings(day, utc("2018-01-01T00:00"), 5) == [opening("2018-11-04T03:00", "2018-11-05T02:00")]


def test_a_day_that_the_clock_left_again_goes_on() -> None:
    # On 2010-11-07 the clock in St. John's went back from 00:01 to 23:01 of the day before, at 02:31 UTC.
    day = on(Days(include=(date(2010, 11, 7),)), "America/St_Johns")
    assert open_at(day, utc("2010-11-07T02:29")) is None
    assert open_at(day, utc("2010-11-07T02:45")) == opening("2010-11-07T02:30", "2010-11-08T03:30")


def test_a_calendar_of_every_day_is_open_for_a_long_time_and_not_for_ever() -> None:
    every = on(Days(weekdays=(1, 2, 3, 4, 5, 6, 7)))
    found = open_at(every, utc("2026-11-15T12:00"))
    assert found is not None
    assert found.end - found.begin > timedelta(days=700)
    assert open_at(every, utc("2199-12-31T12:00")) is not None


def test_a_calendar_whose_days_are_over_opens_never_again() -> None:
    over = on(Days(include=(date(2020, 1, 1),)))
    assert next_begin(over, utc("2026-11-15T12:00")) is None
    assert openings(over, utc("2026-11-15T12:00"), 5) == []


# What a window may say


def test_a_window_that_makes_sense_is_taken_with_its_schedule_as_we_write_it() -> None:
    assert check(NIGHTLY) is NIGHTLY
    assert check(replace(NIGHTLY, schedule="  0  2 * *  * ")) == NIGHTLY
    assert check(replace(NIGHTLY, schedule="@DAILY")).schedule == "@daily"
    by_days = replace(NIGHTLY, schedule=None, duration_seconds=None, calendar="China")
    assert check(by_days) is by_days


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"name": ""}, ["name"]),
        ({"name": " x"}, ["name"]),
        ({"name": "x" * 201}, ["name"]),
        ({"name": "a\nb"}, ["name"]),
        ({"reason": " "}, ["reason"]),
        ({"reason": "x" * 1_001}, ["reason"]),
        ({"reason": "a\0b"}, ["reason"]),
        ({"calendar": "China"}, ["schedule"]),
        ({"schedule": None}, ["schedule", "duration_seconds"]),
        ({"schedule": None, "calendar": "China"}, ["duration_seconds"]),
        ({"schedule": "@every 60s"}, ["schedule"]),
        ({"schedule": "@upstream"}, ["schedule"]),
        ({"schedule": "nonsense"}, ["schedule"]),
        ({"timezone": "Mars"}, ["timezone"]),
        ({"duration_seconds": None}, ["duration_seconds"]),
        ({"duration_seconds": 0}, ["duration_seconds"]),
        ({"duration_seconds": 7 * 86_400 + 1}, ["duration_seconds"]),
        ({"name": "", "reason": "", "schedule": "x", "duration_seconds": 0}, ["name", "reason", "schedule"]),
    ],
)
def test_a_window_that_makes_no_sense_is_refused(changes: dict[str, Any], fields: list[str]) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(replace(NIGHTLY, **changes))
    assert [one.field for one in refused.value.errors][: len(fields)] == fields
