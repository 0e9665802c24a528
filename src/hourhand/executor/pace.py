"""Executor: how fast work gets done here, and so how much of it to claim ahead."""

from __future__ import annotations

import time
from collections.abc import Callable

WINDOW_SECONDS = 0.1


class Pace:
    """Counts what was done in this stretch of a tenth of a second, and in the one before.

    Claimed ahead is what was done in such a stretch: short work keeps its slots filled while the next is claimed, and
    where slots are taken by long work nothing is taken from executors that may have room for it now.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stretch = 0
        self._now = self._before = 0

    def done(self) -> None:
        """One more."""
        self._turn()
        self._now += 1

    def ahead(self) -> int:
        """How many to claim beyond the free slots."""
        self._turn()
        return max(self._now, self._before)

    def _turn(self) -> None:
        stretch = int(self._clock() / WINDOW_SECONDS)
        if stretch != self._stretch:
            self._before = self._now if stretch == self._stretch + 1 else 0
            self._now = 0
            self._stretch = stretch
