"""`/metrics`: for Prometheus; and what is measured of every request.

Public while only this machine can reach it. Else the gate asks for a token, as everywhere: Prometheus can send one.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import APIRouter, Depends, Header
from starlette.requests import Request
from starlette.responses import Response

from hourhand.api.guarding import API
from hourhand.model.errors import Forbidden, Unauthenticated
from hourhand.service.metrics import REQUEST_SECONDS, REQUESTS
from hourhand.service.scrape import Scrape
from hourhand.settings import is_loopback

if TYPE_CHECKING:
    from prometheus_client import Counter, Histogram
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from hourhand.model.access import Principal

PATH = "/metrics"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"
FORWARDED = frozenset({"forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"})

router = APIRouter()


async def _scrape(request: Request) -> Scrape:
    return cast("Scrape", request.app.state.scrape)


@router.head(PATH, include_in_schema=False)
@router.get(PATH, include_in_schema=False)  # not JSON, and not for whoever reads the document of the API
async def metrics(
    request: Request, scrape: Annotated[Scrape, Depends(_scrape)], accept: Annotated[str, Header()] = ""
) -> Response:
    """Answer a scrape. It tells of all groups, so whoever is limited to some may not see it."""
    caller: Principal | None = getattr(request.state, "caller", None)
    if caller is None and not is_loopback(request.url.hostname or ""):
        # A page of another site whose name has come to mean this machine sends that name, and could read the answer.
        raise Unauthenticated("the Host is none of this machine's own: scrape 127.0.0.1 or localhost")
    if caller is None and not FORWARDED.isdisjoint(request.headers):
        raise Unauthenticated("this came through a proxy, so others can reach it: scrape this machine directly")
    if caller is not None and caller.groups is not None:
        raise Forbidden(f"metrics tell of all groups, and {caller.name!r} is limited to some: use an unlimited token")
    content, content_type = await scrape.answer(accept)
    # As it is: starlette would add a second charset.
    return Response(content, headers={"Content-Type": content_type, "Cache-Control": "no-store"})


class Measured:
    """ASGI middleware around everything, the gate's refusals included."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a request when its answer begins: a stream may go on for hours."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = time.perf_counter()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                requests, seconds = _bound(_method(scope), _route(scope), f"{message['status'] // 100}xx")
                requests.inc()
                seconds.observe(time.perf_counter() - begun)
            await send(message)

        await self.app(scope, receive, sending)


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in METHODS else OTHER


def _route(scope: Scope) -> str:
    """Return the route's own words, such as `/api/v1/tasks/{task_id}`: paths would be as many as there are ids."""
    words: str = getattr(scope.get("route"), "path", OTHER)
    if words == OTHER or words.startswith(API) or not scope["path"].startswith(API):
        return words
    return f"{API}{words}"  # FastAPI tells the route as it was before it was included


@lru_cache(maxsize=10_000)
def _bound(method: str, route: str, status: str) -> tuple[Counter, Histogram]:
    return REQUESTS.labels(method, route, status), REQUEST_SECONDS.labels(method, route)
