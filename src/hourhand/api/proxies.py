"""The API behind reverse proxies: from where, and how, a request came to the first of those that are trusted.

A header could say anything. So what a proxy says of others is believed only where the operator has named it.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from hourhand.settings import Network

SCHEMES = frozenset({"http", "https"})


class Proxies:
    """ASGI middleware around everything: whoever asks later finds the browser's address and scheme in the scope."""

    def __init__(self, app: ASGIApp, trusted: tuple[Network, ...]) -> None:
        self.app = app
        self.trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Believe the peer of the connection, if it is a proxy to be believed."""
        peer = scope.get("client")
        if self.trusted and scope["type"] == "http" and peer and self._trusts(address_in(peer[0])):
            headers = Headers(scope=scope)
            scope["client"] = self._sender(peer, headers.getlist("x-forwarded-for"))
            said = headers.get("x-forwarded-proto", "").split(",")[0].strip().lower()
            if said in SCHEMES:
                scope["scheme"] = said
        await self.app(scope, receive, send)

    def _sender(self, peer: tuple[str, int], said: list[str]) -> tuple[str, int]:
        """Go back from proxy to proxy: each names whom it was asked by, and one not trusted could say anything."""
        for word in reversed(",".join(said).split(",")):
            address = address_in(word)
            if address is None:
                break
            peer = (str(address), 0)
            if not self._trusts(address):
                break
        return peer

    def _trusts(self, address: IPv4Address | IPv6Address | None) -> bool:
        return address is not None and any(address in network for network in self.trusted)


def address_in(word: str) -> IPv4Address | IPv6Address | None:
    """Read an address, also as some proxies write it: in brackets, or with its port."""
    word = word.strip()
    if word.startswith("["):
        word = word[1:].partition("]")[0]
    elif word.count(":") == 1:
        word = word.partition(":")[0]
    try:
        address = ip_address(word.partition("%")[0])
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
