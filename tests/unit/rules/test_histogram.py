"""Histograms: buckets are fixed, adding is exact, and percentiles are off by no more than they say."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest

from hourhand.rules.histogram import BOUNDS, MOST_OFF, OVERFLOW, WEEK_MS, add, bounds_of, bucket_of, merge, percentile


def test_bounds_rise_four_a_decade_from_a_millisecond_to_a_week() -> None:
    assert BOUNDS[:9] == (1, 2, 3, 6, 10, 18, 32, 56, 100)
    assert BOUNDS[-1] == WEEK_MS
    assert all(lower < upper <= lower * MOST_OFF for lower, upper in pairwise(BOUNDS))
    assert all(upper <= lower * 1.8 for lower, upper in pairwise(BOUNDS[4:]))


@pytest.mark.parametrize(
    ("duration", "bucket"), [(0, 0), (1, 0), (2, 1), (3, 2), (4, 3), (6, 3), (7, 4), (WEEK_MS, 36), (WEEK_MS + 1, 37)]
)
def test_a_bucket_holds_its_bound_and_what_is_longer_than_the_one_before(duration: int, bucket: int) -> None:
    assert bucket_of(duration) == bucket
    lower, upper = bounds_of(bucket)
    assert (lower <= duration <= upper) == (bucket != OVERFLOW)


def test_adding_up_two_is_the_same_as_counting_everything_in_one() -> None:
    one: dict[int, int] = {}
    other: dict[int, int] = {}
    both: dict[int, int] = {}
    for number, duration in enumerate([0, 5, 5, 80, 3_000, 10**12]):
        add(one if number % 2 else other, duration)
        add(both, duration)
    add(one, 7, count=3)
    add(both, 7, count=3)
    merge(one, other)
    assert one == both
    assert sum(both.values()) == 9


def test_nothing_has_no_percentile() -> None:
    assert percentile({}, 0.5) is None
    assert percentile({3: 0}, 0.5) is None


def test_within_a_bucket_durations_are_taken_to_be_spread_evenly() -> None:
    assert percentile({bucket_of(100): 4}, 0.5) == 56 + (100 - 56) / 2
    assert percentile({0: 2, bucket_of(100): 2}, 0.5) == 1
    assert percentile({0: 1, 4: 1}, 0.0) == 0
    assert percentile({0: 1, 4: 0, 8: 1}, 1.0) == 100
    assert percentile({OVERFLOW: 5}, 0.99) == WEEK_MS


@pytest.mark.parametrize("seed", range(20))
def test_a_percentile_is_off_by_less_than_it_says(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same each time
    durations = sorted(round(10 ** chance.uniform(0, 8.7)) for _ in range(chance.randrange(1, 2_000)))
    histogram: dict[int, int] = {}
    for duration in durations:
        add(histogram, duration)
    for share in (0.01, 0.5, 0.95, 0.99, 1.0):
        true = durations[math.ceil(share * len(durations)) - 1]
        found = percentile(histogram, share)
        assert found is not None
        assert bucket_of(true) == bucket_of(math.ceil(found))
        assert true / MOST_OFF <= found <= true * MOST_OFF or true == 1
