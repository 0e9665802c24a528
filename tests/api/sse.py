"""A client of server-sent events, as plain as the form allows."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

PATIENCE_SECONDS = 30


@dataclass(frozen=True)
class Event:
    """One event; a comment has no name."""

    name: str
    data: Any = None
    id: str | None = None
    retry: str | None = None


async def events_of(answer: httpx.Response) -> AsyncIterator[Event]:
    """Yield each event once it is complete, which an empty line says."""
    fields: dict[str, str] = {}
    async for line in answer.aiter_lines():
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        elif fields:
            data = json.loads(fields["data"]) if "data" in fields else None
            yield Event(fields.get("event", ""), data, fields.get("id"), fields.get("retry"))
            fields = {}


class Reader:
    """An open stream."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self._events = events_of(answer)

    async def next(self) -> Event:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await anext(self._events)

    async def until(self, name: str) -> Event:
        """The next event of that name; what comes before is passed over."""
        while (found := await self.next()).name != name:
            pass
        return found

    async def rest(self) -> list[Event]:
        """All that comes until the server closes."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            return [one async for one in self._events]


@asynccontextmanager
async def reading(client: httpx.AsyncClient, path: str, **headers: str) -> AsyncIterator[Reader]:
    """Open a stream, and close it."""
    async with client.stream("GET", path, headers=headers) as answer:
        if answer.status_code != 200:
            await answer.aread()
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-accel-buffering"] == "no"
        yield Reader(answer)
