"""The gate every request passes: it gets an id, must show who sends it, and its body must be of a reasonable shape.

Denied by default: what is not public here needs a token or a session, also where no route is. Nothing else decides it.

Paths are of two kinds, told apart by their first word alone. Those of `ROUTED` go to the API's routes, and of them
only what `PUBLIC`, `SIGN_IN` and `SIGNED` name is public. All others go to the pages (`api.webui`), files that are the
same for everybody: to GET and HEAD they are public, whatever the path. A path is never both. So however it is spelt,
what is let through as a page cannot reach a route.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import uuid
from collections import Counter
from typing import TYPE_CHECKING, Protocol

from hourhand.api.browser import CSRF, foreign_origin, session_secret, shows_csrf_token
from hourhand.api.problems import Problem, problem_of, unexpected
from hourhand.model.errors import HourhandError, shown

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from hourhand.model.access import Principal

ROUTED = frozenset({"api", "docs", "healthz", "metrics", "readyz"})
"""The first words of the paths that routes answer; a route elsewhere would never be asked."""
PUBLIC = frozenset(
    {
        "/",
        "/sign-in",
        "/healthz",
        "/readyz",
        "/docs",
        "/docs/start.js",
        "/docs/swagger-ui.css",
        "/docs/swagger-ui-bundle.js",
        "/api/v1/openapi.json",  # it says how to ask, not what there is
        "/api/v1/task-file.schema.json",
    }
)
SIGN_IN = ("POST", "/api/v1/sessions")
"""Public as well, but only with this method, and to no other site."""
SIGNED = "/api/v1/callbacks/"
"""What lies below is public to the gate: the address is the credential, and the route checks its signature."""
SAFE = frozenset({"GET", "HEAD"})
MAX_BODY_BYTES = 1024 * 1024
MAX_DISCARDED_BYTES = 16 * MAX_BODY_BYTES
LARGER_BODIES = {("POST", f"/api/v1/tasks/{verb}"): 8 * MAX_BODY_BYTES for verb in ("apply", "batch")}
"""What takes whole files of tasks, and reads a body only of whom it knows."""
MAX_HEAD_BYTES = 64 * 1024
BODY_SECONDS = 30.0
"""So long a client may take for the body of its request."""
MAX_DEPTH = 64
MAX_CONTAINERS = 100_000

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# Possessive, and content with an unterminated string: linear in the size of whatever is sent.
_STRING_OR_BRACKET = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_JSON = re.compile(r"\s*application/([\w.!#$&^-]+\+)?json\s*(;.*)?", re.IGNORECASE | re.ASCII)
# Unless an answer says otherwise: most are for one caller only, and what is missing now may be there soon.
_KEPT_NOWHERE = (b"cache-control", b"no-store")
_ALWAYS = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"))

log = logging.getLogger(__name__)


class Tokens(Protocol):
    """Who a bearer token belongs to."""

    async def holder(self, token: str) -> Principal | None:
        """Return the stored token, or None when it is not a valid one."""


class Sessions(Protocol):
    """Who has signed in with a browser."""

    async def holder(self, secret: str) -> Principal | None:
        """Return whose session it is, or None when it is none that lives."""


class Gate:
    """ASGI middleware around the whole application, and around the pages beside it."""

    def __init__(
        self, app: ASGIApp, tokens: Tokens, sessions: Sessions, pages: ASGIApp, *, public: frozenset[str] = PUBLIC
    ) -> None:
        self.app = app
        self.pages = pages
        self.public = public
        self.tokens = tokens
        self.sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it with a problem."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no route speaks WebSocket: refuse the handshake
            await send({"type": "websocket.close", "code": 1008})
            return
        request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = list(message["headers"])
                if not any(name == b"cache-control" for name, _ in headers):
                    headers.append(_KEPT_NOWHERE)
                message["headers"] = [*headers, *_ALWAYS, (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._admit(scope, receive, sending)
        except Exception:
            log.exception("request %s: %s %s failed", request_id, scope["method"], _shown_path(scope["path"]))
            if started:
                raise  # too late for another answer: cut the connection
            await unexpected()(scope, receive, sending)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            _check_head(scope)
            if (scope["method"], scope["path"]) == SIGN_IN:
                _refuse_other_sites(scope)  # else one could sign a visitor in as somebody else
            elif not self._is_public(scope):
                scope["state"]["caller"] = await self._authenticate(scope)
            _check_path(scope)
            body = await _read_in_time(scope, receive)
            _check_type(scope, body)
            _check_shape(body)
            _check_json(body)
            scope["state"]["body"] = body
        except _Refused as refused:
            await refused.problem(scope, receive, send)
        except HourhandError as error:
            await problem_of(error)(scope, receive, send)
        else:
            answering = self.pages if is_page(scope["path"]) else self.app
            await answering(scope, _replay(body, receive), send)

    def _is_public(self, scope: Scope) -> bool:
        path = scope["path"]
        return path in self.public or path.startswith(SIGNED) or (scope["method"] in SAFE and is_page(path))

    async def _authenticate(self, scope: Scope) -> Principal:
        scheme, _, token = _header(scope, b"authorization").strip().partition(" ")
        secret = session_secret(scope)
        if scheme.lower() == "bearer":  # it is what the sender chose to show: a cookie goes along by itself
            return await self._bearer(token.strip())
        if secret is not None:
            return await self._visitor(scope, secret)
        raise _unauthenticated("this needs a token: send the header `Authorization: Bearer TOKEN`, or sign in")

    async def _bearer(self, token: str) -> Principal:
        if not token:
            raise _unauthenticated("this needs a token: send the header `Authorization: Bearer TOKEN`")
        holder = await self.tokens.holder(token)
        if holder is None:
            detail = "the token is not a valid one: it was mistyped, revoked, has expired, or is another store's"
            raise _unauthenticated(detail, 'Bearer error="invalid_token"')
        return holder

    async def _visitor(self, scope: Scope, secret: str) -> Principal:
        holder = await self.sessions.holder(secret)
        if holder is None:
            raise _unauthenticated("the session has ended: sign in again")
        if scope["method"] not in SAFE:
            _refuse_other_sites(scope)
            shown = shows_csrf_token(scope, secret)
            if not shown:
                wrong = f"the header `{CSRF}` is {'missing' if shown is None else 'not that of this session'}"
                raise _Refused(Problem(403, f"{wrong}: send the csrf_token that GET /api/v1/sessions/current answers"))
        return holder


def is_page(path: str) -> bool:
    """Tell whether a path is one of the web UI, and no route's."""
    return path.removeprefix("/").partition("/")[0] not in ROUTED


