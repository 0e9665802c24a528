"""Bootstrap: the executor of the demo's group: it comes when there is something for it to do, and leaves after that.

So the demo can be loaded into a Hourhand that runs, and be removed from it; and where it is not loaded, nobody sees a
group or an executor that they did not ask for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from hourhand.contracts.store import Store
from hourhand.model.hints import Hint
from hourhand.service.loop import rest_until
from hourhand.service.outage import Outage, persist

LOOK_SECONDS = 15.0
"""A hint may be lost."""
ENDING_SECONDS = 0.25
"""How often it looks whether the last instances of a demo that is being removed have ended."""

Serving = Callable[[asyncio.Event], Coroutine[Any, Any, None]]
"""Executes until told to stop."""


class Guest:
    """Serves a group for as long as the demo is in the store."""

    def __init__(self, store: Store, outage: Outage, serve: Serving) -> None:
        self._store = store
        self._outage = outage
        self._serve = serve
        self._changed = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Come and go until told to stop."""
        unlisten = self._store.listen(Hint.TASKS, lambda _: self._changed.set())
        stopped = asyncio.create_task(self._wake_at(stop))
        try:
            while not stop.is_set():
                if (await persist(self._store.demo_state, self._outage)).wants_executor:
                    await self._visit(stop)
                else:
                    await rest_until(self._changed, LOOK_SECONDS)
        finally:
            unlisten()
            stopped.cancel()
            await asyncio.wait((stopped,))

    async def _wake_at(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._changed.set()

    async def _visit(self, stop: asyncio.Event) -> None:
        """Serve until there is nothing left to do, or to stop."""
        leave = asyncio.Event()
        async with asyncio.TaskGroup() as visit:
            visit.create_task(self._serve(leave))
            while not stop.is_set():
                state = await persist(self._store.demo_state, self._outage)
                if not state.wants_executor:
                    break
                await rest_until(self._changed, LOOK_SECONDS if state.tasks else ENDING_SECONDS)
            leave.set()
