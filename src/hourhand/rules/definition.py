"""Rules: what a task may say; every refusal names the field, the value and what would be right."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from enum import StrEnum
from typing import Any

from hourhand.model.errors import FieldError, InvalidInput
from hourhand.model.task import TaskDefinition
from hourhand.model.words import (
    DependencyMode,
    ExecutorLossPolicy,
    MisfirePolicy,
    OverlapPolicy,
    RetryBackoff,
    TaskType,
    UpstreamFailurePolicy,
)
from hourhand.rules.payload import check_payload
from hourhand.rules.schedule import Upstream, is_clocked, parse
from hourhand.rules.substitution import places

TEN_YEARS = 10 * 366 * 86_400
MAX_JSON_BYTES = 256 * 1024
MAX_JSON_DEPTH = 32

WORDS: Mapping[str, type[StrEnum]] = {
    "type": TaskType,
    "retry_backoff": RetryBackoff,
    "misfire_policy": MisfirePolicy,
    "overlap_policy": OverlapPolicy,
    "dependency_mode": DependencyMode,
    "upstream_failure_policy": UpstreamFailurePolicy,
    "executor_loss_policy": ExecutorLossPolicy,
}
RANGES: Mapping[str, tuple[int, int]] = {
    "priority": (0, 9),
    "timeout_seconds": (1, TEN_YEARS),
    "max_retries": (0, 1_000),
    "retry_delay_seconds": (0, TEN_YEARS),
    "misfire_grace_seconds": (0, TEN_YEARS),
    "catch_up_limit": (1, 10_000),
    "dependency_timeout_seconds": (1, TEN_YEARS),
    "concurrency_limit": (1, 10_000),
}
OPTIONAL = frozenset({"description", "timeout_seconds", "max_retries", "concurrency_key", "args_schema", "owner"})
OPTIONAL |= {"managed_by", "declared_hash"}
TEXTS: Mapping[str, int] = {
    "name": 200,
    "schedule": 500,
    "description": 10_000,
    "group": 200,
    "timezone": 100,
    "concurrency_key": 200,
    "owner": 200,
    "managed_by": 200,
    "declared_hash": 200,
}
FLAGS = ("enabled", "broadcast")
OBJECTS = ("payload", "executor_labels", "args_schema")
FIELDS = tuple(field.name for field in fields(TaskDefinition))
_REQUIRED = tuple(
    field.name for field in fields(TaskDefinition) if field.default is MISSING and field.default_factory is MISSING
)


def definition_from(given: Mapping[str, Any]) -> TaskDefinition:
    """A definition from plain values, with defaults for what is left out; all refusals at once."""
    errors = [FieldError(name, None, "is required") for name in _REQUIRED if name not in given]
    values, more = _read(given)
    if errors or more:
        raise InvalidInput([*errors, *more])
    definition = TaskDefinition(**values)
    check(definition)
    return definition


def changes_from(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same for a change of some fields; the result is checked as a whole once it is applied."""
    values, errors = _read(given)
    if errors:
        raise InvalidInput(errors)
    return values


def _read(given: Mapping[str, Any]) -> tuple[dict[str, Any], list[FieldError]]:
    """Unknown keys, words and shapes; after this every value has its field's type."""
    values: dict[str, Any] = {}
    errors: list[FieldError] = []
    for name, value in given.items():
        try:
            values[name] = _value(name, value)
        except InvalidInput as refused:
            errors += refused.errors
    return values, errors


def _value(name: str, value: Any) -> Any:  # noqa: ANN401 - plain values come in, typed ones go out
    if name not in FIELDS:
        raise InvalidInput.one(name, value, f"is not a field of a task{_closest(name, FIELDS)}")
    if value is None and name in OPTIONAL:
        return None
    if name in WORDS:
        words = [word.value for word in WORDS[name]]
        if value not in words:
            raise InvalidInput.one(name, value, f"{value!r} is not one of: {', '.join(words)}")
        return WORDS[name](value)
    expected, right = _shape(name)
    if not expected(value):
        raise InvalidInput.one(name, value, f"{value!r} is not {right}")
    return tuple(value) if name in ("dependency_ids", "tags") else value


def _shape(name: str) -> tuple[Callable[[Any], bool], str]:
    if name in RANGES:
        return _is_integer, "a whole number"
    if name in FLAGS:
        return lambda value: isinstance(value, bool), "true or false"
    if name in OBJECTS:
        return lambda value: isinstance(value, Mapping), "an object"
    if name == "dependency_ids":
        return lambda value: _is_list(value) and all(map(_is_integer, value)), "a list of task ids"
    if name == "tags":
        return lambda value: _is_list(value) and all(isinstance(one, str) for one in value), "a list of texts"
    return lambda value: isinstance(value, str), "a text"


def _is_integer(value: Any) -> bool:  # noqa: ANN401 - that is the question
    return isinstance(value, int) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:  # noqa: ANN401 - that is the question
    return isinstance(value, list | tuple)


