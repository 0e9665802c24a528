"""Runners: what a process writes, on its way to the instance log and, its end, to the result.

However much comes, only a chunk and the ends are in memory; what the log does not keep is read and dropped.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import json
from collections.abc import AsyncIterator, Iterator

from hourhand.contracts.runner import STDOUT, Attempt

KEPT_BYTES = 64 * 1024
"""How much of the end of each stream is in the result."""
SUMMARY_BYTES = 4 * 1024
CHUNK_BYTES = 32 * 1024
GATHER_SECONDS = 0.2
_JSON_BYTES = 120_000
"""What one stream may take in a result as JSON, so that both fit into what a store keeps."""
_LONGEST_CHARACTER = 4
_CONTINUATION = bytes(range(0x80, 0xC0))
"""What any byte of a character but the first may be."""
_CHUNK = CHUNK_BYTES - _LONGEST_CHARACTER
"""So many at a time, since the beginning of a character may be left from the last time."""


class Tail:
    """The end of what was written."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._cut = 0

    def add(self, data: bytes) -> None:
        """Take more, and forget what is too far from the end."""
        self._kept += data
        # Not at each call: moving the whole end for a few bytes would be slow.
        if len(self._kept) > 2 * self._limit:
            self._forget(self._limit)

    def _forget(self, limit: int) -> None:
        surplus = max(0, len(self._kept) - limit)
        del self._kept[:surplus]
        self._cut += surplus

    def text(self) -> str:
        """What was kept; where something is missing, a marker says so."""
        self._forget(self._limit)
        text = self._decoded()
        # What is not text takes three times its length as U+FFFD, and control characters six times as JSON.
        while len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")) > _JSON_BYTES:
            self._forget(len(self._kept) * 3 // 4)
            text = self._decoded()
        return f"[{self._cut} bytes before this were not kept]\n{text}" if self._cut else text

    def _decoded(self) -> str:
        kept = bytes(self._kept)
        if self._cut:
            # The cut may have gone through a character: what is left of it goes too.
            kept = kept[:_LONGEST_CHARACTER].lstrip(_CONTINUATION) + kept[_LONGEST_CHARACTER:]
        return kept.decode("utf-8", "replace").replace("\0", "")  # no store takes NUL

    def last_line(self) -> str:
        """The last line that is not blank."""
        return next((line.strip() for line in reversed(self._decoded().splitlines()) if line.strip()), "")


class Output:
    """Both streams of one attempt."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self.stdout = Tail(KEPT_BYTES)
        self.stderr = Tail(KEPT_BYTES)
        self._both = Tail(SUMMARY_BYTES)

    async def follow(self, reader: asyncio.StreamReader, stream: str) -> None:
        """Read one stream to its end, and log it while it comes."""
        tail = self.stdout if stream == STDOUT else self.stderr
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        async for chunk in gathered(reader):
            tail.add(chunk)
            self._both.add(chunk)
            self._log(decoder.decode(chunk), stream)
        self._log(decoder.decode(b"", final=True), stream)

    def summary(self) -> str | None:
        """The end of both, in the order in which it came."""
        return self._both.text() or None

    def _log(self, text: str, stream: str) -> None:
        for message in _pieces(text):
            self._attempt.log(message, stream=stream)


async def gathered(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """What arrives, in chunks: not one for each line, but whole lines where they end soon enough."""
    buffer = bytearray()
    ended = False
    while not ended:
        if not buffer:
            buffer += await reader.read(_CHUNK)
            ended = not buffer
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GATHER_SECONDS):
                while not ended and len(buffer) < _CHUNK:
                    data = await reader.read(_CHUNK - len(buffer))
                    ended = not data
                    buffer += data
        # What follows the last line's end waits for the rest of its line, but only once.
        cut = buffer.rfind(b"\n") + 1 or len(buffer)
        if cut:
            yield bytes(buffer[:cut])
            del buffer[:cut]
    if buffer:
        yield bytes(buffer)


def _pieces(text: str) -> Iterator[str]:
    """The text within the bounds of a chunk, which it can only exceed where bytes that are no text were replaced."""
    if text.isascii() or len(text.encode("utf-8", "replace")) <= CHUNK_BYTES:
        if text:
            yield text
        return
    step = CHUNK_BYTES // _LONGEST_CHARACTER
    for start in range(0, len(text), step):
        yield text[start : start + step]
