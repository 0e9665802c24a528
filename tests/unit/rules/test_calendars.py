from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from hourhand.model.errors import InvalidInput
from hourhand.model.window import Days
from hourhand.rules.calendars import MOST_DATES, days_json, year_of
from hourhand.rules.calendars import days_from as read_days


class Few:
    """Who knows two countries and a market."""

    def codes(self, field: str) -> Mapping[str, str]:
        if field == "market":
            return {"XNYS": "New York Stock Exchange"}
        return {"CN": "China", "CHN": "China", "US": "United States"}

    def subdivisions(self, country: str) -> tuple[str, ...]:
        return ("CA", "NY") if country == "US" else ()


def days_from(given: Mapping[str, Any]) -> Days:
    return read_days(given, Few())


def days_of(days: Days, year: int) -> Mapping[date, str]:
    return year_of(days, year, {})


def test_holidays_are_days_with_their_names() -> None:
    days = days_from({"country": "cn", "include": ["2027-01-01"], "weekdays": [5], "exclude": ["2027-10-01"]})
    told = {date(2027, 1, 1): "New Year", date(2027, 10, 1): "National Day", date(2028, 1, 1): "New Year"}
    found = year_of(days, 2027, told)
    assert found[date(2027, 1, 1)] == "New Year", "a Friday that was included, too"
    assert date(2027, 10, 1) not in found
    assert {one.year for one in found} == {2027}
    assert list(found) == sorted(found)


def test_weekdays_and_dates_are_added_and_others_are_left_out() -> None:
    days = days_from(
        {"weekdays": [7, 6, 6], "include": ["2026-11-20", "2026-11-21"], "exclude": ["2026-11-14", "2026-11-20"]}
    )
    assert days == Days(
        weekdays=(6, 7),
        include=(date(2026, 11, 20), date(2026, 11, 21)),
        exclude=(date(2026, 11, 14), date(2026, 11, 20)),
    )
    found = days_of(days, 2026)
    assert found[date(2026, 11, 15)] == "Sunday"
    assert found[date(2026, 11, 21)] == "Saturday"
    assert date(2026, 11, 14) not in found
    assert date(2026, 11, 20) not in found
    assert date(2026, 11, 16) not in found
    assert len(found) == 104 - 1
    assert days_of(days_from({"include": ["2026-11-20"]}), 2026) == {date(2026, 11, 20): "included"}
    assert days_of(days_from({"include": ["2026-11-20"]}), 2027) == {}


def test_there_are_no_days_outside_of_what_schedules_know() -> None:
    every = Days(weekdays=(1, 2, 3, 4, 5, 6, 7))
    assert [len(days_of(every, year)) for year in (1969, 1970, 2199, 2200)] == [0, 365, 365, 0]


def test_a_definition_is_the_same_after_it_was_written_down() -> None:
    for given in (
        {"country": "US", "subdivision": "CA"},
        {"market": "XNYS", "weekdays": [6, 7]},
        {"include": ["2026-11-20"], "exclude": ["2026-11-21"]},
    ):
        assert days_json(days_from(given)) == given
        assert days_from(days_json(days_from(given))) == days_from(given)


def test_what_is_null_is_not_said() -> None:
    assert days_from({"country": "CN", "market": None, "weekdays": None}) == Days(country="CN")


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"country": "Chna"}, "definition.country", "did you mean CN (China)"),
        ({"country": "XX"}, "definition.country", "write a code such as CN"),
        ({"country": 1}, "definition.country", "no country we know"),
        ({"market": "NYS"}, "definition.market", "XNYS (New York Stock Exchange)"),
        ({"market": "?"}, "definition.market", "write a code such as XNYS"),
        ({"country": "US", "subdivision": "CAL"}, "definition.subdivision", "did you mean CA"),
        ({"country": "US", "subdivision": "??"}, "definition.subdivision", "there are: CA, NY"),
        ({"country": "CN", "subdivision": "??"}, "definition.subdivision", "has none that we know"),
        ({"country": "US", "subdivision": 1}, "definition.subdivision", "such as CA"),
        ({"subdivision": "CA", "weekdays": [6]}, "definition.subdivision", "needs the country"),
        ({"weekdays": [0]}, "definition.weekdays", "1 (Monday) to 7 (Sunday)"),
        ({"weekdays": [True]}, "definition.weekdays", "1 (Monday) to 7 (Sunday)"),
        ({"weekdays": 6}, "definition.weekdays", "1 (Monday) to 7 (Sunday)"),
        ({"include": "2026-11-20"}, "definition.include", "no list"),
        ({"include": ["2026-11-20"] * (MOST_DATES + 1)}, "definition.include", "no list"),
        ({"include": ["2026-11-20", "20261121"]}, "definition.include.1", "no date"),
        ({"include": ["2026-02-30"]}, "definition.include.0", "no date"),
        ({"include": [7]}, "definition.include.0", "no date"),
        ({"exclude": ["2200-01-01"]}, "definition.exclude.0", "1970 to 2199"),
        ({}, "definition", "has no days"),
        ({"exclude": ["2026-11-20"]}, "definition", "has no days"),
        ({"country": "CN", "holidays": True}, "definition.holidays", "is not known here"),
    ],
)
def test_what_is_no_calendar_is_refused(given: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        days_from(given)
    (error,) = refused.value.errors
    assert error.field == field
    assert said in error.message


def test_all_refusals_come_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        days_from({"country": "?", "weekdays": [9], "include": ["x"]})
    assert [one.field for one in refused.value.errors] == [
        "definition.country",
        "definition.weekdays",
        "definition.include.0",
    ]
