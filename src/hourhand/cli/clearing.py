"""`hourhand task edit --clear`: what a task may be without is taken off it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from hourhand.cli.json_options import Json
from hourhand.cli.task_options import TaskOptions, flag
from hourhand.model.errors import InvalidInput

_FIELDS: Mapping[str, tuple[str, Any]] = {
    "args_schema": ("args_schema", None),
    "concurrency_key": ("concurrency_key", None),
    "depends_on": ("dependency_ids", []),
    "description": ("description", None),
    "label": ("executor_labels", {}),
    "owner": ("owner", None),
    "retries": ("max_retries", None),
    "tag": ("tags", []),
    "timeout": ("timeout_seconds", None),
}
"""By its option: a field, and what it is when it is nothing."""
_PAYLOAD: Mapping[str, str] = {
    "args": "args",
    "body": "body",
    "cwd": "cwd",
    "env": "env",
    "header": "headers",
    "json_body": "json",
    "method": "method",
}
"""By its option: a part of the payload that it may be without."""
_OPTIONS = {field: option for option, (field, _) in _FIELDS.items()} | {part: one for one, part in _PAYLOAD.items()}
"""People also write the name of the field, as `task show` prints it."""

Clear = Annotated[
    list[str] | None,
    typer.Option(
        "--clear",
        metavar="OPTION",
        help="Take it off the task, such as description or timeout; repeatable.",
        show_default=False,
        autocompletion=lambda: sorted(flag(one).removeprefix("--") for one in (*_FIELDS, *_PAYLOAD)),
    ),
]


def cleared(names: list[str], options: TaskOptions, task: Json, changed: Json) -> Json:
    """The changes, and what is taken off with them."""
    found = dict(changed)
    for name in names:
        option = _option(name)
        if getattr(options, option) is not None:
            raise InvalidInput.one("--clear", name, f"{name!r} is given together with {flag(option)}: give one of them")
        if option in _FIELDS:
            field, nothing = _FIELDS[option]
            found[field] = nothing
        else:
            payload: Json = found["payload"] if "payload" in found else task["payload"]
            found["payload"] = {part: value for part, value in payload.items() if part != _PAYLOAD[option]}
    return found


def _option(name: str) -> str:
    """The option that is meant, however it was spelled."""
    plain = name.removeprefix("--").replace("-", "_")
    option = _OPTIONS.get(plain, plain)
    if option not in _FIELDS and option not in _PAYLOAD:
        known = ", ".join(sorted(one.replace("_", "-") for one in (*_FIELDS, *_PAYLOAD)))
        raise InvalidInput.one("--clear", name, f"{name!r} cannot be cleared; what can be: {known}")
    return option
