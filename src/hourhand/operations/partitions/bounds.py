"""Operations: which partitions are missing, where intervals end, and what partitions are called; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from string import Formatter

from hourhand.operations.catalog.table import Partition
from hourhand.operations.failures import Refused

_INTERVAL = re.compile(r"\s*(\d+)\s*(hour|day|week|month|quarter|year)?s?\s*")
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_SPANS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}
_LAST_DAY_OF_ALL = 28
MOST = 1000
"""More partitions than this at once are a mistake."""
Ranks = Mapping[str, int]
"""The order of values written as text, as the database sorts them; equal values have the same rank."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A range: low ≤ x < high; None is open."""

    low: str | None
    high: str | None

    @property
    def shown(self) -> str:
        """For people."""
        low, high = self.low if self.low is not None else "MINVALUE", self.high if self.high is not None else "MAXVALUE"
        return f"{low} … {high}"


def holder(partitions: Sequence[Partition], value: str, ranks: Ranks) -> Partition | None:
    """The partition that has a value within, or at its lower bound."""
    for one in partitions:
        above = one.low is None or ranks[one.low] <= ranks[value]
        if not one.default and above and (one.high is None or ranks[value] < ranks[one.high]):
            return one
    return None


def missing(partitions: Sequence[Partition], wanted: Sequence[str], ranks: Ranks) -> tuple[Cell, ...]:
    """The ranges beside wanted boundaries that no partition has: above the last, below the first, and gaps."""
    ranged = [one for one in partitions if not one.default]
    for value in wanted:
        inside = holder(ranged, value, ranks)
        if inside is not None and (inside.low is None or ranks[inside.low] != ranks[value]):
            raise Refused(
                f"{value} lies inside the partition {inside.name} ({Cell(inside.low, inside.high).shown}): "
                "use split_boundary to divide it, or leave this boundary out",
                field="boundaries",
            )
    there = [bound for one in ranged for bound in (one.low, one.high) if bound is not None]
    points = sorted({ranks[value]: value for value in (*there, *wanted)}.items())
    if len(points) < 2:  # noqa: PLR2004
        raise Refused(
            "the table has no partition yet: give two boundaries or more, where the first one begins and the last ends",
            field="boundaries",
        )
    asked = {ranks[value] for value in wanted}
    return tuple(
        Cell(low, high)
        for (first, low), (second, high) in pairwise(points)
        if (first in asked or second in asked) and holder(ranged, low, ranks) is None
    )


def grid(interval: str, count: int, start: str, reached: str, *, type_: str) -> list[str]:
    """The boundaries from `start` on, at an interval, until `count` partitions lie ahead of what was reached."""
    given = _INTERVAL.fullmatch(interval)
    if given is None or int(given[1]) == 0:
        raise Refused(f"{interval!r} is no interval: use one such as 1 month, 7 days or 100000", field="interval")
    amount, unit = int(given[1]), given[2]
    timed = type_.startswith(("date", "timestamp"))
    if timed != (unit is not None):
        right = "1 month or 7 days" if timed else "100000"
        raise Refused(f"the interval {interval!r} does not fit a key of type {type_}: use one such as {right}",
                      field="interval")  # fmt: skip
    if unit is None:
        return _numbers(amount, count, _number(start, type_), _number(reached, type_))
    if unit == "hour" and type_ == "date":
        raise Refused("a key of type date has no hours: use an interval of days or more", field="interval")
    return _moments(amount, unit, count, _moment(start), _moment(reached), type_=type_)


def lying_ahead(ends: Sequence[str], reached: str, *, type_: str) -> int:
    """How many of these bounds lie after what was reached."""
    if type_.startswith(("date", "timestamp")):
        return sum(_moment(one) > _moment(reached) for one in ends)
    return sum(_number(one, type_) > _number(reached, type_) for one in ends)


