"""Rules: what a task's payload may hold, by type."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from hourhand.model.errors import FieldError, InvalidInput, shown
from hourhand.model.payload import CommandPayload, HttpPayload, OperationPayload, Payload, PythonPayload
from hourhand.model.words import TaskType

Check = Callable[[Any], str | None]
"""Takes a value; answers what would be right, or None if it is."""


def _text(value: object) -> str | None:
    return None if isinstance(value, str) and value.strip() else "a text that is not empty"


def _folder(value: object) -> str | None:
    right = isinstance(value, str) and value.startswith(("/", "${"))
    return None if right else "an absolute path, such as /srv/reports"


def _any_text(value: object) -> str | None:
    return None if isinstance(value, str) else "a text"


def _command(value: object) -> str | None:
    if isinstance(value, str):
        return None if value.strip() else "a shell command that is not empty"
    right = isinstance(value, list | tuple) and value and all(isinstance(one, str) for one in value) and value[0]
    return None if right else 'a list of texts like ["echo", "hi"], or one text for the shell'


def _texts(value: object) -> str | None:
    if not isinstance(value, Mapping):
        return "an object of texts"
    wrong = [name for name, one in value.items() if not isinstance(name, str) or not isinstance(one, str)]
    return f"an object of texts, which {shown(wrong[0])} is not" if wrong else None


def _codes(least: int, most: int) -> Check:
    def check(value: object) -> str | None:
        right = (
            isinstance(value, list | tuple)
            and bool(value)
            and all(isinstance(one, int) and not isinstance(one, bool) and least <= one <= most for one in value)
        )
        return None if right else f"a list of numbers from {least} to {most}"

    return check


def _url(value: object) -> str | None:
    right = "an http:// or https:// address"
    # urlsplit drops line breaks and tabs, so that what was checked would not be what is called.
    if not isinstance(value, str) or not value.isprintable() or " " in value:
        return right
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return right
    return None if parts.scheme in ("http", "https") and parts.hostname and port != 0 else right


def _method(value: object) -> str | None:
    methods = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
    return None if value in methods else f"one of {', '.join(methods)}"


def _seconds(value: object) -> str | None:
    right = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 86_400  # noqa: PLR2004 - a day
    return None if right else "a number of seconds above 0, at most a day"


def _object(value: object) -> str | None:
    return None if isinstance(value, Mapping) else "an object"


def _anything(_value: object) -> str | None:
    return None


SHAPES: Mapping[TaskType, tuple[tuple[str, ...], Mapping[str, Check]]] = {
    TaskType.COMMAND: (
        ("command",),
        {"command": _command, "env": _texts, "cwd": _folder, "stdin": _any_text, "success_codes": _codes(0, 255)},
    ),
    TaskType.HTTP: (
        ("url",),
        {
            "url": _url,
            "method": _method,
            "headers": _texts,
            "body": _any_text,
            "json": _anything,
            "expected_status": _codes(100, 599),
            "connect_timeout_seconds": _seconds,
        },
    ),
    TaskType.PYTHON: (("handler",), {"handler": _text, "args": _object, "app": _text}),
    TaskType.OPERATION: (("kind",), {"kind": _text, "config": _object}),
    TaskType.XXL: (
        ("handler",),
        {
            "handler": _text,
            "params": _any_text,
            "route_strategy": _text,
            "block_strategy": _text,
            "glue_type": _text,
            "glue_source": _any_text,
            "glue_updatetime": _anything,
        },
    ),
}
"""Per type: the keys that are needed, and every key that is known."""
_LISTS = ("command", "success_codes", "expected_status")
_MAY_HOLD_SECRETS = frozenset({"command", "env", "stdin", "url", "headers", "body"})
"""A refusal of these says what would be right, but not what was given."""


def check_payload(kind: TaskType, payload: Mapping[str, Any]) -> None:
    """Refuse a payload with everything that is wrong with it."""
    needed, known = SHAPES[kind]
    errors = [
        FieldError(f"payload.{name}", None, f"is required for {kind.value} tasks: give {known[name](None)}")
        for name in needed
        if payload.get(name) is None
    ]
    for name, value in payload.items():
        check = known.get(name)
        if check is None:
            close = difflib.get_close_matches(name, list(known), n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known keys are: {', '.join(known)}"
            errors.append(FieldError(f"payload.{name}", None, f"is not a key of {kind.value} tasks; {hint}"))
        elif value is not None and (right := check(value)) is not None:
            errors.append(_refusal(name, value, right))
    if kind is TaskType.HTTP and payload.get("body") is not None and payload.get("json") is not None:
        errors.append(FieldError("payload.body", None, "give either body or json, not both"))
    if errors:
        raise InvalidInput(errors)


PAYLOADS: Mapping[TaskType, type[Payload]] = {
    TaskType.COMMAND: CommandPayload,
    TaskType.HTTP: HttpPayload,
    TaskType.PYTHON: PythonPayload,
    TaskType.OPERATION: OperationPayload,
}


def payload_from(kind: TaskType, payload: Mapping[str, Any]) -> Payload:
    """What a runner reads, made from what a person wrote; null is the same as left out."""
    check_payload(kind, payload)
    given: dict[str, Any] = {
        name: tuple(value) if name in _LISTS and isinstance(value, list) else value
        for name, value in payload.items()
        if value is not None
    }
    return PAYLOADS[kind](**given)


def _refusal(name: str, value: object, right: str) -> FieldError:
    if name in _MAY_HOLD_SECRETS:
        return FieldError(f"payload.{name}", None, f"must be {right}")
    return FieldError(f"payload.{name}", value, f"{shown(value)} is not {right}")
