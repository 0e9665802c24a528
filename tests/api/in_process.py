"""The API on a real store and a real socket in the test's own process, so that the test can be an executor too."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import uvicorn

from hourhand.api.app import create_app
from hourhand.api.connection import Connection
from hourhand.bootstrap import hash_token
from hourhand.settings import Settings
from hourhand.webui import DIST
from serving import NOTHING_LOADED

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from hourhand.store import Store

TOKEN = "hh_of-this-test"  # noqa: S105 - nobody else's


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # pytest's own stay


@asynccontextmanager
async def serving(
    store: Store, settings: Settings | None = None, *, ui: Path = DIST
) -> AsyncIterator[httpx.AsyncClient]:
    """Serve the store; the client is an admin."""
    await store.ensure_admin_token(hash_token(TOKEN))
    app = create_app(store, settings or Settings(), ui=ui)
    config = uvicorn.Config(app, http=Connection, log_config=None, access_log=False, ws="none", proxy_headers=False)
    server = _Server(config)
    # With its protocol named, asyncio sends small packets at once; else each answer waits 40 ms for an acknowledgement.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # at once: the server gets to it when it runs
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        running = asyncio.create_task(server.serve(sockets=[listener]))
        headers = {"Authorization": f"Bearer {TOKEN}"}
        try:
            async with httpx.AsyncClient(
                base_url=address, headers=headers, timeout=30, trust_env=False, verify=NOTHING_LOADED
            ) as client:
                yield client
        finally:
            server.should_exit = True
            await running