def _closest(name: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {found[0]!r}?" if found else f"; the fields are: {', '.join(known)}"


def check(definition: TaskDefinition) -> None:
    """Refuse a definition that could not work, with everything that is wrong with it."""
    errors = [*_texts(definition), *_numbers(definition), *_lists(definition)]
    for rule in (_schedule, _payload, _concurrency):
        try:
            rule(definition)
        except InvalidInput as refused:
            errors += refused.errors
    if errors:
        raise InvalidInput(errors)


def _texts(definition: TaskDefinition) -> Iterator[FieldError]:
    for name, longest in TEXTS.items():
        value = getattr(definition, name)
        if value is None:
            continue
        if len(value) > longest:
            yield FieldError(name, value, f"has {len(value)} characters; at most {longest} are allowed")
        elif name in ("name", "group") and not value.strip():
            yield FieldError(name, value, f"{value!r} is empty: give a {name}")
        elif any(ord(character) < 32 or character == "\x7f" for character in value if character not in "\n\t") or (  # noqa: PLR2004 - the first printable
            name != "description" and ("\n" in value or "\t" in value)
        ):
            yield FieldError(name, value, f"{value!r} contains control characters: remove them")
        elif name in ("name", "group") and value != value.strip():
            yield FieldError(name, value, f"{value!r} begins or ends with a space: remove it")


def _numbers(definition: TaskDefinition) -> Iterator[FieldError]:
    for name, (least, most) in RANGES.items():
        value = getattr(definition, name)
        if value is not None and not least <= value <= most:
            yield FieldError(name, value, f"{value} is out of range: give {least} to {most}")


def _lists(definition: TaskDefinition) -> Iterator[FieldError]:
    repeated = sorted({one for one in definition.dependency_ids if definition.dependency_ids.count(one) > 1})
    if repeated:
        yield FieldError("dependency_ids", repeated, f"{repeated} are named more than once: name each once")
    for name, value in definition.executor_labels.items():
        if not isinstance(name, str) or not isinstance(value, str):
            yield FieldError(f"executor_labels.{name}", value, f"{value!r} is not a text: labels map texts to texts")
    for name in OBJECTS:
        yield from json_errors(getattr(definition, name), name)
    yield from json_errors(list(definition.tags), "tags")


def _schedule(definition: TaskDefinition) -> None:
    schedule = parse(definition.schedule, definition.timezone)
    if isinstance(schedule, Upstream) and not definition.dependency_ids:
        raise InvalidInput.one(
            "schedule", definition.schedule, "@upstream follows its dependencies: name at least one in dependency_ids"
        )


def _payload(definition: TaskDefinition) -> None:
    check_payload(definition.type, definition.payload)


def _concurrency(definition: TaskDefinition) -> None:
    if definition.concurrency_key is None:
        return
    names = places(definition.concurrency_key, "concurrency_key")
    args = definition.payload.get("args")
    given = args if isinstance(args, Mapping) else {}
    missing = [name for name in names if name not in given]
    if missing and is_clocked(parse(definition.schedule, definition.timezone)):
        raise InvalidInput.one(
            "concurrency_key",
            definition.concurrency_key,
            f"scheduled instances have no argument {missing[0]!r}: give it in payload.args, or leave it out of the key",
        )


def check_args(args: Any) -> None:  # noqa: ANN401 - it is checked here
    """The arguments of a submission: an object that every store can keep."""
    if args is None:
        return
    if not isinstance(args, Mapping):
        raise InvalidInput.one("args", args, f"{args!r} is not an object: give named arguments")
    errors = list(json_errors(args, "args"))
    if errors:
        raise InvalidInput(errors)


def json_errors(value: Any, field: str) -> Iterator[FieldError]:  # noqa: ANN401 - it is checked here
    """What keeps a value from being stored as JSON."""
    try:
        if _depth(value) > MAX_JSON_DEPTH:
            yield FieldError(field, None, f"is nested more than {MAX_JSON_DEPTH} levels deep")
            return
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        size = len(text.encode())
    except (TypeError, ValueError) as error:
        yield FieldError(field, repr(value)[:200], f"is not JSON: {error}")
        return
    if "\\u0000" in text:
        yield FieldError(field, None, "contains the NUL character, which no database text can hold: remove it")
    if size > MAX_JSON_BYTES:
        yield FieldError(field, None, f"has {size} bytes; at most {MAX_JSON_BYTES} are allowed")


def _depth(value: Any) -> int:  # noqa: ANN401 - any JSON value
    """How deeply it is nested; counted without recursion, since depth is what may be hostile here."""
    depth, level = 0, [value]
    while level and depth <= MAX_JSON_DEPTH:
        inner: list[Any] = []
        for one in level:
            if isinstance(one, Mapping):
                inner += one.values()
            elif isinstance(one, list | tuple):
                inner += one
        if not any(isinstance(one, Mapping | list | tuple) for one in level):
            return depth
        depth, level = depth + 1, inner
    return depth
