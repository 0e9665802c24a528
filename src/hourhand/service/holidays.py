"""Service: the holidays of countries and markets, as the `holidays` library knows them.

It reads its translations from files, so the rules are told the days. It is big, and most stores have no calendar: it is
imported when the first one is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from functools import lru_cache
from typing import Any

from hourhand.model.window import Days
from hourhand.rules import calendars

_LONGEST_CODE = {"country": 3, "market": 4}


class Library:
    """Whose holidays are known."""

    def codes(self, field: str) -> Mapping[str, str]:
        """The codes of countries, or of markets, each with what people call it."""
        return _codes(field)

    def subdivisions(self, country: str) -> Iterable[str]:
        """The codes of its parts that have holidays of their own."""
        import holidays  # noqa: PLC0415 - it is big

        return holidays.list_supported_countries().get(country, ())


def days_from(given: Mapping[str, Any]) -> Days:
    """A calendar's definition from plain values; all refusals at once."""
    return calendars.days_from(given, Library())


@lru_cache(maxsize=512)
def days_of(days: Days, year: int) -> Mapping[date, str]:
    """The days of a year in their order, each with its name."""
    found: dict[date, str] = {}
    if days.country is not None:
        found |= _holidays("country", days.country, days.subdivision, year)
    if days.market is not None:
        found |= _holidays("market", days.market, None, year)
    return calendars.year_of(days, year, found)


def _holidays(field: str, code: str, subdivision: str | None, year: int) -> Mapping[date, str]:
    import holidays  # noqa: PLC0415 - it is big

    make = holidays.country_holidays if field == "country" else holidays.financial_holidays
    # In one language wherever this runs: else the names would follow the environment.
    return dict(make(code, subdiv=subdivision, years=year, language="en_US").items())


@lru_cache(maxsize=2)
def _codes(field: str) -> Mapping[str, str]:
    from holidays.registry import COUNTRIES, FINANCIAL  # noqa: PLC0415 - it is big

    listed: Iterable[tuple[str, ...]] = (COUNTRIES if field == "country" else FINANCIAL).values()
    return {
        code: re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
        for name, *codes in listed
        for code in codes
        if len(code) <= _LONGEST_CODE[field]
    }
