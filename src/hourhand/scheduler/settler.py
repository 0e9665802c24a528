"""Scheduler: settles endings that whoever caused them did not settle: it may have died in between."""

from __future__ import annotations

from hourhand.contracts.store import Store

EVERY_SECONDS = 2.0


class Settler:
    """Guarantee 8: a crash between an upstream's end and the release of its dependents only delays them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def step(self) -> float:
        """Settle what is unsettled."""
        return 0.0 if await self._store.settle() else EVERY_SECONDS
