"""Scheduler: makes the instances of the near future, a look-ahead before they are due."""

from __future__ import annotations

import asyncio
import random
import time

from hourhand.contracts.store import Store
from hourhand.model.hints import Hint

LONGEST_REST = 5.0
TAKEN_BY_OTHERS = 0.02
SIGN_SECONDS = 5.0


class Materialiser:
    """Sleeps until the next task is to be looked at; a hint tells it of tasks that were added or edited."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name
        self._signed_at: float | None = None
        self.wake = asyncio.Event()

    def listen(self) -> None:
        """Be told of new and edited tasks."""
        self._store.listen(Hint.WAKE, lambda _: self.wake.set())

    async def step(self) -> float:
        """Carry the due tasks forward; guarantees 1 and 2 are the store's."""
        done = await self._store.materialise()
        await self._sign()
        if done.tasks:
            return 0.0
        at = await self._store.next_wake()
        if at is None:
            return LONGEST_REST
        left = (at - await self._store.now()).total_seconds()
        # One that is due and was not taken is in another scheduler's hands; do not ask again in step with others.
        return min(LONGEST_REST, left) if left > 0 else TAKEN_BY_OTHERS * random.uniform(1, 2)  # noqa: S311 - jitter

    async def _sign(self) -> None:
        """Let everybody know that instants are being made: `/readyz` asks for it."""
        now = time.monotonic()
        if self._signed_at is None or now - self._signed_at >= SIGN_SECONDS:
            await self._store.sign_cycle(self._name)
            self._signed_at = now
