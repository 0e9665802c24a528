"""Rules: histograms of durations: fixed buckets, so that any two can be added and percentiles have a known error.

A histogram is a mapping from a bucket's number to how many durations fell into it. Bucket `i` holds what is longer
than the bound before and at most `BOUNDS[i]` milliseconds; the last one holds what took longer than a week.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, MutableMapping

PER_DECADE = 4
WEEK_MS = 7 * 86_400_000
BOUNDS: tuple[int, ...] = (*(round(10 ** (step / PER_DECADE)) for step in range(36)), WEEK_MS)
"""Milliseconds: 1, 2, 3, 6, 10, 18, 32, 56, 100 … a week. They are stored by number: never change those there are."""
OVERFLOW = len(BOUNDS)
MOST_OFF = 2.0
"""A percentile lies in the bucket of the true one, so it is off by less than this factor (by 1.8 from 10 ms on)."""


def bucket_of(duration_ms: float) -> int:
    """The bucket of a duration."""
    return bisect_left(BOUNDS, duration_ms)


def add(histogram: MutableMapping[int, int], duration_ms: float, count: int = 1) -> None:
    """Count a duration, or many of the same."""
    bucket = bucket_of(duration_ms)
    histogram[bucket] = histogram.get(bucket, 0) + count


def merge(into: MutableMapping[int, int], other: Mapping[int, int]) -> None:
    """Add what another one has counted."""
    for bucket, count in other.items():
        into[bucket] = into.get(bucket, 0) + count


def percentile(histogram: Mapping[int, int], share: float) -> float | None:
    """The duration below which this share lies, in milliseconds; None when nothing was counted.

    Within a bucket durations are taken to be spread evenly. Of what took longer than a week no more is known.
    """
    wanted = share * sum(histogram.values())
    below = 0
    for bucket, count in sorted(histogram.items()):
        if count and below + count >= wanted:
            lower, upper = bounds_of(bucket)
            return lower + (upper - lower) * max(0.0, wanted - below) / count
        below += count
    return None


def bounds_of(bucket: int) -> tuple[int, int]:
    """What a bucket lies between, in milliseconds."""
    lower = BOUNDS[bucket - 1] if bucket else 0
    return lower, BOUNDS[bucket] if bucket < OVERFLOW else lower
