"""Runners: what an http call was answered, read and kept within bounds."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from email.message import Message
from http import HTTPStatus

import httpcore

READ_BYTES = 1024 * 1024
KEPT_BYTES = 64 * 1024
SUMMARY_BYTES = 4 * 1024
_LONGEST_LINE = 200
_WINDOWS = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}
# The web's encodings. Python knows more, and some of those (punycode, idna) take quadratic time.
_CHARSETS = frozenset(
    codecs.lookup(name).name
    for name in (
        "ascii utf-8 utf-8-sig utf-16 utf-16-le utf-16-be gbk gb2312 gb18030 big5 big5hkscs shift_jis cp932 euc_jp "
        "iso2022_jp euc_kr cp949 koi8-r koi8-u mac-roman cp866 cp874 "
        + " ".join(f"iso8859-{part}" for part in range(1, 17) if part != 12)  # noqa: PLR2004  # there is no part 12
        + "".join(f" cp125{page}" for page in range(9))
    ).split()
)
_CONTROLS = dict.fromkeys([*range(9), 11, 12, *range(14, 32), *range(127, 160)], "\N{REPLACEMENT CHARACTER}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer whose body has been read, as far as it is read at all."""

    status: int
    headers: dict[str, str]
    """By lower-case name; of several the last."""
    text: str
    received: int
    """Bytes of body that came over the wire before the connection was closed."""

    @property
    def told(self) -> str:
        """The status in numbers and words."""
        try:
            return f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            return str(self.status)

    @property
    def first_line(self) -> str:
        """The first line of the body that says something."""
        line = next((line.strip() for line in self.text.splitlines() if line.strip()), "")
        return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"

    @property
    def summary(self) -> str:
        """The end of what is kept."""
        return self.text.encode()[-SUMMARY_BYTES:].decode("utf-8", "ignore")


async def read_answer(response: httpcore.Response, *, wanted: Callable[[int, dict[str, str]], bool]) -> Answer:
    """Read an answer up to the bound, after which its connection is good for nothing but being closed.

    The body is read only if status and headers make it `wanted`: that of a redirect may be endless, and is not.
    """
    headers = {name.decode("ascii").lower(): value.decode("utf-8", "replace") for name, value in response.headers}
    encoding = headers.get("content-encoding", "").strip().lower()
    received = _Received(_WINDOWS.get(encoding))
    if wanted(response.status, headers):
        async with aclosing(response.aiter_stream()) as stream:  # type: ignore[type-var]  # it is a generator
            await received.read(stream)
    text = received.text(headers.get("content-type", ""), encoding)
    return Answer(status=response.status, headers=headers, text=text, received=received.count)


class _Received:
    """A body, decompressed as it comes; neither what comes nor what it unpacks to exceeds the bound."""

    def __init__(self, window: int | None) -> None:
        self._window = window
        self._unpack = None if window is None else zlib.decompressobj(window)
        self._data = bytearray()
        self._cut = False
        self._damage: str | None = None
        self.count = 0

    async def read(self, stream: AsyncIterator[bytes]) -> None:
        async for chunk in stream:
            self._take(chunk[: READ_BYTES - self.count])
            self._cut = self._cut or self.count + len(chunk) > READ_BYTES
            self.count += len(chunk)
            if self._cut or self._damage is not None:
                return

    def _take(self, chunk: bytes) -> None:
        if self._unpack is None:
            self._data += chunk
            return
        try:
            # One byte more than there is room for tells a body that just fits from one that goes on.
            self._data += self._unpack.decompress(chunk, READ_BYTES - len(self._data) + 1)
        except zlib.error as error:
            if self._window == zlib.MAX_WBITS and not self.count:
                # Some servers send deflate without the wrapping that its standard asks for.
                self._window = -zlib.MAX_WBITS
                self._unpack = zlib.decompressobj(self._window)
                self._take(chunk)
            else:
                self._damage = str(error)
        if len(self._data) > READ_BYTES:
            self._cut = True
            del self._data[READ_BYTES:]

    def text(self, content_type: str, encoding: str) -> str:
        if self._unpack is None and encoding not in ("", "identity") and self.count:
            return f"[{self.count} bytes in the encoding {encoding[:40]!r}, which is not read]"
        text = bytes(self._data).decode(_charset(content_type), "replace").translate(_CONTROLS)
        data = text.encode("utf-8", "replace")
        if self._damage is not None:
            return f"{_start(data)}\n[cut: the rest cannot be unpacked: {self._damage}]"
        if self._cut:
            return f"{_start(data)}\n[cut: the answer has more than {READ_BYTES} bytes, {KEPT_BYTES} are kept]"
        if self._unpack is not None and self.count and not self._unpack.eof:
            return f"{_start(data)}\n[cut: the packed answer ends too early]"
        if len(data) > KEPT_BYTES:
            return f"{_start(data)}\n[cut: the answer has {len(data)} bytes, {KEPT_BYTES} are kept]"
        return text


def _start(data: bytes) -> str:
    return data[:KEPT_BYTES].decode("utf-8", "ignore")


def _charset(content_type: str) -> str:
    message = Message()
    message["content-type"] = content_type
    named = message.get_content_charset("utf-8")
    try:
        found = codecs.lookup(named).name
    except (LookupError, ValueError):
        return "utf-8"
    return found if found in _CHARSETS else "utf-8"
