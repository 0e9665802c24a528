"""Scheduler: gives permits to instances with a concurrency key at the moment they become due."""

from __future__ import annotations

from hourhand.contracts.store import Store

LONGEST_REST = 2.0


class Permits:
    """What ends gives its permit on; this is for what a schedule or a retry has put into the future."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._due = False

    async def step(self) -> float:
        """Give what has become due since the last step; sleep until the next one is."""
        if self._due:
            await self._store.give_permits()
        seconds = await self._store.next_permit()
        self._due = seconds is not None and seconds <= LONGEST_REST
        return LONGEST_REST if seconds is None else min(LONGEST_REST, max(seconds, 0.001))
