"""Service: an http connection that goes to the very address the policy has checked."""

from __future__ import annotations

import asyncio
import functools
import os
import socket
import ssl
from collections.abc import Iterable

import httpcore
import httpx

from hourhand.service.addresses import AddressPolicy


class CheckedNetwork(httpcore.AsyncNetworkBackend):
    """Resolves a name once, asks the policy, and connects to the address it was given.

    httpcore keeps the name for the Host header, for TLS and for the certificate; only the socket sees the address.
    """

    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  # the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first permitted address that answers, all within the one time-out."""
        loop = asyncio.get_running_loop()
        end = None if timeout is None else loop.time() + timeout
        try:
            async with asyncio.timeout_at(end):
                addresses = await self._policy.permitted(host, port)
        except TimeoutError:
            raise httpcore.ConnectTimeout(f"the address of {host} could not be found in time") from None
        except OSError as error:
            raise httpcore.ConnectError(f"the address of {host} could not be found") from error
        for left in range(len(addresses), 0, -1):
            # Each gets its share of what is left, so that one that never answers does not hide the next.
            share = None if end is None else max(0.0, end - loop.time()) / left
            try:
                return await self._network.connect_tcp(
                    str(addresses[-left]), port, share, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if left == 1:
                    raise
        raise AssertionError("the policy permits at least one address, or refuses")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109, ARG002  # the signature is httpcore's
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore.AsyncNetworkStream:
        """Refuse: no URL leads to a file of this machine."""
        raise httpcore.UnsupportedProtocol(f"{path!r} is a socket of this machine: only http and https are called")

    async def sleep(self, seconds: float) -> None:
        """Wait, as httpcore asks its network to."""
        await asyncio.sleep(seconds)


@functools.cache
def trusted_authorities() -> ssl.SSLContext:
    """Believe what Mozilla believes (they come with httpx) and what this machine does: its operator's own."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context


def open_pool(network: CheckedNetwork, tls: ssl.SSLContext) -> httpcore.AsyncConnectionPool:
    """Connections for one call.

    httpcore's own pool, not httpx's client around it: that would write whole URLs to the program's log, keep cookies
    from one task to the next, and read proxies from the environment. None is kept open: the next call may be
    hours away, and a request on a connection that has died meanwhile cannot be told from one that was carried out.
    """
    return httpcore.AsyncConnectionPool(
        ssl_context=tls, max_connections=None, max_keepalive_connections=0, network_backend=network
    )


def reason(error: BaseException) -> str:
    """Why a connection failed, in the words of whoever knew: libraries wrap the system's own word in vague ones."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted: {seen.verify_message}"
        if isinstance(seen, OSError) and seen.errno:
            # asyncio puts a sentence of its own into strerror; those that are no errors of the system have only theirs.
            own = seen.strerror if isinstance(seen, ssl.SSLError | socket.gaierror) else None
            return own or os.strerror(seen.errno)
        seen = seen.__cause__ or seen.__context__
    return str(error) or type(error).__name__
