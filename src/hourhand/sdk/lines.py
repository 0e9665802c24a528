"""SDK: what an instance writes, line by line, up to now or up to its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Any, Protocol

from hourhand.model.errors import StoreUnavailable
from hourhand.model.instance import Instance, LogLine
from hourhand.rules.lines import Place
from hourhand.sdk.waiting import Patience

PAGE = 1_000
FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS = 0.05, 1.0
OUTAGE_SECONDS = 60.0


class Readable(Protocol):
    """Where instances and their lines are read."""

    async def get(self, instance_id: int) -> Instance: ...  # noqa: D102
    async def lines(self, instance_id: int, after: int, limit: int) -> list[LogLine]: ...  # noqa: D102


class Lines:
    """`async for line in …`, as they come; or `await …` for a list of them all."""

    __slots__ = ("_after", "_follow", "_instance_id", "_opened")

    def __init__(
        self, opened: Callable[[], Awaitable[Readable]], instance_id: int, *, after: int, follow: bool
    ) -> None:
        self._opened = opened
        self._instance_id = instance_id
        self._after = after
        self._follow = follow

    def __aiter__(self) -> AsyncIterator[LogLine]:
        """One after the other."""
        return self._play()

    def __await__(self) -> Generator[Any, None, list[LogLine]]:
        """All of them."""
        return self._all().__await__()

    async def pages(self) -> AsyncIterator[list[LogLine]]:
        """Each time what there is."""
        place = Place.after(self._after)
        patience = Patience(FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS, OUTAGE_SECONDS)
        anything = ended = False
        while True:
            page: list[LogLine] | None = None
            try:
                calls = await self._opened()
                if self._follow:  # before its lines: those of one that has ended are all there
                    ended = (await calls.get(self._instance_id)).status.ended
                page = await _page(calls, self._instance_id, place)
                patience.answered()
            except StoreUnavailable as away:
                if not self._follow:
                    raise
                patience.bear(away)
            if page:
                anything = True
                for line in page:
                    place = place.then(line.seq)
                yield page
                patience.rest(news=True)
            elif page is not None and (ended or not self._follow):
                if not anything and not self._follow:
                    await calls.get(self._instance_id)  # nothing written, or no such instance?
                return
            else:
                await asyncio.sleep(patience.rest())

    async def _play(self) -> AsyncIterator[LogLine]:
        async for page in self.pages():
            for line in page:
                yield line

    async def _all(self) -> list[LogLine]:
        return [line async for line in self]


async def _page(calls: Readable, instance_id: int, place: Place) -> list[LogLine]:
    """The lines that come next; the executor's own may come after those of a callback, whose numbers are higher."""
    if not place.mixed:
        return await calls.lines(instance_id, place.own, PAGE)
    later = await calls.lines(instance_id, place.called, PAGE)
    # The executor's own are looked for after that: where `later` tells of the next attempt, these are all there.
    own = [line for line in await calls.lines(instance_id, place.own, PAGE) if place.is_own(line.seq)]
    return own or later
