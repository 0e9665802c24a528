"""Scheduler: its services, each a loop of its own, so that a slow one holds up no other."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from hourhand.contracts.store import Store
from hourhand.model.errors import StoreError
from hourhand.scheduler.alerter import Alerter, Sending
from hourhand.scheduler.folder import Folder
from hourhand.scheduler.materialiser import Materialiser
from hourhand.scheduler.permits import Permits
from hourhand.scheduler.reaper import Reaper
from hourhand.scheduler.registrar import Registrar
from hourhand.scheduler.retainer import Retainer
from hourhand.scheduler.sealer import Sealer
from hourhand.scheduler.settler import Settler
from hourhand.scheduler.sweeper import Sweeper
from hourhand.service.loop import repeat
from hourhand.service.metrics import timed
from hourhand.service.outage import Outage

logger = logging.getLogger("hourhand.scheduler")
LEAVE_SECONDS = 3.0


class Scheduler:
    """One of any number; build it, then `await run(stop)`."""

    def __init__(
        self,
        store: Store,
        name: str,
        *,
        heartbeat_seconds: float,
        retention_days: int,
        audit_retention_days: int,
        outage: Outage,
        post: Sending,
    ) -> None:
        self._outage = outage
        self._materialiser = Materialiser(store, name)
        self._sweeper = Sweeper(store, name)
        self._alerter = Alerter(store, name, post, heartbeat_seconds=heartbeat_seconds)
        self._steps = {
            "settling": Settler(store).step,
            "the sweep": self._sweeper.step,
            "giving permits": Permits(store).step,
            "the reaper": Reaper(store, outage, heartbeat_seconds=heartbeat_seconds).step,
            "the registrar": Registrar(store).step,
            "folding figures": Folder(store, name).step,
            "retention": Retainer(store, name, days=retention_days).step,
            "sealing the audit": Sealer(store, name, days=audit_retention_days).step,
            **self._alerter.steps,
        }

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop`. What is interrupted is a transaction that never was."""
        self._materialiser.listen()
        loops = [
            asyncio.create_task(
                repeat(
                    "materialising",
                    timed("materialising", self._materialiser.step),
                    self._outage,
                    wake=self._materialiser.wake,
                )
            ),
            *(asyncio.create_task(repeat(name, timed(name, step), self._outage)) for name, step in self._steps.items()),
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
                    await self._alerter.leave()
