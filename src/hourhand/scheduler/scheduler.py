"""Scheduler: its services, each a loop of its own, so that a slow one holds up no other."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from hourhand.contracts.store import Store
from hourhand.model.errors import StoreError
from hourhand.scheduler.materialiser import Materialiser
from hourhand.scheduler.permits import Permits
from hourhand.scheduler.reaper import Reaper
from hourhand.scheduler.registrar import Registrar
from hourhand.scheduler.retainer import Retainer
from hourhand.scheduler.settler import Settler
from hourhand.scheduler.sweeper import Sweeper
from hourhand.service.loop import repeat
from hourhand.service.outage import Outage

logger = logging.getLogger("hourhand.scheduler")
LEAVE_SECONDS = 3.0


class Scheduler:
    """One of any number; build it, then `await run(stop)`."""

    def __init__(
        self, store: Store, name: str, *, heartbeat_seconds: float, retention_days: int, outage: Outage
    ) -> None:
        self._outage = outage
        self._materialiser = Materialiser(store)
        self._sweeper = Sweeper(store, name)
        self._steps = {
            "settling": Settler(store).step,
            "the sweep": self._sweeper.step,
            "giving permits": Permits(store).step,
            "the reaper": Reaper(store, outage, heartbeat_seconds=heartbeat_seconds).step,
            "the registrar": Registrar(store).step,
            "retention": Retainer(store, name, days=retention_days).step,
        }

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop`. What is interrupted is a transaction that never was."""
        self._materialiser.listen()
        loops = [
            asyncio.create_task(
                repeat("materialising", self._materialiser.step, self._outage, wake=self._materialiser.wake)
            ),
            *(asyncio.create_task(repeat(name, step, self._outage)) for name, step in self._steps.items()),
        ]
        try:
            await stop.wait()
        finally:
            for one in loops:
                one.cancel()
            # A driver may wait for a server that says nothing; the process ends all the same.
            await asyncio.wait(loops, timeout=LEAVE_SECONDS)
            with suppress(StoreError, TimeoutError):
                async with asyncio.timeout(LEAVE_SECONDS):
                    await self._sweeper.leave()
