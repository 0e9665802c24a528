"""Runners: the request of an http task, made from its payload, its arguments and its attempt."""

from __future__ import annotations

import base64
import json
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any
from urllib.parse import quote, unquote

import httpcore
import httpx

from hourhand import __version__
from hourhand.contracts.runner import Attempt
from hourhand.model.errors import InvalidInput
from hourhand.model.payload import HttpPayload
from hourhand.runners.substituting import filled
from hourhand.service.addresses import AddressRefused

Headers = tuple[tuple[str, str], ...]
CALLBACK = "Hourhand-Callback"
_LONGEST_SHOWN = 300
_HIGHEST_PORT = 65_535
_URL = re.compile(r"(?P<origin>[a-z]+://[^/?#]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?", re.IGNORECASE)
_ESCAPED_PLACE = re.compile(r"%[0-9A-Fa-f]?\$\{")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_RESERVED = frozenset(
    "connection content-length expect host keep-alive proxy-connection te trailer transfer-encoding upgrade".split()  # noqa: SIM905
)
_BODILESS = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_CREDENTIAL = re.compile(r"auth|cookie|token|secret|passw|pwd|credential|session|signature|jwt|key", re.IGNORECASE)
_HARMLESS = frozenset({"idempotency-key"})
_ABOUT_BODY = frozenset({"content-type", "content-encoding", "content-language", "content-location"})
_SEE_OTHER, _FOUND, _MOVED = 303, 302, 301
REDIRECTS = frozenset({_MOVED, _FOUND, _SEE_OTHER, 307, 308})


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request, ready to be sent."""

    method: str
    url: httpx.URL
    headers: Headers
    body: bytes | None = None

    @property
    def shown(self) -> str:
        """The call as logs and messages may show it: a query may hold secrets, so it ends before the query."""
        path = self.url.raw_path.partition(b"?")[0].decode("ascii")
        text = f"{self.method} {self.url.scheme}://{self.url.netloc.decode('ascii')}{path}"
        return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"

    @property
    def offers_callback(self) -> bool:
        """Whether it tells where an outcome may be reported later."""
        return any(name == CALLBACK for name, _ in self.headers)

    def address(self) -> httpcore.URL:
        """The same URL for httpcore, not parsed a second time."""
        url = self.url
        return httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)

    def sent_headers(self) -> list[tuple[bytes, bytes]]:
        """Everything that is sent above the body."""
        sent = [("Host", self.url.netloc.decode("ascii")), *self.headers, ("Connection", "close")]
        if self.body is not None or self.method not in _BODILESS:
            sent.append(("Content-Length", str(len(self.body or b""))))
        return [(name.encode("ascii"), value.encode()) for name, value in sent]


def call_from(payload: HttpPayload, attempt: Attempt) -> Call:
    """The first request of an attempt; refuses what cannot or must not be sent."""
    args = attempt.args
    url = _reachable(_parsed(_filled_url(payload.url, args)))
    given = _user_headers(payload.headers, args)
    body, content_type = _body(payload, args)
    headers = {**_own_headers(attempt), **content_type}
    if url.userinfo:
        pair = f"{url.username}:{url.password}".encode()
        headers["Authorization"] = f"Basic {base64.b64encode(pair).decode('ascii')}"
    taken = {name.lower() for name in given}
    kept = [(name, value) for name, value in headers.items() if name.lower() not in taken]
    return Call(method=payload.method, url=url.copy_with(userinfo=b""), headers=(*kept, *given.items()), body=body)


def redirected(call: Call, status: int, location: str) -> Call:
    """The request that follows a redirect, as browsers make it.

    Whatever looks like a credential stays behind once it leaves the origin, and with it the callback's URL, which is
    one; so does any name and password that the answer put into the new URL.
    """
    try:
        target = call.url.join(location.strip())
    except (httpx.InvalidURL, ValueError):
        raise AddressRefused("it was redirected to something that is not a URL") from None
    url = _reachable(target).copy_with(userinfo=b"", fragment=None)
    headers = call.headers
    if not _same_origin(call.url, url):
        headers = tuple((name, value) for name, value in headers if not _looks_secret(name))
    following = replace(call, url=url, headers=headers)
    to_get = (status in (_SEE_OTHER, _FOUND) and call.method != "HEAD") or (status == _MOVED and call.method == "POST")
    if not to_get:
        return following
    without_body = tuple((name, value) for name, value in headers if name.lower() not in _ABOUT_BODY)
    return replace(following, method="GET", headers=without_body, body=None)


def _same_origin(before: httpx.URL, after: httpx.URL) -> bool:
    if before.host != after.host:
        return False
    if (before.scheme, before.port) == (after.scheme, after.port):
        return True
    upgrade = (before.scheme, after.scheme) == ("http", "https")
    return upgrade and before.port is None and after.port is None


def _looks_secret(name: str) -> bool:
    return name == CALLBACK or (name.lower() not in _HARMLESS and _CREDENTIAL.search(name) is not None)


def _parsed(text: str) -> httpx.URL:
    try:
        return httpx.URL(text)
    except httpx.InvalidURL as error:
        raise InvalidInput.one("payload.url", None, f"is not an address that can be called: {error}") from None


def _reachable(url: httpx.URL) -> httpx.URL:
    if url.scheme not in ("http", "https"):
        raise AddressRefused(f"{url.scheme}:// is not called: only http:// and https:// are")
    if not url.host:
        raise AddressRefused("a URL without a host is not called")
    if url.port is not None and not 0 < url.port <= _HIGHEST_PORT:
        raise AddressRefused(f"{url.port} is not a port: ports go from 1 to {_HIGHEST_PORT}")
    return url


def _filled_url(template: str, args: Mapping[str, Any]) -> str:
    parts = _URL.match(template)
    if parts is None:  # the rules have refused it already, unless they come to know other forms
        raise InvalidInput.one("payload.url", None, "must be an http:// or https:// address")
    origin, path, query = parts["origin"], parts["path"], parts["query"]
    if "${" in origin:
        raise InvalidInput.one("payload.url", None, "has ${…} before its path: arguments fill path and query only")
    if _ESCAPED_PLACE.search(template):
        raise InvalidInput.one("payload.url", None, "has % right before ${…}: write %25 for a percent sign")
    # Escaped before they are filled in, so that no value ends a piece of the path or a parameter of the query.
    escaped = {name: _escaped(value) for name, value in args.items()}
    url = origin + "/".join(_filled_segment(segment, escaped) for segment in path.split("/"))
    return url if query is None else f"{url}?{filled(query, escaped, 'payload.url')}"


def _filled_segment(template: str, escaped: Mapping[str, Any]) -> str:
    segment = filled(template, escaped, "payload.url")
    if segment != template and unquote(segment) in ("", ".", ".."):
        raise InvalidInput.one(
            "payload.url", None, f"{template!r} in its path would become {unquote(segment)!r}, which means another path"
        )
    return segment


def _escaped(value: Any) -> Any:  # noqa: ANN401  # what cannot be filled in is left for `filled` to refuse
    if not isinstance(value, str | int | float):
        return value
    return quote(value if isinstance(value, str) else json.dumps(value), safe="", errors="surrogatepass")


def _fill(template: str, args: Mapping[str, Any], field: str) -> str:
    text = filled(template, args, field)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput.one(field, None, "holds half of a character (a lone surrogate), which is no text") from None
    return text


def _filled_json(value: Any, args: Mapping[str, Any]) -> Any:  # noqa: ANN401  # any JSON goes in and comes out
    if isinstance(value, str):
        return _fill(value, args, "payload.json")
    if isinstance(value, Mapping):
        return {name: _filled_json(one, args) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_filled_json(one, args) for one in value]
    return value


def _body(payload: HttpPayload, args: Mapping[str, Any]) -> tuple[bytes | None, dict[str, str]]:
    if payload.json is not None:
        text = json.dumps(_filled_json(payload.json, args), separators=(",", ":"))
        return text.encode(), {"Content-Type": "application/json"}
    if payload.body is not None:
        return _fill(payload.body, args, "payload.body").encode(), {"Content-Type": "text/plain; charset=utf-8"}
    return None, {}


def _user_headers(given: Mapping[str, str], args: Mapping[str, Any]) -> dict[str, str]:
    headers: dict[str, str] = {}
    seen: set[str] = set()
    for name, template in given.items():
        field = f"payload.headers.{name}"
        lower = name.lower()
        if not _TOKEN.fullmatch(name):
            raise InvalidInput.one(field, None, f"{name!r} is not a name of a header: use letters, digits and -")
        if lower in _RESERVED or lower.startswith("hourhand-"):
            raise InvalidInput.one(field, None, "is set by Hourhand and cannot be given: leave it out")
        if lower in seen:
            raise InvalidInput.one(field, None, "is given twice, in different cases: give it once")
        seen.add(lower)
        value = _fill(template, args, field).strip(" \t")
        if _CONTROL.search(value):
            raise InvalidInput.one(field, None, "holds a line break or another control character: remove it")
        headers[name] = value
    return headers


def _own_headers(attempt: Attempt) -> dict[str, str]:
    assignment = attempt.assignment
    headers = {
        "User-Agent": f"hourhand/{__version__}",
        "Accept": "*/*",
        "Accept-Encoding": "gzip, deflate",
        "Idempotency-Key": assignment.idempotency_key,
        "Hourhand-Instance-Id": str(assignment.instance_id),
        "Hourhand-Fence": str(assignment.fence),
        # Headers are ASCII, names of tasks are not.
        "Hourhand-Task": quote(attempt.definition.name, safe=string.punctuation.replace("%", "") + " "),
        "Hourhand-Scheduled-Time": assignment.scheduled_time.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "Hourhand-Retry-Count": str(assignment.retry_count),
    }
    callback = attempt.callback_url()
    return headers if callback is None else {**headers, CALLBACK: callback}
