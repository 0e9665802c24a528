"""Bootstrap: the metrics port: `/metrics`, `/healthz` and `/readyz` of any process, also of one without an API.

It is off unless a port is chosen, and asks for no token: whoever opens it decides who can reach it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hourhand.contracts.store import Store
from hourhand.model.errors import InvalidInput
from hourhand.service.health import Health
from hourhand.service.listening import Server, unbound
from hourhand.service.scrape import Scrape
from hourhand.settings import Settings

GRACE_SECONDS = 1


class Watched:
    """What can be seen of a process from outside; it begins before the store is open."""

    def __init__(self) -> None:
        self._health = Health()
        self._scrape = Scrape()

    def opened(self, store: Store) -> None:
        """Look at this store from now on."""
        self._health.store = self._scrape.store = store

    def application(self) -> Starlette:
        """Build the three routes."""
        answers = {"/metrics": self._metrics, "/healthz": self._healthz, "/readyz": self._readyz}
        return Starlette(routes=[Route(path, answer) for path, answer in answers.items()])

    async def _metrics(self, request: Request) -> Response:
        content, content_type = await self._scrape.answer(request.headers.get("accept", ""))
        return Response(content, headers={"Content-Type": content_type})

    async def _healthz(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _readyz(self, request: Request) -> Response:
        report = await self._health.ready(store_only=request.query_params.get("only") == "store")
        if report.ok:
            return JSONResponse({"status": "ok", "checks": report.listed()})
        problem = {
            "type": "urn:hourhand:problem:service-unavailable",
            "title": "Service Unavailable",
            "status": 503,
            "detail": report.wrong,
            "checks": report.listed(),
        }
        return JSONResponse(problem, status_code=503, media_type="application/problem+json")


@asynccontextmanager
async def listening(settings: Settings) -> AsyncIterator[Watched]:
    """Listen on the metrics port, if there is one, for the length of a `with` block."""
    watched = Watched()
    if settings.metrics_port is None:
        yield watched
        return
    with _bound(settings.host, settings.metrics_port) as listener:
        server = Server(
            uvicorn.Config(
                watched.application(),
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                lifespan="off",
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield watched
        finally:
            server.should_exit = True
            await serving


@contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    with unbound(host) as listener:
        try:
            listener.bind((host.strip("[]"), port))
        except OSError as error:
            raise InvalidInput.one(
                "metrics_port",
                port,
                f"cannot listen on {host} port {port} for metrics: {error.strerror or error}; each process needs a "
                "port of its own, so choose another with --metrics-port (HOURHAND_METRICS_PORT)",
            ) from None
        yield listener
