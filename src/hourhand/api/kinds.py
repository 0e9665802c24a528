"""`/api/v1/kinds`: the parameters of everything that can be plugged in, as JSON Schema, so that a form can be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field, TypeAdapter

from hourhand.api.guarding import guarded_router
from hourhand.api.requests import TheOperations, ThePost
from hourhand.contracts.notifier import Notifier
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Support
from hourhand.model.words import TaskType
from hourhand.operations.kind import Kind as OperationKind
from hourhand.rules.payload import PAYLOADS

router = guarded_router()

_EXAMPLES: Mapping[TaskType, dict[str, Any]] = {
    TaskType.COMMAND: {"command": ["/opt/books/close", "--day", "${day}"], "env": {"LANG": "C.UTF-8"}},
    TaskType.HTTP: {"url": "https://example.com/close", "method": "POST", "json": {"day": "${day}"}},
    TaskType.PYTHON: {"handler": "close_books", "args": {"day": "2026-11-15"}},
    TaskType.OPERATION: {"kind": "statistics_update", "config": {"data_source": "shop", "tables": ["orders"]}},
}


class Supported(BaseModel):
    """What an operation can do on a dialect."""

    support: Support = Field(description="`script`: it writes one to read and run by hand")
    reason: str = Field(description="Where it is not done: why, and what to do in its place")


class Kind(BaseModel):
    """One thing that can be plugged in."""

    role: Literal["runner", "operation", "notifier"] = Field(description="What it is used as")
    name: str = Field(examples=["command"], description="A task's `type`, an operation's kind, a target's kind")
    description: str = Field(examples=["A program and its arguments, or one text for the shell."])
    parameters: dict[str, Any] = Field(
        description="JSON Schema of a payload, a configuration or a target",
        examples=[{"type": "object", "properties": {"command": {"type": "array"}}, "required": ["command"]}],
    )
    example: Any = Field(examples=[_EXAMPLES[TaskType.COMMAND]])
    number: int | None = Field(default=None, description="Of an operation: by which they are ordered")
    title: str | None = Field(default=None, description="Of an operation: what it does, in one line")
    dialects: dict[str, Supported] | None = Field(default=None, description="Of an operation: what it can do where")


class Kinds(BaseModel):
    """All of them: there are tens."""

    items: list[Kind]
    next_cursor: None = None


@router.get("/kinds", tags=["kinds"], summary="What can be plugged in, and its parameters")
async def list_kinds(post: ThePost, operations: TheOperations) -> Kinds:
    """Runners by the type of a task, operations by kind, notifiers by target."""
    kinds = operations.desk.catalogue.all()
    return Kinds(items=[*_runners(), *map(_operation, kinds), *map(_notifier, post.notifiers)])


def _operation(kind: OperationKind[Any, Any]) -> Kind:
    told = {dialect.value: kind.support(dialect) for dialect in Dialect}
    return Kind(
        role="operation",
        name=kind.kind,
        description=" ".join(str(type(kind).__doc__).split("\n\n")[0].split()),
        parameters=kind.config.model_json_schema(by_alias=True),
        example=dict(kind.example),
        number=kind.number,
        title=kind.title,
        dialects={name: Supported(support=support, reason=reason) for name, (support, reason) in told.items()},
    )


def _notifier(notifier: Notifier) -> Kind:
    return Kind(
        role="notifier",
        name=notifier.kind,
        description=str(type(notifier).__doc__),
        parameters=dict(notifier.parameters),
        example=notifier.example,
    )


def _runners() -> list[Kind]:
    return [
        Kind(
            role="runner",
            name=kind.value,
            description=str(payload.__doc__),
            parameters=_closed(TypeAdapter(payload).json_schema()),
            example=_EXAMPLES[kind],
        )
        for kind, payload in PAYLOADS.items()
    ]


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Say that unknown keys are refused, as `rules.payload` does."""
    return schema | {"additionalProperties": False}
