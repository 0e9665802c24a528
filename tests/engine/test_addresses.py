"""Which addresses an outgoing request may reach."""

from __future__ import annotations

import socket
from ipaddress import ip_address, ip_network

import pytest

from engine.http_serving import resolving
from hourhand.service.addresses import AddressPolicy, AddressRefused, Resolver
from hourhand.settings import Settings

GLOBAL = [
    "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
    "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0",
    "198.17.255.255", "198.20.0.0", "223.255.255.255",
    "2606:4700::1111", "2a00:1450:4001:800::200e", "2400:cb00::1",
    "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
]  # fmt: skip
NOT_GLOBAL = [
    "0.0.0.0",  # noqa: S104
    "0.255.255.255", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254",
    "169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.170", "192.0.2.1",
    "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1",
    "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::", "::1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "100::1", "2001::1", "2001:2::1",
    "2001:10::1", "2001:20::1", "2001:db8::1", "3fff::1", "4000::1", "64:ff9b:1::1", "5f00::1",
    "::127.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe",
    "64:ff9b::127.0.0.1", "64:ff9b::a00:1", "64:ff9b::169.254.169.254",
    "2002:7f00:1::", "2002:a00:1::1", "2002:a9fe:a9fe::", "2002:c0a8:101::1",
    "fe80::1%1", "fe80::1%eth0", "2606:4700::1111%eth0", "::1%lo",
]  # fmt: skip


def policy(*allow: str, **names: str | list[str]) -> AddressPolicy:
    return AddressPolicy([ip_network(one) for one in allow], resolve=resolving(**names))


@pytest.mark.parametrize("address", GLOBAL)
def test_a_global_address_is_allowed(address: str) -> None:
    assert policy().allows(ip_address(address))


@pytest.mark.parametrize("address", NOT_GLOBAL)
async def test_an_address_that_is_not_global_is_refused_and_the_setting_named(address: str) -> None:
    assert not policy().allows(ip_address(address))
    with pytest.raises(AddressRefused, match="is not a global address and not in HOURHAND_HTTP_ALLOW"):
        await policy().permitted(address, 80)


@pytest.mark.parametrize(
    ("address", "allow"),
    [
        ("10.1.2.3", "10.1.0.0/16"),
        ("::ffff:10.1.2.3", "10.1.0.0/16"),
        ("64:ff9b::10.1.2.3", "10.1.0.0/16"),
        ("2002:a01:203::1", "10.1.0.0/16"),
        ("2002:a01:203::1", "2002::/16"),
        ("fd00::5", "fd00::/8"),
        ("169.254.169.254", "169.254.169.254/32"),
    ],
)
def test_what_the_operator_allows_is_allowed(address: str, allow: str) -> None:
    assert policy(allow).allows(ip_address(address))
    assert not policy("192.168.0.0/16").allows(ip_address(address))


def test_an_address_of_one_interface_is_refused_even_in_an_allowed_network() -> None:
    assert policy("fe80::/10").allows(ip_address("fe80::1"))
    assert not policy("fe80::/10").allows(ip_address("fe80::1%eth0"))


@pytest.mark.parametrize("loopback", [True, False])
def test_loopback_is_allowed_to_a_process_that_listens_there_and_not_by_default(*, loopback: bool) -> None:
    changed = {"loopback": True} if loopback else {}
    made = AddressPolicy.of(Settings(), resolving(), **changed)
    for address in ("127.0.0.1", "127.0.0.53", "::1", "::ffff:127.0.0.1"):
        assert made.allows(ip_address(address)) is loopback
    for address in ("0.0.0.0", "::", "10.0.0.1", "169.254.169.254"):  # noqa: S104
        assert not made.allows(ip_address(address))


def test_networks_of_the_setting_are_allowed() -> None:
    made = AddressPolicy.of(Settings(http_allow="10.0.0.0/8,fd00::/8"), resolving())  # type: ignore[arg-type]  # as in the environment
    assert made.allows(ip_address("10.0.0.1"))
    assert made.allows(ip_address("fd00::1"))


@pytest.mark.parametrize(
    "host",
    [
        "2130706433", "0x7f000001", "0x7f.1", "0X7F.0x1", "017700000001", "0177.0.0.1", "127.1", "127.0.1",
        "127.0.0.1.", "010.0.0.1", "0", "1.2.3.4.5", "256.1.1.1", "name.0x", "1.1.1.0x7f.",
    ],
)  # fmt: skip
async def test_numbers_that_only_the_c_library_takes_for_an_address_are_refused(host: str) -> None:
    anything_goes = policy("0.0.0.0/0", "::/0", **{host.replace(".", "_"): "127.0.0.1"})
    with pytest.raises(AddressRefused, match="is neither a name nor an address"):
        await anything_goes.permitted(host, 80)


@pytest.mark.parametrize("host", ["a1", "x.example", "1.example", "0x7f.example", "example.", "127.0.0.1.example"])
async def test_a_name_with_numbers_is_a_name(host: str) -> None:
    asked = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return ["8.8.8.8"]

    assert await AddressPolicy([], resolve=resolve).permitted(host, 443) == [ip_address("8.8.8.8")]
    assert asked == [(host, 443)]


async def test_of_several_addresses_the_allowed_ones_are_used_in_their_order() -> None:
    made = policy(many_example="10.0.0.1,2606:4700::1111,127.0.0.1,1.1.1.1,::ffff:8.8.8.8,fe80::1%1")
    assert [str(one) for one in await made.permitted("many.example", 80)] == ["2606:4700::1111", "1.1.1.1", "8.8.8.8"]


async def test_a_name_none_of_whose_addresses_is_allowed_is_refused_with_them() -> None:
    made = policy(inside_example="10.0.0.1,::1")
    with pytest.raises(AddressRefused) as refused:
        await made.permitted("inside.example", 80)
    assert str(refused.value) == (
        "inside.example is 10.0.0.1, ::1, which is not a global address and not in HOURHAND_HTTP_ALLOW"
    )


async def test_a_name_without_an_address_is_no_matter_of_policy() -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        return []

    with pytest.raises(OSError, match=r"'empty\.example' has no address"):
        await AddressPolicy([], resolve=resolve).permitted("empty.example", 80)


async def test_the_systems_resolver_answers_with_each_address_once() -> None:
    resolver = Resolver()
    try:
        found = await resolver("localhost", 80)
        assert "127.0.0.1" in found
        assert len(found) == len(set(found))
        with pytest.raises(socket.gaierror):
            await resolver("no-such-name.invalid", 80)
    finally:
        resolver.close()
