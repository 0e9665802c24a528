"""Rules: what a task may say; every refusal names the field, the value and what would be right."""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from enum import StrEnum
from typing import Any

from hourhand.model.errors import FieldError, InvalidInput, shown
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
from hourhand.rules.schedule import Manual, Schedule, Upstream, parse
from hourhand.rules.substitution import places

TEN_YEARS = 10 * 366 * 86_400
MAX_JSON_BYTES = 256 * 1024
MAX_JSON_DEPTH = 32
LARGEST_ID = 2**63 - 1

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
    "description": 10_000,
    "group": 200,
    "concurrency_key": 200,
    "owner": 200,
    "managed_by": 200,
    "declared_hash": 200,
}
FLAGS = ("enabled", "broadcast")
OBJECTS = ("payload", "executor_labels", "args_schema")
FIELDS = tuple(field.name for field in fields(TaskDefinition))
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
"""In JSON: the escape of NUL, and not an escaped backslash with `u0000` behind it."""
_REQUIRED = tuple(
    field.name for field in fields(TaskDefinition) if field.default is MISSING and field.default_factory is MISSING
)


def definition_from(given: Mapping[str, Any]) -> TaskDefinition:
    """A definition from plain values, with defaults for what is left out; all refusals at once."""
    errors = [FieldError(name, None, f"is required: give {_shape(name)[1]}") for name in _REQUIRED if name not in given]
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
    expected, right = _shape(name)
    if not expected(value):
        raise InvalidInput.one(name, value, f"{shown(value)} is not {right}")
    if name in WORDS:
        return WORDS[name](value)
    return tuple(value) if name in ("dependency_ids", "tags") else value


def _shape(name: str) -> tuple[Callable[[Any], bool], str]:
    """What a field's value must be, and how to say it."""
    if name in WORDS:
        words = [word.value for word in WORDS[name]]
        return lambda value: value in words, f"one of: {', '.join(words)}"
    return _SHAPES.get(name, (_is_text, "a text"))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping)


def _list_of(item: Callable[[object], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list | tuple) and all(map(item, value))


_SHAPES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(RANGES, (_is_integer, "a whole number")),
    **dict.fromkeys(FLAGS, (_is_flag, "true or false")),
    **dict.fromkeys(OBJECTS, (_is_object, "an object")),
    "dependency_ids": (_list_of(_is_integer), "a list of task ids"),
    "tags": (_list_of(_is_text), "a list of texts"),
}


