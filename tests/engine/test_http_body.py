"""How much of an answer's body is read, unpacked and kept."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib
from typing import TYPE_CHECKING

import pytest

from engine.attempts import PATIENCE
from engine.http_serving import Server, answer, outcome_of, output
from hourhand.model.words import OutcomeKind
from hourhand.runners.http_answer import KEPT_BYTES, READ_BYTES, SUMMARY_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from engine.http_serving import Asked
    from hourhand.model.instance import Outcome


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server() as started:
        yield started


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
        "gzip": gzip.compress(b"hello", mtime=0),
        "x-gzip": gzip.compress(b"hello", mtime=0),
        "deflate": zlib.compress(b"hello"),
        "Deflate": raw.compress(b"hello") + raw.flush(),
        "identity": b"hello",
    }.items():
        assert output(await outcome_of(server, answer("200 OK", data, Content_Encoding=encoding))) == "hello"


async def test_a_gzip_bomb_is_bounded_after_unpacking(server: Server) -> None:
    bomb = gzip.compress(b"\x41" * 200_000_000, 9, mtime=0)
    assert len(bomb) < READ_BYTES
    respond = answer("200 OK", bomb, Content_Encoding="gzip")
    tracemalloc.start()
    try:
        outcome = await outcome_of(server, respond)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
    assert output(outcome) == (
        "A" * KEPT_BYTES + f"\n[cut: the answer has more than {READ_BYTES} bytes, {KEPT_BYTES} are kept]"
    )


@pytest.mark.parametrize(
    ("encoding", "data", "told"),
    [
        ("gzip", b"not gzip at all", "\n[cut: the rest cannot be unpacked: "),
        ("gzip", gzip.compress(b"hello" * 100, mtime=0)[:-12], "\n[cut: the packed answer ends too early]"),
        ("br", b"1234", "[4 bytes in the encoding 'br', which is not read]"),
        (
            "gzip, gzip",
            gzip.compress(gzip.compress(b"x", mtime=0), mtime=0),
            "bytes in the encoding 'gzip, gzip', which is not read]",
        ),
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
        ("application/octet-stream", b"\x00\x01\xff\n\x7f", "\ufffd\ufffd\ufffd\n\ufffd"),
        ("", b"a", "a"),
    ],
)
async def test_a_body_is_decoded_as_it_says_or_as_utf_8(
    server: Server, content_type: str, data: bytes, text: str
) -> None:
    outcome = await outcome_of(server, answer("200 OK", data, Content_Type=content_type))
    assert output(outcome) == text
