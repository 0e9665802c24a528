"""Service: the store may be away for a while: wait, say so once, and go on when it is back."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from hourhand.model.errors import StoreUnavailable
from hourhand.service.metrics import STORE_FAILURES, STORE_OUTAGES

T = TypeVar("T")
logger = logging.getLogger("hourhand")
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0


class Outage:
    """What a process knows about its store's absence; shared by all its loops, so that it is said once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: float | None = None
        self._last_failure = 0.0

    @property
    def lasts(self) -> bool:
        """Whether the store was away when it was last asked."""
        return self._since is not None

    def failed(self, error: Exception) -> None:
        """Note that the store did not answer."""
        self._last_failure = self._clock()
        STORE_FAILURES.inc()
        if self._since is None:
            self._since = self._last_failure
            STORE_OUTAGES.inc()
            logger.warning("the store cannot be reached, trying again until it can: %s", error)

    def answered(self, asked_at: float) -> None:
        """Note that the store answered a question that was asked at this time of the monotonic clock."""
        if self._since is not None and asked_at > self._last_failure:
            logger.warning("the store is back after %.1f s", self._clock() - self._since)
            self._since = None

    def now(self) -> float:
        """The clock by which `answered` is told."""
        return self._clock()


def backoff(failures: int) -> float:
    """How long to wait after so many failures in a row: growing, bounded, and not in step with other processes."""
    return random.uniform(0.5, 1.0) * min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(failures, 10))  # noqa: S311 - jitter


async def persist(work: Callable[[], Awaitable[T]], outage: Outage) -> T:
    """Do the work, as often as it takes while the store cannot be reached."""
    failures = 0
    while True:
        asked_at = outage.now()
        try:
            done = await work()
        except StoreUnavailable as error:
            outage.failed(error)
            await asyncio.sleep(backoff(failures))
            failures += 1
        else:
            outage.answered(asked_at)
            return done
