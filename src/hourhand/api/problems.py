"""The API's one error form: RFC 9457 `application/problem+json`, for everything that can go wrong."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import compile_path

from hourhand.api.wording import field_error
from hourhand.model.errors import (
    Conflict,
    Forbidden,
    Gone,
    HasDependents,
    HourhandError,
    IllegalEdge,
    InvalidInput,
    NotFound,
    PlanRefused,
    SourceError,
    StoreError,
    Throttled,
    Unauthenticated,
)

if TYPE_CHECKING:
    from fastapi import FastAPI, Request

RETRY_AFTER_SECONDS = 5
LONGEST_PATH = 200
WRONG_VALUES = "the request has values that are wrong: see errors"
PROBLEM_SCHEMA = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
        "legal": {"type": "array", "items": {"type": "string"}},
        "dependents": {"type": "array", "items": {"type": "string"}},
        "reasons": {"type": "array", "items": {"type": "string"}},
        "plan_hash": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "request_id": {"type": "string"},
    },
}

_TITLES = {413: "Request Entity Too Large", 422: "Unprocessable Entity"}
"""What Python calls otherwise from 3.13 on: the type of a problem may not depend on that."""

log = logging.getLogger(__name__)


class Problem(Response):
    """One refusal, ready to be sent."""

    media_type = "application/problem+json"

    def __init__(
        self, status: int, detail: str, *, headers: Mapping[str, str] | None = None, **members: object
    ) -> None:
        title = _TITLES.get(status) or HTTPStatus(status).phrase
        kind = title.lower().replace(" ", "-").replace("'", "")
        body = {"type": f"urn:hourhand:problem:{kind}", "title": title, "status": status, "detail": detail, **members}
        text = json.dumps(body, ensure_ascii=False)
        # A refused value may hold half of a surrogate pair, which has no UTF-8: show it escaped rather than fail.
        super().__init__(text.encode("utf-8", "backslashreplace"), status, headers)


_STATUS: Mapping[type[HourhandError], int] = {
    InvalidInput: 422,
    Unauthenticated: 401,
    Forbidden: 403,
    Throttled: 429,
    NotFound: 404,
    Gone: 410,
    Conflict: 409,
    SourceError: 424,  # not 502 or 503: nothing is wrong with this server, and no proxy should ask again
    StoreError: 503,
}


def problem_of(error: HourhandError) -> Problem:
    """Translate a refusal of the model into its HTTP form."""
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)
    detail = str(error)
    members: dict[str, object] = {}
    headers: dict[str, str] = {}
    match error:
        case InvalidInput():
            detail = WRONG_VALUES
            members["errors"] = [{"field": each.field, "message": each.message} for each in error.errors]
        case Unauthenticated():
            headers["WWW-Authenticate"] = "Bearer"
        case Throttled():
            headers["Retry-After"] = str(error.seconds)
        case IllegalEdge():
            members["legal"] = list(error.legal)
        case HasDependents():
            members["dependents"] = list(error.dependents)
        case PlanRefused():
            members |= {"reasons": list(error.reasons), "plan_hash": error.plan_hash}
        case StoreError():  # its message may name hosts and files: that is for the log
            log.warning("the store refused a request: %s", error)
            detail = "the store cannot be reached right now: try again"
            headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return (
        unexpected()
        if status == HTTPStatus.INTERNAL_SERVER_ERROR
        else Problem(status, detail, headers=headers, **members)
    )


def unexpected() -> Problem:
    """Return the answer to a fault of our own; what happened is in the log, never in the answer."""
    return Problem(500, "something went wrong on our side; the server's log has it under this answer's X-Request-Id")


def install(app: FastAPI) -> None:
    """Make every error of `app` a problem."""

    @app.exception_handler(HourhandError)
    async def refused(_: Request, error: HourhandError) -> Problem:
        return problem_of(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Problem:
        return Problem(422, WRONG_VALUES, errors=[field_error(each) for each in error.errors()])

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Problem:
        detail = str(error.detail)
        match error.status_code:
            case 404:
                detail = f"there is nothing at {_path(request)}"
            case 405:
                named = (error.headers or {}).get("Allow", "")
                allowed = ", ".join(sorted(_methods(request) or {named}))
                detail = f"{_path(request)} does not answer {request.method}: use {allowed}"
                return Problem(405, detail, headers={"Allow": allowed})
            case 400:
                detail = "the body cannot be read as JSON: send one JSON object in UTF-8"
        return Problem(error.status_code, detail, headers=error.headers)


def shown_path(path: str) -> str:
    """Return a path for a message, however long it is."""
    return path if len(path) <= LONGEST_PATH else f"{path[:LONGEST_PATH]}…"


def _path(request: Request) -> str:
    return shown_path(request.url.path)


def _methods(request: Request) -> set[str]:
    """Return every method that the document has for this path; Starlette names those of one route only."""
    return {
        method.upper()
        for path, methods in request.app.openapi()["paths"].items()
        if compile_path(path)[0].match(request.url.path)
        for method in methods
    }
