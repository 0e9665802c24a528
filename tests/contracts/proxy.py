"""A network between a store and its server: it counts what is asked, and connections may go dead in it, unsaid."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Proxy:
    """Carries connections to a server."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._dead: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.opened = 0
        """How many connections there were so far."""
        self.asked = 0
        """How often the store has sent something; each is a round trip, since it waits for the answer."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        me = self.opened
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._port)
        there = self._carry(me, reader, server_writer, asking=True)
        back = self._carry(me, server_reader, writer, asking=False)
        for way in (there, back):
            task = asyncio.create_task(way)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _carry(
        self, me: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, asking: bool
    ) -> None:
        try:
            with suppress(OSError):
                while data := await reader.read(65_536):
                    self.asked += asking
                    if me in self._dead:
                        continue
                    writer.write(data)
                    await writer.drain()
        finally:
            writer.close()

    def kill(self) -> None:
        """From now on nothing that is sent on the connections there are arrives; new ones work."""
        self._dead |= set(range(1, self.opened + 1))

    async def close(self) -> None:
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def between(url: str) -> AsyncIterator[tuple[Proxy, str]]:
    """A proxy, and the URL by which the server is reached through it."""
    port = urlsplit(url).port
    assert port is not None
    proxy = Proxy(port)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    try:
        yield proxy, url.replace(f":{port}/", f":{server.sockets[0].getsockname()[1]}/")
    finally:
        server.close()
        await proxy.close()
        await server.wait_closed()
