"""Clients of every kind, asked in one way: straight to each store and over REST, awaited and synchronous."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contracts.world import World
from hourhand.sdk.client import Client
from hourhand.store import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ELSEWHERE = "elsewhere"
"""A group that the served process does not serve, so that nothing of it is claimed but by a test."""


class Asking:
    """The calls of a client: `await asking.submit(…)`, whichever way they are made."""

    def __init__(self, client: Client, *, sync: bool) -> None:
        self.client = client
        self.sync = sync

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any, **more: Any) -> Any:
            if not self.sync:
                return await getattr(self.client, name)(*args, **more)
            made = await asyncio.to_thread(getattr(self.client.sync, name), *args, **more)
            return await asyncio.to_thread(list, made) if name == "logs" else made

        return call


@dataclass
class Side:
    """A client, and the store behind it as others see it."""

    ask: Asking
    world: World

    async def task(self, name: str, **changes: Any) -> str:
        await self.world.task(name, group=ELSEWHERE, **changes)
        return name


@asynccontextmanager
async def side(given: dict[str, Any], world_url: str, *, sync: bool) -> AsyncIterator[Side]:
    """Make the client, and a world beside it."""
    client = Client(**given)
    asking = Asking(client, sync=sync)
    try:
        await asking.instances()
        if world_url.startswith("postgresql"):
            store = await open_store(world_url)
        else:  # a file has one owner, which is the client: so the world is in its place
            store = (client.sync._client if sync else client)._calls._store  # type: ignore[union-attr]  # noqa: SLF001
        await store.ensure_group(ELSEWHERE)
        try:
            yield Side(asking, World(store))
        finally:
            if world_url.startswith("postgresql"):
                await store.close()
    finally:
        await client.close()
