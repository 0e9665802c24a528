"""The API's application: routes, the gate around them, and the one error form."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import APIRouter, Depends, FastAPI, Security
from fastapi.security import HTTPBearer
from pydantic import BaseModel, Field
from starlette.routing import BaseRoute

from hourhand import __version__
from hourhand.api import (
    alert_rules,
    audit_logs,
    bulk,
    calendars,
    callbacks,
    data_sources,
    demo,
    diagnosis,
    docs,
    events,
    execution_logs,
    explain,
    graph,
    groups,
    health,
    instance_stream,
    instances,
    kinds,
    metrics,
    operations,
    pauses,
    problems,
    schedules,
    sessions,
    stats,
    task_files,
    tasks,
    tokens,
    users,
    windows,
)
from hourhand.api.document import document, operation_id
from hourhand.api.gate import PUBLIC, Gate
from hourhand.api.group_names import GroupNames
from hourhand.api.guarding import API, guarded_router
from hourhand.api.passwords import Passwords
from hourhand.api.proxies import Proxies
from hourhand.api.refusals import Refusals
from hourhand.api.requests import refuse_unknown_parameters
from hourhand.api.streaming import Streams
from hourhand.api.webui import Pages
from hourhand.bootstrap import hash_token
from hourhand.bootstrap.alerts import build_post
from hourhand.bootstrap.operations import Operations, build_desk
from hourhand.bootstrap.sources import build_sources
from hourhand.service.health import Health
from hourhand.service.scrape import Scrape
from hourhand.settings import Settings, is_loopback
from hourhand.webui import DIST

if TYPE_CHECKING:
    from hourhand.api.gate import Tokens
    from hourhand.model.access import Principal
    from hourhand.store import Store


class Version(BaseModel):
    """Which Hourhand this is."""

    version: str = Field(examples=[__version__])


class StoredTokens:
    """The tokens of the store.

    The store is asked for the hash of what was presented. How long that takes says nothing about any stored token:
    to learn from it, one would have to choose the hash, not the token. So no comparison of secrets is ever made.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    async def holder(self, token: str) -> Principal | None:
        """Return whose token it is, or None."""
        return await self.store.find_token(hash_token(token))


class StoredSessions:
    """The sessions of the store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def holder(self, secret: str) -> Principal | None:
        """Return whose session it is, or None."""
        return await self.store.find_session(hash_token(secret))


def create_app(store: Store, settings: Settings, tokens: Tokens | None = None, *, ui: Path = DIST) -> FastAPI:
    """Build the application on an open store; `ui` is where the built web UI lies, if it was built."""
    app = FastAPI(
        title="Hourhand",
        version=__version__,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # FastAPI's pages load scripts from other hosts
        redoc_url=None,
        redirect_slashes=False,
        routes=_routes(),
    )
    app.state.store, app.state.settings = store, settings
    app.state.group_names = GroupNames(store)
    app.state.passwords = Passwords()
    app.state.refusals = Refusals()
    app.state.streams = Streams(store, settings.max_streams)
    app.state.health, app.state.scrape = Health(store), Scrape(store)
    app.state.post = build_post(settings, store, serving=True)
    app.state.sources = build_sources(settings, store)
    app.state.operations = Operations(build_desk(settings, store), elsewhere=not settings.on_sqlite)
    problems.install(app)
    public = PUBLIC | ({metrics.PATH} if is_loopback(settings.host) else set())
    app.add_middleware(
        Gate,
        tokens=tokens or StoredTokens(store),
        sessions=StoredSessions(store),
        pages=Pages(settings, ui),
        public=public,
    )
    app.add_middleware(metrics.Measured)
    app.add_middleware(Proxies, trusted=settings.trusted_proxies)
    app.openapi = lambda: document(app)  # type: ignore[method-assign]  # the way FastAPI documents for it
    return app


@cache
def _routes() -> list[BaseRoute]:
    """Every route: the same ones for each application of a process, as reading their signatures takes its time."""
    router = APIRouter(redirect_slashes=False, generate_unique_id_function=operation_id)
    router.include_router(health.router)
    router.include_router(metrics.router)
    router.include_router(docs.router)
    router.include_router(task_files.public)
    known = [Depends(refuse_unknown_parameters)]
    router.include_router(callbacks.router, prefix=API, dependencies=known)
    router.include_router(sessions.signing_in, prefix=API, dependencies=known)
    router.include_router(_api_routes(), prefix=API, dependencies=known)
    return router.routes


def _api_routes() -> APIRouter:
    bearer = HTTPBearer(auto_error=False, description="A token, such as the one in the data folder's admin-token file")
    router = guarded_router()
    router.dependencies.append(Security(bearer))  # for the document only: the gate has checked it before
    for each in (
        graph,
        bulk,
        task_files,
        tasks,
        explain,
        instances,
        execution_logs,
        groups,
        schedules,
        kinds,
        events,
        instance_stream,
        pauses,
        windows,
        calendars,
        audit_logs,
        alert_rules,
        data_sources,
        operations,
        users,
        tokens,
        sessions,
        stats,
        diagnosis,
        demo,
    ):
        router.include_router(each.router)

    @router.get("/version", tags=["health"], summary="Which Hourhand this is")
    async def version() -> Version:
        return Version(version=__version__)

    return router
