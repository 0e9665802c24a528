"""Figures: counters put together, and which series can be asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hourhand.model.errors import InvalidInput
from hourhand.model.stats import Figures
from hourhand.rules.figures import LOST, MOST_POINTS, Tally, edges, rounded_down, rounded_up, steps, unit_of, usual_step

AT = datetime(2026, 11, 15, 10, 20, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_nothing_has_no_rate_and_no_durations() -> None:
    assert Figures(**Tally().figures()) == Figures()


def test_counters_add_up() -> None:
    tally, other, total = Tally(), Tally(), Tally()
    tally.add("success", 6, skipped=False, duration_ms=500)
    tally.add_durations({8: 5})
    tally.add("failed", 2, skipped=False, duration_ms=100)
    tally.add_durations({8: 1})
    other.add("cancelled", 2, skipped=False, duration_ms=0)
    other.add("cancelled", 7, skipped=True, duration_ms=0)
    other.add(LOST, 3, skipped=False, duration_ms=0)
    total.include(tally)
    total.include(other)
    found = Figures(**total.figures())
    assert (found.success, found.failed, found.cancelled, found.skipped, found.losses) == (6, 2, 2, 7, 3)
    assert found.failure_rate == 0.2
    assert found.average_ms == 100
    assert found.p50_ms == 78


def test_times_are_rounded_to_whole_minutes_and_hours() -> None:
    assert rounded_down(AT, 60) == datetime(2026, 11, 15, 10, 20, tzinfo=UTC)
    assert rounded_up(AT, 60) == datetime(2026, 11, 15, 10, 21, tzinfo=UTC)
    assert rounded_up(AT, 3_600) == datetime(2026, 11, 15, 11, tzinfo=UTC)
    whole = rounded_down(AT, 3_600)
    assert rounded_down(whole, 3_600) == rounded_up(whole, 3_600) == whole


@pytest.mark.parametrize(
    ("hours", "step"), [(1, 60), (5, 60), (24, 300), (72, 900), (240, 3_600), (1_000, 21_600), (7_000, 86_400)]
)
def test_a_period_has_a_step_that_suits_it(hours: int, step: int) -> None:
    assert usual_step(AT - hours * HOUR, AT) == step


def test_even_the_longest_period_has_a_step_that_is_not_refused() -> None:
    begin = datetime(1970, 1, 1, tzinfo=UTC)
    end = datetime(2199, 12, 31, tzinfo=UTC)
    assert steps(begin, end, usual_step(begin, end))[2] <= MOST_POINTS


def test_a_series_begins_with_a_whole_minute_and_one_of_hours_with_a_whole_hour() -> None:
    begin, end, points = steps(AT - HOUR, AT, 600)
    assert (begin, end, points) == (rounded_down(AT - HOUR, 60), rounded_up(AT, 60), 7)
    begin, end, points = steps(AT - HOUR, AT, 7_200)
    assert (begin, end, points) == (rounded_down(AT - HOUR, 3_600), rounded_up(AT, 60), 1)


@pytest.mark.parametrize(("step", "right"), [(0, "60"), (1, "60"), (90, "120"), (100, "120"), (3_630, "3600")])
def test_a_step_that_is_no_number_of_whole_minutes_is_refused_with_one_that_is(step: int, right: str) -> None:
    with pytest.raises(InvalidInput, match=f"whole minutes: give one such as {right}"):
        steps(AT - HOUR, AT, step)


def test_too_many_points_are_refused_with_a_step_that_would_do() -> None:
    with pytest.raises(InvalidInput, match=r"there would be 1,441 points.* at least 120 seconds"):
        steps(AT - 24 * HOUR, AT, 60)
    assert steps(AT - 24 * HOUR, AT, 120)[2] <= MOST_POINTS


def test_without_a_zone_steps_follow_each_other_from_the_beginning() -> None:
    found = edges(AT - HOUR, AT, 1_500)
    assert [edge - found[0] for edge in found] == [timedelta(minutes=minutes) for minutes in (0, 25, 50, 61)]
    assert unit_of(found) == 1_500
    (first, last) = edges(AT - HOUR, AT, 86_400)
    assert unit_of([first, last]) == (last - first).total_seconds()


@pytest.mark.parametrize(("zone", "minutes"), [("Asia/Kolkata", 30), ("Asia/Kathmandu", 15), ("Asia/Shanghai", 0)])
def test_by_the_clock_of_a_zone_steps_begin_with_its_hours(zone: str, minutes: int) -> None:
    found = edges(AT - 3 * HOUR, AT, 3_600, zone)
    assert {edge.minute for edge in found[:-1]} == {minutes}
    assert found[0] <= AT - 3 * HOUR < found[1]
    assert found[-1] == rounded_up(AT, 60)
    assert unit_of(found) == 3_600


def test_steps_that_a_clock_makes_unequal_have_something_in_common() -> None:
    begin = datetime(2026, 10, 24, 22, tzinfo=UTC)
    days = edges(begin, begin + timedelta(hours=72), 86_400, "Europe/Berlin")
    assert [edge - begin for edge in days] == [0 * HOUR, 25 * HOUR, 49 * HOUR, 72 * HOUR]
    assert unit_of(days) == 3_600
    moved = edges(
        datetime(2026, 10, 3, 12, tzinfo=UTC), datetime(2026, 10, 3, 18, tzinfo=UTC), 3_600, "Australia/Lord_Howe"
    )
    assert unit_of(moved) == 1_800  # by half an hour
    seconds_off = edges(datetime(1971, 1, 1, tzinfo=UTC), datetime(1971, 1, 1, 3, tzinfo=UTC), 3_600, "Africa/Monrovia")
    assert unit_of(seconds_off) % 60 == 0


@pytest.mark.parametrize("years", [1, 2, 40, 56])
def test_by_the_clock_of_a_zone_the_usual_step_is_one_it_can_have(years: int) -> None:
    begin = AT - timedelta(days=365 * years)
    assert len(edges(begin, AT, usual_step(begin, AT, "Asia/Kolkata"), "Asia/Kolkata")) <= MOST_POINTS


def test_a_zone_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not an IANA time zone"):
        edges(AT - HOUR, AT, 3_600, "Asia/Kolkatta")


def test_a_period_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is not before"):
        steps(AT, AT, 60)
