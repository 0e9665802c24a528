"""Rules: what a schedule means, in one English sentence."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from hourhand.rules.cron_fields import EVERY_MONTH_DAY, EVERY_WEEKDAY, MonthDays, WeekDays, values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hourhand.rules.cron import Cron

_EVERY_SIXTIETH: Final = (1 << 60) - 1
_EVERY_HOUR: Final = (1 << 24) - 1
_EVERY_MONTH: Final = (1 << 13) - 2
_MONTHS: Final = (
    "January,February,March,April,May,June,July,August,September,October,November,December".split(",")  # noqa: SIM905
)
_WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth")
_UNITS: Final = (
    ("week", 604_800_000),
    ("day", 86_400_000),
    ("hour", 3_600_000),
    ("minute", 60_000),
    ("second", 1_000),
    ("millisecond", 1),
)
# More times of day than this read better as minutes and hours.
_MOST_TIMES: Final = 6
# Three in a row are a range; two are a pair.
_SHORTEST_RUN: Final = 3


def cron_sentence(cron: Cron, zone: str) -> str:
    """Say when a cron expression fires."""
    times = _times(cron)
    if times:
        time, every_day = f"At {_joined(times)}", "every day"
    else:
        time, every_day = _pattern(cron), ""
    day = _day(cron)
    if not day:
        day = " ".join(word for word in (every_day, _in_months(cron.months)) if word)
    year = "" if cron.years < 0 else f"in {_listed(values(cron.years), str)}"
    return f"{' '.join(word for word in (time, day, year) if word)}, {_spoken(zone)}"


def duration(length: timedelta) -> str:
    """Say a duration: `1 hour and 30 minutes`."""
    rest = length // timedelta(milliseconds=1)
    parts = []
    for name, size in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {name}{'s' if count > 1 else ''}")
    return _joined(parts)


def period(length: timedelta) -> str:
    """Say a rate: `Every hour`, `Every 90 seconds`."""
    spoken = duration(length)
    return f"Every {spoken if ' and ' in spoken else spoken.removeprefix('1 ')}"


def moment(instant: datetime, zone: str) -> str:
    """Say an instant as a local time of the zone."""
    local = instant.astimezone(ZoneInfo(zone))
    return f"{local:%H:%M:%S} on {local:%Y-%m-%d}, {_spoken(zone)}"


def clock(local: int) -> str:
    """Say the time of day of a local second, without its seconds when they are zero."""
    minutes, second = divmod(local % 86_400, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}" + (f":{second:02}" if second else "")


def _spoken(zone: str) -> str:
    return zone if zone == "UTC" else f"{zone} time"


def _times(cron: Cron) -> list[str]:
    """List the times of day, if they are few."""
    seconds, minutes, hours = values(cron.seconds), values(cron.minutes), values(cron.hours)
    if len(seconds) * len(minutes) * len(hours) > _MOST_TIMES:
        return []
    return [clock(hour * 3600 + minute * 60 + second) for hour in hours for minute in minutes for second in seconds]


def _pattern(cron: Cron) -> str:
    """Say many times of day."""
    if cron.seconds == 1:
        return _minutes_and_hours(cron)
    seconds = _every(cron.seconds, 60, "second") or f"At {_numbered('second', values(cron.seconds))}"
    if cron.hours == _EVERY_HOUR:
        if cron.minutes == _EVERY_SIXTIETH:
            return seconds if seconds.startswith("Every") else f"{seconds} of every minute"
        return f"{seconds} of {_numbered('minute', values(cron.minutes))} of every hour"
    if cron.minutes == _EVERY_SIXTIETH:
        return f"{seconds} of every minute of {_hours(values(cron.hours))}"
    return f"{seconds} of {_numbered('minute', values(cron.minutes))} of {_hours(values(cron.hours))}"


def _minutes_and_hours(cron: Cron) -> str:
    minutes, hours = values(cron.minutes), values(cron.hours)
    often = _every(cron.minutes, 60, "minute")
    if cron.hours == _EVERY_HOUR:
        if often:
            return often
        return "Every hour" if minutes == [0] else f"At {_numbered('minute', minutes)} of every hour"
    first, last = clock(hours[0] * 3600 + minutes[0] * 60), clock(hours[-1] * 3600 + minutes[-1] * 60)
    in_a_row = hours == list(range(hours[0], hours[-1] + 1))
    if in_a_row and (often or len(minutes) == 1):
        return f"{often or 'Every hour'} from {first} to {last}"
    seldom = _every(cron.hours, 24, "hour")
    if seldom and len(minutes) == 1:
        return f"{seldom} from {first}"
    when = often or f"At {_numbered('minute', minutes)}"
    return f"{when} of {_hours(hours)}"


def _every(bits: int, size: int, unit: str) -> str:
    """Say an even pattern (`Every 5 minutes`); nothing if the steps do not divide the hour or day."""
    members = values(bits)
    step = size // len(members)
    if members != list(range(0, size, step)) or len(members) == 1:
        return ""
    return f"Every {unit}" if step == 1 else f"Every {step} {unit}s"


def _hours(hours: Sequence[int]) -> str:
    return f"hour{'s' if len(hours) > 1 else ''} {_listed(hours, lambda hour: f'{hour:02}')}"


def _day(cron: Cron) -> str:
    """Say the days; nothing when every day matches."""
    month_days, week_days = cron.month_days, cron.week_days
    any_date, any_weekday = month_days.days == EVERY_MONTH_DAY, week_days.days == EVERY_WEEKDAY
    if any_date and any_weekday:
        return ""
    if any_date and not cron.either_day:
        return f"on {_week_days(week_days, cron.months)}"
    dates = f"on {_month_days(month_days)} of {_of_months(cron.months)}"
    if any_weekday and not cron.either_day:
        return dates
    weekdays = _week_days(week_days, cron.months)
    return f"{dates} or on {weekdays}" if cron.either_day else f"{dates}, but only on {weekdays}"


def _month_days(field: MonthDays) -> str:
    parts = [_numbered("day", values(field.days))] if field.days else []
    parts += [f"{_before_last(back)}the last day" for back in values(field.from_last)]
    parts += [f"the weekday nearest to day {day}" for day in values(field.near)]
    parts += [
        f"the weekday nearest to {_before_last(back)}the last day" if back else "the last weekday"
        for back in values(field.near_from_last)
    ]
    return _joined(parts)


def _week_days(field: WeekDays, months: int) -> str:
    plain = _listed(values(field.days), _WEEKDAYS.__getitem__) if field.days else ""
    counted = [
        f"the {_ORDINALS[index]} {_WEEKDAYS[day]}" for index, bits in enumerate(field.nth) for day in values(bits)
    ]
    counted += [f"the last {_WEEKDAYS[day]}" for day in values(field.last)]
    if not counted:
        return " ".join(word for word in (plain, _in_months(months)) if word)
    return f"{_joined([plain, *counted] if plain else counted)} of {_of_months(months)}"


def _before_last(back: int) -> str:
    return f"{back} day{'s' if back > 1 else ''} before " if back else ""


def _of_months(months: int) -> str:
    return "every month" if months == _EVERY_MONTH else _listed(values(months), lambda month: _MONTHS[month - 1])


def _in_months(months: int) -> str:
    return "" if months == _EVERY_MONTH else f"in {_of_months(months)}"


def _numbered(unit: str, numbers: Sequence[int]) -> str:
    return f"{unit}{'s' if len(numbers) > 1 else ''} {_listed(numbers, str)}"


def _listed(numbers: Sequence[int], spoken: Callable[[int], str]) -> str:
    """Join ascending numbers in words, runs shortened to `a to b`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts: list[str] = []
    for run in runs:
        if len(run) >= _SHORTEST_RUN:
            parts.append(f"{spoken(run[0])} to {spoken(run[-1])}")
        else:
            parts += [spoken(number) for number in run]
    return _joined(parts)


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
