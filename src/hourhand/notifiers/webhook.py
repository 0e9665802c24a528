"""Notifiers: our own webhook: the notice as JSON, signed with a secret that both sides know."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, ClassVar
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

import httpcore

from hourhand.contracts.notifier import NotSent
from hourhand.rules.signature import webhook_signature
from hourhand.service.addresses import AddressPolicy, AddressRefused
from hourhand.service.connection import CheckedNetwork, open_pool, reason, trusted_authorities

SECONDS = 15.0
LONGEST_SECRET = 1_000
_LONGEST_REASON = 300
_KEYS = frozenset({"webhook", "secret"})


class WebhookNotifier:
    """Posts notices to a URL; whatever answers 2xx has got it."""

    kind: ClassVar[str] = "webhook"
    parameters: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "webhook": {"type": "string", "format": "uri", "description": "Where notices are posted"},
            "secret": {"type": "string", "minLength": 1, "maxLength": LONGEST_SECRET, "writeOnly": True},
        },
        "required": ["webhook"],
        "additionalProperties": False,
    }
    example: ClassVar[Any] = {"webhook": "https://example.com/alerts", "secret": "shared"}

    def __init__(self, policy: AddressPolicy, *, tls: ssl.SSLContext | None = None, seconds: float = SECONDS) -> None:
        self._network = CheckedNetwork(policy)
        self._tls = tls
        self._seconds = seconds

    def takes(self, target: object) -> bool:
        """Whether it is an object with a `webhook`."""
        return isinstance(target, Mapping) and "webhook" in target

    def check(self, target: Mapping[str, Any]) -> str:
        """Its address, without what may be secret in it."""
        if unknown := sorted(set(target) - _KEYS):
            raise ValueError(f"{unknown[0]!r} is not a key of a webhook: the keys are webhook and secret")
        secret = target.get("secret")
        if secret is not None and not (isinstance(secret, str) and 0 < len(secret) <= LONGEST_SECRET):
            raise ValueError(f"its secret is no text of 1 to {LONGEST_SECRET} characters")
        parts = _parts(target["webhook"])
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    async def send(self, target: Mapping[str, Any], event: Mapping[str, Any]) -> None:
        """Post it, once."""
        shown = self.check(target)
        body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
        try:
            async with asyncio.timeout(self._seconds):
                status = await self._post(_parts(target["webhook"]), _headers(target, event, body), body)
        except TimeoutError:
            raise NotSent(f"{shown} did not answer within {self._seconds:g} s") from None
        except AddressRefused as error:
            raise NotSent(f"{shown} is refused: {error}") from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
            raise NotSent(f"{shown} could not be reached: {reason(error)[:_LONGEST_REASON]}") from None
        if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            raise NotSent(f"{shown} answered {status}, expected 200\N{EN DASH}299")

    async def _post(self, parts: SplitResult, headers: list[tuple[bytes | str, bytes | str]], body: bytes) -> int:
        url = httpcore.URL(
            scheme=parts.scheme.encode(),
            host=(parts.hostname or "").encode(),
            port=parts.port,
            target=(urlunsplit(("", "", parts.path or "/", parts.query, ""))).encode(),
        )
        timeouts = dict.fromkeys(("connect", "read", "write"), self._seconds)
        async with (
            open_pool(self._network, self._tls or trusted_authorities()) as pool,
            pool.stream("POST", url, headers=headers, content=body, extensions={"timeout": timeouts}) as response,
        ):
            return int(response.status)  # of its body nothing is wanted: it may be endless

    async def close(self) -> None:
        """Nothing is kept open."""


def _parts(url: object) -> SplitResult:
    form = "its webhook is no address: give one such as https://example.com/alerts"
    # urlsplit drops line breaks and tabs, so that what was checked would not be what is called.
    if not isinstance(url, str) or not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError(form)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError(form) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError(form)
    return parts


def _headers(target: Mapping[str, Any], event: Mapping[str, Any], body: bytes) -> list[tuple[bytes | str, bytes | str]]:
    parts = _parts(target["webhook"])
    timestamp = str(int(time.time()))
    headers = {
        "Host": parts.netloc.rpartition("@")[2],
        "Content-Type": "application/json; charset=utf-8",
        "Content-Length": str(len(body)),
        "User-Agent": "Hourhand",
        "X-Hourhand-Notice": str(event["notice"]),
        "X-Hourhand-Timestamp": timestamp,
    }
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    if target.get("secret"):
        headers["X-Hourhand-Signature"] = webhook_signature(target["secret"], timestamp, body)
    return list(headers.items())
