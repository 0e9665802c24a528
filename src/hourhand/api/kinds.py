"""`/api/v1/kinds`: the parameters of everything that can be plugged in, as JSON Schema, so that a form can be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field, TypeAdapter

from hourhand.api.guarding import guarded_router
from hourhand.api.requests import ThePost
from hourhand.contracts.notifier import Notifier
from hourhand.model.words import TaskType
from hourhand.rules.payload import PAYLOADS

router = guarded_router()

_EXAMPLES: Mapping[TaskType, dict[str, Any]] = {
    TaskType.COMMAND: {"command": ["/opt/books/close", "--day", "${day}"], "env": {"LANG": "C.UTF-8"}},
    TaskType.HTTP: {"url": "https://example.com/close", "method": "POST", "json": {"day": "${day}"}},
    TaskType.PYTHON: {"handler": "close_books", "args": {"day": "2026-11-15"}},
}


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


class Kinds(BaseModel):
    """All of them: there are tens."""

    items: list[Kind]
    next_cursor: None = None


@router.get("/kinds", tags=["kinds"], summary="What can be plugged in, and its parameters")
async def list_kinds(post: ThePost) -> Kinds:
    """Runners by the type of a task, operations by kind, notifiers by target."""
    return Kinds(items=[*_runners(), *map(_notifier, post.notifiers)])


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
