"""A served process with one of everything in it, for tests that send it whatever can be sent."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from api.answers import API
from serving import Served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PASSWORD = "seven-quiet-otters"  # noqa: S105 - nobody else's
CALLBACK = "Hourhand-Callback"
NOBODY = "http://127.0.0.1:9/"
"""Nothing listens there."""
LIBRARIES_WORDS = frozenset({"Input should", "String should", "Value error", "value_error", "Extra inputs"})
LIBRARIES_WORDS |= {"Field required", "pydantic", "Traceback", "sqlite3", "asyncpg", "Unable to"}


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def refused(self, *statuses: int) -> dict[str, Any]:
        """The problem that it must be, in our own words and with a field and a message for each wrong value."""
        text = self.body.decode()
        assert 400 <= self.status < 500, f"{self.status} {text[:1000]}"
        assert not statuses or self.status in statuses, f"{self.status} {text[:1000]}"
        assert self.headers["content-type"] == "application/problem+json", text[:1000]
        problem: dict[str, Any] = self.json
        assert problem["status"] == self.status
        assert problem["detail"].strip()
        assert len(text) < 20_000, "an answer grows with the request"
        for words in LIBRARIES_WORDS:
            assert words not in text, text[:1000]
        if self.status == 422:
            assert problem["errors"], text
            for each in problem["errors"]:
                assert each["field"], text
                assert len(each["message"]) > 5, text
        return problem


class Line:
    """One kept connection, plainer and faster than a client library's."""

    def __init__(self, address: str, token: str | None) -> None:
        self.host = urlsplit(address).netloc
        self.token = token
        self._connection = http.client.HTTPConnection(self.host, timeout=30)

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """Send a request; over a new connection when the server has closed the one before."""
        sent = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        sent |= {} if body is None else {"Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        for last in (False, True):
            try:
                self._connection.request(method, path, body, sent)
                answer = self._connection.getresponse()
                return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self._connection.close()
                if last:
                    raise
        raise AssertionError("unreachable")

    def send(self, method: str, path: str, given: Any = None) -> Any:
        """Do what must be done, and return its JSON."""
        answer = self.ask(method, f"{API}{path}", None if given is None else json.dumps(given).encode())
        assert answer.status < 300, (method, path, answer)
        return answer.json if answer.body else None

    def close(self) -> None:
        self._connection.close()


class _Elsewhere(BaseHTTPRequestHandler):
    """Takes on work, and says that its outcome comes later."""

    protocol_version = "HTTP/1.1"
    callbacks: list[str]

    def do_GET(self) -> None:
        self.callbacks.append(self.headers[CALLBACK])
        self.send_response(202)
        self.send_header(CALLBACK, "accepted")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@dataclass
class Arena:
    """The process, its document, and the ids of what there is."""

    served: Served
    admin: Line
    ids: dict[str, str] = field(default_factory=dict)
    _made: int = 0

    @cached_property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = self.admin.ask("GET", f"{API}/openapi.json").json
        return found

    def line(self, token: str | None) -> Line:
        """Open a connection of somebody else."""
        return Line(self.served.address, token)

    def path(self, template: str, **others: object) -> str:
        """Return a path of the document with the ids of what there is, or others."""
        for name, value in {**self.ids, **others}.items():
            template = template.replace(f"{{{name}}}", str(value))
        return template

    def operations(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Yield method, path and description of all there is in the document."""
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                yield method.upper(), path, operation

    def populate(self) -> None:
        """Make one of everything anew: some of it may have been deleted."""
        self._made += 1
        number, send = self._made, self.admin.send
        group = send("POST", "/groups", {"name": f"arena-{number}"})
        task = send("POST", "/tasks", {"name": f"arena-{number}", "type": "command", "payload": {"command": ["true"]}})
        held = send("POST", "/instances", {"task_id": task["id"]})
        rule = send(
            "POST",
            "/alert-rules",
            {"name": f"arena-{number}", "condition": {"kind": "failed"}, "targets": [{"webhook": NOBODY}]},
        )
        user = send("POST", "/users", {"name": f"arena-{number}", "password": PASSWORD, "role": "viewer"})
        token = send("POST", "/tokens", {"name": f"arena-{number}", "role": "viewer"})
        pause = send("POST", "/pauses", {"scope": "task", "task_id": task["id"], "reason": "it is a test"})
        calendar = send("POST", "/calendars", {"name": f"arena-{number}", "definition": {"weekdays": [6, 7]}})
        window = send(
            "POST",
            "/maintenance-windows",
            {
                "name": f"arena-{number}",
                "scope": "task",
                "task_id": task["id"],
                "schedule": "0 2 * * *",
                "duration_seconds": 60,
                "reason": "it is a test",
            },
        )
        source = send(
            "POST",
            "/data-sources",
            {"name": f"arena-{number}", "dialect": "sqlite", "database": "/none/shop.db", "test": False},
        )
        self.ids |= {
            "source_id": str(source["id"]),
            "calendar_id": str(calendar["id"]),
            "window_id": str(window["id"]),
            "task_id": str(task["id"]),
            "instance_id": str(held["id"]),
            "group_id": str(group["id"]),
            "rule_id": str(rule["id"]),
            "user_id": str(user["id"]),
            "token_id": str(token["id"]),
            "pause_id": str(pause["id"]),
            "session_id": "1",
            "kind": "statistics_update",
        }

    def callback(self) -> str:
        """Return the signed address at which the work of a running instance reports."""
        handler = type("Elsewhere", (_Elsewhere,), {"callbacks": []})
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            thread = threading.Thread(target=server.serve_forever, daemon=True)
            thread.start()
            url = f"http://127.0.0.1:{server.server_address[1]}/"
            task = self.admin.send("POST", "/tasks", {"name": "elsewhere", "type": "http", "payload": {"url": url}})
            self.admin.send("POST", f"/tasks/{task['id']}/run")
            deadline = time.monotonic() + 30
            while not handler.callbacks:  # type: ignore[attr-defined]
                assert time.monotonic() < deadline, "the task has not been run"
                time.sleep(0.02)
            server.shutdown()
            thread.join()
        path: str = urlsplit(handler.callbacks[0]).path  # type: ignore[attr-defined]
        return path


@contextmanager
def arena(folder: Path, *arguments: str, **environment: str) -> Iterator[Arena]:
    """Serve one."""
    with Served(folder, *arguments, **environment) as served:
        admin = Line(served.address, served.token)
        made = Arena(served, admin)
        try:
            made.populate()
            yield made
        finally:
            admin.close()
