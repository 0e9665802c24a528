"""Rules: which of the instants that have come due fire, and which are skipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import assert_never

from hourhand.model.words import MisfirePolicy, SkipReason
from hourhand.rules.pausing import NOTHING, Rests
from hourhand.rules.schedule import Every, Schedule, next_instant, previous_instant

COUNT_LIMIT = 1_000
"""A run of skips is counted exactly up to here; after days of downtime "at least" is enough, a stall is not."""
STRETCH_LIMIT = 1_000
"""So many stretches are told apart: what was missed after them was missed, whether or not a window was open."""


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
    rests: Rests = NOTHING,
) -> Due:
    """Sort the instants from `next_fire_at` up to the horizon into those that fire and those that are skipped.

    Guarantee 2: each of them is in one of the two. An instant that lies in one of the `rests` is skipped for it,
    but not before it has come: the pause may be over by then, or the window deleted. Of the others an instant older
    than the grace is missed; younger ones simply fire, at most `burst` of them at a time.
    """
    edge = now - timedelta(seconds=grace_seconds)
    instant: datetime | None = next_fire_at
    missed: list[tuple[datetime, datetime]] = []
    fire: list[datetime] = []
    skipped: list[SkipRun] = []
    while instant is not None and instant <= horizon and len(fire) < burst:
        told_apart = instant >= edge or len(missed) + len(skipped) < STRETCH_LIMIT
        rest = rests.at(instant) if told_apart else None
        if rest is not None:
            if instant > now:
                break
            passed = now + timedelta(microseconds=1)
            last = _latest_before(schedule, anchor, passed if rest.end is None else min(rest.end, passed), instant)
            skipped.append(run_of(rest.reason, schedule, anchor, instant, last))
        elif instant < edge:
            end = rests.next_begin(instant, edge) if told_apart else edge
            last = _latest_before(schedule, anchor, end, instant)
            missed.append((instant, last))
        else:
            last = instant
            fire.append(instant)
        instant = next_instant(schedule, last, anchor)
    late, more = _missed(schedule, anchor, missed, policy=policy, catch_up_limit=catch_up_limit)
    skips = sorted([*skipped, *more], key=lambda run: run.first)
    return Due((*late, *fire), tuple(skips), instant)


def _missed(
    schedule: Schedule,
    anchor: datetime,
    missed: Sequence[tuple[datetime, datetime]],
    *,
    policy: MisfirePolicy,
    catch_up_limit: int,
) -> tuple[list[datetime], list[SkipRun]]:
    """What becomes of missed instants: each pair is the first and the last of a stretch of them."""
    if not missed:
        return [], []

    def run(first: datetime, last: datetime) -> SkipRun:
        return run_of(SkipReason.MISFIRE, schedule, anchor, first, last)

    match policy:
        case MisfirePolicy.SKIP:
            return [], [run(first, last) for first, last in missed]
        case MisfirePolicy.FIRE_ONCE:
            *others, (first, last) = missed
            skipped = [run(*one) for one in others]
            if first != last:
                skipped.append(run(first, _latest_before(schedule, anchor, last, first)))
            return [last], skipped
        case MisfirePolicy.CATCH_UP:
            fire: list[datetime] = []
            skipped = []
            for first, last in missed:
                for instant in _between(schedule, anchor, first, last):
                    if len(fire) == catch_up_limit:
                        skipped.append(run(instant, last))
                        break
                    fire.append(instant)
            return fire, skipped
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


def run_of(reason: SkipReason, schedule: Schedule, anchor: datetime, first: datetime, last: datetime) -> SkipRun:
    """A run of skips from its first instant to its last."""
    if isinstance(schedule, Every):
        return SkipRun(reason, first, last, (last - first) // schedule.period + 1)
    count = 0
    for _ in _between(schedule, anchor, first, last):
        if count == COUNT_LIMIT:
            return SkipRun(reason, first, last, count, more=True)
        count += 1
    return SkipRun(reason, first, last, count)
