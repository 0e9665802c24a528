"""Rules: a cron expression compiled to bit sets, and the search for its next and previous local time.

Everything here is local time, counted in seconds from 1970-01-01T00:00:00 on the zone's own wall clock; `zones` maps
it onto instants. A day's minutes are one 1440-bit set and a year's days one 366-bit set (only fourteen different years
exist: leap or not, times the weekday of 1 January), so a search is a few shifts however rare the expression is.
"""

from __future__ import annotations

from bisect import bisect_right
from calendar import isleap
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Final

from hourhand.rules.cron_fields import (
    EVERY_MONTH_DAY,
    EVERY_WEEKDAY,
    QUARTZ,
    VIXIE,
    MonthDays,
    Refused,
    WeekDays,
    read,
    read_month_days,
    read_week_days,
    values,
)

# Further away than any zone's table: a local time that never comes.
NEVER: Final = 1 << 40

_DAY: Final = 86_400
_EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()
# One year more at either end than instants have: at the edges local time is already, or still, in the next one.
_FIRST_YEAR: Final = 1969
_YEARS: Final = range(_FIRST_YEAR, 2201)
_JANUARY: Final = tuple(date(year, 1, 1).toordinal() - _EPOCH_ORDINAL for year in _YEARS)
# Which of the fourteen different years each one is: 0-6 common, 7-13 leap, by the weekday of 1 January, Sunday = 0.
_SHAPES: Final = tuple(isleap(year) * 7 + date(year, 1, 1).isoweekday() % 7 for year in _YEARS)
_ALL_YEARS: Final = -1
_VIXIE_FIELDS: Final = len(VIXIE)
_QUARTZ_FIELDS: Final = len(QUARTZ)
_SATURDAY: Final = 6


@dataclass(frozen=True, slots=True)
class Cron:
    """One expression: its fields as bit sets, and the two sets the search runs on."""

    fields: tuple[str, ...]
    seconds: int
    minutes: int
    hours: int
    month_days: MonthDays
    months: int
    week_days: WeekDays
    years: int
    # Both day fields restricted in a 5-field expression: a day matching either one matches.
    either_day: bool
    # Neither hour nor minute begins with `*`: Debian cron's test for "fires once a day, whatever the clock does".
    fixed: bool
    clock: int = field(repr=False, compare=False)
    calendar: tuple[int, ...] = field(repr=False, compare=False)
    first_second: int = field(repr=False, compare=False)
    last_second: int = field(repr=False, compare=False)

    def following(self, local: int) -> int:
        """Return the first matching local second that is not before `local`, or NEVER."""
        day, rest = divmod(local, _DAY)
        minute, second = divmod(rest, 60)
        year = bisect_right(_JANUARY, day) - 1
        days = self.calendar[year] >> day - _JANUARY[year]
        if days & 1:
            if self.clock >> minute & 1 and (seconds := self.seconds >> second):
                return local + (seconds & -seconds).bit_length() - 1
            if minutes := self.clock >> minute + 1:
                return local - second + (minutes & -minutes).bit_length() * 60 + self.first_second
            days ^= 1
        while not days:
            year += 1
            if year == len(_JANUARY):
                return NEVER
            day, days = _JANUARY[year], self.calendar[year]
        day += (days & -days).bit_length() - 1
        return day * _DAY + ((self.clock & -self.clock).bit_length() - 1) * 60 + self.first_second

    def preceding(self, local: int) -> int:
        """Return the last matching local second that is not after `local`, or -NEVER."""
        day, rest = divmod(local, _DAY)
        minute, second = divmod(rest, 60)
        year = bisect_right(_JANUARY, day) - 1
        days = self.calendar[year] & (2 << day - _JANUARY[year]) - 1
        if days >> day - _JANUARY[year]:
            if self.clock >> minute & 1 and (seconds := self.seconds & (2 << second) - 1):
                return local - second + seconds.bit_length() - 1
            if minutes := self.clock & (1 << minute) - 1:
                return day * _DAY + (minutes.bit_length() - 1) * 60 + self.last_second
            days ^= 1 << day - _JANUARY[year]
        while not days:
            year -= 1
            if year < 0:
                return -NEVER
            days = self.calendar[year]
        day = _JANUARY[year] + days.bit_length() - 1
        return day * _DAY + (self.clock.bit_length() - 1) * 60 + self.last_second

    def between(self, low: int, high: int) -> int:
        """Return how many local seconds match from `low` up to `high`, which is no part of it."""
        if high <= low:
            return 0
        (first, early), (last, late) = divmod(low, _DAY), divmod(high, _DAY)
        whole = self.clock.bit_count() * self.seconds.bit_count() * self._days(first, last)
        return whole - self._within(first, early) + self._within(last, late)

    def _days(self, first: int, last: int) -> int:
        """Return how many days match from one up to another."""
        found = 0
        for year in range(bisect_right(_JANUARY, first) - 1, bisect_right(_JANUARY, last)):
            low, high = max(first - _JANUARY[year], 0), max(last - _JANUARY[year], 0)
            found += (self.calendar[year] & (1 << high) - 1 >> low << low).bit_count()
        return found

    def _within(self, day: int, rest: int) -> int:
        """Return how many seconds of a day match before one of them."""
        year = bisect_right(_JANUARY, day) - 1
        if not self.calendar[year] >> day - _JANUARY[year] & 1:
            return 0
        minute, second = divmod(rest, 60)
        found = (self.clock & (1 << minute) - 1).bit_count() * self.seconds.bit_count()
        return found + (self.clock >> minute & 1) * (self.seconds & (1 << second) - 1).bit_count()


