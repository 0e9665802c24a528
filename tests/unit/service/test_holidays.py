from __future__ import annotations

import subprocess
import sys
from datetime import date
from typing import Any

import pytest

from hourhand.model.errors import InvalidInput
from hourhand.service.holidays import days_from, days_of


def test_the_days_of_a_country_have_their_names() -> None:
    found = days_of(days_from({"country": "US"}), 2027)
    assert found[date(2027, 1, 1)] == "New Year's Day"
    assert found[date(2027, 7, 5)] == "Independence Day (observed)"
    assert list(found) == sorted(found)
    assert {one.year for one in found} == {2027}


def test_a_subdivision_has_days_of_its_own() -> None:
    whole, part = (days_of(days_from({"country": "US", **more}), 2027) for more in ({}, {"subdivision": "CA"}))
    assert part[date(2027, 3, 31)] == "Cesar Chavez Day"
    assert date(2027, 3, 31) not in whole


def test_a_market_has_its_days_also_beside_those_of_a_country() -> None:
    market = set(days_of(days_from({"market": "XNYS"}), 2027))
    country = set(days_of(days_from({"country": "CN"}), 2027))
    assert date(2027, 3, 26) in market, "Good Friday"
    assert date(2027, 10, 1) in country - market
    assert set(days_of(days_from({"market": "xnys", "country": "cn"}), 2027)) == market | country


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"country": "Chna"}, "definition.country", "did you mean CN (China)"),
        ({"country": "XX"}, "definition.country", "write a code such as CN"),
        ({"market": "NYS"}, "definition.market", "XNYS (New York Stock Exchange)"),
        ({"country": "US", "subdivision": "CAL"}, "definition.subdivision", "did you mean CA"),
        ({"country": "US", "subdivision": "??"}, "definition.subdivision", "there are: AK, AL"),
        ({"country": "CN", "subdivision": "??"}, "definition.subdivision", "has none that we know"),
    ],
)
def test_what_the_library_does_not_know_is_refused(given: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        days_from(given)
    (error,) = refused.value.errors
    assert (error.field, said in error.message) == (field, True), error.message


def test_what_it_knows_of_no_year_has_no_days() -> None:
    assert days_of(days_from({"country": "CN"}), 2190) == {}


def test_who_has_no_calendar_does_not_load_the_library() -> None:
    program = "import sys, hourhand.rules.windows, hourhand.store; sys.exit('holidays' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
