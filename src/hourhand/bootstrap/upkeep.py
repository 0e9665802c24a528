"""Bootstrap: what every process does for the store it uses, whatever else it does."""

from __future__ import annotations

import asyncio

from hourhand.contracts.store import Store
from hourhand.service.loop import repeat
from hourhand.service.outage import Outage

EVERY_SECONDS = 3600.0
AGAIN_SECONDS = 60.0
"""After too few were made: somebody may have been in the way."""
ENOUGH_DAYS = 7


class DaysAhead:
    """Partitions of the days ahead, made hourly by whoever is there: none must be left to do it for the others."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def run(self, stop: asyncio.Event, outage: Outage) -> None:
        """Look now and then until told to stop; opening the store has made them too."""
        looking = asyncio.create_task(repeat("making partitions", self.step, outage))
        try:
            await stop.wait()
        finally:
            looking.cancel()
            await asyncio.wait((looking,), timeout=1)

    async def step(self) -> float:
        """Make what is missing."""
        return EVERY_SECONDS if await self._store.ensure_partitions() >= ENOUGH_DAYS else AGAIN_SECONDS
