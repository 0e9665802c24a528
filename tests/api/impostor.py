"""A small server that hands on what a real one answers, but for some lies: of clocks, releases and what it is."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Served


@contextmanager
def impostor(served: Served, *, ahead: float = 0.0, version: str = "", stranger: bool = False) -> Iterator[str]:
    """Stand before a served process; the address to ask."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {"Authorization": self.headers.get("Authorization", "")}
            answer = httpx.get(f"{served.address}{self.path}", headers=headers, timeout=30, trust_env=False)
            body = answer.content
            if self.path.endswith("/diagnosis"):
                told = answer.json()
                at = datetime.fromisoformat(told["process"]["looked_at"]) + timedelta(seconds=ahead)
                told["process"]["looked_at"] = at.isoformat()
                body = json.dumps(told).encode()
            elif self.path.endswith("/version") and version:
                body = json.dumps({"version": version}).encode()
            elif stranger:
                body = b"<html>It works!</html>"
            self.send_response(answer.status_code)
            self.send_header("Content-Type", answer.headers["Content-Type"])
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
