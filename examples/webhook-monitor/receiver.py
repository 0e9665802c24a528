"""A website to look after, which also takes the alerts about itself: `python receiver.py --port 8000`."""

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BROKEN = Path("broken")
"""While there is this file, the site is down."""


class Site(BaseHTTPRequestHandler):
    """`GET /health` is what is watched; `POST /alerts` is where notices arrive."""

    def do_GET(self) -> None:
        """Answer 200, or 503 while the site is broken."""
        self._answer(503 if BROKEN.exists() else 200, b"broken\n" if BROKEN.exists() else b"fine\n")

    def do_POST(self) -> None:
        """Write down what an alert says."""
        notice = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with Path("alerts.txt").open("a") as alerts:
            alerts.write(f"{notice['kind']}: {notice['title']}\n")
        self._answer(204, b"")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args().port
    with ThreadingHTTPServer(("127.0.0.1", port), Site) as server:
        print(f"http://127.0.0.1:{port}/health is up; Ctrl-C stops it", flush=True)
        server.serve_forever()
