"""Scheduler: the sweep over everything that waits: one scheduler at a time does it."""

from __future__ import annotations

from hourhand.contracts.store import Store

EVERY_SECONDS = 2.0
LEASE_SECONDS = 10.0
LEASE = "sweep"


class Sweeper:
    """Evaluates waits that changed unseen or timed out, frees stray permits."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name

    async def step(self) -> float:
        """Sweep, if it is this scheduler's turn."""
        if await self._store.take_lease(LEASE, self._name, LEASE_SECONDS):
            await self._store.sweep()
        return EVERY_SECONDS

    async def leave(self) -> None:
        """Let the next one have it at once."""
        await self._store.give_lease(LEASE, self._name)