def _number(text: str, type_: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise Refused(f"{text!r} is no number, so that no interval can be counted from it: a key of type {type_} needs "
                      "boundaries", field="interval") from None  # fmt: skip


def _numbers(amount: int, count: int, start: Decimal, reached: Decimal) -> list[str]:
    last = (max(reached, start) - start) // amount + 1 + count
    return [str(start + number * amount) for number in range(_few(int(last)) + 1)]


def _moments(amount: int, unit: str, count: int, start: datetime, reached: datetime, *, type_: str) -> list[str]:
    if unit in _MONTHS and start.day > _LAST_DAY_OF_ALL:
        raise Refused(f"months cannot begin on the {start.day}th: let start lie on a day until the 28th", field="start")

    def point(number: int) -> datetime:
        if unit in _MONTHS:
            return _months_on(start, number * amount * _MONTHS[unit])
        return start + number * amount * _SPANS[unit]

    try:
        ahead = 1
        while point(ahead) <= reached:
            ahead = _few(ahead + 1)
        return [_written(point(number), type_) for number in range(_few(ahead + count) + 1)]
    except (OverflowError, ValueError):
        raise Refused(f"{count} times {amount} {unit} reach beyond the year 9999", field="premake_count") from None


def _few(count: int) -> int:
    if count > MOST:
        raise Refused(f"that would be {count} partitions or more, and at most {MOST} are made at once: "
                      "let start be later, the interval longer or premake_count smaller", field="interval")  # fmt: skip
    return count


def _months_on(start: datetime, months: int) -> datetime:
    total = start.year * 12 + start.month - 1 + months
    return start.replace(year=total // 12, month=total % 12 + 1)


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise Refused(f"{text!r} is no date: use a form such as 2026-02-01", field="start") from None
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _written(moment: datetime, type_: str) -> str:
    if type_ == "date":
        return moment.date().isoformat()
    return moment.isoformat(sep=" ") if "with time zone" in type_ else moment.replace(tzinfo=None).isoformat(sep=" ")


def beginning(interval: str, now: datetime) -> str:
    """Where an interval begins that holds `now`, for a table without partitions."""
    unit = (_INTERVAL.fullmatch(interval) or [None, None, "day"])[2]
    day = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    if unit != "hour":
        day = day.replace(hour=0)
    if unit == "week":
        day -= timedelta(days=day.weekday())
    if unit in _MONTHS:
        month = {"month": day.month, "quarter": (day.month - 1) // 3 * 3 + 1, "year": 1}[unit]
        day = day.replace(day=1, month=month)
    return day.isoformat(sep=" ")


def named(template: str | None, table: str, cells: Sequence[Cell], *, type_: str) -> list[str]:
    """What the partitions of these ranges are called."""
    return [_name(template or usual_template(cells, type_=type_), table, cell, type_=type_) for cell in cells]


def usual_template(cells: Sequence[Cell], *, type_: str) -> str:
    """As short as tells them apart: by months where all begin a month, then by days, by hours."""
    if not type_.startswith(("date", "timestamp")):
        return "{table}_{low}"
    moments = [_moment(bound) for cell in cells for bound in (cell.low, cell.high) if bound is not None]
    if any((one.minute, one.second, one.microsecond) != (0, 0, 0) for one in moments):
        return "{table}_{low}"
    if any(one.hour for one in moments):
        return "{table}_{year}_{month}_{day}_{hour}"
    return "{table}_{year}_{month}_{day}" if any(one.day != 1 for one in moments) else "{table}_{year}_{month}"


def _name(template: str, table: str, cell: Cell, *, type_: str) -> str:
    fields = {"table": table, "low": _plain(cell.low, "min"), "high": _plain(cell.high, "max")}
    if type_.startswith(("date", "timestamp")):
        at: date = _moment(cell.low) if cell.low is not None else datetime.min.replace(tzinfo=UTC)
        fields |= {"year": f"{at:%Y}", "month": f"{at:%m}", "day": f"{at:%d}", "hour": f"{at:%H}"}
    try:
        asked = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise Refused(f"{template!r} is no template: {error}", field="name_template") from None
    for name in asked:
        if name not in fields:
            known = ", ".join(f"{{{one}}}" for one in fields)
            raise Refused(f"a name template of a key of type {type_} has no {{{name}}}; it may have {known}",
                          field="name_template")  # fmt: skip
    return "".join(
        text + (fields[name] if name is not None else "") for text, name, _, _ in Formatter().parse(template)
    )


def _plain(value: str | None, instead: str) -> str:
    """A value as it may be part of a name that people type."""
    if value is None:
        return instead
    return ("minus_" if value.startswith("-") else "") + re.sub(r"\W+", "_", value).strip("_").lower()