def compile_cron(fields: tuple[str, ...]) -> Cron:
    """Compile 5 fields as Vixie cron, 6 or 7 as Quartz.

    Raises:
        Refused: the fields are not a cron expression, or none of their dates exists.
    """
    if len(fields) == _VIXIE_FIELDS:
        return _vixie(fields)
    if len(fields) in {_QUARTZ_FIELDS - 1, _QUARTZ_FIELDS}:
        return _quartz(fields)
    raise Refused(
        f"{len(fields)} field{'s' if len(fields) != 1 else ''} found; a cron expression has 5 (minute hour "
        "day-of-month month day-of-week), 6 (second first) or 7 (second first, year last)"
    )


def _vixie(fields: tuple[str, ...]) -> Cron:
    for kind, text in zip(VIXIE, fields, strict=True):
        if "?" in text:
            raise Refused(
                f"{kind.name}: {text!r} belongs to the 6 or 7 fields of Quartz; with 5 fields write * instead"
            )
    minute, hour, month_day, month, week_day = fields
    return _build(
        fields,
        seconds=1,
        minutes=read(VIXIE[0], minute),
        hours=read(VIXIE[1], hour),
        month_days=read_month_days(VIXIE[2], month_day),
        months=read(VIXIE[3], month),
        week_days=read_week_days(VIXIE[4], week_day),
        years=_ALL_YEARS,
        either_day=not month_day.startswith("*") and not week_day.startswith("*"),
    )


def _quartz(fields: tuple[str, ...]) -> Cron:
    second, minute, hour, month_day, month, week_day = fields[:6]
    month_days = MonthDays(month_day, EVERY_MONTH_DAY) if month_day == "?" else read_month_days(QUARTZ[3], month_day)
    week_days = WeekDays(week_day, EVERY_WEEKDAY) if week_day == "?" else read_week_days(QUARTZ[5], week_day)
    if not {month_day, week_day} & {"?", "*"}:
        raise Refused(
            f"day-of-month {month_day!r} and day-of-week {week_day!r} are both restricted; "
            "with 6 or 7 fields one of them must be ? or *"
        )
    return _build(
        fields,
        seconds=read(QUARTZ[0], second),
        minutes=read(QUARTZ[1], minute),
        hours=read(QUARTZ[2], hour),
        month_days=month_days,
        months=read(QUARTZ[4], month),
        week_days=week_days,
        years=_ALL_YEARS if fields[6:] in {(), ("*",)} else read(QUARTZ[6], fields[6]),
        either_day=False,
    )


