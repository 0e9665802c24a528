"""What becomes of the answer to an http task, whatever it is."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from engine.attempts import PATIENCE, Recorded
from engine.http_serving import Server, answer, run
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.runners import http
from hourhand.runners.http import HttpRunner
from hourhand.runners.http_answer import KEPT_BYTES, READ_BYTES, SUMMARY_BYTES
from hourhand.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from engine.http_serving import Asked
    from hourhand.model.instance import Outcome

CALLBACK = "https://hourhand.example/api/v1/callbacks/canary"


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server() as started:
        yield started


async def outcome_of(server: Server, respond: Any, **payload: Any) -> Outcome:
    outcome, _ = await run({"url": server.on("/", respond), **payload})
    return outcome


def output(outcome: Outcome) -> str:
    assert outcome.result is not None
    text: str = outcome.result["output"]
    return text


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


async def test_of_a_long_answer_the_start_is_kept_and_says_so(server: Server) -> None:
    outcome = await outcome_of(server, answer("200 OK", "é".encode() * 40_000))
    text = output(outcome)
    assert text == "é" * (KEPT_BYTES // 2) + f"\n[cut: the answer has 80000 bytes, {KEPT_BYTES} are kept]"
    assert outcome.output_summary is not None
    assert text.endswith(outcome.output_summary)
    assert SUMMARY_BYTES - 3 <= len(outcome.output_summary.encode()) <= SUMMARY_BYTES


async def test_an_answer_of_exactly_the_bound_is_not_cut(server: Server) -> None:
    assert output(await outcome_of(server, answer("200 OK", b"x" * KEPT_BYTES))) == "x" * KEPT_BYTES


async def endless(server: Server, chunk: bytes, **headers: str) -> Outcome:
    async def respond(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(answer("200 OK", Content_Length=str(10**12), **headers))
        while True:
            writer.write(chunk)
            await writer.drain()

    outcome = await outcome_of(server, respond)
    async with asyncio.timeout(PATIENCE):
        await server.disconnected.wait()
    return outcome


async def test_an_endless_answer_is_dropped_after_the_cap(server: Server) -> None:
    outcome = await endless(server, b"y" * 50_000)
    assert outcome.kind is OutcomeKind.SUCCESS
    assert output(outcome).endswith(f"y\n[cut: the answer has more than {READ_BYTES} bytes, {KEPT_BYTES} are kept]")


async def test_an_endless_packed_answer_that_unpacks_to_nothing_is_dropped_too(server: Server) -> None:
    outcome = await endless(server, b"\x00\x00\x00\xff\xff" * 10_000, Content_Encoding="deflate")
    assert output(outcome) == f"\n[cut: the answer has more than {READ_BYTES} bytes, {KEPT_BYTES} are kept]"


async def test_a_packed_answer_is_unpacked(server: Server) -> None:
    raw = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    for encoding, data in {
        "gzip": gzip.compress(b"hello"),
        "x-gzip": gzip.compress(b"hello"),
        "deflate": zlib.compress(b"hello"),
        "Deflate": raw.compress(b"hello") + raw.flush(),
        "identity": b"hello",
    }.items():
        assert output(await outcome_of(server, answer("200 OK", data, Content_Encoding=encoding))) == "hello"


async def test_a_gzip_bomb_is_bounded_after_unpacking(server: Server) -> None:
    bomb = gzip.compress(b"\x41" * 200_000_000, 9)
    assert len(bomb) < READ_BYTES
    outcome = await outcome_of(server, answer("200 OK", bomb, Content_Encoding="gzip"))
    assert output(outcome) == (
        "A" * KEPT_BYTES + f"\n[cut: the answer has more than {READ_BYTES} bytes, {KEPT_BYTES} are kept]"
    )


@pytest.mark.parametrize(
    ("encoding", "data", "told"),
    [
        ("gzip", b"not gzip at all", "\n[cut: the rest cannot be unpacked: "),
        ("gzip", gzip.compress(b"hello" * 100)[:-12], "\n[cut: the packed answer ends too early]"),
        ("br", b"1234", "[4 bytes in the encoding 'br', which is not read]"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"x")), "bytes in the encoding 'gzip, gzip', which is not read]"),
    ],
)
async def test_what_cannot_be_unpacked_is_said_and_the_status_still_counts(
    server: Server, encoding: str, data: bytes, told: str
) -> None:
    outcome = await outcome_of(server, answer("200 OK", data, Content_Encoding=encoding))
    assert outcome.kind is OutcomeKind.SUCCESS
    assert told in output(outcome)


@pytest.mark.parametrize(
    ("content_type", "data", "text"),
    [
        ("text/plain; charset=gb2312", "结账".encode("gb2312"), "结账"),
        ('text/html; Charset="ISO-8859-1"', b"\xe9", "é"),
        ("text/plain", "é".encode(), "é"),
        ("text/plain; charset=nonsense", "é".encode(), "é"),
        ("text/plain; charset=punycode", b"abc-", "abc-"),
        ("text/plain; charset=hex", b"6162", "6162"),
        ("text/plain; charset=\x01", b"a", "a"),
        ("application/octet-stream", b"\x00\x01\xff\n\x7f", "\ufffd\ufffd\ufffd\n\ufffd"),
        ("", b"a", "a"),
    ],
)
async def test_a_body_is_decoded_as_it_says_or_as_utf_8(
    server: Server, content_type: str, data: bytes, text: str
) -> None:
    outcome = await outcome_of(server, answer("200 OK", data, Content_Type=content_type))
    if "\x01" in content_type:  # h11 refuses such a header; whatever it does, the attempt ends with an outcome
        assert outcome.kind in (OutcomeKind.SUCCESS, OutcomeKind.FAILED)
    else:
        assert output(outcome) == text


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
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        # Nobody accepts, so once these are in the queue the next one hangs.
        waiting = [socket.socket() for _ in range(4)]
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(("127.0.0.1", port))
            outcome, _ = await run(
                {"url": f"http://127.0.0.1:{port}/", "connect_timeout_seconds": 0.5}, timeout_seconds=8
            )
        except TimeoutError:
            pytest.skip("this kernel takes connections beyond the length of the queue")
        finally:
            for one in waiting:
                one.close()
    assert outcome.retryable
    assert outcome.error_message == (f"GET http://127.0.0.1:{port}/: could not connect: no answer within 0.5 s")


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


async def test_a_cancel_closes_the_connection(server: Server) -> None:
    reached = asyncio.Event()

    async def respond(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        await writer.drain()
        reached.set()
        while not writer.transport.is_closing():
            writer.write(b".")
            await asyncio.sleep(0.02)

    async with cancelling(Recorded(TaskType.HTTP, {"url": server.on("/", respond)})) as task:
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.disconnected.wait()


class cancelling:  # noqa: N801  # reads like the context manager that it is
    """An attempt under way, which the test cancels."""

    def __init__(self, attempt: Recorded) -> None:
        self._attempt = attempt
        self._patience = asyncio.timeout(PATIENCE)

    async def __aenter__(self) -> asyncio.Task[Outcome]:
        await self._patience.__aenter__()
        self._runner = HttpRunner(Settings())
        self._task = asyncio.create_task(self._runner.run(self._attempt))
        return self._task

    async def __aexit__(self, *error: Any) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])
        await self._runner.close()
        await self._patience.__aexit__(*error)


async def until_logged(attempt: Recorded, text: str) -> None:
    while not any(text in line.message for line in attempt.lines):  # noqa: ASYNC110  # nothing tells when it is logged
        await asyncio.sleep(0.02)


async def test_an_accepted_callback_keeps_the_attempt_running_until_it_is_cancelled(server: Server) -> None:
    url = server.on("/", answer("202 Accepted", b"later", Hourhand_Callback="Accepted"))
    attempt = Recorded(TaskType.HTTP, {"url": url, "method": "POST"}, callback_url=CALLBACK)
    async with cancelling(attempt) as task:
        await until_logged(attempt, "waits for its callback")
        await server.disconnected.wait()
        done, _ = await asyncio.wait([task], timeout=0.2)
        assert not done
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert server.asked[0].headers["hourhand-callback"] == CALLBACK
    assert not any("canary" in line.message for line in attempt.lines)


@pytest.mark.parametrize(
    ("status", "header", "callback", "expected"),
    [
        ("202 Accepted", "", CALLBACK, []),
        ("202 Accepted", "refused", CALLBACK, []),
        ("202 Accepted", "accepted", None, []),
        ("200 OK", "accepted", CALLBACK, []),
        ("202 Accepted", "", CALLBACK, [202]),
    ],
)
async def test_without_the_whole_agreement_an_answer_is_just_an_answer(
    server: Server, status: str, header: str, callback: str | None, expected: list[int]
) -> None:
    url = server.on("/", answer(status, Hourhand_Callback=header))
    payload = {"url": url, "expected_status": expected or None}
    outcome, _ = await run(payload, callback_url=callback)
    assert outcome.kind is OutcomeKind.SUCCESS


async def test_a_202_that_is_not_expected_is_a_failure_with_or_without_callback(server: Server) -> None:
    url = server.on("/", answer("202 Accepted", Hourhand_Callback="accepted"))
    outcome, _ = await run({"url": url, "expected_status": [200]}, callback_url=CALLBACK)
    assert outcome.kind is OutcomeKind.FAILED


def reset(writer: asyncio.StreamWriter) -> None:
    """Close so that the other side sees a reset."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
