"""Rules: which of the instants to come will fire, and which fall into a pause or a window that is known of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from hourhand.model.pause import Stretch
from hourhand.model.words import SkipReason
from hourhand.rules.facts import moment
from hourhand.rules.misfire import SkipRun, run_of
from hourhand.rules.pausing import Rests
from hourhand.rules.schedule import Schedule, next_instant, previous_instant

MOST_STRETCHES = 1_000
"""Where a schedule rests so often, nobody is told more than that."""


@dataclass(frozen=True, slots=True)
class Upcoming:
    """The next instants that fire, and what is to be known about those that do not."""

    instants: tuple[datetime, ...]
    notes: tuple[str, ...]
    more: bool
    """Whether there may be others after them."""


def upcoming(schedule: Schedule, first: datetime, count: int, anchor: datetime, rests: Rests) -> Upcoming:
    """The first `count` instants from `first` on that lie in no rest, which are made if nothing changes."""
    found: list[datetime] = []
    skipped: dict[str, tuple[int, bool]] = {}
    instant: datetime | None = first
    for _ in range(MOST_STRETCHES + count):
        if instant is None or len(found) == count:
            break
        rest = rests.at(instant)
        if rest is None:
            found.append(instant)
            last = instant
        elif rest.end is None:
            notes = (*_notes(skipped), "it is paused until somebody resumes it")
            return Upcoming(tuple(found), notes, more=False)
        else:
            run = _run(schedule, instant, rest.end, anchor)
            before, more = skipped.get(_what(rest), (0, False))
            skipped[_what(rest)] = before + run.count, more or run.more
            last = run.last
        instant = next_instant(schedule, last, anchor)
    notes = _notes(skipped)
    if instant is not None and len(found) < count:
        notes = (*notes, f"nothing after {moment(instant)} was looked at: it rests too often")
    return Upcoming(tuple(found), notes, more=instant is not None)


def skipped_by(rest: Stretch) -> str:
    """What is to be known about an instant that lies in a rest."""
    return f"it falls into {_what(rest)} and is skipped"


def _run(schedule: Schedule, first: datetime, end: datetime, anchor: datetime) -> SkipRun:
    last = previous_instant(schedule, end - timedelta(microseconds=1), anchor)
    return run_of(SkipReason.WINDOW, schedule, anchor, first, first if last is None else max(first, last))


def _what(rest: Stretch) -> str:
    if rest.reason is SkipReason.WINDOW:
        return f"the maintenance window {rest.name!r}"
    return "a pause" if rest.end is None else f"the pause until {moment(rest.end)}"


def _notes(skipped: dict[str, tuple[int, bool]]) -> tuple[str, ...]:
    return tuple(
        f"{'at least ' if more else ''}{n:,} instant{' falls' if n == 1 else 's fall'} into {what} and "
        f"{'is' if n == 1 else 'are'} skipped"
        for what, (n, more) in skipped.items()
    )
