"""Rules: the tasks of a task file: as a person writes them, and as they are written down for one."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, replace
from typing import Any, NamedTuple

from hourhand.model.errors import FieldError, InvalidInput, shown
from hourhand.model.task import Declaration, TaskDefinition
from hourhand.model.task_file import FileTask
from hourhand.model.words import TaskType
from hourhand.rules.declaration import declared_definition
from hourhand.rules.definition import FIELDS
from hourhand.rules.schedule import parse

SHORTHANDS: Mapping[str, TaskType] = {
    "command": TaskType.COMMAND,
    "url": TaskType.HTTP,
    "handler": TaskType.PYTHON,
}
"""Keys that say what to run, in place of `type` and the same key of `payload`."""
ELSEWHERE: Mapping[str, str] = {
    "dependency_ids": "ids differ from store to store: name the tasks in depends_on",
    "managed_by": "the name of the set says who manages its tasks",
    "declared_hash": "it is the store's own",
}
"""Fields of a task that no file has, and why."""
FILE_FIELDS = (*(name for name in FIELDS if name not in ELSEWHERE), "depends_on", *SHORTHANDS)
_SAY_WHAT = "is required: say what to run by command, url or handler, or give type and payload"
_FIRST = ("name", *SHORTHANDS, "type", "payload", "schedule", "timezone", "depends_on")
"""What people look for first."""


class Read(NamedTuple):
    """The tasks of a file, what is wrong with others, and the names of those."""

    tasks: tuple[FileTask, ...]
    errors: tuple[FieldError, ...]
    unread: tuple[str, ...]


def read_tasks(given: Sequence[Any]) -> Read:
    """The tasks of a set from plain values; everything that is wrong with any of them, by its place."""
    tasks: list[FileTask] = []
    errors: list[FieldError] = []
    unread: list[str] = []
    places: dict[object, str] = {}
    for number, values in enumerate(given):
        place = f"tasks.{number}"
        name = values.get("name") if isinstance(values, Mapping) else None
        if isinstance(name, str) and places.setdefault(name, place) != place:
            errors.append(FieldError(f"{place}.name", name, f"two tasks are named {shown(name)}: rename or remove one"))
            continue
        try:
            tasks.append(FileTask(place=place, declaration=declaration_from(values)))
        except InvalidInput as refused:
            errors += [replace(each, field=f"{place}.{each.field}".rstrip(".")) for each in refused.errors]
            unread += [name] if isinstance(name, str) else []
    return Read(tuple(tasks), tuple(errors), tuple(unread))


def declaration_from(given: Any) -> Declaration:  # noqa: ANN401 - it is checked here
    """One task from plain values; its schedule as it will be stored."""
    if not isinstance(given, Mapping):
        raise InvalidInput.one("", given, f"{shown(given)} is not an object: give a task's fields, at least its name")
    errors = [FieldError(name, None, _unknown(name)) for name in given if name not in FILE_FIELDS]
    needed, wrong = _needed(given.get("depends_on", ()))
    short = [name for name in SHORTHANDS if name in given]
    try:
        values = _expanded({name: value for name, value in given.items() if name in FILE_FIELDS}, short)
        definition = declared_definition(values, needed)
    except InvalidInput as refused:
        raise InvalidInput([*errors, *wrong, *[_in_words_of_files(each, short) for each in refused.errors]]) from None
    if errors or wrong:
        raise InvalidInput([*errors, *wrong])
    text = parse(definition.schedule, definition.timezone).text
    return Declaration(definition=replace(definition, schedule=text), depends_on=needed)


def _unknown(name: str) -> str:
    if name in ELSEWHERE:
        return f"is not for task files: {ELSEWHERE[name]}"
    close = difflib.get_close_matches(str(name), FILE_FIELDS, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"the fields are: {', '.join(FILE_FIELDS)}"
    return f"is not a field of a task; {hint}"


def _needed(given: object) -> tuple[tuple[str, ...], list[FieldError]]:
    """The names of the tasks that it depends on, or what is wrong with them."""
    if isinstance(given, list | tuple) and all(isinstance(one, str) for one in given):
        twice = sorted(one for one, times in Counter(given).items() if times > 1)
        message = f"{shown(twice)} are named more than once: name each once"
        return tuple(dict.fromkeys(given)), [FieldError("depends_on", twice, message)] if twice else []
    right = f"write [{shown(given)}]" if isinstance(given, str) else "give the names of tasks"
    return (), [FieldError("depends_on", given, f"{shown(given)} is not a list of texts: {right}")]


def _expanded(given: Mapping[str, Any], short: Sequence[str]) -> dict[str, Any]:
    """With `type` and `payload` in place of the shorthand."""
    values = {name: value for name, value in given.items() if name not in (*SHORTHANDS, "depends_on")}
    if len(short) > 1:
        raise InvalidInput.one(short[1], None, f"is given together with {short[0]}: a task runs one thing")
    if not short:
        if "type" not in given:
            raise InvalidInput.one("type", None, _SAY_WHAT)
        return values
    (name,) = short
    kind, payload = SHORTHANDS[name], given.get("payload", {})
    if given.get("type", kind) != kind:
        raise InvalidInput.one(
            "type", given["type"], f"{shown(given['type'])} is not what {name} means: leave it out, or write {kind}"
        )
    if not isinstance(payload, Mapping):
        return {**values, "type": kind.value}
    if name in payload:
        raise InvalidInput.one(name, None, "is given here and in payload: give one of them")
    return {**values, "type": kind.value, "payload": {name: given[name], **payload}}


def _in_words_of_files(error: FieldError, short: Sequence[str]) -> FieldError:
    """Name the shorthand where it was used, and dependencies as they are written."""
    field = error.field.removeprefix("payload.")
    if not (error.field.startswith("payload.") and field.partition(".")[0] in short):
        field = "depends_on" if error.field == "dependency_ids" else error.field
    return replace(error, field=field, message=error.message.replace("dependency_ids", "depends_on"))


_DEFAULTS = {field.name: field.default for field in fields(TaskDefinition) if field.default is not MISSING}
_DEFAULTS |= {
    field.name: field.default_factory() for field in fields(TaskDefinition) if field.default_factory is not MISSING
}


def written(task: Mapping[str, Any], depends_on: Sequence[str]) -> dict[str, Any]:
    """A task as a file says it, from its plain values: what is not by default, the first things first."""
    kept = {
        name: task[name]
        for name in FIELDS
        if name in task and name not in ELSEWHERE and not _is_default(name, task[name])
    }
    if depends_on:
        kept["depends_on"] = list(depends_on)
    payload = dict(kept.get("payload", {}))
    short = next((name for name, kind in SHORTHANDS.items() if kind == task["type"] and name in payload), None)
    if short is not None:
        kept[short] = payload.pop(short)
        del kept["type"], kept["payload"]
        if payload:
            kept["payload"] = payload
    return {name: kept[name] for name in (*_FIRST, *kept) if name in kept}


def _is_default(name: str, value: Any) -> bool:  # noqa: ANN401 - any field's
    if name not in _DEFAULTS:
        return False
    default = _DEFAULTS[name]
    return bool(value == (list(default) if isinstance(default, tuple) else default))
