"""Times and lengths of time, typed and shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from hourhand.cli import moments
from hourhand.model.errors import InvalidInput


@pytest.mark.parametrize(
    ("typed", "zone", "sent"),
    [
        ("2026-11-15T09:00", "UTC", "2026-11-15T09:00:00Z"),
        ("2026-11-15T09:00", "Asia/Shanghai", "2026-11-15T01:00:00Z"),
        ("2026-11-15T09:00:00+02:00", "Asia/Shanghai", "2026-11-15T07:00:00Z"),
        ("2026-11-15", "UTC", "2026-11-15T00:00:00Z"),
    ],
)
def test_a_time_without_an_offset_is_read_in_the_zone(typed: str, zone: str, sent: str) -> None:
    assert moments.read(typed, "--at", zone) == sent


@pytest.mark.parametrize(
    ("typed", "ago"), [("90s", 90), ("30m", 1_800), ("2h", 7_200), ("7d", 604_800), ("1w", 604_800)]
)
def test_how_long_ago(typed: str, ago: int) -> None:
    found = datetime.fromisoformat(moments.read_since(typed, "--since"))
    assert abs(datetime.now(UTC) - timedelta(seconds=ago) - found) < timedelta(seconds=30)


@pytest.mark.parametrize("typed", ["soon", "", "5", "999999w", "9999-12-31T23:59:59-14:00", "-3h"])
def test_what_is_no_time_is_refused(typed: str) -> None:
    with pytest.raises(InvalidInput, match="--since"):
        moments.read_since(typed, "--since")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0.0 s"),
        (3.04, "3.0 s"),
        (42.4, "42 s"),
        (65, "1 min 5 s"),
        (3_900, "1 h 5 min"),
        (93_600, "1 d 2 h"),
        (-5, "0.0 s"),
    ],
)
def test_a_length_is_shown_in_its_two_largest_units(seconds: float, shown: str) -> None:
    assert moments.length(seconds) == shown


@pytest.mark.parametrize("read", [moments.read_until, moments.read_length])
def test_how_long_from_now(read: Callable[[str, str], str]) -> None:
    found = datetime.fromisoformat(read("90d", "--until"))
    assert abs(datetime.now(UTC) + timedelta(days=90) - found) < timedelta(seconds=30)


def test_an_end_may_be_a_time_and_a_length_may_not() -> None:
    assert moments.read_until("2026-11-15", "--until") == "2026-11-15T00:00:00Z"
    with pytest.raises(InvalidInput, match="--for: '2026-11-15' is not a length of time"):
        moments.read_length("2026-11-15", "--for")
    for typed in ("soon", "999999w", "-3h"):
        with pytest.raises(InvalidInput, match="--until"):
            moments.read_until(typed, "--until")


def test_what_is_short_is_shown_in_milliseconds() -> None:
    assert [moments.took(one) for one in (None, 0.4, 412.5, 1_000, 65_000)] == [
        "",
        "0 ms",
        "412 ms",
        "1.0 s",
        "1 min 5 s",
    ]


def test_a_length_between_two_times_is_empty_where_one_is_missing() -> None:
    begin, end = "2026-11-15T09:00:00Z", "2026-11-15T09:01:05Z"
    assert moments.between(begin, end) == "1 min 5 s"
    assert moments.between(begin, None) == moments.between(None, end) == ""
