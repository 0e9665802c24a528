"""Bodies of `/api/v1/tasks`: read and refused by the rules, described for the document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Annotated, Any, get_type_hints

from pydantic import Field, TypeAdapter, WithJsonSchema

from hourhand.api.inputs import Input, Instant, Priority, example
from hourhand.model.errors import InvalidInput, shown
from hourhand.model.task import TaskDefinition
from hourhand.rules.applying import file_owner
from hourhand.rules.declaration import owner_of
from hourhand.rules.definition import FIELDS, LARGEST_ID, RANGES, TEXTS
from hourhand.rules.operation_tasks import BUILT_IN

_NOT_FOR_PEOPLE = "declared_hash"
_OWNERS = (owner_of(""), file_owner(""), BUILT_IN)
MOST_CREATED = 1_000
"""So many tasks are made by one request: all of them in one transaction."""
_EXAMPLE = {
    "name": "close_books",
    "type": "command",
    "schedule": "0 9 * * MON-FRI",
    "timezone": "Asia/Shanghai",
    "payload": {"command": ["/opt/books/close", "--day", "${day}"]},
    "max_retries": 3,
    "timeout_seconds": 600,
}


def task_schema(*, edit: bool = False) -> dict[str, Any]:
    """Describe the fields of a definition; an edit needs none of them and may name the version it was made on."""
    hints = get_type_hints(TaskDefinition)
    properties: dict[str, Any] = {}
    required = []
    for field in fields(TaskDefinition):
        if field.name == _NOT_FOR_PEOPLE:
            continue
        properties[field.name] = _property(field.name, hints[field.name])
        if field.default is not MISSING:
            properties[field.name] |= {} if edit else {"default": field.default}
        elif field.default_factory is MISSING:
            required.append(field.name)
    described = {"type": "object", "additionalProperties": False, "properties": properties}
    if edit:
        version = {
            "anyOf": [{"type": "integer", "minimum": 1, "maximum": LARGEST_ID}, {"type": "null"}],
            "description": "The version the change was made on; another one is refused",
        }
        return described | {
            "title": "TaskEdit",
            "properties": properties | {"version": version},
            "examples": [{"schedule": "0 10 * * MON-FRI", "version": 1}],
        }
    return described | {"title": "NewTask", "required": required, "examples": [_EXAMPLE]}


def _property(name: str, hint: Any) -> dict[str, Any]:  # noqa: ANN401 - a type, as Pydantic takes it
    described = TypeAdapter(hint).json_schema()
    described.pop("description", None)  # an enum's docstring speaks of the word, not of the field
    described.pop("title", None)
    bounds: dict[str, int] = {}
    if name in RANGES:
        bounds = {"minimum": RANGES[name][0], "maximum": RANGES[name][1]}
    elif name in TEXTS:
        bounds = {"maxLength": TEXTS[name]}
    target = described["anyOf"][0] if "anyOf" in described else described
    target |= bounds
    return described


NewTask = Annotated[dict[str, Any], WithJsonSchema(task_schema())]
TaskEdit = Annotated[dict[str, Any], WithJsonSchema(task_schema(edit=True))]


def refuse_not_for_people(given: Mapping[str, Any]) -> None:
    """Refuse in a new task what only apps and task files write."""
    _refuse_declared_hash(given)
    refuse_owner(given, None)


def names_owner(given: Mapping[str, Any]) -> bool:
    """Whether it says that an app or a task file manages the task."""
    return isinstance(given.get("managed_by"), str) and given["managed_by"].startswith(_OWNERS)


def refuse_owner(given: Mapping[str, Any], now: str | None) -> None:
    """Refuse an owner that is not the task's own by now: whoever manages a task may change and delete it."""
    if names_owner(given) and given["managed_by"] != now:
        raise InvalidInput.one(
            "managed_by",
            given["managed_by"],
            f"{shown(given['managed_by'])} is written by `hourhand apply` for the tasks of a task file, or by the app "
            "that declares the task: put it into the file and apply that, or declare it there; null lets go of a task",
        )


def _refuse_declared_hash(given: Mapping[str, Any]) -> None:
    if _NOT_FOR_PEOPLE in given:
        known = ", ".join(name for name in FIELDS if name != _NOT_FOR_PEOPLE)
        raise InvalidInput.one(_NOT_FOR_PEOPLE, None, f"is not a field of a task; the fields are: {known}")


def split_version(given: Mapping[str, Any]) -> tuple[dict[str, Any], int | None]:
    """Return the changes, and the version that they were made on if it was said."""
    _refuse_declared_hash(given)
    version = given.get("version")
    right = isinstance(version, int) and not isinstance(version, bool) and 1 <= version <= LARGEST_ID
    if version is not None and not right:
        raise InvalidInput.one("version", version, f"{shown(version)} is no version: give the task's, a whole number")
    return {name: value for name, value in given.items() if name != "version"}, version


class NewTasks(Input):
    """Tasks that are made all at once."""

    model_config = example(tasks=[_EXAMPLE])

    tasks: list[NewTask] = Field(min_length=1, max_length=MOST_CREATED)


class RunInput(Input):
    """How to run a task by hand."""

    model_config = example(args={"day": "2026-11-15"}, priority=3, key="2026-11-15")

    args: dict[str, Any] | None = Field(default=None, examples=[{"day": "2026-11-15"}])
    priority: Priority | None = Field(default=None, description="0 (highest) to 9; the task's, unless given")
    run_at: Instant | None = Field(default=None, description="Not before this time")
    key: str | None = Field(default=None, description="While an instance with this key lives, it is the answer")
    wait: bool = Field(default=False, strict=True, description="Wait for the task's dependencies")


class BackfillInput(Input):
    """A range of instants, both ends included."""

    begin: Instant = Field(alias="from", examples=["2026-11-01T00:00:00Z"])
    end: Instant = Field(alias="to", examples=["2026-11-08T00:00:00Z"])
