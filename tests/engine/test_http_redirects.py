"""Redirects of an http task: few, checked anew each time, and without credentials once they leave the origin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.http_serving import Server, answer, run
from hourhand.model.words import OutcomeKind

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator

    from engine.http_serving import Asked

SECRETS = {
    "Authorization": "Bearer canary",
    "Cookie": "session=canary",
    "X-Api-Key": "canary",
    "X-Auth-Token": "canary",
    "Private-Token": "canary",
    "X-Hub-Signature-256": "canary",
    "X-Secret": "canary",
}
CALLBACK = "https://hourhand.example/api/v1/callbacks/canary"


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server() as started:
        started.on("/end", answer("200 OK", b"end"))
        yield started


@pytest.fixture
async def other() -> AsyncIterator[Server]:
    async with Server("127.0.0.2") as started:
        started.on("/end", answer("200 OK", b"end"))
        yield started


def moved(location: str, status: int = 302) -> bytes:
    return answer(f"{status} Moved", Location=location)


def canaries(asked: Asked) -> list[str]:
    return [name for name, value in asked.headers.items() if "canary" in value]


@pytest.mark.parametrize(
    ("status", "method", "follows", "body"),
    [
        (301, "POST", "GET", b""),
        (301, "PUT", "PUT", b"text"),
        (301, "GET", "GET", b"text"),
        (302, "POST", "GET", b""),
        (302, "PUT", "GET", b""),
        (302, "HEAD", "HEAD", b"text"),
        (303, "POST", "GET", b""),
        (303, "DELETE", "GET", b""),
        (307, "POST", "POST", b"text"),
        (308, "PATCH", "PATCH", b"text"),
    ],
)
async def test_the_method_changes_as_it_does_in_browsers(
    server: Server, status: int, method: str, follows: str, body: bytes
) -> None:
    url = server.on("/start", moved("/end?a=1", status))
    outcome, attempt = await run({"url": url, "method": method, "body": "text"})
    assert outcome.kind is OutcomeKind.SUCCESS
    assert [(one.method, one.target) for one in server.asked] == [(method, "/start"), (follows, "/end?a=1")]
    assert server.asked[1].body == body
    assert ("content-type" in server.asked[1].headers) is bool(body)
    assert [line.message for line in attempt.lines][::2] == [f"{method} {url}", f"{follows} {server.url('/end')}"]


async def test_three_redirects_are_followed_and_a_fourth_is_not(server: Server) -> None:
    for n in range(4):
        server.on(f"/{n}", moved(f"/{n + 1}"))
    server.on("/4", answer())
    outcome, _ = await run({"url": server.url("/1")})
    assert outcome.kind is OutcomeKind.SUCCESS
    outcome, _ = await run({"url": server.url("/0")})
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, True)
    assert outcome.error_message == (
        f"GET {server.url('/3')} answered 302 Found again: at most 3 redirects are followed"
    )
    assert outcome.result is not None
    assert outcome.result["status_code"] == 302


async def test_a_loop_of_redirects_ends(server: Server) -> None:
    outcome, _ = await run({"url": server.on("/loop", moved("/loop"))})
    assert outcome.kind is OutcomeKind.FAILED
    assert len(server.asked) == 4


async def test_the_endless_body_of_a_redirect_is_not_read(server: Server) -> None:
    async def respond(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(answer("302 Found", Location="/end", Content_Length=str(10**9)))
        while not writer.transport.is_closing():
            writer.write(b"z" * 10_000)
            await writer.drain()

    outcome, attempt = await run({"url": server.on("/start", respond)})
    assert outcome.kind is OutcomeKind.SUCCESS
    assert attempt.lines[1].message.endswith(" ms, 0 bytes")


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("file:///etc/passwd", "file:// is not called"),
        ("ftp://127.0.0.1/", "ftp:// is not called"),
        ("gopher://127.0.0.1:6379/_SET", "gopher:// is not called"),
        ("javascript:alert(1)", "javascript:// is not called"),
        ("https:///nowhere", "a URL without a host is not called"),
        ("http://127.0.0.1:0/", "0 is not a port"),
        ("http://127.0.0.1:99999/", "99999 is not a port"),
        ("http://127.0.0.1:x/", "something that is not a URL"),
        ("http://[::1/", "something that is not a URL"),
        ("http://256.0.0.1/", "something that is not a URL"),
    ],
)
async def test_a_redirect_to_anything_but_the_web_is_refused_for_good(server: Server, location: str, told: str) -> None:
    url = server.on("/start", moved(location))
    outcome, _ = await run({"url": url})
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, False)
    assert outcome.error_message is not None
    assert outcome.error_message.startswith(f"GET {url} answered 302 Found, which is not followed: ")
    assert told in outcome.error_message
    assert server.connections == 1


@pytest.mark.parametrize(
    "target", ["http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "//192.168.0.1/", "http://[fd00::1]/x"]
)
async def test_a_redirect_to_a_private_address_is_refused_for_good(server: Server, target: str) -> None:
    outcome, _ = await run({"url": server.on("/start", moved(target))})
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, False)
    assert outcome.error_message is not None
    assert outcome.error_message.endswith("is not a global address and not in HOURHAND_HTTP_ALLOW")


async def test_within_the_origin_credentials_stay(server: Server) -> None:
    await run({"url": server.on("/start", moved("/end")), "headers": SECRETS}, callback_url=CALLBACK)
    assert sorted(canaries(server.asked[1])) == sorted([*map(str.lower, SECRETS), "hourhand-callback"])


async def crossing(server: Server, target: str, **payload: Any) -> None:
    url = server.on("/start", moved(target, 307))
    given = {"url": url, "headers": {**SECRETS, "X-Kept": "yes", "Idempotency-Key": "mine"}, **payload}
    outcome, _ = await run(given, callback_url=CALLBACK)
    assert outcome.kind is OutcomeKind.SUCCESS, outcome.error_message


async def test_to_another_host_credentials_stay_behind(server: Server, other: Server) -> None:
    await crossing(server, other.url("/end"))
    assert sorted(canaries(server.asked[0])) == sorted([*map(str.lower, SECRETS), "hourhand-callback"])
    assert canaries(other.asked[0]) == []
    assert other.asked[0].headers["x-kept"] == "yes"
    assert other.asked[0].headers["idempotency-key"] == "mine"
    assert other.asked[0].headers["hourhand-instance-id"] == "7"
    assert other.asked[0].headers["host"] == f"127.0.0.2:{other.port}"


async def test_another_name_of_the_same_machine_is_another_host(server: Server) -> None:
    await crossing(server, server.url("/end", "localhost"))
    assert canaries(server.asked[1]) == []


async def test_another_port_is_another_origin(server: Server) -> None:
    async with Server() as neighbour:
        neighbour.on("/end", answer())
        await crossing(server, neighbour.url("/end"))
        assert canaries(neighbour.asked[0]) == []


async def test_credentials_do_not_return_with_a_redirect_back(server: Server, other: Server) -> None:
    await crossing(server, other.on("/back", moved(server.url("/end"))))
    assert canaries(server.asked[1]) == []


async def test_a_name_and_password_of_the_url_stay_behind_too(server: Server, other: Server) -> None:
    url = server.on("/start", moved(other.url("/end"))).replace("://", "://me:canary@")
    await run({"url": url})
    assert "authorization" in server.asked[0].headers
    assert "authorization" not in other.asked[0].headers


async def test_a_name_and_password_that_the_answer_puts_into_the_new_url_are_not_sent(
    server: Server, other: Server
) -> None:
    _, attempt = await run({"url": server.on("/start", moved(other.url("/end").replace("://", "://u:canary@")))})
    assert "authorization" not in other.asked[0].headers
    assert not any("canary" in line.message for line in attempt.lines)


async def test_after_leaving_the_origin_no_callback_is_waited_for(server: Server, other: Server) -> None:
    target = other.on("/later", answer("202 Accepted", Hourhand_Callback="accepted"))
    await crossing(server, target, method="POST")


async def test_cookies_that_an_answer_sets_are_not_kept(server: Server) -> None:
    server.on("/start", answer("302 Found", Location="/end", Set_Cookie="a=canary; Path=/"))
    await run({"url": server.url("/start")})
    assert "cookie" not in server.asked[1].headers
