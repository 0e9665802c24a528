"""Rules: time zones as tables of offsets, and how local times map onto instants across gaps and folds.

A zone is a table of spans, each with one offset from UTC. Two rules map a pattern of local times onto instants:

- *fixed*: a local time fires the first moment the wall clock has reached it. That moment is the ordinary one outside
  transitions, the end of the gap for a time inside a gap, and the first pass for a time inside a fold.
- *elapsed*: an instant fires when the wall clock shows a matching time at that instant, so that nothing happens for a
  gap and both passes of a fold count.

Instants are whole seconds since 1970-01-01T00:00:00Z.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from functools import lru_cache
from typing import Final, Protocol
from zoneinfo import ZoneInfo, available_timezones

from hourhand.rules.cron_fields import Refused

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
END: Final = int(datetime(2200, 1, 1, tzinfo=UTC).timestamp())

SECOND: Final = timedelta(seconds=1)
# Tables begin and end this far outside the instants asked for, so that no local time near the edges is missing.
_MARGIN: Final = 2 * 86_400
# Most questions are about this century's first half; its table costs a quarter of the whole one.
_NEAR_END: Final = int(datetime(2045, 1, 1, tzinfo=UTC).timestamp())
# The shortest span of any zone since 1970 lasts six days and 23 hours (America/Recife in 2000, Asia/Gaza in 2040).
_STRIDE: Final = 6 * 86_400
_LONGEST_NAME: Final = 64


class Pattern(Protocol):
    """A set of local seconds that can be searched in both directions."""

    def following(self, local: int) -> int:
        """Return the first member not before `local`, or more than any table holds."""

    def preceding(self, local: int) -> int:
        """Return the last member not after `local`, or less than any table holds."""

    def between(self, low: int, high: int) -> int:
        """Return how many members there are from `low` up to `high`, which is no part of it."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One change of offset: at `instant` the wall clock jumps from `before` to `after` (local seconds)."""

    instant: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone's spans: number i is [edges[i], edges[i + 1]) at offsets[i]; peaks[i] is the latest local time so far."""

    edges: tuple[int, ...]
    offsets: tuple[int, ...]
    peaks: tuple[int, ...]

    def next_fixed(self, pattern: Pattern, after: int) -> int | None:
        """Return the first instant after `after` by the fixed rule."""
        return self.reached(pattern.following(self._peak(after) + 1))

    def previous_fixed(self, pattern: Pattern, at: int) -> int | None:
        """Return the last instant not after `at` by the fixed rule."""
        return self.reached(pattern.preceding(self._peak(at)))

    def next_elapsed(self, pattern: Pattern, after: int) -> int | None:
        """Return the first instant after `after` by the elapsed rule."""
        edges, offsets = self.edges, self.offsets
        span = bisect_right(edges, after) - 1
        low = after + 1 + offsets[span]
        hit = pattern.following(low)
        while hit >= edges[span + 1] + offsets[span]:
            span += 1
            if span == len(offsets):
                return None
            begin = edges[span] + offsets[span]
            # Nothing lies between low and hit, so only a span that begins elsewhere needs a search of its own.
            if not low <= begin <= hit:
                low, hit = begin, pattern.following(begin)
        return hit - offsets[span]

    def previous_elapsed(self, pattern: Pattern, at: int) -> int | None:
        """Return the last instant not after `at` by the elapsed rule."""
        edges, offsets = self.edges, self.offsets
        span = bisect_right(edges, at) - 1
        high = at + offsets[span]
        hit = pattern.preceding(high)
        while hit < edges[span] + offsets[span]:
            span -= 1
            if span < 0:
                return None
            finish = edges[span + 1] + offsets[span] - 1
            if not hit <= finish <= high:
                high, hit = finish, pattern.preceding(finish)
        return hit - offsets[span]

    def count_fixed(self, pattern: Pattern, first: int, end: int) -> int:
        """Return how many instants there are from `first` up to `end` by the fixed rule."""
        found = pattern.between(self._peak(first - 1) + 1, self._peak(end - 1) + 1)
        # All local times that a gap skips are reached at its end, which is one instant.
        for gap in self.transitions(first, end - 1):
            found -= max(pattern.between(self._peak(gap.instant - 1) + 1, self._peak(gap.instant) + 1) - 1, 0)
        return found

    def count_elapsed(self, pattern: Pattern, first: int, end: int) -> int:
        """Return how many instants there are from `first` up to `end` by the elapsed rule."""
        edges = [first, *(one.instant for one in self.transitions(first + 1, end - 1)), end]
        span = bisect_right(self.edges, first) - 1
        return sum(
            pattern.between(low + offset, high + offset)
            for low, high, offset in zip(edges, edges[1:], self.offsets[span:], strict=False)
        )

    def reached(self, local: int) -> int | None:
        """Return the first instant at which the wall clock has reached `local`, or None beyond the table."""
        span = bisect_left(self.peaks, local)
        if span == len(self.peaks):
            return None
        return max(self.edges[span], local - self.offsets[span])

    def transitions(self, first: int, last: int) -> list[Transition]:
        """List the changes of offset at instants from `first` to `last`."""
        low, high = max(bisect_left(self.edges, first), 1), min(bisect_right(self.edges, last), len(self.offsets))
        return [
            Transition(edge, edge + self.offsets[span - 1], edge + self.offsets[span])
            for span, edge in enumerate(self.edges[low:high], low)
        ]

    def _peak(self, instant: int) -> int:
        """Return the latest local time the wall clock has shown up to `instant`."""
        span = bisect_right(self.edges, instant) - 1
        local = instant + self.offsets[span]
        return max(local, self.peaks[span - 1]) if span else local


