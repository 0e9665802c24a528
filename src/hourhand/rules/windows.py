"""Rules: when a maintenance window is open, and what one may say."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from hourhand.model.errors import FieldError, InvalidInput, shown
from hourhand.model.window import Days, DaysOf, Opening, Recurrence, WindowDefinition
from hourhand.rules import zones
from hourhand.rules.calendars import LAST_YEAR
from hourhand.rules.schedule import At, CronSchedule, next_instant, parse, previous_instant

LONGEST_SECONDS: Final = 7 * 86_400
LONGEST_NAME: Final = 200
LONGEST_REASON: Final = 1_000
_DAY: Final = timedelta(days=1)
_LONGEST_RUN: Final = 366
"""Days in a row are one occurrence, up to this many: a calendar may have every day there is."""
_YEARS_AHEAD: Final = 20
"""A calendar without a day for so long is taken to have none."""


@lru_cache(maxsize=8192)
def open_at(recurrence: Recurrence, instant: datetime) -> Opening | None:
    """The occurrence in which the instant lies; many tasks ask for the same one."""
    if recurrence.days is not None and recurrence.days_of is not None:
        return _open_days(recurrence.days, recurrence.days_of, recurrence.timezone, instant)
    schedule, duration = _scheduled(recurrence)
    begin = previous_instant(schedule, instant)
    return Opening(begin, begin + duration) if begin is not None and instant < begin + duration else None


def next_begin(recurrence: Recurrence, after: datetime) -> datetime | None:
    """When it opens next."""
    if recurrence.days is not None and recurrence.days_of is not None:
        return next(_day_begins(recurrence.days, recurrence.days_of, recurrence.timezone, after), None)
    return next_instant(_scheduled(recurrence)[0], after)


def openings(recurrence: Recurrence, now: datetime, count: int) -> list[Opening]:
    """The occurrence that is open, if one is, and the next ones."""
    found: list[Opening] = []
    current = open_at(recurrence, now)
    begin = next_begin(recurrence, now) if current is None else current.begin
    while begin is not None and len(found) < count:
        one = open_at(recurrence, begin)
        if one is None:  # pragma: no cover - it begins there
            break
        found.append(one)
        # Days in a row are one occurrence; those of a schedule may overlap.
        begin = next_begin(recurrence, begin if recurrence.days is None else one.end - timedelta(microseconds=1))
    return found


def check(window: WindowDefinition) -> WindowDefinition:
    """The window with its schedule as we write it; refuses what makes no sense, all at once."""
    errors = list(_texts(window))
    schedule: str | None = None
    if (window.calendar is None) == (window.schedule is None):
        right = "give a `schedule` with `duration_seconds`, or a `calendar`, and not both"
        errors.append(FieldError("schedule", window.schedule, f"says not when it is open: {right}"))
    try:
        read = parse("@manual" if window.schedule is None else window.schedule, window.timezone)
    except InvalidInput as refused:
        errors += refused.errors
    else:
        if window.schedule is not None:
            schedule = read.text
            if not isinstance(read, CronSchedule | At):
                right = "write a cron expression, a macro such as @daily, or @at with a time"
                errors.append(FieldError("schedule", window.schedule, f"{read.text!r} opens no window: {right}"))
    errors += _durations(window)
    if errors:
        raise InvalidInput(errors)
    return window if schedule == window.schedule else _with_schedule(window, schedule)


def _with_schedule(window: WindowDefinition, schedule: str | None) -> WindowDefinition:
    values = {name: getattr(window, name) for name in WindowDefinition.__dataclass_fields__}
    return WindowDefinition(**{**values, "schedule": schedule})


def _texts(window: WindowDefinition) -> Iterator[FieldError]:
    name = window.name
    if not 1 <= len(name) <= LONGEST_NAME or name != name.strip() or _has_control(name):
        right = f"give 1 to {LONGEST_NAME} characters without control characters or spaces at the ends"
        yield FieldError("name", name, f"{shown(name)} is no name: {right}")
    if not window.reason.strip() or len(window.reason) > LONGEST_REASON or "\0" in window.reason:
        right = f"say in 1 to {LONGEST_REASON:,} characters why, for those who wonder what has stopped"
        yield FieldError("reason", window.reason, f"{shown(window.reason)} is no reason: {right}")


def _durations(window: WindowDefinition) -> Iterator[FieldError]:
    seconds = window.duration_seconds
    if window.schedule is None:
        if seconds is not None:
            yield FieldError(
                "duration_seconds", seconds, "is for a schedule: a calendar's days are whole, leave it out"
            )
    elif seconds is None or not 1 <= seconds <= LONGEST_SECONDS:
        right = f"give 1 to {LONGEST_SECONDS:,} seconds (7 days) from each opening"
        yield FieldError("duration_seconds", seconds, f"{seconds} does not say how long it is open: {right}")


def _has_control(text: str) -> bool:
    return any(unicodedata.category(one) in ("Cc", "Cs") for one in text)


def _scheduled(recurrence: Recurrence) -> tuple[CronSchedule | At, timedelta]:
    schedule = parse(recurrence.schedule or "", recurrence.timezone)
    if not isinstance(schedule, CronSchedule | At):
        raise InvalidInput.one("schedule", recurrence.schedule, f"{recurrence.schedule!r} opens no window")
    return schedule, timedelta(seconds=recurrence.duration_seconds or 0)


def _open_days(days: Days, days_of: DaysOf, zone: str, instant: datetime) -> Opening | None:
    day = instant.astimezone(ZoneInfo(zone)).date()
    if _midnight(zone, day + _DAY) <= instant:
        day += _DAY  # the clock went back over midnight: the day has begun before

    def has(one: date) -> bool:
        return one in days_of(days, one.year)

    if not has(day):
        return None
    first = last = day
    while has(first - _DAY) and day - first < _LONGEST_RUN * _DAY:
        first -= _DAY
    while has(last + _DAY) and last - day < _LONGEST_RUN * _DAY:
        last += _DAY
    return Opening(_midnight(zone, first), _midnight(zone, last + _DAY))


def _day_begins(days: Days, days_of: DaysOf, zone: str, after: datetime) -> Iterator[datetime]:
    """The beginnings of the calendar's days after a moment."""
    first = after.astimezone(ZoneInfo(zone)).date()
    for year in range(first.year, min(first.year + _YEARS_AHEAD, LAST_YEAR) + 1):
        for day in days_of(days, year):
            if day >= first and (begin := _midnight(zone, day)) > after:
                yield begin


def _midnight(zone: str, day: date) -> datetime:
    """When a day begins: the first moment at which the wall clock has reached it."""
    return zones.EPOCH + zones.first_pass(zone, timedelta(days=day.toordinal() - zones.EPOCH.toordinal()))
