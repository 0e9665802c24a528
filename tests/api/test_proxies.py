"""Behind a reverse proxy: what it says of whoever asks is believed if it is trusted, and otherwise is not."""

from __future__ import annotations

from ipaddress import ip_network
from typing import TYPE_CHECKING

import pytest

from api.answers import ok, problem
from api.in_process import serving
from api.signing import PASSWORD, SESSIONS, browser, make_user, quick_hasher
from hourhand.api import passwords
from hourhand.api.proxies import Proxies
from hourhand.settings import Settings

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from hourhand.store import Store

WRONG = "wrong-but-long-enough"
TRUSTED = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "PasswordHasher", quick_hasher)


async def seen(peer: str, *headers: tuple[str, str], scheme: str = "http") -> tuple[str, str]:
    """From where and how a request came, to whoever asks behind the middleware."""
    found: list[tuple[str, str]] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        found.append((scope["client"][0], scope["scheme"]))

    async def nothing() -> Message:
        raise AssertionError("nobody reads")

    async def nobody(_: Message) -> None:
        raise AssertionError("nobody writes")

    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    scope = {"type": "http", "client": (peer, 1234), "scheme": scheme, "headers": raw}
    await Proxies(app, TRUSTED)(scope, nothing, nobody)
    return found[0]


@pytest.mark.parametrize(
    ("said", "address"),
    [
        (["203.0.113.1"], "203.0.113.1"),
        (["198.51.100.9, 203.0.113.1"], "203.0.113.1"),  # the first was written by whoever sent it
        (["198.51.100.9, 203.0.113.1, 10.0.0.7"], "203.0.113.1"),
        (["198.51.100.9", "203.0.113.1,10.0.0.7"], "203.0.113.1"),
        (["10.0.0.8, 10.0.0.7"], "10.0.0.8"),
        (["203.0.113.1:5151"], "203.0.113.1"),
        (["[2001:db8::1]:5151"], "2001:db8::1"),
        (["2001:db8::1, fd00::2"], "2001:db8::1"),
        (["::ffff:203.0.113.1"], "203.0.113.1"),
        (["203.0.113.1, unknown"], "10.0.0.1"),
        (["203.0.113.1, unknown, 10.0.0.7"], "10.0.0.7"),
        ([""], "10.0.0.1"),
        ([], "10.0.0.1"),
    ],
)
async def test_the_address_is_the_last_one_that_is_no_trusted_proxy(said: list[str], address: str) -> None:
    headers = [("X-Forwarded-For", one) for one in said]
    assert (await seen("10.0.0.1", *headers))[0] == address
    assert (await seen("192.0.2.1", *headers))[0] == "192.0.2.1"


@pytest.mark.parametrize("peer", ["10.0.0.1", "::ffff:10.0.0.1", "fd00::9"])
async def test_the_scheme_is_the_one_the_browser_used(peer: str) -> None:
    assert (await seen(peer, ("X-Forwarded-Proto", "HTTPS")))[1] == "https"
    assert (await seen(peer, ("X-Forwarded-Proto", "http"), scheme="https"))[1] == "http"
    for strange in ("", "ftp", "https://"):
        assert (await seen(peer, ("X-Forwarded-Proto", strange), scheme="https"))[1] == "https"


async def test_nobody_else_is_believed() -> None:
    assert (await seen("192.0.2.1", ("X-Forwarded-Proto", "https")))[1] == "http"
    assert (await seen("192.0.2.1", ("X-Forwarded-Proto", "http"), scheme="https"))[1] == "https"
    assert await seen("a-socket", ("X-Forwarded-For", "203.0.113.1")) == ("a-socket", "http")


async def test_behind_a_trusted_proxy_one_address_does_not_lock_out_another(store: Store) -> None:
    settings = Settings(trusted_proxies=(ip_network("127.0.0.0/8"),))
    async with serving(store, settings) as rest, browser(rest) as her:
        await make_user(rest)
        for number in range(5):
            wrong = {"name": f"user{number}", "password": WRONG}
            headers = {"X-Forwarded-For": f"198.51.100.{number}, 203.0.113.1"}
            problem(await her.client.post(SESSIONS, json=wrong, headers=headers), 401)
        problem(await her.sign_in(**{"X-Forwarded-For": "203.0.113.1"}), 429)
        ok(await her.sign_in(**{"X-Forwarded-For": "203.0.113.2"}), 201)
        (session,) = ok(await rest.get(SESSIONS))["items"]
        assert session["address"] == "203.0.113.2"


async def test_behind_a_trusted_proxy_that_ends_tls_the_cookie_is_secure_and_the_origin_is_https(store: Store) -> None:
    settings = Settings(trusted_proxies=(ip_network("127.0.0.1/32"),))
    async with serving(store, settings) as rest, browser(rest) as her:
        await make_user(rest)
        own = str(rest.base_url).rstrip("/")
        secure = own.replace("http:", "https:")
        proxied = {"X-Forwarded-Proto": "https"}
        problem(await her.sign_in(Origin=own, **proxied), 403)
        by_tls = await her.sign_in(Origin=secure, **proxied)
        assert ok(by_tls, 201)["name"] == "ada"
        assert "; Secure" in by_tls.headers["set-cookie"]
        direct = await her.client.post(SESSIONS, json={"name": "ada", "password": PASSWORD})
        assert "; Secure" not in direct.headers["set-cookie"]
