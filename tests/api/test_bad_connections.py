"""What comes over a connection and is no proper request: refused or ended, in time, and nobody else is held up."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from api.answers import API
from hourhand.api import connection, gate

if TYPE_CHECKING:
    import httpx

    from serving import Served

PATIENCE_SECONDS = 20.0
TASKS = f"{API}/tasks"


@pytest.fixture
def ask(served: Served) -> Ask:
    return Ask(served.address, served.token)


class Ask:
    """Sends bytes, and reads until the server closes or has answered."""

    def __init__(self, address: str, token: str) -> None:
        parts = urlsplit(address)
        self.peer = (parts.hostname or "", parts.port or 0)
        self.known = f"Host: x\r\nAuthorization: Bearer {token}\r\n"

    def __call__(self, *parts: bytes, close: bool = False) -> bytes:
        """Send each part after the other; with `close`, say that nothing more comes."""
        with socket.create_connection(self.peer, timeout=PATIENCE_SECONDS) as made:
            read = b""
            try:
                for part in parts:
                    made.sendall(part)
                if close:
                    made.shutdown(socket.SHUT_WR)
                while chunk := made.recv(65536):
                    read += chunk
            except (ConnectionResetError, BrokenPipeError):
                pass
            return read

    def request(self, method: str, path: str, *headers: str, body: bytes = b"") -> bytes:
        """Return what a client would send."""
        lines = "".join(f"{each}\r\n" for each in ("Connection: close", *headers))
        return f"{method} {path} HTTP/1.1\r\n{self.known}{lines}\r\n".encode("latin-1") + body


def statuses(read: bytes) -> list[int]:
    """The statuses of all answers."""
    return [int(each[:3]) for each in read.split(b"HTTP/1.1 ")[1:]]


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x00" * 100,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"hello\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\n: no name\r\n\r\n",
        b"GET / HTTP/1.1\r\nA\x00B: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET \xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http:// HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=lambda garbage: ascii(garbage)[:30],
)
def test_what_is_no_request_is_refused_in_the_one_form(ask: Ask, garbage: bytes) -> None:
    read = ask(garbage)
    assert statuses(read) == [400], read
    assert b"content-type: application/problem+json" in read
    assert b'"detail": "this is not a request' in read
    assert b"connection: close" in read.lower()


def test_a_request_without_a_host_is_answered(ask: Ask) -> None:
    read = ask(b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert statuses(read) in ([200], [400])


def test_a_path_that_is_a_whole_address_is_read(ask: Ask) -> None:
    assert statuses(ask(ask.request("GET", f"http://other.example{API}/version"))) == [200]
    assert statuses(ask(ask.request("OPTIONS", "*"))) in ([400], [404], [405])


@pytest.mark.parametrize(
    "chunk", [b"zz\r\nx\r\n", b"-1\r\nx\r\n", b"5\r\nxx\r\n0\r\n\r\n", b"F" * 40 + b"\r\n", b"\r\n"]
)
def test_garbage_among_chunks_is_refused(ask: Ask, chunk: bytes) -> None:
    head = ask.request("POST", TASKS, "Content-Type: application/json", "Transfer-Encoding: chunked")
    assert statuses(ask(head, chunk)) == [400]


def test_chunks_too_many_to_be_read_are_refused(ask: Ask) -> None:
    head = ask.request("POST", TASKS, "Content-Type: application/json", "Transfer-Encoding: chunked")
    read = ask(head, *[b"%x\r\n%b\r\n" % (2**16, b" " * 2**16)] * 17, b"0\r\n\r\n")
    assert statuses(read) == [413]


def test_a_body_that_is_cut_off_changes_nothing(ask: Ask) -> None:
    whole = b'{"name": "cut off", "type": "command", "payload": {"command": ["true"]}}'
    head = ask.request("POST", TASKS, "Content-Type: application/json", f"Content-Length: {len(whole) + 1}")
    assert statuses(ask(head + whole, close=True)) in ([], [400])
    assert b"cut off" not in ask(ask.request("GET", TASKS))


def test_whoever_expects_to_be_told_to_go_on_is_told_so_unless_it_is_refused(ask: Ask) -> None:
    body = b'{"schedule": "@daily"}'
    more = ("Content-Type: application/json", f"Content-Length: {len(body)}", "Expect: 100-continue")
    assert statuses(ask(ask.request("POST", f"{API}/schedules/preview", *more, body=body))) == [100, 200]
    known, ask.known = ask.known, "Host: x\r\n"
    assert statuses(ask(ask.request("POST", f"{API}/schedules/preview", *more))) == [401]
    ask.known = known
    huge = ("Content-Type: application/json", f"Content-Length: {2**40}", "Expect: 100-continue")
    assert statuses(ask(ask.request("POST", f"{API}/schedules/preview", *huge))) == [413]


def test_requests_that_come_at_once_are_answered_in_their_order(ask: Ask) -> None:
    one = f"GET {API}/version HTTP/1.1\r\n{ask.known}\r\n".encode()
    two = f"GET {API}/none HTTP/1.1\r\n{ask.known}\r\n".encode()
    last = ask.request("GET", f"{API}/version")
    assert statuses(ask(one + two + one + two + last)) == [200, 404, 200, 404, 200]
    assert statuses(ask(one + b"garbage\r\n\r\n"))[-1] == 400


def test_ten_thousand_bytes_of_headers_are_read_and_a_hundred_thousand_are_not(ask: Ask) -> None:
    assert statuses(ask(ask.request("GET", f"{API}/version", f"X-Much: {'x' * 10_000}"))) == [200]
    assert statuses(ask(ask.request("GET", f"{API}/version", *["X-Many: x"] * 1_000))) == [200]
    assert statuses(ask(ask.request("GET", f"{API}/version", f"X-Much: {'x' * 100_000}"))) == [431]
    assert statuses(ask(ask.request("GET", f"{API}/version", *["X-Many: x"] * 20_000))) == [431]
    assert statuses(ask(ask.request("GET", f"{API}/tasks?q={'x' * 100_000}"))) in ([400], [431])


def test_headers_that_never_end_are_not_kept(ask: Ask) -> None:
    begun = f"GET {API}/version HTTP/1.1\r\n{ask.known}X-Much: ".encode()
    read = ask(begun, *[b"x" * 2**16] * 64)
    assert statuses(read) in ([431], [])  # whoever still sends may find the connection gone before the answer
    assert statuses(ask(begun, *[b"x" * 2**14] * 5)) == [431]


def test_another_protocol_is_not_switched_to(ask: Ask) -> None:
    for protocol in ("websocket", "h2c", "TLS/1.0"):
        wanted = f"Connection: Upgrade, close\r\nUpgrade: {protocol}\r\nSec-WebSocket-Version: 13\r\n"
        sent = f"GET {API}/version HTTP/1.1\r\n{ask.known}{wanted}Sec-WebSocket-Key: eA==\r\n\r\n"
        assert statuses(ask(sent.encode())) == [200]


async def _raw(rest: httpx.AsyncClient, sent: bytes) -> tuple[bytes, float]:
    """Send some bytes and then nothing; return what comes until the server closes, and after how many seconds."""
    reader, writer = await asyncio.open_connection(rest.base_url.host, rest.base_url.port)
    began = time.monotonic()
    try:
        writer.write(sent)
        read = await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
    finally:
        writer.close()
        await writer.wait_closed()
    return read, time.monotonic() - began


async def test_nobody_is_waited_for_for_ever(rest: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "BODY_SECONDS", 0.5)
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.5)
    known = f"Host: x\r\nAuthorization: {rest.headers['Authorization']}\r\n"
    body = f"POST {TASKS} HTTP/1.1\r\n{known}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode()
    chunked = f"POST {TASKS} HTTP/1.1\r\n{known}Transfer-Encoding: chunked\r\n\r\n5\r\nxx".encode()
    head = f"GET {API}/version HTTP/1.1\r\n{known}".encode()
    after = f"GET {API}/version HTTP/1.1\r\n{known}\r\nGET ".encode()
    found = await asyncio.gather(*(_raw(rest, sent) for sent in (body, chunked, head, after, b"")))
    assert [statuses(read) for read, _ in found] == [[408], [408], [408], [200, 408], []]
    assert all(b"408" not in read or b"seconds: send" in read for read, _ in found)
    assert all(0.3 < seconds < 10 for _, seconds in found)


async def test_whoever_goes_on_asking_is_not_cut_off(rest: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.5)
    for _ in range(5):
        assert (await rest.get(f"{API}/version")).status_code == 200
        await asyncio.sleep(0.2)


async def test_no_refusal_gets_into_the_midst_of_an_answer(
    rest: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.5)
    stream = f"GET {API}/events HTTP/1.1\r\nHost: x\r\nAuthorization: {rest.headers['Authorization']}\r\n\r\n"
    read, _ = await _raw(rest, f"{stream}GET ".encode())
    assert statuses(read) == [200]
    assert b"event: hello" in read
    assert b"problem" not in read