class _Refused(Exception):
    """The gate answers by itself."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.status_code)


def _unauthenticated(detail: str, challenge: str = "Bearer") -> _Refused:
    return _Refused(Problem(401, detail, headers={"WWW-Authenticate": challenge}))


def _refuse_other_sites(scope: Scope) -> None:
    foreign = foreign_origin(scope)
    if foreign is not None:
        detail = f"the request comes from {foreign!a}, and only pages of this server may send it"
        raise _Refused(Problem(403, detail))


def _shown_path(path: str) -> str:
    """Return a path for the log, without what is a credential."""
    return f"{SIGNED}…" if path.startswith(SIGNED) else ascii(path)


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _request_id(scope: Scope) -> str:
    given = _header(scope, b"x-request-id")
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex


def _check_head(scope: Scope) -> None:
    size = sum(len(name) + len(value) for name, value in scope["headers"])
    if size + len(scope["raw_path"]) + len(scope["query_string"]) > MAX_HEAD_BYTES:
        detail = f"the path and the headers are larger than {MAX_HEAD_BYTES} bytes: send less"
        raise _Refused(Problem(431, detail, headers={"Connection": "close"}))


def _check_path(scope: Scope) -> None:
    """Refuse slashes in disguise: what stands before us, and sees another path than we do, would let them pass."""
    if b"%2f" in scope["raw_path"].lower():
        raise _Refused(Problem(404, "there is nothing at a path with %2F in it: write its slashes as they are"))


async def _read_in_time(scope: Scope, receive: Receive) -> bytes:
    """Read the whole body, or stop waiting for it."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _read_body(scope, receive)
    except TimeoutError:
        detail = f"the body was not complete after {BODY_SECONDS:g} seconds: send it at once, or send less"
        raise _Refused(Problem(408, detail, headers={"Connection": "close"})) from None


