"""Service: which addresses an outgoing request may reach; what is checked is what is connected to."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Self

from hourhand.settings import Network, Settings

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host name, best first; raises OSError when there are none."""

# IANA's registries of special-purpose addresses, written out: what `ipaddress.is_global` says of them has changed
# between releases of Python, and it calls multicast global.
_SPECIAL_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carriers' NAT
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local; clouds serve their metadata and credentials at 169.254.169.254
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # former 6to4 relays
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
_SPECIAL_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
_NAT64, _6TO4 = IPv6Network("64:ff9b::/96"), IPv6Network("2002::/16")
_LOOPBACK: tuple[Network, ...] = (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)


class AddressRefused(Exception):
    """The policy forbids this address, now and at the next attempt."""


class Resolver:
    """The system's resolver, in threads of its own: a name server that hangs must not hold up anything else."""

    def __init__(self, threads: int = 32) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="hourhand-resolver")

    async def __call__(self, host: str, port: int) -> list[str]:
        """Ask for the addresses of a name."""
        found = await asyncio.get_running_loop().run_in_executor(self._threads, self._look_up, host, port)
        return list(dict.fromkeys(found))

    @staticmethod
    def _look_up(host: str, port: int) -> list[str]:
        # As bytes, since a text would be sent through the codec for international names, which httpx has done already.
        return [str(answer[4][0]) for answer in socket.getaddrinfo(host.encode(), port, type=socket.SOCK_STREAM)]

    def close(self) -> None:
        """Start no further look-up; one that is under way ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class AddressPolicy:
    """Global addresses, and what the operator allows beside."""

    def __init__(self, allow: Iterable[Network], *, resolve: Resolve) -> None:
        self._allow = tuple(allow)
        self._resolve = resolve

    @classmethod
    def of(cls, settings: Settings, resolve: Resolve, *, loopback: bool = False) -> Self:
        """Read the operator's policy: the networks of HOURHAND_HTTP_ALLOW, and loopback if this process may."""
        return cls((*settings.http_allow, *(_LOOPBACK if loopback else ())), resolve=resolve)

    async def permitted(self, host: str, port: int) -> list[Address]:
        """Where a request to this host may connect to, best first, from one single look-up.

        Connecting to the name afterwards would ask again, and might be answered otherwise: connect to these.
        """
        literal = _literal(host)
        found = [literal] if literal is not None else [ip_address(one) for one in await self._resolve(host, port)]
        if not found:
            raise OSError(f"{host!r} has no address")
        allowed = [_unmapped(one) for one in found if self.allows(one)]
        if not allowed:
            which = ", ".join(str(one) for one in found)
            subject = which if literal is not None else f"{host} is {which}, which"
            raise AddressRefused(f"{subject} is not a global address and not in HOURHAND_HTTP_ALLOW")
        return allowed

    def allows(self, address: Address) -> bool:
        """Whether a request may connect to it; an IPv6 address that leads to an IPv4 one is judged by that one."""
        if isinstance(address, IPv6Address) and address.scope_id is not None:
            return False  # the part behind the % chooses one of this machine's interfaces
        address = _unmapped(address)
        if any(address in network for network in self._allow):
            return True
        if isinstance(address, IPv4Address):
            return not any(address in network for network in _SPECIAL_V4)
        if (leads_to := _embedded(address)) is not None:
            return self.allows(leads_to)
        return address in _GLOBAL_V6 and not any(address in network for network in _SPECIAL_V6)


def _literal(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        pass
    # What the C library takes for an IPv4 address though it does not look like one: 2130706433, 0x7f.1, 0177.0.0.1.
    if _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
        raise AddressRefused(f"{host!r} is neither a name nor an address: write an address like 192.0.2.1")
    return None


def _unmapped(address: Address) -> Address:
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address


def _embedded(address: IPv6Address) -> IPv4Address | None:
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    if address in _6TO4:
        return IPv4Address(int(address) >> 80 & 0xFFFF_FFFF)
    return None
