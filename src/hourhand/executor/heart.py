"""Executor: the heartbeat: extends leases, learns of cancels and lost leases, keeps the lanes up to date."""

from __future__ import annotations

import asyncio
import logging
import time
from datetime import datetime

from hourhand.contracts.store import Store
from hourhand.executor.attempt import Why
from hourhand.executor.workload import Workload
from hourhand.model import registry
from hourhand.model.errors import StoreUnavailable
from hourhand.service.metrics import of_executor
from hourhand.service.outage import Outage

logger = logging.getLogger("hourhand.executor")
RETRY_SECONDS = 1.0
FIRST_LOOK, LONGEST_LOOK = 0.1, 2.0


class Pulse:
    """When the store last heard from this executor, and what follows from that."""

    def __init__(self, *, heartbeat_seconds: float, lease_seconds: float) -> None:
        self.heartbeat = heartbeat_seconds
        self.lease = lease_seconds
        self.last_good = 0.0
        self._ahead = time.time() - time.monotonic()

    def told(self, now: datetime, asked_at: float) -> None:
        """Set the store's clock: it said `now` somewhere between the question and this moment."""
        self._ahead = now.timestamp() - (asked_at + time.monotonic()) / 2

    def store_time(self) -> float:
        """The store's clock as far as it is known, in seconds since the epoch."""
        return time.monotonic() + self._ahead

    def sure(self) -> bool:
        """Whether what is held is certainly still leased: nothing that waits may be started otherwise."""
        return time.monotonic() - self.last_good <= self.lease - self.heartbeat


class Heart:
    """One beat at a time; what it learns is acted upon at once."""

    def __init__(
        self, store: Store, outage: Outage, identity: registry.Executor, pulse: Pulse, workload: Workload
    ) -> None:
        self._store = store
        self._outage = outage
        self._pulse = pulse
        self._workload = workload
        self.identity = identity
        self._look = FIRST_LOOK
        self._looking: asyncio.TimerHandle | None = None
        self.lanes: tuple[int, ...] = ()
        self.leaving = False
        self.early = asyncio.Event()
        """Set to beat before it is time."""

    async def register(self) -> None:
        """Enter the registry."""
        begun = time.monotonic()
        self.lanes = await self._store.register(self.identity)
        self._pulse.last_good = begun

    def look_around(self) -> None:
        """Beat soon: there may be lanes that are not known yet. Less and less soon, if that was never so."""
        if self._looking is None:
            soon = self._pulse.last_good + self._look - time.monotonic()
            self._looking = asyncio.get_running_loop().call_later(max(0.0, soon), self._look_now)

    def _look_now(self) -> None:
        self._looking = None
        self._look = min(LONGEST_LOOK, 2 * self._look)
        self.early.set()

    async def beat(self) -> float:
        """One beat; how long to rest after it. While the store is away it is tried more often than the lease ends."""
        begun = time.monotonic()
        held = list(self._workload.held.values())
        due = [one for one in held if begun - one.leased_at > self._pulse.lease / 3]
        try:
            beat = await self._store.beat(
                self.identity.id, [one.held for one in held], extend=[one.held for one in due]
            )
        except StoreUnavailable as error:
            self._outage.failed(error)
            of_executor(self.identity.group).beats_failed.inc()
            return min(self._pulse.heartbeat, RETRY_SECONDS)
        self._outage.answered(begun)
        self._pulse.last_good = begun
        self._pulse.told(beat.now, begun)
        for one in due:
            one.leased_at = begun
        cancelled, superseded = set(beat.cancelled), set(beat.superseded)
        for one in held:
            if one.held.instance_id in superseded and not one.done:
                self._workload.stop(one, Why.SUPERSEDED)
            elif one.held.instance_id in cancelled:
                self._workload.stop(one, Why.CANCELLED)
        if beat.lanes != self.lanes:
            self._look = FIRST_LOOK
            self._workload.room_made.set()  # there may be something to claim in what is new
        self.lanes = () if self.leaving else beat.lanes
        if not beat.registered and not self.leaving:
            logger.warning("executor %s was forgotten by the registry and registers again", self.identity.id)
            self.lanes = await self._store.register(self.identity)
        return self._pulse.heartbeat
