"""The API's process: binds its address, opens the store, serves until told to stop, and closes the store."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Awaitable, Callable

import uvicorn

from hourhand.api.app import create_app
from hourhand.api.connection import Connection
from hourhand.api.streaming import Streams
from hourhand.bootstrap import AdminToken, engine, ensure_admin_token
from hourhand.bootstrap.engine import Work, awaited_store
from hourhand.model.errors import HourhandError, InvalidInput
from hourhand.service.listening import Server, unbound
from hourhand.service.outage import Outage
from hourhand.service.signals import Stopping, signals
from hourhand.settings import Settings
from hourhand.store import Store

GRACE_SECONDS = 5


class AddressTaken(HourhandError):
    """Another process listens there already."""


async def serve(
    settings: Settings,
    announce: Callable[[str, AdminToken], None],
    *,
    work: Work,
    prepare: Callable[[Store, str], Awaitable[None]] | None = None,
    migrate: bool = False,
    told: Stopping | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, and do the work beside it.

    `prepare` is given the open store first, and the address; `announce` is called once with that, when it accepts
    connections.
    With `told`, that says when to stop, and signals are left to whoever has them.
    """
    listener, taken = _bind(settings)
    outage = Outage()
    with contextlib.closing(listener):
        if taken and not settings.on_sqlite:
            raise taken
        address = _address(settings.host, settings.port if taken else listener.getsockname()[1])
        async with awaited_store(settings, outage, owner=address, migrate=migrate) as store:
            if taken:  # told only now: when the same store is already being served, its owner is the better news
                raise taken
            token = await ensure_admin_token(settings, store)
            if prepare is not None:
                await prepare(store, address)
            app = create_app(store, settings)
            app.state.address = address
            server = Server(
                uvicorn.Config(
                    app,
                    http=Connection,
                    log_config=None,
                    access_log=False,
                    server_header=False,
                    proxy_headers=False,  # whose headers are believed is for `api.proxies` to say
                    ws="none",
                    timeout_graceful_shutdown=GRACE_SECONDS,
                )
            )
            listener.listen(server.config.backlog)
            announce(address, token)
            with signals() if told is None else contextlib.nullcontext(told) as stopping:
                async with asyncio.TaskGroup() as together:
                    together.create_task(engine.run(store, settings, work, stopping, outage, address=address))
                    together.create_task(_serve(server, listener, stopping))
                    together.create_task(_stop_with(server, app.state.streams, stopping))


async def _serve(server: uvicorn.Server, listener: socket.socket, stopping: Stopping) -> None:
    try:
        await server.serve(sockets=[listener])
    finally:
        stopping.stop.set()  # whatever ended it ends the rest


async def _stop_with(server: uvicorn.Server, streams: Streams, stopping: Stopping) -> None:
    await stopping.stop.wait()
    streams.stop()  # else the server would wait for them
    server.should_exit = True


def _bind(settings: Settings) -> tuple[socket.socket, AddressTaken | None]:
    listener = unbound(settings.host)
    try:
        listener.bind((settings.host.strip("[]"), settings.port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return listener, AddressTaken(
                f"port {settings.port} of {settings.host} is taken by another process: "
                f"stop that one, or choose another port, such as --port {settings.port + 1}"
            )
        listener.close()
        reason = error.strerror or str(error)
        raise InvalidInput.one(
            "host", settings.host, f"cannot listen on {settings.host} port {settings.port}: {reason}"
        ) from None
    return listener, None


def _address(host: str, port: int) -> str:
    host = host.strip("[]")
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
