"""Rules: what an alert rule may say; every refusal names the field, the value and what would be right."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from datetime import time
from typing import Any
from zoneinfo import ZoneInfo

from hourhand.model.alert import (
    AlertDefinition,
    Condition,
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
from hourhand.model.errors import FieldError, InvalidInput, shown
from hourhand.rules.definition import LARGEST_ID

CONDITIONS: Mapping[str, type[Condition]] = {
    "failed": Failed,
    "failed_in_a_row": FailedInARow,
    "late": Late,
    "never_started": NeverStarted,
    "running_longer": RunningLonger,
    "executor_lost": ExecutorLost,
    "queue_longer": QueueLonger,
}
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MOST_IN_A_ROW = 100
_MONTH = 31 * 86_400
FIELDS = tuple(field.name for field in fields(AlertDefinition))
_LONGEST_NAME = 200
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]", re.ASCII)
_SCOPE_FORMS = '"all", {"group": name or id} or {"task": name or id}'

Check = Callable[[Any], str | None]
"""Takes a value; answers what would be right, or None if it is."""


def _whole(least: int, most: int) -> Check:
    def check(value: object) -> str | None:
        right = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        return None if right else f"a whole number from {least} to {most}"

    return check


def _number(above: float, most: float) -> Check:
    def check(value: object) -> str | None:
        right = isinstance(value, int | float) and not isinstance(value, bool) and above < value <= most
        return None if right else f"a number above {above:g}, at most {most:g}"

    return check


_SECONDS = _number(0, _MONTH)
_PARAMETERS: Mapping[str, Mapping[str, Check]] = {
    "failed": {},
    "failed_in_a_row": {"count": _whole(2, MOST_IN_A_ROW)},
    "late": {"seconds": _SECONDS},
    "never_started": {"seconds": _SECONDS},
    "running_longer": {"seconds": _SECONDS, "times_median": _number(1, 1_000)},
    "executor_lost": {},
    "queue_longer": {"count": _whole(0, 1_000_000), "minutes": _number(0, 1_440)},
}


class _Reading:
    """Collects everything that is wrong."""

    def __init__(self) -> None:
        self.errors: list[FieldError] = []

    def refuse(self, field: str, value: object, message: str) -> None:
        self.errors.append(FieldError(field, value, message))

    def known(self, prefix: str, given: Mapping[str, Any], names: tuple[str, ...], what: str) -> None:
        for name in given:
            if name not in names:
                close = difflib.get_close_matches(str(name), names, n=1)
                there = ", ".join(names) or "none"
                hint = f"did you mean {close[0]!r}?" if close else f"the fields are: {there}"
                self.refuse(f"{prefix}{name}", None, f"is not a field of {what}; {hint}")


def alert_from(given: Mapping[str, Any]) -> AlertDefinition:
    """An alert rule from plain values, with defaults for what is left out; all refusals at once."""
    reading = _Reading()
    reading.known("", given, FIELDS, "an alert rule")
    values: dict[str, Any] = {
        "name": _name(reading, given.get("name")),
        "condition": _condition(reading, given.get("condition")),
        "scope": _scope(reading, given.get("scope", "all")),
        "quiet_hours": _quiet_hours(reading, given.get("quiet_hours")),
        "group_seconds": _seconds(reading, "group_seconds", given.get("group_seconds", 60), 0, 86_400),
        "repeat_seconds": None,
    }
    if given.get("repeat_seconds") is not None:
        values["repeat_seconds"] = _seconds(reading, "repeat_seconds", given["repeat_seconds"], 1, _MONTH)
    for flag in ("enabled", "notify_recovery"):
        values[flag] = given.get(flag, True)
        if not isinstance(values[flag], bool):
            reading.refuse(flag, values[flag], f"{shown(values[flag])} is neither true nor false: give one of them")
    if isinstance(values["condition"], ExecutorLost) and values["scope"].kind is ScopeKind.TASK:
        reading.refuse(
            "scope", given.get("scope"), "a task has no executors of its own: give the scope all, or a group"
        )
    if reading.errors:
        raise InvalidInput(reading.errors)
    return AlertDefinition(**values)


def _name(reading: _Reading, value: object) -> str:
    right = f"a text of 1 to {_LONGEST_NAME} characters on one line"
    if value is None:
        reading.refuse("name", None, f"is required: give {right}")
        return ""
    if (
        not isinstance(value, str)
        or not 0 < len(value) <= _LONGEST_NAME
        or value != value.strip()
        or any(unicodedata.category(one) in ("Cc", "Cs") for one in value)
    ):
        reading.refuse("name", value, f"{shown(value)} is no name: give {right}, without spaces around it")
        return ""
    return value


def _seconds(reading: _Reading, field: str, value: object, least: int, most: int) -> object:
    right = _whole(least, most)(value)
    if right is not None:
        reading.refuse(field, value, f"{shown(value)} is refused: give {right}")
    return value


def _condition(reading: _Reading, value: object) -> Condition:
    kinds = ", ".join(CONDITIONS)
    kind = value.get("kind") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(kind, str) or kind not in CONDITIONS:
        told = "is required" if value is None else f"{shown(value)} is no condition"
        reading.refuse("condition", value, f'{told}: give an object like {{"kind": "failed"}}; the kinds are: {kinds}')
        return Failed()
    before = len(reading.errors)
    checks = _PARAMETERS[kind]
    given = {name: one for name, one in value.items() if name != "kind" and one is not None}
    reading.known("condition.", given, tuple(checks), f"the condition {kind}")
    for name, check in checks.items():
        right = check(given.get(name))
        if name in given and right is not None:
            reading.refuse(f"condition.{name}", given[name], f"{shown(given[name])} is refused: give {right}")
        elif name not in given and kind != "running_longer":
            reading.refuse(f"condition.{name}", None, f"is required for the condition {kind}: give {right}")
    if kind == "running_longer" and len(given.keys() & checks.keys()) != 1:
        reading.refuse("condition", value, "running_longer needs one of the two: seconds, or times_median (such as 3)")
    return CONDITIONS[kind](**given) if len(reading.errors) == before else Failed()


def _scope(reading: _Reading, value: object) -> Scope:
    if value == ScopeKind.ALL.value:
        return Scope()
    if isinstance(value, Mapping) and len(value) == 1:
        ((kind, named),) = value.items()
        if kind in (ScopeKind.GROUP.value, ScopeKind.TASK.value):
            if isinstance(named, str) and named and "\x00" not in named:
                return Scope(kind=ScopeKind(kind), name=named)
            if isinstance(named, int) and not isinstance(named, bool) and 0 < named <= LARGEST_ID:
                return Scope(kind=ScopeKind(kind), id=named)
    reading.refuse("scope", value, f"{shown(value)} is no scope: give {_SCOPE_FORMS}")
    return Scope()


def _quiet_hours(reading: _Reading, value: object) -> QuietHours | None:
    if value is None:
        return None
    form = '{"from": "22:00", "to": "07:00", "timezone": "Asia/Shanghai"}, and "days": ["mon", …] if not on all'
    if not isinstance(value, Mapping):
        reading.refuse("quiet_hours", value, f"{shown(value)} is not an object: give one like {form}")
        return None
    before = len(reading.errors)
    reading.known("quiet_hours.", value, ("from", "to", "timezone", "days"), "quiet hours")
    begin, end = (_clock(reading, name, value.get(name)) for name in ("from", "to"))
    if begin == end and len(reading.errors) == before:
        reading.refuse("quiet_hours.to", value["to"], f"{value['to']!r} is when they begin: give another time")
    zone = value.get("timezone", "UTC")
    try:
        ZoneInfo(zone)
    except (ValueError, OSError, TypeError, LookupError):
        reading.refuse(
            "quiet_hours.timezone", zone, f"{shown(zone)} is no time zone: give a name such as Asia/Shanghai"
        )
    days = value.get("days")
    if days is not None and not (isinstance(days, list | tuple) and days and all(day in DAYS for day in days)):
        reading.refuse("quiet_hours.days", days, f"{shown(days)} is refused: give a list of {', '.join(DAYS)}")
    if len(reading.errors) > before:
        return None
    return QuietHours(begin=begin, end=end, timezone=zone, days=frozenset(DAYS.index(day) for day in days or DAYS))


def _clock(reading: _Reading, name: str, value: object) -> time:
    if isinstance(value, str) and _CLOCK.fullmatch(value):
        return time.fromisoformat(value)
    reading.refuse(f"quiet_hours.{name}", value, f"{shown(value)} is no time of day: give one such as 22:00")
    return time()


def condition_json(condition: Condition) -> dict[str, Any]:
    """A condition as it is written and stored."""
    (kind,) = (name for name, one in CONDITIONS.items() if isinstance(condition, one))
    return {"kind": kind, **{name: value for name, value in asdict(condition).items() if value is not None}}


def scope_json(scope: Scope) -> str | dict[str, Any]:
    """A scope as it is written: by its name, or by its id where there is no name to it."""
    if scope.kind is ScopeKind.ALL:
        return scope.kind.value
    return {scope.kind.value: scope.id if scope.name is None else scope.name}


def quiet_hours_json(hours: QuietHours | None) -> dict[str, Any] | None:
    """Quiet hours as they are written and stored."""
    if hours is None:
        return None
    written = {"from": f"{hours.begin:%H:%M}", "to": f"{hours.end:%H:%M}", "timezone": hours.timezone}
    return written if len(hours.days) == len(DAYS) else written | {"days": [DAYS[day] for day in sorted(hours.days)]}


def alert_json(rule: AlertDefinition) -> dict[str, Any]:
    """An alert rule as `alert_from` reads it."""
    return {
        "name": rule.name,
        "condition": condition_json(rule.condition),
        "scope": scope_json(rule.scope),
        "enabled": rule.enabled,
        "notify_recovery": rule.notify_recovery,
        "quiet_hours": quiet_hours_json(rule.quiet_hours),
        "group_seconds": rule.group_seconds,
        "repeat_seconds": rule.repeat_seconds,
    }
