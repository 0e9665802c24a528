"""What a browser sends by itself: the session's cookie, and from which site a request comes.

A cookie goes along with whatever any site makes the browser send. So a request that changes something must also show
the CSRF token, which no other site can read, and must not come from one.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import Scope

COOKIE = "hourhand_session"
CSRF = "X-CSRF-Token"
_USUAL_PORTS = {"http": 80, "https": 443}


def session_secret(scope: Scope) -> str | None:
    """Return what the session's cookie holds."""
    cookies = "; ".join(Headers(scope=scope).getlist("cookie"))
    return cookie_parser(cookies).get(COOKIE) or None


def csrf_token(secret: str) -> str:
    """Return the CSRF token of a session: whoever can compute it has the session anyway."""
    return hmac.new(secret.encode("utf-8", "surrogateescape"), b"csrf", hashlib.sha256).hexdigest()


def set_cookie(response: Response, scope: Scope, secret: str, seconds: int) -> None:
    """Give the browser its session."""
    response.set_cookie(
        COOKIE, secret, max_age=seconds, path="/", httponly=True, samesite="lax", secure=came_by_tls(scope)
    )


def forget_cookie(response: Response, scope: Scope) -> None:
    """Take it back."""
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax", secure=came_by_tls(scope))


def came_by_tls(scope: Scope) -> bool:
    """Tell whether the browser speaks TLS, to us or to a trusted proxy before us (`api.proxies`)."""
    return bool(scope["scheme"] == "https")


def foreign_origin(scope: Scope) -> str | None:
    """Return where a request says it comes from, if that is another site than this one."""
    headers = Headers(scope=scope)
    said = headers.get("origin") or headers.get("referer")
    if said:
        origin = _origin(said)
        if origin is None or origin != _origin(f"{_scheme(scope)}://{headers.get('host', '')}"):
            return said[:200]
    return "another site" if headers.get("sec-fetch-site", "").strip().lower() == "cross-site" else None


def shows_csrf_token(scope: Scope, secret: str) -> bool | None:
    """Tell whether the request shows the session's CSRF token; None when it shows none at all."""
    shown = Headers(scope=scope).get(CSRF)
    return None if shown is None else hmac.compare_digest(shown.encode("latin-1"), csrf_token(secret).encode())


def _scheme(scope: Scope) -> str:
    return "https" if came_by_tls(scope) else "http"


def _origin(url: str) -> tuple[str, str, int | None] | None:
    """Return scheme, host and port; None for what has none, such as the `null` of a hidden origin."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if not parts.hostname:
        return None
    return parts.scheme, parts.hostname, port if port is not None else _USUAL_PORTS.get(parts.scheme)
