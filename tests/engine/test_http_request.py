"""What an http task sends."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.http_serving import Server, answer, run
from hourhand import __version__
from hourhand.model.words import OutcomeKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from engine.http_serving import Asked


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server() as started:
        started.on("/", answer())
        yield started


async def sent(server: Server, path: str = "/", args: dict[str, Any] | None = None, **payload: Any) -> Asked:
    """Run a task against the server and return what reached it."""
    outcome, _ = await run({"url": server.url(path), **payload}, args=args)
    assert server.asked, outcome.error_message
    return server.asked[-1]


async def refused(server: Server, path: str = "/", args: dict[str, Any] | None = None, **payload: Any) -> str:
    """Run a task that must fail for good, before anything is sent, and return why."""
    outcome, attempt = await run({"url": server.url(path), **payload}, args=args)
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, False)
    assert not server.connections
    assert not attempt.lines
    assert outcome.error_message
    return outcome.error_message


async def test_every_attempt_tells_who_it_is(server: Server) -> None:
    await run({"url": server.url("/")}, instance_id=42, fence=3, retry_count=2, name="close books")
    headers = server.asked[0].headers
    assert headers["host"] == f"127.0.0.1:{server.port}"
    assert {name: value for name, value in headers.items() if name.startswith("hourhand-")} == {
        "hourhand-instance-id": "42",
        "hourhand-fence": "3",
        "hourhand-task": "close books",
        "hourhand-scheduled-time": "2026-11-15T02:00:00Z",
        "hourhand-retry-count": "2",
    }
    assert headers["idempotency-key"] == "hourhand-42"
    assert headers["user-agent"] == f"hourhand/{__version__}"


async def test_the_name_of_a_task_is_percent_encoded_where_it_is_not_ascii(server: Server) -> None:
    await run({"url": server.url("/")}, name="结账 100%")
    assert server.asked[0].headers["hourhand-task"] == "%E7%BB%93%E8%B4%A6 100%25"


async def test_a_callback_is_offered_where_the_executor_has_an_address(server: Server) -> None:
    await run({"url": server.url("/")}, callback_url="https://hourhand.example/api/v1/callbacks/abc")
    assert server.asked[0].headers["hourhand-callback"] == "https://hourhand.example/api/v1/callbacks/abc"


async def test_the_users_own_headers_win_over_the_usual_ones(server: Server) -> None:
    asked = await sent(server, headers={"idempotency-KEY": "mine", "User-agent": "me/1", "X-Empty": "", "X-Name": "é"})
    assert asked.headers["idempotency-key"] == "mine"
    assert asked.headers["user-agent"] == "me/1"
    assert asked.headers["x-empty"] == ""
    assert asked.headers["x-name"].encode("latin-1").decode() == "é"


@pytest.mark.parametrize(
    "name",
    ["Host", "content-length", "Transfer-Encoding", "Connection", "Upgrade", "Expect", "Hourhand-Fence", "HOURHAND-X"],
)
async def test_a_header_that_is_not_the_users_to_set_is_refused(server: Server, name: str) -> None:
    assert await refused(server, headers={name: "1"}) == (
        f"the call cannot be made: payload.headers.{name}: is set by Hourhand and cannot be given: leave it out"
    )


@pytest.mark.parametrize("name", ["", "X Y", "X:", "X\r\nY", "Ö", "X\n"])
async def test_a_header_with_an_impossible_name_is_refused(server: Server, name: str) -> None:
    assert "is not a name of a header" in await refused(server, headers={name: "1"})


async def test_a_header_given_twice_is_refused(server: Server) -> None:
    assert "is given twice" in await refused(server, headers={"X-A": "1", "x-a": "2"})


@pytest.mark.parametrize("text", ["a\r\nX-Injected: 1", "a\nb", "a\rb", "a\0b", "a\x85b"])
async def test_a_line_break_never_gets_into_a_header(server: Server, text: str) -> None:
    assert "holds a line break or another control character" in await refused(server, headers={"X-A": text})
    told = await refused(server, headers={"X-A": "secret ${a}"}, args={"a": text})
    assert "holds a line break or another control character" in told
    assert "secret" not in told


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_the_method_is_the_payloads(server: Server, method: str) -> None:
    asked = await sent(server, method=method)
    assert asked.method == method
    assert asked.headers.get("content-length") == ("0" if method in ("POST", "PUT", "PATCH") else None)


async def test_a_body_is_sent_as_it_is_written(server: Server) -> None:
    asked = await sent(server, method="POST", body="Grüße, ${who}", args={"who": "a&b\n"})
    assert asked.body.decode() == "Grüße, a&b\n"
    assert asked.headers["content-type"] == "text/plain; charset=utf-8"
    asked = await sent(server, method="POST", body="<a/>", headers={"content-type": "text/xml"})
    assert asked.headers["content-type"] == "text/xml"


async def test_json_is_filled_in_its_texts_only(server: Server) -> None:
    value = {"${k}": ["${k}", 1, None, True, {"deep": "x-${n}"}], "é": 0.5}
    asked = await sent(server, method="POST", json=value, args={"k": '", "admin": "yes', "n": 7})
    assert json.loads(asked.body) == {"${k}": ['", "admin": "yes', 1, None, True, {"deep": "x-7"}], "é": 0.5}
    assert asked.headers["content-type"] == "application/json"


async def test_a_name_and_password_in_the_url_become_a_header_and_are_not_logged(server: Server) -> None:
    url = server.url("/").replace("://", "://me:p%40ss@")
    _, attempt = await run({"url": url})
    assert server.asked[0].headers["authorization"] == f"Basic {base64.b64encode(b'me:p@ss').decode()}"
    assert server.asked[0].headers["host"] == f"127.0.0.1:{server.port}"
    assert "ss" not in attempt.lines[0].message
    await run({"url": url, "headers": {"authorization": "Bearer x"}})
    assert server.asked[1].headers["authorization"] == "Bearer x"


async def test_arguments_fill_path_and_query(server: Server) -> None:
    asked = await sent(server, "/a/${day}/b?from=${day}&n=${n}#${day}", args={"day": "2026-11-15", "n": 5})
    assert asked.target == "/a/2026-11-15/b?from=2026-11-15&n=5"


@pytest.mark.parametrize(
    ("value", "escaped"),
    [
        ("../../admin", "..%2F..%2Fadmin"),
        ("a/b", "a%2Fb"),
        ("a\\b", "a%5Cb"),
        ("x?y=1", "x%3Fy%3D1"),
        ("x&admin=1", "x%26admin%3D1"),
        ("x;y", "x%3By"),
        ("x#y", "x%23y"),
        ("%2e%2e%2f", "%252e%252e%252f"),
        ("a b+c", "a%20b%2Bc"),
        ("@evil.example", "%40evil.example"),
        ("\r\nHost: evil", "%0D%0AHost%3A%20evil"),
        ("é", "%C3%A9"),
        ("${other}", "%24%7Bother%7D"),
        ("...", "..."),
        (1e30, "1e%2B30"),
        (True, "true"),
        ("\ud800", "%ED%A0%80"),
    ],
)
async def test_an_argument_stays_one_piece_of_path_and_one_value_of_the_query(
    server: Server, value: object, escaped: str
) -> None:
    asked = await sent(server, "/a/${x}/b?q=${x}&r=1", args={"x": value})
    assert asked.target == f"/a/{escaped}/b?q={escaped}&r=1"
    assert asked.headers["host"] == f"127.0.0.1:{server.port}"


@pytest.mark.parametrize(
    ("segment", "args"),
    [
        ("${x}", {"x": ".."}),
        ("${x}", {"x": "."}),
        ("${x}", {"x": ""}),
        ("${x}${x}", {"x": "."}),
        (".${x}", {"x": "."}),
        ("%2e${x}", {"x": "."}),
        ("..${x}", {"x": ""}),
    ],
)
async def test_an_argument_that_would_mean_another_path_is_refused(
    server: Server, segment: str, args: dict[str, str]
) -> None:
    assert "which means another path" in await refused(server, f"/a/{segment}/b", args=args)


@pytest.mark.parametrize(
    "url", ["http://${h}/", "http://a.${h}:80/", "http://${h}@example.com/", "http://example.com${h}"]
)
async def test_an_argument_never_chooses_the_host(server: Server, url: str) -> None:
    assert "has ${…} before its path" in await refused(server, url=url, args={"h": "127.0.0.1"})


@pytest.mark.parametrize("path", ["/%${x}", "/?a=%2${x}"])
async def test_an_argument_never_completes_an_escape(server: Server, path: str) -> None:
    assert "has % right before ${…}" in await refused(server, path, args={"x": "2F"})


@pytest.mark.parametrize(
    "payload",
    [
        {"url": "http://127.0.0.1/${day}"},
        {"url": "http://127.0.0.1/?d=${day}"},
        {"headers": {"X-Secret": "canary ${day}"}},
        {"method": "POST", "body": "canary ${day}"},
        {"method": "POST", "json": {"canary": ["canary ${day}"]}},
    ],
)
async def test_a_missing_argument_is_refused_by_name_and_shows_nothing_else(
    server: Server, payload: dict[str, Any]
) -> None:
    told = await refused(server, args={"month": "canary"}, **payload)
    assert "needs the argument 'day' as text or a number; arguments given: ['month']" in told
    assert "canary" not in told


@pytest.mark.parametrize("text", ["canary ${", "canary ${a b}", "canary ${}", "canary ${1}"])
async def test_a_malformed_place_is_refused_without_being_shown(server: Server, text: str) -> None:
    told = await refused(server, method="POST", body=text)
    assert "payload.body: has a place that is malformed" in told
    assert "canary" not in told


@pytest.mark.parametrize("where", [{"body": "${x}"}, {"headers": {"X-A": "${x}"}}])
async def test_half_a_character_is_refused(server: Server, where: dict[str, Any]) -> None:
    assert "lone surrogate" in await refused(server, method="POST", **where, args={"x": "\ud800"})


async def test_half_a_character_in_json_is_sent_as_json_writes_it(server: Server) -> None:
    asked = await sent(server, method="POST", json={"\ud800": 1})
    assert asked.body == b'{"\\ud800":1}'


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        ({"url": "ftp://example.com/"}, "payload.url: must be an http:// or https:// address"),
        ({"url": "http://256.1.1.1/"}, "is not an address that can be called"),
        ({"body": "a", "json": 1}, "payload.body: give either body or json, not both"),
    ],
)
async def test_a_wrong_payload_fails_for_good(server: Server, payload: dict[str, Any], told: str) -> None:
    assert told in await refused(server, **payload)
