"""hourhand.testing: when tasks fire, on a clock that the test moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hourhand import App
from hourhand.errors import InvalidInput
from hourhand.model.words import SkipReason
from hourhand.testing import Timeline, fire_times, schedule_notes

START = datetime(2026, 3, 28, tzinfo=UTC)
DAY = timedelta(days=1)
app = App("timed")


@app.task("30 2 * * *", timezone="Europe/Berlin", misfire_policy="skip")
def nightly() -> None: ...


@app.task("@every 6h", misfire_policy="catch_up", catch_up_limit=3)
def often() -> None: ...


@app.task("@at 2026-03-29T12:00Z")
def once() -> None: ...


@app.task("@after 5m")
def after() -> None: ...


@app.task("@hourly", enabled=False)
def disabled() -> None: ...


@app.task
def manual() -> None: ...


def test_the_instants_of_a_schedule() -> None:
    found = fire_times("0 2 * * *", timezone="Asia/Shanghai", start=START, end=START + 2 * DAY)
    assert found == [datetime(2026, 3, 28, 18, tzinfo=UTC), datetime(2026, 3, 29, 18, tzinfo=UTC)]
    assert fire_times("@every 12h", start=START, end=START + DAY) == [START + DAY / 2, START + DAY]
    anchored = fire_times("@every 12h", start=START, end=START + DAY, anchor=START - timedelta(hours=1))
    assert anchored == [START + timedelta(hours=11), START + timedelta(hours=23)]
    assert fire_times("@manual", start=START, end=START + DAY) == []


def test_the_instants_of_a_task_across_a_gap() -> None:
    found = fire_times(nightly, start=START, end=START + 3 * DAY)
    # 02:30 does not exist on the 29th: it fires at 03:00, which is 01:00 in UTC.
    assert [f"{one:%d %H:%M}" for one in found] == ["28 01:30", "29 01:00", "30 00:30"]
    assert "02:30 does not exist on 2026-03-29 in Europe/Berlin: fires at 03:00 instead" in schedule_notes(
        nightly, start=START
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"scheduled": "61 * * * *"}, "schedule"),
        ({"scheduled": "@daily", "timezone": "Mars"}, "timezone"),
        ({"scheduled": nightly, "timezone": "UTC"}, "the task has its own, 'Europe/Berlin'"),
        ({"scheduled": print}, "has no schedule of its own"),
        ({"scheduled": "@daily", "start": datetime(2026, 1, 1)}, "has no time zone"),  # noqa: DTZ001
        ({"scheduled": "@every 1s", "end": START + 100 * DAY}, "more than 100,000 instants"),
    ],
)
def test_what_has_no_instants_is_refused(given: dict[str, Any], said: str) -> None:
    scheduled = given.pop("scheduled")
    with pytest.raises(InvalidInput, match=said):
        fire_times(scheduled, **{"start": START, "end": START + DAY, **given})


def told(timeline: Timeline, **passed: Any) -> list[str]:
    return [
        f"{one.task} {one.instant:%d %H:%M} {one.skipped or ('late' if one.late else 'on time')} {one.count}"
        for one in timeline.advance(**passed)
    ]


def test_what_fires_while_time_passes_in_its_order() -> None:
    timeline = Timeline(app, START)
    assert told(timeline, hours=13) == [
        "nightly 28 01:30 on time 1",
        "often 28 06:00 on time 1",
        "often 28 12:00 on time 1",
    ]
    assert told(timeline, days=1)[-2:] == ["often 29 12:00 on time 1", "once 29 12:00 on time 1"]
    assert timeline.now == START + DAY + timedelta(hours=13)
    assert told(timeline, until=START + DAY + timedelta(hours=14)) == []
    assert told(timeline) == []


def test_what_was_missed_while_nobody_was_there_follows_each_policy() -> None:
    timeline = Timeline(app, START)
    timeline.down(days=2)
    back = told(timeline)
    assert back == [
        "nightly 28 01:30 misfire 2",
        "often 28 06:00 late 1",
        "often 28 12:00 late 1",
        "often 28 18:00 late 1",
        "often 29 00:00 misfire 4",
        "once 29 12:00 late 1",
        "often 30 00:00 on time 1",
    ]
    assert told(timeline, hours=6) == ["nightly 30 00:30 on time 1", "often 30 06:00 on time 1"]


def test_the_notes_of_all_tasks() -> None:
    assert list(Timeline(app, START).notes) == ["nightly"]


def test_a_skip_says_why() -> None:
    timeline = Timeline(app, START)
    timeline.down(days=1)
    assert {one.skipped for one in timeline.advance()} == {None, SkipReason.MISFIRE}


@pytest.mark.parametrize(
    ("passed", "said"),
    [
        ({"days": -1}, "time does not go back"),
        ({"until": START - DAY}, "time does not go back"),
        ({"until": START + DAY, "days": 1}, "the one or the other"),
        ({"until": datetime(2027, 1, 1)}, "has no time zone"),  # noqa: DTZ001
    ],
)
def test_time_goes_forward(passed: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Timeline(app, START).advance(**passed)
