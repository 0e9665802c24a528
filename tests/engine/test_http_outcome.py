"""What becomes of an http task, whatever it is answered."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from engine.attempts import PATIENCE, Recorded
from engine.http_serving import Server, answer, outcome_of, output, run, under_way
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.runners import http
from hourhand.runners.http import HttpRunner
from hourhand.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from engine.http_serving import Asked


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server() as started:
        yield started


async def test_a_status_from_200_to_299_is_success(server: Server) -> None:
    outcome = await outcome_of(server, answer("201 Created", b"done\n"))
    assert outcome.kind is OutcomeKind.SUCCESS
    assert outcome.result == {"output": "done\n", "error": None, "status_code": 201}
    assert outcome.output_summary == "done\n"
    assert outcome.error_message is None


async def test_the_log_tells_the_call_without_its_query_and_the_answer(server: Server) -> None:
    url = server.on("/path", answer("200 OK", b"four"))
    _, attempt = await run({"url": f"{url}?token=canary", "headers": {"Authorization": "canary"}})
    first, second = (line.message for line in attempt.lines)
    assert first == f"GET {url}"
    assert second.startswith("answered 200 OK in ")
    assert second.endswith(" ms, 4 bytes")


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("503 Whatever", "503 Service Unavailable"),
        ("500 X", "500 Internal Server Error"),
        ("429 X", "429 Too Many Requests"),
        ("408 X", "408 Request Timeout"),
        ("404 X", "404 Not Found"),
        ("599 X", "599"),
        ("304 X", "304 Not Modified"),
        ("302 X", "302 Found"),
    ],
)
async def test_any_other_status_is_a_failure_in_words_that_may_be_retried(
    server: Server, status: str, told: str
) -> None:
    body = b"" if status.startswith("304") else b"\n  out of paper \nmore"
    outcome = await outcome_of(server, answer(status, body), method="POST")
    line = ": out of paper" if body else ""
    assert outcome.kind is OutcomeKind.FAILED
    assert outcome.retryable
    assert outcome.error_message == (f"POST {server.url('/')} answered {told}, expected 200\N{EN DASH}299{line}")
    assert outcome.result == {
        "output": body.decode(),
        "error": outcome.error_message,
        "status_code": int(status[:3]),
    }


async def test_expected_status_decides_instead_where_it_is_given(server: Server) -> None:
    assert (await outcome_of(server, answer("404 X"), expected_status=[204, 404])).kind is OutcomeKind.SUCCESS
    outcome = await outcome_of(server, answer("200 OK"), expected_status=[204, 404])
    assert outcome.error_message == f"GET {server.url('/')} answered 200 OK, expected 204, 404"


async def test_an_expected_redirect_is_not_followed(server: Server) -> None:
    outcome = await outcome_of(server, answer("302 Found", Location="/elsewhere"), expected_status=[302])
    assert outcome.kind is OutcomeKind.SUCCESS
    assert len(server.asked) == 1


async def broken(server: Server, respond: Any, **payload: Any) -> str:
    """Return the message of a failure without an answer, which must be worth a retry."""
    outcome = await outcome_of(server, respond, **payload)
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, True)
    assert outcome.result == {"output": "", "error": outcome.error_message, "status_code": None}
    assert outcome.error_message
    assert outcome.error_message.startswith(f"GET {server.url('/')}: ")
    return outcome.error_message


async def test_a_refused_connection_is_worth_a_retry(server: Server) -> None:
    async with Server() as gone:
        url = gone.url("/")
    outcome, _ = await run({"url": url})
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, True)
    assert outcome.error_message == f"GET {url}: could not connect: Connection refused"
    assert not server.asked


async def test_an_unknown_name_is_worth_a_retry() -> None:
    outcome, _ = await run({"url": "http://no-such-name.invalid/"})
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, True)
    assert outcome.error_message is not None
    assert outcome.error_message.startswith("GET http://no-such-name.invalid/: could not connect: ")


async def test_a_connection_that_does_not_come_about_in_time_is_worth_a_retry() -> None:
    with ExitStack() as sockets:
        full = sockets.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        # Nobody accepts, so once these have filled the queue the next one hangs.
        for _ in range(16):
            waiting = sockets.enter_context(socket.socket())
            waiting.settimeout(0)
            waiting.connect_ex(address)
        url = f"http://127.0.0.1:{address[1]}/"
        outcome, _ = await run({"url": url, "connect_timeout_seconds": 0.5})
    assert outcome.retryable
    assert outcome.error_message == f"GET {url}: could not connect: no answer within 0.5 s"


async def test_a_name_server_that_hangs_ends_with_the_time_to_connect() -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        await asyncio.sleep(3600)
        return []

    outcome, _ = await run({"url": "http://slow.example/", "connect_timeout_seconds": 0.1}, resolve=resolve)
    assert outcome.retryable
    assert outcome.error_message == "GET http://slow.example/: could not connect: no answer within 0.1 s"


async def test_a_reset_connection_is_worth_a_retry(server: Server) -> None:
    async def respond(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        reset(writer)

    assert "the connection broke: " in await broken(server, respond)


async def test_a_connection_closed_without_a_word_is_worth_a_retry(server: Server) -> None:
    assert "Server disconnected without sending a response" in await broken(server, b"")


async def test_an_answer_that_breaks_off_is_worth_a_retry(server: Server) -> None:
    assert "no complete answer in HTTP came: " in await broken(server, answer("200 OK", b"half", Content_Length="8"))


@pytest.mark.parametrize(
    "garbage",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"\x00\xff" * 100_000,
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 50_000,
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
async def test_garbage_instead_of_http_is_worth_a_retry_and_told_shortly(server: Server, garbage: bytes) -> None:
    told = await broken(server, garbage)
    assert "no complete answer in HTTP came: " in told
    assert len(told) < 500


async def test_a_server_that_falls_silent_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "SILENCE_SECONDS", 0.2)

    async def respond(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab")
        await writer.drain()
        await asyncio.sleep(3600)

    assert (await broken(server, respond)).endswith(": nothing came for 0.2 s")


async def test_the_time_out_of_the_task_replaces_the_bound_on_silence(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "SILENCE_SECONDS", 0.05)

    async def respond(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.5)
        writer.write(answer("200 OK", b"late"))

    outcome, _ = await run({"url": server.on("/", respond)}, timeout_seconds=600)
    assert outcome.kind is OutcomeKind.SUCCESS


async def test_a_slow_answer_is_read_to_its_end(server: Server) -> None:
    async def respond(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        for byte in answer("200 OK", b"slowly"):
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.002)

    assert output(await outcome_of(server, respond)) == "slowly"


async def test_one_runner_serves_many_attempts_at_once(server: Server) -> None:
    together = asyncio.Barrier(20)

    async def respond(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await together.wait()
        writer.write(answer("200 OK", asked.headers["hourhand-instance-id"].encode()))

    url = server.on("/", respond)
    runner = HttpRunner(Settings(), loopback=True)
    attempts = [Recorded(TaskType.HTTP, {"url": url}, instance_id=number) for number in range(20)]
    async with asyncio.timeout(PATIENCE):
        outcomes = await asyncio.gather(*(runner.run(attempt) for attempt in attempts))
    await runner.close()
    assert [output(outcome) for outcome in outcomes] == [str(number) for number in range(20)]


async def test_a_cancel_closes_the_connection(server: Server) -> None:
    reached = asyncio.Event()

    async def respond(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        await writer.drain()
        reached.set()
        while not writer.transport.is_closing():
            writer.write(b".")
            await asyncio.sleep(0.02)

    async with under_way(Recorded(TaskType.HTTP, {"url": server.on("/", respond)})) as task:
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.disconnected.wait()


def reset(writer: asyncio.StreamWriter) -> None:
    """Close so that the other side sees a reset."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