async def _read_body(scope: Scope, receive: Receive) -> bytes:
    """Read the whole body; one that is too large is read on and thrown away, up to a bound.

    A client that is still sending would otherwise see its connection reset instead of the refusal.
    """
    most = LARGER_BODIES.get((scope["method"], scope["path"]), MAX_BODY_BYTES)
    declared = _header(scope, b"content-length")
    if declared.isdigit() and int(declared[:20]) > MAX_DISCARDED_BYTES:
        raise _too_large(most)
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Refused(Problem(400, "the connection was closed before the body was complete"))
        size += len(message.get("body", b""))
        if size <= most:
            chunks.append(message.get("body", b""))
        more = message.get("more_body", False)
        if size > MAX_DISCARDED_BYTES or (size > most and not more):
            raise _too_large(most)
        if not more:
            return b"".join(chunks)


def _too_large(most: int) -> _Refused:
    detail = f"the body is larger than {most} bytes: send less, or in several requests"
    return _Refused(Problem(413, detail, headers={"Connection": "close"}))


def _check_type(scope: Scope, body: bytes) -> None:
    """Refuse a body that does not say it is JSON: guessing would let other sites' forms pass for requests."""
    kind = _header(scope, b"content-type")
    if not body or scope["method"] in SAFE or _JSON.fullmatch(kind):
        return
    said = f"is said to be {kind[:100]!r}" if kind else "does not say what it is"
    detail = f"the body {said}: send JSON, with the header `Content-Type: application/json`"
    raise _Refused(Problem(415, detail, headers={"Accept": "application/json"}))


def _check_shape(body: bytes) -> None:
    """Refuse what no request needs and some parsers choke on: other encodings, and towers of brackets."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        detail = f"the body is not UTF-8: byte {error.start} is {body[error.start]:#04x}"
        raise _Refused(Problem(400, detail)) from None
    depth = containers = 0
    for found in _STRING_OR_BRACKET.finditer(body):
        match found.group():
            case b"[" | b"{":
                depth += 1
                containers += 1
            case b"]" | b"}":
                depth -= 1
        if depth > MAX_DEPTH or containers > MAX_CONTAINERS:
            limits = f"at most {MAX_DEPTH} deep and {MAX_CONTAINERS} in all"
            raise _Refused(Problem(400, f"the body has too many arrays or objects: {limits} are read"))


def _check_json(body: bytes) -> None:
    """Refuse what some take for JSON and others read in another way; where it is no JSON at all the route says so."""
    try:
        json.loads(body or b"null", object_pairs_hook=_each_key_once, parse_float=_finite, parse_constant=_no_number)
    except json.JSONDecodeError:
        return
    except _NotRead as wrong:
        raise _Refused(Problem(400, f"{wrong}: send JSON as RFC 8259 has it")) from None
    except ValueError:  # of an integer that is too long
        raise _Refused(Problem(400, "the body holds a number of thousands of digits: send smaller ones")) from None


class _NotRead(Exception):
    """What the body holds."""


def _each_key_once(pairs: list[tuple[str, object]]) -> None:
    if len({key for key, _ in pairs}) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise _NotRead(f"the body has the key {shown(twice)} more than once in one object")


def _finite(text: str) -> None:
    if math.isinf(float(text)):
        raise _NotRead(f"the body holds the number {shown(text)}, which is too large")


def _no_number(word: str) -> None:
    raise _NotRead(f"the body holds {word}, which is no number")


def _replay(body: bytes, receive: Receive) -> Receive:
    """Give the application the body that was read, and after it whatever the connection says."""
    sent = False

    async def replaying() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replaying
