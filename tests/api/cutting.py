"""A client that cuts its connection again and again, and must miss nothing and read nothing twice."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from api.sse import events_of

if TYPE_CHECKING:
    import httpx


@dataclass
class Followed:
    """What a client has read."""

    seqs: list[int] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    connections: int = 0
    place: str | None = None
    ended: bool = False


async def follow(client: httpx.AsyncClient, path: str, *, longest: float, patience: float) -> Followed:
    """Read until the end, over connections of random lengths; each takes up where the one before was cut."""
    chance = random.Random(7)  # noqa: S311 - the same each time
    read = Followed()
    async with asyncio.timeout(patience):
        while not read.ended:
            read.connections += 1
            try:
                async with asyncio.timeout(chance.uniform(0.0, longest)):
                    await _connected(client, path, read)
            except TimeoutError:
                continue
    return read


async def _connected(client: httpx.AsyncClient, path: str, read: Followed) -> None:
    headers = {} if read.place is None else {"Last-Event-ID": read.place}
    async with client.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == 200
        async for event in events_of(answer):
            if event.name == "line":
                read.seqs.append(event.data["seq"])
                read.messages.append(event.data["message"])
            elif event.name == "instance":
                read.states.append(event.data["status"])
            read.ended = event.name == "end"
            read.place = event.id or read.place
