"""Rules: counters of endings, put together to figures; and which series can be asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import gcd
from typing import Any

from hourhand.model.errors import InvalidInput
from hourhand.model.words import Status
from hourhand.rules import agenda
from hourhand.rules.histogram import merge, percentile

LOST = "lost"
"""The status of the counters of losses, which no instance ever has."""
MINUTE, HOUR = 60, 3_600
MOST_POINTS = 1_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Tally:
    """Adds counters up."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {status.value: 0 for status in Status if status.ended} | {LOST: 0}
        self.skipped = 0
        self.duration_ms = 0.0
        self.durations: dict[int, int] = {}

    def add(self, status: str, count: int, *, skipped: bool, duration_ms: float) -> None:
        """Add a counter of records of skips, or of endings with the sum of their durations."""
        if skipped:
            self.skipped += count
            return
        self.counts[status] += count
        self.duration_ms += duration_ms

    def add_durations(self, durations: Mapping[int, int]) -> None:
        """Add a histogram of durations: of those that ran."""
        merge(self.durations, durations)

    def include(self, other: Tally) -> None:
        """Add all that another has added up."""
        for status, count in other.counts.items():
            self.add(status, count, skipped=False, duration_ms=0.0)
        self.skipped += other.skipped
        self.duration_ms += other.duration_ms
        self.add_durations(other.durations)

    def figures(self) -> dict[str, Any]:
        """What a reader wants to know, by the names of `model.stats.Figures`."""
        ended = sum(count for status, count in self.counts.items() if status != LOST)
        ran = sum(self.durations.values())
        return {
            "success": self.counts[Status.SUCCESS.value],
            "failed": self.counts[Status.FAILED.value],
            "cancelled": self.counts[Status.CANCELLED.value],
            "skipped": self.skipped,
            "losses": self.counts[LOST],
            "failure_rate": self.counts[Status.FAILED.value] / ended if ended else None,
            "average_ms": self.duration_ms / ran if ran else None,
            "p50_ms": percentile(self.durations, 0.50),
            "p95_ms": percentile(self.durations, 0.95),
            "p99_ms": percentile(self.durations, 0.99),
        }


def rounded_down(time: datetime, seconds: int) -> datetime:
    """The last moment that is a whole number of these seconds."""
    return time - (time - _EPOCH) % timedelta(seconds=seconds)


def rounded_up(time: datetime, seconds: int) -> datetime:
    """The next moment that is a whole number of these seconds."""
    return rounded_down(time + timedelta(seconds=seconds) - timedelta.resolution, seconds)


def usual_step(begin: datetime, end: datetime, timezone: str | None = None) -> int:
    """The step, in seconds, that shows a period in some hundred points; with a zone, one its clock can have."""
    usual = (MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR)
    days = min(-(-(end - begin) // timedelta(days=300)), agenda.LONGEST_LOAD.days)
    longest = _fitting(end - begin) if timezone is None else 24 * HOUR * days
    return next((step for step in usual if (end - begin) / timedelta(seconds=step) <= 300), longest)  # noqa: PLR2004 - some hundred


def steps(begin: datetime, end: datetime, step_seconds: int) -> tuple[datetime, datetime, int]:
    """Where a series begins and ends, and how many points it has; refuses what cannot be had."""
    if begin >= end:
        raise InvalidInput.one("from", begin, f"{begin.isoformat()} is not before `to` ({end.isoformat()})")
    if step_seconds < MINUTE or step_seconds % MINUTE:
        right = max(MINUTE, round(step_seconds / MINUTE) * MINUTE)
        raise InvalidInput.one(
            "step", step_seconds, f"{step_seconds} seconds is not a number of whole minutes: give one such as {right}"
        )
    begin = rounded_down(begin, HOUR if step_seconds % HOUR == 0 else MINUTE)
    end = rounded_up(end, MINUTE)
    points = -((begin - end) // timedelta(seconds=step_seconds))
    if points > MOST_POINTS:
        raise InvalidInput.one(
            "step",
            step_seconds,
            f"with steps of {step_seconds} seconds there would be {points:,} points, and there are at most "
            f"{MOST_POINTS:,}: give a step of at least {_fitting(end - begin)} seconds, or a shorter period",
        )
    return begin, end, points


def edges(begin: datetime, end: datetime, step_seconds: int, timezone: str | None = None) -> list[datetime]:
    """Where the steps of a series begin, and where the last one ends.

    Without a zone they follow each other from the beginning; by the clock of one they begin as those of a load do.
    """
    first, last, points = steps(begin, end, step_seconds)
    if timezone is None:
        return [*(first + number * timedelta(seconds=step_seconds) for number in range(points)), last]
    # Until 1972 some clocks were off by seconds, and what ended is counted by whole minutes.
    return [rounded_down(edge, MINUTE) for edge in agenda.steps(begin, last, step_seconds, timezone)]


def unit_of(edges: Sequence[datetime]) -> int:
    """The longest time, in seconds, that every step is a whole number of; the last one may be cut off."""
    seconds = [(edge - edges[0]) // timedelta(seconds=1) for edge in edges]
    return gcd(*seconds[:-1]) or seconds[-1]


def _fitting(period: timedelta) -> int:
    """A step by which a period has no more points than it may have, wherever its beginning is rounded to."""
    least = (period + timedelta(seconds=HOUR)) / MOST_POINTS
    return -(-least // timedelta(seconds=MINUTE)) * MINUTE
