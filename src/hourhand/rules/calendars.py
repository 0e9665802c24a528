"""Rules: which days a calendar has; those of countries and markets are the `holidays` library's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from hourhand.model.errors import FieldError, InvalidInput, shown
from hourhand.model.window import Days

FIRST_YEAR: Final = 1970
LAST_YEAR: Final = 2199
MOST_DATES: Final = 1_000
_FIELDS: Final = ("country", "subdivision", "market", "weekdays", "include", "exclude")
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAY: Final = timedelta(days=1)


def days_from(given: Mapping[str, Any]) -> Days:
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
            values[name] = _VALUES[name](name, value)
        except InvalidInput as refused:
            errors += refused.errors
    if not errors:
        errors += _fitting(values)
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


@lru_cache(maxsize=512)
def days_of(days: Days, year: int) -> Mapping[date, str]:
    """The days of a year in their order, each with its name; none outside 1970 to 2199."""
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return MappingProxyType({})
    found = dict(_weekdays(days, year))
    for place, code in (("country", days.country), ("market", days.market)):
        if code is not None:
            found |= _holidays(place, code, days.subdivision if place == "country" else None, year)
    found |= {one: found.get(one, "included") for one in days.include if one.year == year}
    excluded = set(days.exclude)
    return MappingProxyType({one: found[one] for one in sorted(found) if one not in excluded})


def has(days: Days, day: date) -> bool:
    """Whether the calendar has this day."""
    return day in days_of(days, day.year)


def _weekdays(days: Days, year: int) -> Iterator[tuple[date, str]]:
    if not days.weekdays:
        return
    day = date(year, 1, 1)
    while day.year == year:
        if day.isoweekday() in days.weekdays:
            yield day, _WEEKDAYS[day.weekday()]
        day += _DAY


def _holidays(place: str, code: str, subdivision: str | None, year: int) -> dict[date, str]:
    # It is big, and most stores have no calendar.
    import holidays  # noqa: PLC0415

    make = holidays.country_holidays if place == "country" else holidays.financial_holidays
    # In one language wherever this runs: else the names would follow the environment.
    found = make(code, subdiv=subdivision, years=year, language="en_US")
    return {day: name for day, name in found.items() if day.year == year}


def _code(field: str, value: object) -> str:
    """A country or market, as `holidays` knows it."""
    known = _known(field)
    if isinstance(value, str) and value.upper() in known:
        return value.upper()
    example = "CN" if field == "country" else "XNYS"
    raise _refused(field, value, f"is no {field} we know{_closest(value, known, f'write a code such as {example}')}")


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
    "country": _code,
    "subdivision": _subdivision,
    "market": _code,
    "weekdays": _numbers,
    "include": _dates,
    "exclude": _dates,
}


def _fitting(values: Mapping[str, Any]) -> Iterator[FieldError]:
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
    import holidays  # noqa: PLC0415 - as above

    known = {one: one for one in holidays.list_supported_countries().get(country, ())}
    if subdivision not in known:
        there = f"there are: {', '.join(known)}" if known else f"{country} has none that we know: leave it out"
        said = f"{shown(subdivision)} is no subdivision of {country}{_closest(subdivision, known, there)}"
        yield FieldError("definition.subdivision", subdivision, said)


@lru_cache(maxsize=2)
def _known(field: str) -> Mapping[str, str]:
    """Codes, each with what people call it."""
    from holidays.registry import COUNTRIES, FINANCIAL  # noqa: PLC0415 - as above

    listed: Iterable[tuple[str, ...]] = (COUNTRIES if field == "country" else FINANCIAL).values()
    longest = 3 if field == "country" else 4
    return {
        code: re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
        for name, *codes in listed
        for code in codes
        if len(code) <= longest
    }


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
