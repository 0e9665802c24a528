"""docs/reference/routes.md and shapes.md: the OpenAPI document for people."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields as dataclass_fields
from functools import cache
from http import HTTPStatus
from typing import Any, cast

from hourhand.api.app import create_app
from hourhand.api.guarding import API
from hourhand.api.permissions import PERMISSIONS, Extent
from hourhand.model.task import TaskDefinition
from hourhand.settings import Settings
from hourhand.store import Store
from reference.markdown import anchor, code, example, page, prose, table, value
from reference.schemas import fields, shape_link, words

ROUTES = (
    "Every request that a server answers, as its document (`/api/v1/openapi.json`) has it. Paths are below `/api/v1` "
    "unless they say otherwise. What holds for all of them is in [REST](rest.md); what an answer or a body consists "
    "of is in [shapes](shapes.md); everything that can be refused is in [errors](errors.md)."
)
SHAPES = (
    "What bodies and answers of the [routes](routes.md) consist of. A body may hold no other keys. In an answer every "
    "field is there, null where there is nothing to say."
)
EXTENTS = {
    Extent.ANY: "",
    Extent.GROUPS: "; who is limited to groups sees and touches what belongs to them",
    Extent.WHOLE: "; not for callers who are limited to groups",
}
TASK_FIELDS = frozenset(field.name for field in dataclass_fields(TaskDefinition))
METHODS = ("GET", "POST", "PATCH", "PUT", "DELETE")


@cache
def document() -> Mapping[str, Any]:
    """Read the document off the routes; nobody looks into a store for that."""
    return cast("Mapping[str, Any]", create_app(cast("Store", None), Settings()).openapi())


def routes() -> str:
    """Write the page of routes."""
    by_tag: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {}
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            by_tag.setdefault(operation["tags"][0], []).append((path, method.upper(), operation))
    overview = table(
        ["request", "what", "role"],
        [
            (_link(method, path), operation["summary"], operation.get("x-role", "none"))
            for tag in sorted(by_tag)
            for path, method, operation in _in_order(by_tag[tag])
        ],
    )
    parts = [overview]
    for tag in sorted(by_tag):
        parts.append(f"## {tag[0].upper()}{tag[1:]}")
        for path, method, operation in _in_order(by_tag[tag]):
            parts += [f"### {method} {_short(path)}", *_route(path, method, operation)]
    return page("Routes", ROUTES, *parts)


def shapes() -> str:
    """Write the page of shapes."""
    parts = []
    for name, schema in sorted(document()["components"]["schemas"].items()):
        parts += [f"## {name}", prose(schema.get("description", ""))]
        given = name in _given()
        parts.append(f"One of: {words(schema)}" if "enum" in schema else fields(schema, _here, given=given))
    return page("Shapes", SHAPES, *parts)


def _given() -> set[str]:
    """The shapes that bodies have, with all that they consist of."""
    bodies = [
        operation["requestBody"]
        for methods in document()["paths"].values()
        for operation in methods.values()
        if "requestBody" in operation
    ]
    found, waiting = set[str](), _named(bodies)
    while waiting:
        found |= waiting
        waiting = _named([document()["components"]["schemas"][name] for name in waiting]) - found
    return found


def _named(part: object) -> set[str]:
    return set(re.findall(r"#/components/schemas/(\w+)", json.dumps(part)))


def _here(name: str) -> str:
    return f"[{name}](#{anchor(name)})"


def _in_order(found: list[tuple[str, str, Mapping[str, Any]]]) -> list[tuple[str, str, Mapping[str, Any]]]:
    return sorted(found, key=lambda one: (one[0], METHODS.index(one[1])))


def _short(path: str) -> str:
    return path.removeprefix(API)


def _link(method: str, path: str) -> str:
    heading = f"{method} {_short(path)}"
    return f"[{code(heading)}](#{anchor(heading)})"


def _route(path: str, method: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"{operation['summary']}.".replace("..", ".")
    role = operation.get("x-role")
    for paragraph in operation.get("description", "").split("\n\n"):
        if paragraph and paragraph != f"Needs the role {role}.":
            yield prose(paragraph)
    if role is None:
        yield "Needs no token." if path.startswith(API) else f"Needs no token. It is at {code(path)} itself."
    else:
        yield f"Needs the role {role}{EXTENTS[PERMISSIONS[f'{method} {_short(path)}'].extent]}."
    yield table(
        ["parameter", "in", "type", "default", "what"],
        [
            (
                code(one["name"]),
                one["in"],
                words(one["schema"]),
                "required" if one["required"] else _default(one["schema"]),
                prose(one.get("description", one["schema"].get("description", ""))),
            )
            for one in operation.get("parameters", ())
        ],
    )
    yield from _body(operation.get("requestBody"))
    yield table(["status", "answer"], [*_answers(operation)])


def _default(schema: Mapping[str, Any]) -> str:
    return value(schema["default"]) if schema.get("default") is not None else ""


def _body(body: Mapping[str, Any] | None) -> Iterator[str]:
    if body is None:
        return
    schema = body["content"]["application/json"]["schema"]
    optional = "" if body.get("required") else ", which may be left out"
    if "properties" in schema:  # of a task: those that are given only, so it has no shape of its own
        more = [name for name in schema["properties"] if name not in TASK_FIELDS]
        beside = f", and {' and '.join(map(code, more))}" if more else ""
        yield f"Body: the fields of [a task](tasks.md){beside}."
        yield example(schema["examples"][0])
    else:
        named = next(iter(schema.get("anyOf", [schema])))  # the other one is null
        yield f"Body: {shape_link(named['$ref'].rpartition('/')[2])}{optional}."


def _answers(operation: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for status, answer in sorted(operation["responses"].items()):
        if status == "default":
            yield "refused", f"[a problem](errors.md): {shape_link('Problem')}"
            continue
        shapes = [
            code(kind) if "$ref" not in content["schema"] else words(content["schema"])
            for kind, content in answer.get("content", {}).items()
        ]
        said = answer["description"] if answer["description"] != "Successful Response" else ""
        told = prose(said).rstrip(".")
        yield f"{status} {HTTPStatus(int(status)).phrase}", ": ".join(filter(None, [told, ", ".join(shapes)]))
