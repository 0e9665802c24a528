"""Scheduler: folds endings into counters, so that figures are quick to read; one scheduler at a time does it."""

from __future__ import annotations

from hourhand.contracts.store import Store

EVERY_SECONDS = 5.0
LEASE_SECONDS = 30.0
LEASE = "stats"


class Folder:
    """The lease spares work; that nothing is counted twice does not depend on it."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name

    async def step(self) -> float:
        """Fold what is closed, if it is this scheduler's turn."""
        if not await self._store.take_lease(LEASE, self._name, LEASE_SECONDS):
            return EVERY_SECONDS
        return 0.0 if await self._store.fold_stats() else EVERY_SECONDS
