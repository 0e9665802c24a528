"""The OpenAPI document: what FastAPI reads off the routes, with our error form, who may call, and what creates once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from hourhand.api.guarding import API, needed
from hourhand.api.problems import PROBLEM_SCHEMA

ABOUT = (
    "A task-scheduling platform: it decides when work is due and gets it done on the right machine. "
    "Lists are `{items, next_cursor}`; refusals are problems in the form of RFC 9457; times are RFC 3339 in UTC."
)
CREATES = frozenset(
    {
        "POST /tasks",
        "POST /tasks/{task_id}/run",
        "POST /tasks/{task_id}/backfill",
        "POST /instances",
        "POST /groups",
        "POST /pauses",
        "POST /maintenance-windows",
        "POST /calendars",
        "POST /alert-rules",
        "POST /data-sources",
        "POST /operations/{kind}",
        "POST /users",
        "POST /tokens",
    }
)
"""What looks at `Idempotency-Key`."""
_ONCE = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": (
        "Creates once, however often the same request comes within 24 hours; another body under the same key is refused"
    ),
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]([ -~]*[!-~])?$"},
    "example": "9b2d6f1c-close-books-2026-11-15",
}
_REFUSED = {
    "description": "Refused: a problem in the form of RFC 9457",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


def operation_id(route: APIRoute) -> str:
    """Return the name by which a generated client knows a route."""
    return route.name


def document(app: FastAPI) -> dict[str, Any]:
    """Build the document once."""
    if app.openapi_schema:
        return app.openapi_schema
    made = get_openapi(title=app.title, version=app.version, description=ABOUT, routes=app.routes)
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    schemas["Problem"] = PROBLEM_SCHEMA
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for schema in schemas.values():
        for example in schema.get("examples", ()):
            _put_back_nulls(example, schema, schemas)
    for path, methods in made["paths"].items():
        for method, operation in methods.items():
            _complete(operation, method.upper(), path)
    app.openapi_schema = made
    return made


def _put_back_nulls(example: object, schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> None:
    """Complete an example: FastAPI takes every null out of the document, also where a field must be there."""
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    if isinstance(example, dict):
        parts = schema.get("properties", {})
        for name in schema.get("required", ()):
            anything = parts[name].keys().isdisjoint({"type", "anyOf", "$ref"})
            if anything or {"type": "null"} in parts[name].get("anyOf", ()):
                example.setdefault(name, None)
        for name in parts.keys() & example.keys():
            _put_back_nulls(example[name], parts[name], schemas)
    elif isinstance(example, list) and "items" in schema:
        for one in example:
            _put_back_nulls(one, schema["items"], schemas)


def _complete(operation: dict[str, Any], method: str, path: str) -> None:
    operation["responses"].pop("422", None)
    operation["responses"]["default"] = _REFUSED
    if "security" in operation:
        role = needed(method, path).role.value
        operation["x-role"] = role
        operation["description"] = f"{operation.get('description', '')}\n\nNeeds the role {role}.".strip()
    if f"{method} {path.removeprefix(API)}" in CREATES:
        operation.setdefault("parameters", []).append(_ONCE)
