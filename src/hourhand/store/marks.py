"""Store: low-water marks, so that a claimer does not re-read dead index entries while some transaction is held open."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from hourhand.model.instance import Assignment
from hourhand.rules.lifecycle import isolated
from hourhand.store.claim import BEGINNING, PRIORITIES

FULL_PROBE_SECONDS = 30.0
SLACK = timedelta(seconds=1)


class Marks:
    """Per (lane, priority): nothing below the mark is looked at, but for a full probe every half minute.

    Every edge into pending sets `available_at` to now or later, so only a transaction that commits more than a
    second after that can slip below a mark: it is delayed until the next full probe, never lost.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._marks: dict[tuple[int, int], datetime] = {}
        self._full_at = clock()

    def probes(self, lanes: Sequence[int]) -> list[datetime]:
        """The marks in the order in which the claim probes."""
        if self._clock() >= self._full_at:
            self._full_at = self._clock() + FULL_PROBE_SECONDS
            self._marks.clear()
        return [self._marks.get((lane, priority), BEGINNING) for priority in PRIORITIES for lane in lanes]

    def advance(self, claimed: Iterable[Assignment]) -> None:
        """Raise the marks by what has been claimed."""
        for one in claimed:
            place = (one.lane_id, one.priority)
            mark = one.available_at - SLACK
            # What lost two executors is claimed out of turn and says nothing of the rest.
            if not isolated(one.loss_count) and self._marks.get(place, BEGINNING) < mark:
                self._marks[place] = mark
