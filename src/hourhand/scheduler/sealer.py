"""Scheduler: makes new entries of the audit part of its chain; one scheduler at a time does it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from hourhand.contracts.store import Store
from hourhand.model.errors import Conflict

logger = logging.getLogger("hourhand.scheduler")
EVERY_SECONDS = 2.0
REFUSED_SECONDS = 60.0
REMOVE_SECONDS = 3600.0
LEASE_SECONDS = 10.0
LEASE = "audit"
BATCH = 1_000


class Sealer:
    """What changes something never waits for the chain; this comes after it, within seconds."""

    def __init__(self, store: Store, name: str, *, days: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._name = name
        self._days = days
        self._clock = clock
        self._remove_at = clock() + REMOVE_SECONDS

    async def step(self) -> float:
        """Seal what is there, if it is this scheduler's turn; once an hour remove what is too old."""
        if not await self._store.take_lease(LEASE, self._name, LEASE_SECONDS):
            return EVERY_SECONDS
        try:
            sealed = await self._store.seal_audit(limit=BATCH)
        except Conflict as refused:
            logger.error("the audit is not sealed: %s", refused)  # noqa: TRY400 - a traceback would say nothing
            return REFUSED_SECONDS
        if sealed == BATCH:
            return 0.0
        if self._clock() >= self._remove_at:
            self._remove_at = self._clock() + REMOVE_SECONDS
            if removed := await self._store.retain_audit(days=self._days):
                logger.info("removed %d entries of the audit that were older than %d days", removed, self._days)
        return EVERY_SECONDS
