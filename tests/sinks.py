"""Where notices arrive in tests: a real HTTP server and a real SMTP server, each in a thread of its own."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from typing import TYPE_CHECKING, Any

from aiosmtpd.controller import Controller

if TYPE_CHECKING:
    from aiosmtpd.smtp import SMTP, Envelope, Session

PATIENCE = 60.0


@dataclass
class Sink:
    """What arrived so far."""

    port: int
    arrived: list[dict[str, Any]] = field(default_factory=list)

    def wait(self, wanted: str, *, seconds: float = PATIENCE) -> dict[str, Any]:
        """Wait for something whose text says this, and return it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for one in list(self.arrived):
                if wanted in one["text"]:
                    return one
            time.sleep(0.05)
        raise AssertionError(f"{wanted!r} did not arrive; what did: {[one['text'] for one in self.arrived]}")


@contextlib.contextmanager
def http_sink(port: int = 0, *, status: int = 200) -> Iterator[Sink]:
    """Serve HTTP; of each request its path, headers (names in lower case), body, and JSON if it is some."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            headers = {name.lower(): value for name, value in self.headers.items()}
            read = json.loads(body)
            text = read.get("text", read.get("message", ""))
            sink.arrived.append({"path": self.path, "headers": headers, "body": body, "json": read, "text": text})
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        server.daemon_threads = True
        sink = Sink(server.server_port)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield sink
        finally:
            server.shutdown()
            thread.join()


class _Mailbox:
    def __init__(self, sink: Sink) -> None:
        self.sink = sink

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's
        content = envelope.content
        assert isinstance(content, bytes)
        message = message_from_bytes(content, policy=policy.default)
        body = message.get_body(("plain", "html"))
        assert body is not None
        text = f"{message['Subject']}\n{body.get_content()}"
        self.sink.arrived.append({"to": list(envelope.rcpt_tos), "text": text})
        return "250 OK"


@contextlib.contextmanager
def smtp_sink(port: int) -> Iterator[Sink]:
    """Take mail at this port."""
    sink = Sink(port)
    controller = Controller(_Mailbox(sink), hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield sink
    finally:
        controller.stop()
