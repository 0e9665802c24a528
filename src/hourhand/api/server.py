"""The API's process: binds its address, opens the store, serves until told to stop, and closes the store."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import socket
from typing import TYPE_CHECKING

import uvicorn

from hourhand.api.app import create_app
from hourhand.bootstrap import ensure_admin_token, open_store
from hourhand.model.errors import HourhandError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from hourhand.bootstrap import AdminToken
    from hourhand.settings import Settings

GRACE_SECONDS = 5


class AddressTaken(HourhandError):
    """Another process listens there already."""


async def serve(settings: Settings, announce: Callable[[str, AdminToken], None], *, migrate: bool = False) -> None:
    """Serve until SIGTERM or SIGINT; `announce` is called once with the address, when it accepts connections."""
    listener, taken = _bind(settings)
    with contextlib.closing(listener):
        address = _address(settings.host, settings.port if taken else listener.getsockname()[1])
        async with open_store(settings, owner=address, migrate=migrate) as store:
            if taken:  # told only now: when the same store is already being served, its owner is the better news
                raise taken
            token = await ensure_admin_token(settings, store)
            server = _Server(
                uvicorn.Config(
                    create_app(store, settings),
                    log_config=None,
                    access_log=False,
                    server_header=False,
                    ws="none",
                    timeout_graceful_shutdown=GRACE_SECONDS,
                )
            )
            listener.listen(server.config.backlog)
            announce(address, token)
            await server.serve(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that ends its `serve` on a signal, so that what was opened around it is closed and the exit code is 0.

    Uvicorn's own would raise the signal again after the shutdown.
    """

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, number)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)

    def _stop(self, number: int, frame: FrameType | None = None) -> None:
        self.handle_exit(number, frame)
        self._captured_signals.clear()


def _bind(settings: Settings) -> tuple[socket.socket, AddressTaken | None]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
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
    listener.setblocking(False)  # noqa: FBT003  # the standard library's signature
    return listener, None


def _address(host: str, port: int) -> str:
    host = host.strip("[]")
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