def check(name: str) -> str:
    """Return the name of an IANA time zone.

    Raises:
        Refused: there is no such zone; suggests the closest ones.
    """
    known = _names()
    if name in known:
        return name
    shown = name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"
    folded = {zone.casefold(): zone for zone in known}
    close = get_close_matches(shown.casefold(), folded, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(folded[match] for match in close)}?" if close else "write one like Europe/Berlin"
    raise Refused(f"{shown!r} is not an IANA time zone; {hint}")


def next_second(pattern: Pattern, zone: str, after: int, *, fixed: bool) -> int | None:
    """Return the first instant after `after` that the pattern has in the zone, before the year 2200."""
    after = max(after, -1)
    for end in (_NEAR_END, END):
        if after < end:
            table = load(zone, end)
            found = table.next_fixed(pattern, after) if fixed else table.next_elapsed(pattern, after)
            if found is not None and found < end:
                return found
    return None


def previous_second(pattern: Pattern, zone: str, at: int, *, fixed: bool) -> int | None:
    """Return the last instant not after `at` that the pattern has in the zone, since the year 1970."""
    if at < 0:
        return None
    at = min(at, END - 1)
    table = covering(zone, at)
    found = table.previous_fixed(pattern, at) if fixed else table.previous_elapsed(pattern, at)
    return found if found is not None and found >= 0 else None


def count_seconds(pattern: Pattern, zone: str, first: int, end: int, *, fixed: bool) -> int:
    """Return how many instants the pattern has in the zone from `first` up to `end`, between 1970 and 2199."""
    first, end = max(first, 0), min(end, END)
    if end <= first:
        return 0
    table = covering(zone, end)
    return table.count_fixed(pattern, first, end) if fixed else table.count_elapsed(pattern, first, end)


def first_pass(zone: str, local: timedelta) -> timedelta:
    """Map one local time (since 1970-01-01T00:00 on the wall clock, up to 2199) onto its instant by the fixed rule."""
    second = local // SECOND
    table = covering(zone, second)
    span = bisect_left(table.peaks, second)
    return max(timedelta(seconds=table.edges[span]), local - timedelta(seconds=table.offsets[span]))


def covering(zone: str, instant: int) -> Zone:
    """Return a table that reaches beyond `instant`, local or not."""
    return load(zone, _NEAR_END if instant < _NEAR_END else END)


@lru_cache(maxsize=2048)
def load(name: str, end: int) -> Zone:
    """Return the table of a zone from 1970 to `end`, found by comparing offsets."""
    zone = ZoneInfo(name)
    edges = [-_MARGIN]
    offsets = [_offset(zone, -_MARGIN)]
    for right in range(_STRIDE - _MARGIN, end + _MARGIN + _STRIDE, _STRIDE):
        new = _offset(zone, right)
        if new != offsets[-1]:
            edges.append(_change(zone, right - _STRIDE, right, new))
            offsets.append(new)
    edges.append(end + _MARGIN + _STRIDE)
    peaks: list[int] = []
    for span, offset in enumerate(offsets):
        last = edges[span + 1] - 1 + offset
        peaks.append(max(last, peaks[-1]) if peaks else last)
    return Zone(tuple(edges), tuple(offsets), tuple(peaks))


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    # "localtime" is whatever the machine says: two machines would disagree about the same task.
    return frozenset(available_timezones() - {"localtime"})


def _offset(zone: ZoneInfo, instant: int) -> int:
    local = datetime.fromtimestamp(instant, zone)
    return (local.replace(tzinfo=UTC) - EPOCH) // SECOND - instant


def _change(zone: ZoneInfo, left: int, right: int, new: int) -> int:
    """Return the first instant in (left, right] with the offset `new`."""
    while right - left > 1:
        middle = (left + right) // 2
        if _offset(zone, middle) == new:
            right = middle
        else:
            left = middle
    return right
