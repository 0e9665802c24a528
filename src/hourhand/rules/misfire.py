"""Rules: which of the instants that have come due fire, and which are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import assert_never

from hourhand.model.words import MisfirePolicy, SkipReason
from hourhand.rules.schedule import Every, Schedule, next_instant, previous_instant

COUNT_LIMIT = 1_000
"""A run of skips is counted exactly up to here; after days of downtime "at least" is enough, a stall is not."""


@dataclass(frozen=True, slots=True)
class SkipRun:
    """Consecutive instants that were skipped for one reason: one row in the execution logs."""

    reason: SkipReason
    first: datetime
    last: datetime
    count: int
    more: bool = False
    """The count is a lower bound."""


@dataclass(frozen=True, slots=True)
class Due:
    """What to do with the instants up to a horizon."""

    fire: tuple[datetime, ...]
    skipped: tuple[SkipRun, ...]
    next_fire_at: datetime | None


def due(
    schedule: Schedule,
    anchor: datetime,
    next_fire_at: datetime,
    *,
    now: datetime,
    horizon: datetime,
    policy: MisfirePolicy,
    grace_seconds: int,
    catch_up_limit: int,
    burst: int = 1_000,
) -> Due:
    """Sort the instants from `next_fire_at` up to the horizon into those that fire and those that are skipped.

    Guarantee 2: each of them is in one of the two. An instant older than the grace is missed;
    younger ones simply fire, at most `burst` of them at a time.
    """
    edge = now - timedelta(seconds=grace_seconds)
    instant: datetime | None = next_fire_at
    fire: list[datetime] = []
    skipped: list[SkipRun] = []
    if next_fire_at < edge:
        last = _latest_before(schedule, anchor, edge, next_fire_at)
        fire, skipped = _missed(schedule, anchor, next_fire_at, last, policy=policy, catch_up_limit=catch_up_limit)
        instant = next_instant(schedule, last, anchor)
    most = len(fire) + burst
    while instant is not None and instant <= horizon and len(fire) < most:
        fire.append(instant)
        instant = next_instant(schedule, instant, anchor)
    return Due(tuple(fire), tuple(skipped), instant)


def _missed(
    schedule: Schedule,
    anchor: datetime,
    first: datetime,
    last: datetime,
    *,
    policy: MisfirePolicy,
    catch_up_limit: int,
) -> tuple[list[datetime], list[SkipRun]]:
    match policy:
        case MisfirePolicy.SKIP:
            return [], [_run(schedule, anchor, first, last)]
        case MisfirePolicy.FIRE_ONCE:
            if first == last:
                return [last], []
            return [last], [_run(schedule, anchor, first, _latest_before(schedule, anchor, last, first))]
        case MisfirePolicy.CATCH_UP:
            fire: list[datetime] = []
            for instant in _between(schedule, anchor, first, last):
                if len(fire) == catch_up_limit:
                    return fire, [_run(schedule, anchor, instant, last)]
                fire.append(instant)
            return fire, []
        case _:  # pragma: no cover
            assert_never(policy)


def _latest_before(schedule: Schedule, anchor: datetime, end: datetime, first: datetime) -> datetime:
    """The latest instant before `end`; `first` counts as one (`@after` has no other, and zones change their rules)."""
    found = previous_instant(schedule, end - timedelta(microseconds=1), anchor)
    return first if found is None else max(found, first)


def _between(schedule: Schedule, anchor: datetime, first: datetime, last: datetime) -> Iterator[datetime]:
    instant: datetime | None = first
    while instant is not None and instant <= last:
        yield instant
        instant = next_instant(schedule, instant, anchor)


def _run(schedule: Schedule, anchor: datetime, first: datetime, last: datetime) -> SkipRun:
    if isinstance(schedule, Every):
        return SkipRun(SkipReason.MISFIRE, first, last, (last - first) // schedule.period + 1)
    count = 0
    for _ in _between(schedule, anchor, first, last):
        if count == COUNT_LIMIT:
            return SkipRun(SkipReason.MISFIRE, first, last, count, more=True)
        count += 1
    return SkipRun(SkipReason.MISFIRE, first, last, count)
