"""What an alert rule may say, and how it is refused."""

from __future__ import annotations

from datetime import time
from typing import Any

import pytest

from hourhand.model.alert import (
    AlertDefinition,
    ExecutorLost,
    Failed,
    FailedInARow,
    Late,
    NeverStarted,
    QueueLonger,
    QuietHours,
    RunningLonger,
    Scope,
    ScopeKind,
)
from hourhand.model.errors import InvalidInput
from hourhand.rules.alert_definition import alert_from, alert_json

PLAIN = {"name": "books", "condition": {"kind": "failed"}}
CONDITIONS: list[tuple[dict[str, Any], Any]] = [
    ({"kind": "failed"}, Failed()),
    ({"kind": "failed_in_a_row", "count": 3}, FailedInARow(count=3)),
    ({"kind": "late", "seconds": 30}, Late(seconds=30)),
    ({"kind": "never_started", "seconds": 0.5}, NeverStarted(seconds=0.5)),
    ({"kind": "running_longer", "seconds": 60}, RunningLonger(seconds=60)),
    ({"kind": "running_longer", "times_median": 2.5}, RunningLonger(times_median=2.5)),
    ({"kind": "executor_lost"}, ExecutorLost()),
    ({"kind": "queue_longer", "count": 0, "minutes": 5}, QueueLonger(count=0, minutes=5)),
]


