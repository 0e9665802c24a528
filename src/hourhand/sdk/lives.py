"""SDK: connections that end with whoever owns them, or else with the event loop they belong to."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

_unended: dict[object, Life] = {}
"""Kept until they have ended, however it comes to that: a loop cannot end what was collected."""


class Life:
    """From the opening of connections to their end, on one loop.

    A loop closes the generators that nobody has closed before it ends, and so this is one in which connections live.
    An owner that is collected ends it as well, soon.
    """

    def __init__(self, close: Callable[[], Awaitable[None]]) -> None:
        self._loop = asyncio.get_running_loop()
        self._inner = self._live(close)
        self._closing: asyncio.Task[None] | None = None
        self._collected: weakref.finalize[Any, Any] | None = None

    async def begin(self, owner: object) -> None:
        """Begin it, for as long as the owner lives."""
        await anext(self._inner)
        _unended[self] = self
        self._collected = weakref.finalize(owner, self._abandoned)
        self._collected.atexit = False

    async def end(self) -> None:
        """End it; returns once the connections are closed."""
        self.leave()
        await self._inner.aclose()

    def leave(self) -> None:
        """Let go of the owner, whose end is of no interest any more."""
        if self._collected is not None:
            self._collected.detach()

    async def _live(self, close: Callable[[], Awaitable[None]]) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            _unended.pop(self, None)
            await close()

    def _abandoned(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end_soon)

    def _end_soon(self) -> None:
        # Not `aclose()` itself: a loop that is about to end would cancel it half-way, and not try again.
        self._closing = self._loop.create_task(self.end())
