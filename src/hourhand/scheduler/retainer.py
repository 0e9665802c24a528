"""Scheduler: removes what ended longer ago than it is to be kept; one scheduler at a time does it."""

from __future__ import annotations

import logging

from hourhand.contracts.store import Store

logger = logging.getLogger("hourhand.scheduler")
EVERY_SECONDS = 3600.0
FIRST_SECONDS = 60.0
LEASE_SECONDS = 1800.0
LEASE = "retention"


class Retainer:
    """Looks once an hour."""

    def __init__(self, store: Store, name: str, *, days: int) -> None:
        self._store = store
        self._name = name
        self._days = days
        self._begun = False

    async def step(self) -> float:
        """Remove what is old, if it is this scheduler's turn."""
        if not self._begun:
            self._begun = True
            return FIRST_SECONDS  # a start is busy enough
        if await self._store.take_lease(LEASE, self._name, LEASE_SECONDS):
            removed = await self._store.retain(days=self._days)
            logger.info("retention removed %s", removed)
        return EVERY_SECONDS
