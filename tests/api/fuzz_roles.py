"""Cases that schemathesis makes of the document, sent by nobody and by each role in turn."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import requests
from schemathesis import checks
from schemathesis.specs.openapi import checks as openapi_checks

from api.fuzz_arena import NOBODY
from hourhand.model.words import Role

if TYPE_CHECKING:
    import schemathesis
    from schemathesis import CheckFunction

    from api.fuzz_arena import Arena

VISITOR = "nobody"
CHECKS: list[CheckFunction] = [
    checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_headers_conformance,
    openapi_checks.response_schema_conformance,
]
PATIENCE_SECONDS = 60
RIGHT: dict[str, Any] = {
    "type": "command",
    "payload": {"command": ["true"]},
    "schedule": "@daily",
    "timezone": "Asia/Shanghai",
    "group": "default",
    "groups": ["default"],
    "dependency_ids": [],
    "executor_labels": {},
    "concurrency_key": None,
    "condition": {"kind": "failed"},
    "targets": [],
    "scope": "all",
    "definition": {"weekdays": [6, 7]},
    "duration_seconds": 60,
    "from": "2026-11-01T00:00:00Z",
    "to": "2026-11-02T00:00:00Z",
    "cursor": None,
    "step": "1h",
}
_ID = re.compile(r"-?[0-9]+", re.ASCII)
_ADDRESS = re.compile(r"[a-z]+://(?!127\.0\.0\.1)")


@dataclass
class Fuzz:
    """Whoever sends, and how often each has."""

    arena: Arena
    sessions: dict[str, requests.Session] = field(default_factory=dict)
    sent: Counter[str] = field(default_factory=Counter)
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    _own: frozenset[int] = frozenset()
    _last: str = ""

    def open(self) -> None:
        """Make a token for each role: the admin among them is not the one that everything else is done with."""
        tokens: dict[str, str | None] = {VISITOR: None}
        for role in Role:
            made = self.arena.admin.send("POST", "/tokens", {"name": f"fuzz-{role.value}", "role": role.value})
            tokens[role.value] = made["token"]
            self._own |= {made["id"]}
        self._own |= {1}  # the one that the process was started with
        for who, token in tokens.items():
            session = self.sessions[who] = requests.Session()
            session.trust_env = False
            if token is not None:
                session.headers["Authorization"] = f"Bearer {token}"

    def close(self) -> None:
        for session in self.sessions.values():
            session.close()

    def send(self, case: schemathesis.Case[Any]) -> None:
        """Send a case as everybody, and look at every answer."""
        self._prepare(case)
        wanted = case.operation.definition.raw.get("x-role")
        for who, session in self.sessions.items():
            session.cookies.clear()
            answer = case.call(self.arena.served.address, session, timeout=PATIENCE_SECONDS)
            self.sent[who] += 1
            self.answers[who, answer.status_code] += 1
            case.validate_response(answer, checks=_checks(answer))
            if wanted is None or case.method.upper() not in _methods(case):
                continue
            if who == VISITOR:
                assert answer.status_code == 401, f"{case.operation.label} answers nobody with {answer.status_code}"
            elif not Role(who).includes(Role(wanted)):
                assert answer.status_code >= 400, f"{case.operation.label} answers the role {who}"

    def _prepare(self, case: schemathesis.Case[Any]) -> None:
        """Name what there is now and then, spare the tokens of this test, and call nobody outside this machine."""
        if case.operation.label != self._last:
            if self._last.startswith("DELETE") or self._last.endswith("/bulk"):
                self.arena.populate()
            self._last = case.operation.label
        for name, value in case.path_parameters.items():
            if name in self.arena.ids and isinstance(value, int) and value % 3 == 0:
                case.path_parameters[name] = int(self.arena.ids[name])
        token = str(case.path_parameters.get("token_id"))
        if _ID.fullmatch(token) and int(token[:20]) in self._own:
            case.path_parameters["token_id"] = int(self.arena.ids["token_id"])
        self._correct(case.query)
        if isinstance(case.body, dict):
            self._correct(case.body)
            if _ADDRESS.search(str(case.body.get("targets"))):
                case.body["targets"] = [{"webhook": NOBODY}]
            if isinstance(case.body.get("host"), str):
                case.body["host"] = "127.0.0.1"
            if _ADDRESS.search(str(case.body.get("url"))):
                case.body["url"] = "postgresql://ann@127.0.0.1:9/shop"

    def _correct(self, given: dict[str, Any]) -> None:
        """Put right what could hardly be right by chance, every other time, so that the rest of it is looked at."""
        right = {**RIGHT, "task_id": int(self.arena.ids["task_id"])}
        for name, value in given.items():
            if name in right and zlib.crc32(f"{name}{value!r}{len(given)}".encode("utf-8", "replace")) % 2:
                given[name] = right[name]


def _checks(answer: schemathesis.Response) -> list[CheckFunction]:
    """Return what to look at; of a stream, which the document calls a text, schemathesis would read the events."""
    streamed = answer.headers.get("content-type", [""])[0].startswith("text/event-stream")
    return [each for each in CHECKS if not (streamed and each is openapi_checks.response_schema_conformance)]


def _methods(case: schemathesis.Case[Any]) -> set[str]:
    """Return the methods that the document has for a path; other ones are tried too."""
    return {case.operation.method.upper()}