def refused(**given: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as caught:
        alert_from(PLAIN | given)
    return {error.field: error.message for error in caught.value.errors}


def test_what_is_left_out_has_its_default() -> None:
    assert alert_from(PLAIN) == AlertDefinition(name="books", condition=Failed())


@pytest.mark.parametrize(("written", "condition"), CONDITIONS, ids=str)
def test_every_condition_is_read_and_written_back(written: dict[str, Any], condition: Any) -> None:
    rule = alert_from(PLAIN | {"condition": written})
    assert rule.condition == condition
    assert alert_json(rule)["condition"] == written


@pytest.mark.parametrize(
    ("written", "field", "told"),
    [
        (None, "condition", "is required"),
        ("failed", "condition", "is no condition"),
        ({"kind": "boom"}, "condition", "the kinds are: failed, failed_in_a_row"),
        ({"kind": ["late"]}, "condition", "is no condition"),
        ({"kind": "late"}, "condition.seconds", "is required for the condition late: give a number above 0"),
        ({"kind": "late", "seconds": None}, "condition.seconds", "is required"),
        ({"kind": "late", "seconds": 0}, "condition.seconds", "0 is refused: give a number above 0"),
        ({"kind": "late", "seconds": True}, "condition.seconds", "True is refused"),
        ({"kind": "late", "seconds": float("nan")}, "condition.seconds", "nan is refused"),
        ({"kind": "late", "second": 3}, "condition.second", "did you mean 'seconds'?"),
        ({"kind": "failed", "count": 3}, "condition.count", "is not a field of the condition failed"),
        ({"kind": "failed_in_a_row", "count": 1}, "condition.count", "give a whole number from 2 to 100"),
        ({"kind": "failed_in_a_row", "count": True}, "condition.count", "True is refused"),
        ({"kind": "running_longer"}, "condition", "one of the two"),
        ({"kind": "running_longer", "seconds": 3, "times_median": 3}, "condition", "one of the two"),
        ({"kind": "running_longer", "times_median": 1}, "condition.times_median", "above 1"),
    ],
)
def test_a_wrong_condition_is_refused_with_what_would_be_right(written: Any, field: str, told: str) -> None:
    assert told in refused(condition=written)[field]


@pytest.mark.parametrize(
    ("written", "scope"),
    [
        ("all", Scope()),
        ({"group": "billing"}, Scope(kind=ScopeKind.GROUP, name="billing")),
        ({"group": 3}, Scope(kind=ScopeKind.GROUP, id=3)),
        ({"task": "close"}, Scope(kind=ScopeKind.TASK, name="close")),
        ({"task": 7}, Scope(kind=ScopeKind.TASK, id=7)),
    ],
)
def test_every_scope_is_read_and_written_back(written: Any, scope: Scope) -> None:
    rule = alert_from(PLAIN | {"scope": written})
    assert rule.scope == scope
    assert alert_json(rule)["scope"] == written


@pytest.mark.parametrize(
    "written",
    [None, "group", {}, {"group": ""}, {"group": "a\0"}, {"task": 0}, {"task": True}, {"task": 2**63}, {"x": 1},
     {"group": 1, "task": 2}, {"task": None}],
)  # fmt: skip
def test_a_wrong_scope_is_refused_with_its_forms(written: Any) -> None:
    assert '{"group": name or id}' in refused(scope=written)["scope"]


def test_a_lost_executor_belongs_to_no_task() -> None:
    told = refused(condition={"kind": "executor_lost"}, scope={"task": "close"})
    assert "give the scope all, or a group" in told["scope"]
    assert alert_from(PLAIN | {"condition": {"kind": "executor_lost"}, "scope": {"group": "billing"}})


def test_quiet_hours_are_read_and_written_back() -> None:
    written = {"from": "22:00", "to": "07:30", "timezone": "Asia/Shanghai", "days": ["fri", "mon"]}
    rule = alert_from(PLAIN | {"quiet_hours": written})
    expected = QuietHours(begin=time(22), end=time(7, 30), timezone="Asia/Shanghai", days=frozenset({0, 4}))
    assert rule.quiet_hours == expected
    assert alert_json(rule)["quiet_hours"] == written | {"days": ["mon", "fri"]}
    every_day = alert_from(PLAIN | {"quiet_hours": {"from": "00:00", "to": "12:00"}})
    assert alert_json(every_day)["quiet_hours"] == {"from": "00:00", "to": "12:00", "timezone": "UTC"}


@pytest.mark.parametrize(
    ("written", "field", "told"),
    [
        ("night", "quiet_hours", "is not an object"),
        ({"from": "22:00"}, "quiet_hours.to", "None is no time of day"),
        ({"from": "24:00", "to": "07:00"}, "quiet_hours.from", "give one such as 22:00"),
        ({"from": "7:00", "to": "07:00"}, "quiet_hours.from", "is no time of day"),
        ({"from": "07:00", "to": "07:00"}, "quiet_hours.to", "is when they begin"),
        ({"from": "22:00", "to": "07:00", "timezone": "Mars"}, "quiet_hours.timezone", "'Mars' is no time zone"),
        ({"from": "22:00", "to": "07:00", "timezone": 8}, "quiet_hours.timezone", "8 is no time zone"),
        ({"from": "22:00", "to": "07:00", "timezone": "../etc"}, "quiet_hours.timezone", "is no time zone"),
        ({"from": "22:00", "to": "07:00", "days": ["monday"]}, "quiet_hours.days", "mon, tue"),
        ({"from": "22:00", "to": "07:00", "days": []}, "quiet_hours.days", "mon, tue"),
        ({"from": "22:00", "to": "07:00", "day": ["mon"]}, "quiet_hours.day", "did you mean 'days'?"),
    ],
)
def test_wrong_quiet_hours_are_refused_with_what_would_be_right(written: Any, field: str, told: str) -> None:
    assert told in refused(quiet_hours=written)[field]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("name", None, "is required"),
        ("name", "", "is no name"),
        ("name", " books", "without spaces around it"),
        ("name", "a\nb", "on one line"),
        ("name", 7, "is no name"),
        ("name", "x" * 201, "1 to 200 characters"),
        ("enabled", "yes", "neither true nor false"),
        ("notify_recovery", 1, "neither true nor false"),
        ("group_seconds", -1, "a whole number from 0 to 86400"),
        ("group_seconds", 1.5, "a whole number"),
        ("repeat_seconds", 0, "a whole number from 1"),
        ("target", "x", "is not a field of an alert rule"),
        ("group_second", 3, "did you mean 'group_seconds'?"),
    ],
)
def test_a_wrong_field_is_refused_with_what_would_be_right(field: str, value: Any, told: str) -> None:
    assert told in refused(**{field: value})[field]


def test_all_that_is_wrong_is_said_at_once() -> None:
    assert refused(name="", scope="x", repeat_seconds="often").keys() == {"name", "scope", "repeat_seconds"}


def test_a_reminder_is_read() -> None:
    assert alert_from(PLAIN | {"repeat_seconds": 3600}).repeat_seconds == 3600