def _closest(name: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {found[0]!r}?" if found else f"; the fields are: {', '.join(known)}"


def check(definition: TaskDefinition) -> None:
    """Refuse a definition that could not work, with everything that is wrong with it."""
    rules = (_texts, _numbers, _lists, _schedule, _payload, _concurrency)
    errors = [error for rule in rules for error in rule(definition)]
    if errors:
        raise InvalidInput(errors)


def _texts(definition: TaskDefinition) -> Iterator[FieldError]:
    for name, longest in TEXTS.items():
        value = getattr(definition, name)
        if value is None:
            continue
        allowed = "\r\n\t" if name == "description" else ""
        bad = [one for one in value if unicodedata.category(one) in ("Cc", "Cs") and one not in allowed]
        if len(value) > longest:
            yield FieldError(name, value, f"has {len(value)} characters; at most {longest} are allowed")
        elif bad:
            yield FieldError(name, value, f"{shown(value)} contains the control character {bad[0]!a}: remove it")
        elif name in ("name", "group", "concurrency_key") and not value.strip():
            yield FieldError(name, value, f"{value!r} is empty: give a {name.replace('_', ' ')}{_or_none(name)}")
        elif name in ("name", "group") and value != value.strip():
            yield FieldError(name, value, f"{value!r} begins or ends with a space: remove it")


def _or_none(name: str) -> str:
    return ", or null for none" if name in OPTIONAL else ""


def _numbers(definition: TaskDefinition) -> Iterator[FieldError]:
    for name, (least, most) in RANGES.items():
        value = getattr(definition, name)
        if value is not None and not least <= value <= most:
            yield FieldError(name, value, f"{shown(value)} is out of range: give {least} to {most}")


def _lists(definition: TaskDefinition) -> Iterator[FieldError]:
    repeated = sorted(one for one, times in Counter(definition.dependency_ids).items() if times > 1)
    if repeated:
        yield FieldError("dependency_ids", repeated, f"{shown(repeated)} are named more than once: name each once")
    strange = sorted(one for one in definition.dependency_ids if not 0 < one <= LARGEST_ID)
    if strange:
        yield FieldError("dependency_ids", strange, f"{shown(strange[0])} is not the id of a task")
    for name, value in definition.executor_labels.items():
        if not isinstance(name, str) or not isinstance(value, str):
            yield FieldError(
                f"executor_labels.{name}", value, f"{shown(value)} is not a text: labels map texts to texts"
            )
    for name in OBJECTS:
        yield from json_errors(getattr(definition, name), name)
    yield from json_errors(list(definition.tags), "tags")
    if any(not tag.strip() for tag in definition.tags):
        yield FieldError("tags", list(definition.tags), "holds an empty tag: leave it out")


def _schedule(definition: TaskDefinition) -> Iterator[FieldError]:
    schedule, errors = _parsed(definition)
    yield from errors
    if isinstance(schedule, Upstream) and not definition.dependency_ids:
        yield FieldError(
            "schedule", definition.schedule, "@upstream follows its dependencies: name at least one in dependency_ids"
        )


def _parsed(definition: TaskDefinition) -> tuple[Schedule | None, tuple[FieldError, ...]]:
    try:
        return parse(definition.schedule, definition.timezone), ()
    except InvalidInput as refused:
        return None, refused.errors


def _payload(definition: TaskDefinition) -> Iterator[FieldError]:
    try:
        check_payload(definition.type, definition.payload)
    except InvalidInput as refused:
        yield from refused.errors


def _concurrency(definition: TaskDefinition) -> Iterator[FieldError]:
    """Only who submits by hand can give arguments: what the scheduler makes has those of the payload."""
    key = definition.concurrency_key
    if key is None:
        return
    try:
        names = places(key, "concurrency_key")
    except InvalidInput as refused:
        yield from refused.errors
        return
    args = definition.payload.get("args")
    missing = [name for name in names if not isinstance(args, Mapping) or name not in args]
    schedule, _ = _parsed(definition)
    if missing and schedule is not None and not isinstance(schedule, Manual):
        place = "give it in payload.args, or leave" if definition.type is TaskType.PYTHON else "leave"
        yield FieldError(
            "concurrency_key", key, f"scheduled instances have no argument {missing[0]!r}: {place} it out of the key"
        )


def check_args(args: Any) -> None:  # noqa: ANN401 - it is checked here
    """The arguments of a submission: an object that every store can keep."""
    if args is None:
        return
    if not isinstance(args, Mapping):
        raise InvalidInput.one("args", args, f"{shown(args)} is not an object: give named arguments")
    check_json(args, "args")


def check_json(value: Any, field: str) -> None:  # noqa: ANN401 - it is checked here
    """Refuse a value that cannot be stored as JSON."""
    errors = list(json_errors(value, field))
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
    except UnicodeEncodeError:
        yield FieldError(field, None, "holds half of a surrogate pair, which is no character: remove it")
        return
    except (TypeError, ValueError) as error:
        yield FieldError(field, shown(value), f"is not JSON: {error}")
        return
    if _NUL.search(text):
        yield FieldError(field, None, "contains the NUL character, which no database text can hold: remove it")
    if size > MAX_JSON_BYTES:
        yield FieldError(field, None, f"has {size} bytes; at most {MAX_JSON_BYTES} are allowed")


def _depth(value: Any) -> int:  # noqa: ANN401 - any JSON value
    """How deeply it is nested; counted without recursion, since depth is what may be hostile here."""
    depth, level = 0, [value]
    while depth <= MAX_JSON_DEPTH:
        # Each object once: one that holds itself twice would double the level at every step.
        nests = {id(one): one for one in level if isinstance(one, Mapping | list | tuple)}
        if not nests:
            break
        level = [inner for one in nests.values() for inner in (one.values() if isinstance(one, Mapping) else one)]
        depth += 1
    return depth
