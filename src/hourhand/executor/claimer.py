"""Executor: claims instances in batches, when there is room, at the moment they become available."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial

from hourhand.contracts.store import Store
from hourhand.executor.attempt import LiveAttempt
from hourhand.executor.heart import Heart
from hourhand.executor.scribe import Scribe
from hourhand.executor.workload import Workload
from hourhand.model.instance import Assignment
from hourhand.model.task import TaskDefinition
from hourhand.model.words import TaskType
from hourhand.service.metrics import of_executor
from hourhand.service.outage import Outage, persist

SHORTEST_REST, LONGEST_REST = 0.005, 1.0
UNREADABLE = TaskDefinition(name="(a definition that this release cannot read)", type=TaskType.OPERATION)

CallbackUrl = Callable[[int, int], str]


class Claimer:
    """One claimer per executor; it rests longer the longer there was nothing, and is woken by hints."""

    def __init__(
        self,
        store: Store,
        outage: Outage,
        heart: Heart,
        workload: Workload,
        scribe: Scribe,
        *,
        sure: Callable[[], bool],
        lease_seconds: float,
        callback_url: CallbackUrl | None = None,
    ) -> None:
        self._store = store
        self._outage = outage
        self._heart = heart
        self._workload = workload
        self._scribe = scribe
        self._sure = sure
        self._lease_seconds = lease_seconds
        self._callback_url = callback_url
        self._in_doubt = False
        self._claiming = asyncio.Lock()
        self._fruitless = 0
        self._hinted = False
        self.wake = workload.room_made

    def hint(self) -> None:
        """There may be something to claim."""
        self._hinted = True
        self.wake.set()

    async def finished(self) -> None:
        """Wait for the claim that may be under way: one that is broken off may be granted all the same."""
        async with self._claiming:
            pass

    async def step(self) -> float:
        """Claim once; how long to rest."""
        async with self._claiming:
            return await self._step()

    async def _step(self) -> float:
        lanes, room = self._heart.lanes, self._workload.room()
        hinted, self._hinted = self._hinted, False
        if hinted and not lanes:
            self._heart.look_around()
        if not lanes or room == 0 or not self._sure():
            return LONGEST_REST
        if self._in_doubt:
            await self._store.hand_back_unheld(self._heart.identity.id, list(self._workload.held))
            self._in_doubt = False
        take_lost = not self._workload.has_lost
        claimed_at = time.monotonic()
        try:
            claimed = await self._store.claim(self._heart.identity.id, lanes, limit=room, take_lost=take_lost)
            if claimed:
                await self._take(claimed, claimed_at)
        except BaseException:
            self._in_doubt = True  # the answer may be lost and the claim not: what is not held is given back first
            raise
        if claimed:
            of_executor(self._heart.identity.group).claimed.observe(len(claimed))
            self._fruitless = 0
            return 0.0 if len(claimed) == room else SHORTEST_REST
        if hinted:
            self._heart.look_around()  # it may be in a lane that is new
        return await self._rest(lanes)

    async def _rest(self, lanes: tuple[int, ...]) -> float:
        self._fruitless += 1
        rest = min(LONGEST_REST, SHORTEST_REST * 2.0 ** min(self._fruitless, 10))
        coming = await self._store.next_available(lanes)
        return rest if coming is None else min(rest, max(coming, 0.001))

    async def _take(self, claimed: list[Assignment], claimed_at: float) -> None:
        attempts: list[LiveAttempt] = []
        unreadable: list[LiveAttempt] = []
        wanted = sorted({(one.task_id, one.task_version) for one in claimed})
        known = await persist(partial(self._store.definitions, wanted), self._outage)
        for one in claimed:
            url = None if self._callback_url is None else partial(self._callback_url, one.instance_id, one.fence)
            definition = known.get((one.task_id, one.task_version))
            attempt = LiveAttempt(one, definition or UNREADABLE, self._scribe, claimed_at=claimed_at, callback=url)
            (unreadable if definition is None else attempts).append(attempt)
        self._workload.take(attempts)
        for attempt in unreadable:
            # Guarantee 10: one bad row never blocks the rest. Another release may be able to read it.
            self._workload.give_back(attempt, self._lease_seconds)
