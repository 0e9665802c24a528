"""The API's end of a connection: uvicorn's, with bounds on what may come before there is a request to be refused.

uvicorn waits for the rest of a request's head for ever, and keeps as much of it as is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from hourhand.api.gate import MAX_HEAD_BYTES
from hourhand.api.problems import Problem
from hourhand.api.streaming import CUT

if TYPE_CHECKING:
    import asyncio

HEAD_SECONDS = 30.0
"""So long a client may take for the line and the headers of its request, from its first byte or the connection on."""


class Connection(HttpToolsProtocol):
    """One connection."""

    _head_timer: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request, but not for ever."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._end_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless what must be the head of a request does not end."""
        super().data_received(data)
        if self._head_timer is not None and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(431, f"the headers are larger than {MAX_HEAD_BYTES} bytes: send less")

    def on_message_begin(self) -> None:
        """Begin to count."""
        super().on_message_begin()
        self.scope["extensions"] = {CUT: self.transport.abort}  # type: ignore[dict-item]  # ours holds what can be called
        self._expect_head()

    def on_headers_complete(self) -> None:
        """Leave the rest to the gate."""
        self._end_head()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's words say less
        """Refuse what is no request."""
        self._refuse(400, "this is not a request of HTTP/1.1: send a method, a path and headers, and no garbage")

    def _expect_head(self) -> None:
        self._end_head()
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._too_late)

    def _end_head(self) -> None:
        self._head_bytes = 0
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _too_late(self) -> None:
        if self._head_bytes:
            self._refuse(408, f"the headers were not complete after {HEAD_SECONDS:g} seconds: send them at once")
        else:
            self.transport.close()  # nothing was asked

    def _refuse(self, status: int, detail: str) -> None:
        self._end_head()
        if self.transport.is_closing():
            return
        if self.cycle is None or not self.cycle.response_started or self.cycle.response_complete:
            problem = Problem(status, detail, headers={"Connection": "close"})
            head = b"".join(name + b": " + value + b"\r\n" for name, value in problem.raw_headers)
            self.transport.write(STATUS_LINE[status] + head + b"\r\n" + bytes(problem.body))
        self.transport.close()  # without a word where it would be in the middle of another answer
