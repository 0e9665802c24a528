"""Scheduler: takes back attempts whose executors fell silent."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from hourhand.contracts.store import Store
from hourhand.model.errors import StoreUnavailable
from hourhand.service.outage import Outage

logger = logging.getLogger("hourhand.scheduler")
EVERY_SECONDS = 1.0
MARGIN_SECONDS = 2.0
STOPPED_SECONDS = 5.0


class Reaper:
    """Guarantee 7. It reaps only after a full heartbeat and a bit of uninterrupted contact with the store.

    When the store was away, or this machine was, so may have been the executors: they get the time to beat first.
    """

    def __init__(
        self, store: Store, outage: Outage, *, heartbeat_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._outage = outage
        self._contact_needed = heartbeat_seconds + MARGIN_SECONDS
        self._clock = clock
        self._contact_since: float | None = None
        self._last_step = clock()

    async def step(self) -> float:
        """Take back what can be taken back."""
        now = self._clock()
        asked_at = self._outage.now()
        if now - self._last_step > STOPPED_SECONDS:
            self._contact_since = None
        self._last_step = now
        try:
            if self._contact_since is None or now - self._contact_since < self._contact_needed:
                await self._store.ping()
                self._outage.answered(asked_at)
                self._contact_since = self._contact_since or now
                return EVERY_SECONDS
            reaped = await self._store.reap()
        except StoreUnavailable:
            self._contact_since = None
            raise
        self._outage.answered(asked_at)
        self._last_step = self._clock()
        if reaped.requeued or reaped.ended:
            logger.warning(
                "took back attempts of lost executors: %d go round again, %d ended", reaped.requeued, reaped.ended
            )
            return 0.0
        return EVERY_SECONDS