def _build(
    fields: tuple[str, ...],
    *,
    seconds: int,
    minutes: int,
    hours: int,
    month_days: MonthDays,
    months: int,
    week_days: WeekDays,
    years: int,
    either_day: bool,
) -> Cron:
    shapes = _year_shapes(month_days, months, week_days, either_day)
    # The two years at the edges are in no list of years, only in _ALL_YEARS.
    calendar = tuple(shapes[shape] if years >> year & 1 else 0 for year, shape in zip(_YEARS, _SHAPES, strict=True))
    if not any(calendar):
        raise Refused(_no_such_date(month_days, months, week_days, years))
    clock = 0
    for hour in values(hours):
        clock |= minutes << hour * 60
    minute_text, hour_text = fields[:2] if len(fields) == _VIXIE_FIELDS else fields[1:3]
    return Cron(
        fields=fields,
        seconds=seconds,
        minutes=minutes,
        hours=hours,
        month_days=month_days,
        months=months,
        week_days=week_days,
        years=years,
        either_day=either_day,
        fixed=not minute_text.startswith("*") and not hour_text.startswith("*"),
        clock=clock,
        calendar=calendar,
        first_second=(seconds & -seconds).bit_length() - 1,
        last_second=seconds.bit_length() - 1,
    )


def _no_such_date(month_days: MonthDays, months: int, week_days: WeekDays, years: int) -> str:
    where = "in any year" if years == _ALL_YEARS else "in the years given"
    return (
        f"never fires: no date has day-of-month {month_days.text!r}, day-of-week {week_days.text!r} and a month out of "
        f"{', '.join(str(month) for month in values(months))} {where}; "
        "months have 28, 29 (February of leap years), 30 or 31 days"
    )


@lru_cache(maxsize=1024)
def _year_shapes(month_days: MonthDays, months: int, week_days: WeekDays, either: bool) -> tuple[int, ...]:  # noqa: FBT001 — a key of the cache
    """Return the matching days of the fourteen different years, indexed like `_SHAPES`."""
    known: dict[tuple[int, int], int] = {}
    shapes = []
    for leap in (0, 1):
        lengths = (31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
        for new_year in range(7):
            bits = start = 0
            for month, length in enumerate(lengths, 1):
                if months >> month & 1:
                    key = length, (new_year + start) % 7
                    if key not in known:
                        known[key] = _month(month_days, week_days, *key, either=either)
                    bits |= known[key] >> 1 << start
                start += length
            shapes.append(bits)
    return tuple(shapes)


def _month(month_days: MonthDays, week_days: WeekDays, length: int, first: int, *, either: bool) -> int:
    """Return the matching days (bits 1 to `length`) of a month whose 1st is the weekday `first`, Sunday = 0."""
    by_day = month_days.days
    for back in values(month_days.from_last):
        by_day |= 1 << max(length - back, 0)
    near = [day for day in values(month_days.near) if day <= length]
    near += [length - back for back in values(month_days.near_from_last) if back < length]
    for day in near:
        by_day |= 1 << _nearest_weekday(day, length, first)
    by_week = 0
    for day in range(1, length + 1):
        weekday = (first + day - 1) % 7
        wanted = week_days.days | week_days.nth[(day - 1) // 7] | (week_days.last if day + 7 > length else 0)
        by_week |= (wanted >> weekday & 1) << day
    bits = by_day | by_week if either else by_day & by_week
    return bits & (2 << length) - 2


def _nearest_weekday(day: int, length: int, first: int) -> int:
    """Return the Monday to Friday nearest to `day` without leaving the month."""
    weekday = (first + day - 1) % 7
    if weekday == _SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == 0:
        return day + 1 if day < length else day - 2
    return day
