"""Scheduler: alerts: one scheduler at a time decides what is to be said; whoever is free says it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from hourhand.contracts.notifier import NotSent
from hourhand.contracts.store import Store
from hourhand.model.alert import Parcel, Target
from hourhand.model.errors import StoreError, StoreUnavailable
from hourhand.service.metrics import NOTICES_FAILED, NOTICES_SENT

logger = logging.getLogger("hourhand.scheduler")
EVERY_SECONDS = 2.0
LEASE_SECONDS = 10.0
LEASE = "alerts"
REST_FACTOR = 9.0
MARGIN_SECONDS = 2.0
STOPPED_SECONDS = 10.0
SEND_EVERY_SECONDS = 1.0
AT_ONCE = 20
TAKEN_SECONDS = 60.0
"""For so long a notice is in the hands of whoever took it; longer than any notifier may take."""


class Sending(Protocol):
    """How a notice gets to a target: `hourhand.service.post.Post`."""

    async def send(self, target: Target, event: Mapping[str, Any]) -> None:
        """Bring it there; raises NotSent."""


class Decider:
    """Decides, if it is this scheduler's turn, after a full heartbeat and a bit of contact with the store.

    When the store was away, or this machine was, so may have been the executors: they get the time to beat first.
    """

    def __init__(
        self, store: Store, name: str, *, heartbeat_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._name = name
        self._contact_needed = heartbeat_seconds + MARGIN_SECONDS
        self._clock = clock
        self._contact_since: float | None = None
        self._last_step = clock()

    async def step(self) -> float:
        """Look at everything the rules ask for."""
        now = self._clock()
        if now - self._last_step > STOPPED_SECONDS:
            self._contact_since = None
        self._last_step = now
        try:
            mine = await self._store.take_lease(LEASE, self._name, LEASE_SECONDS)
            if self._contact_since is None:
                self._contact_since = now
            if not mine or now - self._contact_since < self._contact_needed:
                return EVERY_SECONDS
            decided = await self._store.decide_alerts()
        except StoreUnavailable:
            self._contact_since = None
            raise
        self._last_step = self._clock()
        # However much there is to look at, nine tenths of the time belong to others.
        return max(0.0 if decided.more else EVERY_SECONDS, REST_FACTOR * (self._last_step - now))

    async def leave(self) -> None:
        """Let the next one have it at once."""
        await self._store.give_lease(LEASE, self._name)


class Sender:
    """Sends what is due, some at once, so that a target that hangs holds up no other."""

    def __init__(self, store: Store, post: Sending) -> None:
        self._store = store
        self._post = post
        self._under_way: set[asyncio.Task[None]] = set()

    async def step(self) -> float:
        """Take what is due and start sending it."""
        free = AT_ONCE - len(self._under_way)
        parcels = await self._store.take_notices(limit=free, seconds=TAKEN_SECONDS) if free else []
        for parcel in parcels:
            task = asyncio.create_task(self._deliver(parcel))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)
        return 0.05 if parcels and len(parcels) == free else SEND_EVERY_SECONDS

    async def _deliver(self, parcel: Parcel) -> None:
        """At least once: it is marked only after it was sent, and sent again should that fail."""
        try:
            await self._settle(parcel)
        except StoreError as error:
            logger.warning("notice %s is sent again later: %s", parcel.event["notice"], error)
        except Exception:
            logger.exception("notice %s is sent again later", parcel.event["notice"])

    async def _settle(self, parcel: Parcel) -> None:
        if parcel.target is None:
            await self._store.notice_failed(parcel.outbox_id, "the target has been removed from its rule", final=True)
            return
        try:
            await self._post.send(parcel.target, parcel.event)
        except NotSent as error:
            NOTICES_FAILED.inc()
            again = await self._store.notice_failed(parcel.outbox_id, str(error), final=error.final)
            what = "is given up" if again is None else f"is tried again at {again:%H:%M:%S}Z"
            logger.warning("notice %s %s: %s", parcel.event["notice"], what, error)
        else:
            NOTICES_SENT.inc()
            await self._store.notice_sent(parcel.outbox_id)

    async def leave(self) -> None:
        """Stop sending; what was not marked as sent is sent again by somebody."""
        for task in self._under_way:
            task.cancel()
        if self._under_way:
            await asyncio.wait(self._under_way)


Step = Callable[[], Awaitable[float]]


class Alerter:
    """Both, as the scheduler runs them."""

    def __init__(self, store: Store, name: str, post: Sending, *, heartbeat_seconds: float) -> None:
        self._decider = Decider(store, name, heartbeat_seconds=heartbeat_seconds)
        self._sender = Sender(store, post)

    @property
    def steps(self) -> Mapping[str, Step]:
        """Each a loop of its own."""
        return {"deciding alerts": self._decider.step, "sending alerts": self._sender.step}

    async def leave(self) -> None:
        """Give back what others can go on with."""
        await self._sender.leave()
        await self._decider.leave()
