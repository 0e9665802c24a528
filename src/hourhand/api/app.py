"""The API's application: routes, the gate around them, and the one error form."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fastapi import APIRouter, Depends, FastAPI, Security
from fastapi.openapi.utils import get_openapi
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import HTMLResponse

from hourhand import __version__
from hourhand.api import (
    bulk,
    callbacks,
    docs,
    execution_logs,
    graph,
    groups,
    instances,
    kinds,
    page,
    problems,
    schedules,
    tasks,
)
from hourhand.api.gate import Gate
from hourhand.api.group_names import GroupNames
from hourhand.api.guarding import API, guarded_router, needed
from hourhand.api.requests import refuse_unknown_parameters
from hourhand.bootstrap import hash_token
from hourhand.model.errors import StoreUnavailable

if TYPE_CHECKING:
    from hourhand.api.gate import Tokens
    from hourhand.model.access import Principal
    from hourhand.settings import Settings
    from hourhand.store import Store

PING_SECONDS = 3


class Health(BaseModel):
    """Whether the process lives, or is ready."""

    status: str


class Version(BaseModel):
    """Which Hourhand this is."""

    version: str


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


def create_app(store: Store, settings: Settings, tokens: Tokens | None = None) -> FastAPI:
    """Build the application on an open store."""
    app = FastAPI(
        title="Hourhand",
        version=__version__,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # FastAPI's pages load scripts from other hosts
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.store = store
    app.state.group_names = GroupNames(store)
    problems.install(app)
    app.include_router(_open_routes(store, settings))
    app.include_router(docs.router)
    app.include_router(callbacks.router, prefix=API, dependencies=[Depends(refuse_unknown_parameters)])
    app.include_router(_api_routes(), prefix=API, dependencies=[Depends(refuse_unknown_parameters)])
    app.add_middleware(Gate, tokens=tokens or StoredTokens(store))
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]  # the way FastAPI documents for it
    return app


def _open_routes(store: Store, settings: Settings) -> APIRouter:
    """Build the routes that need no token; the gate lists them again, so that neither list can open one by itself."""
    router = APIRouter()

    @router.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    @router.api_route("/sign-in", methods=["GET", "HEAD"], include_in_schema=False)
    async def welcome(request: Request) -> HTMLResponse:
        return page.welcome(settings, str(request.base_url).rstrip("/"), signing_in=request.url.path == "/sign-in")

    @router.head("/healthz", include_in_schema=False)
    @router.get("/healthz", tags=["health"], summary="Whether the process lives")
    async def healthz() -> Health:
        return Health(status="ok")

    @router.head("/readyz", include_in_schema=False)
    @router.get("/readyz", tags=["health"], summary="Whether the store can be reached")
    async def readyz() -> Health:
        try:
            async with asyncio.timeout(PING_SECONDS):
                await store.ping()
        except TimeoutError:
            raise StoreUnavailable(f"the store did not answer within {PING_SECONDS} s") from None
        return Health(status="ok")

    return router


def _api_routes() -> APIRouter:
    bearer = HTTPBearer(auto_error=False, description="A token, such as the one in the data folder's admin-token file")
    router = guarded_router()
    router.dependencies.append(Security(bearer))  # for the document only: the gate has checked it before
    for each in (graph, bulk, tasks, instances, execution_logs, groups, schedules, kinds):
        router.include_router(each.router)

    @router.get("/version", tags=["health"], summary="Which Hourhand this is")
    async def version() -> Version:
        return Version(version=__version__)

    return router


def _document(app: FastAPI) -> dict[str, object]:
    """Build the OpenAPI document once, with the one error form in place of FastAPI's own."""
    if app.openapi_schema:
        return app.openapi_schema
    document = get_openapi(title=app.title, version=app.version, routes=app.routes)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas["Problem"] = problems.PROBLEM_SCHEMA
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    answer = {
        "description": "Refused: a problem in the form of RFC 9457",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            operation["responses"].pop("422", None)
            operation["responses"]["default"] = answer
            if "security" in operation:
                role = needed(method.upper(), path).role.value
                operation["x-role"] = role
                operation["description"] = f"{operation.get('description', '')}\n\nNeeds the role {role}.".strip()
    app.openapi_schema = document
    return document
