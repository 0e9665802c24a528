"""Rules: which days a calendar has, given the holidays of its country and market; and what one may say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final, Protocol

from hourhand.model.errors import FieldError, InvalidInput, shown
from hourhand.model.window import Days

FIRST_YEAR: Final = 1970
LAST_YEAR: Final = 2199
MOST_DATES: Final = 1_000
_FIELDS: Final = ("country", "subdivision", "market", "weekdays", "include", "exclude")
_CODES: Final = {"country": "CN", "market": "XNYS"}
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAY: Final = timedelta(days=1)


class Known(Protocol):
    """Whose holidays are known."""

    def codes(self, field: str) -> Mapping[str, str]:
        """The codes of countries, or of markets, each with what people call it."""

    def subdivisions(self, country: str) -> Iterable[str]:
        """The codes of its parts that have holidays of their own."""


def days_from(given: Mapping[str, Any], known: Known) -> Days:
    """A calendar's definition from plain values; all refusals at once."""
    errors = [
        FieldError(f"definition.{name}", value, f"is not known here; there are: {', '.join(_FIELDS)}")
        for name, value in given.items()
        if name not in _FIELDS
    ]
    values: dict[str, Any] = {}
    for name in _FIELDS:
        value = given.get(name)
        if value is None:
            continue
        try:
            values[name] = _code(name, value, known) if name in _CODES else _VALUES[name](name, value)
        except InvalidInput as refused:
            errors += refused.errors
    if not errors:
        errors += _fitting(values, known)
    if errors:
        raise InvalidInput(errors)
    return Days(**values)


def days_json(days: Days) -> dict[str, Any]:
    """The same as plain values, without what it does not say."""
    values = {
        "country": days.country,
        "subdivision": days.subdivision,
        "market": days.market,
        "weekdays": list(days.weekdays),
        "include": [one.isoformat() for one in days.include],
        "exclude": [one.isoformat() for one in days.exclude],
    }
    return {name: value for name, value in values.items() if value}


def year_of(days: Days, year: int, holidays: Mapping[date, str]) -> Mapping[date, str]:
    """The days of a year in their order, each with its name; none outside 1970 to 2199."""
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return MappingProxyType({})
    found = {**dict(_weekdays(days, year)), **{day: name for day, name in holidays.items() if day.year == year}}
    found |= {one: found.get(one, "included") for one in days.include if one.year == year}
    excluded = set(days.exclude)
    return MappingProxyType({one: found[one] for one in sorted(found) if one not in excluded})


def _weekdays(days: Days, year: int) -> Iterator[tuple[date, str]]:
    if not days.weekdays:
        return
    day = date(year, 1, 1)
    while day.year == year:
        if day.isoweekday() in days.weekdays:
            yield day, _WEEKDAYS[day.weekday()]
        day += _DAY


def _code(field: str, value: object, known: Known) -> str:
    codes = known.codes(field)
    if isinstance(value, str) and value.upper() in codes:
        return value.upper()
    right = f"write a code such as {_CODES[field]}"
    raise _refused(field, value, f"is no {field} we know{_closest(value, codes, right)}")


def _subdivision(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise _refused(field, value, "is no subdivision: write a code such as CA")
    return value


def _numbers(field: str, value: object) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(one) is int and 1 <= one <= 7 for one in value):  # noqa: PLR2004 - days
        raise _refused(field, value, "is no list of weekdays: give numbers from 1 (Monday) to 7 (Sunday)")
    return tuple(sorted(set(value)))


def _dates(field: str, value: object) -> tuple[date, ...]:
    if not isinstance(value, list) or len(value) > MOST_DATES:
        raise _refused(field, value, f"is no list of at most {MOST_DATES:,} dates, such as 2026-11-20")
    return tuple(sorted({_date(f"{field}.{number}", one) for number, one in enumerate(value)}))


def _date(field: str, value: object) -> date:
    try:
        if not isinstance(value, str) or not _DATE.fullmatch(value):
            raise ValueError  # noqa: TRY301 - the same refusal
        read = date.fromisoformat(value)
    except ValueError:
        raise _refused(field, value, "is no date: write one such as 2026-11-20") from None
    if not FIRST_YEAR <= read.year <= LAST_YEAR:
        raise _refused(field, value, f"is out of range: give a year from {FIRST_YEAR} to {LAST_YEAR}")
    return read


_VALUES: Final = {
    "subdivision": _subdivision,
    "weekdays": _numbers,
    "include": _dates,
    "exclude": _dates,
}


def _fitting(values: Mapping[str, Any], known: Known) -> Iterator[FieldError]:
    """What each value alone does not show."""
    if not any(values.get(name) for name in ("country", "market", "weekdays", "include")):
        right = "give a country, a market, weekdays, or days to include"
        yield FieldError("definition", None, f"has no days: {right}")
    subdivision, country = values.get("subdivision"), values.get("country")
    if subdivision is None:
        return
    if country is None:
        yield FieldError("definition.subdivision", subdivision, "needs the country that it is a part of")
        return
    parts = {one: one for one in known.subdivisions(country)}
    if subdivision not in parts:
        there = f"there are: {', '.join(parts)}" if parts else f"{country} has none that we know: leave it out"
        said = f"{shown(subdivision)} is no subdivision of {country}{_closest(subdivision, parts, there)}"
        yield FieldError("definition.subdivision", subdivision, said)


def _closest(value: object, known: Mapping[str, str], otherwise: str) -> str:
    """The codes that look like it, or that belong to a name that does."""
    wanted = str(value)[:100].casefold()
    words = {code.casefold(): code for code in known}
    words = {name.casefold(): code for code, name in reversed(list(known.items()))} | words
    found = dict.fromkeys(words[one] for one in get_close_matches(wanted, words, n=3, cutoff=0.6))
    if not found:
        return f": {otherwise}"
    named = [code if known[code] == code else f"{code} ({known[code]})" for code in found]
    return f": did you mean {' or '.join(named)}?"


def _refused(field: str, value: object, message: str) -> InvalidInput:
    return InvalidInput.one(f"definition.{field}", value, f"{shown(value)} {message}")
