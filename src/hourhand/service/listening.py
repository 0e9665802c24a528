"""Service: how a process listens, for its API or for its metrics."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import uvicorn


class Server(uvicorn.Server):
    """A server that leaves signals to whoever started it: there is more to stop than this."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave them alone."""
        yield


def unbound(host: str) -> socket.socket:
    """Return a socket that can be bound to this host."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named so that asyncio sends small packets at once: else answers wait 40 ms for acknowledgements.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setblocking(False)  # noqa: FBT003  # the standard library's signature
    return listener
