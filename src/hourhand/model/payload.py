"""Model: what each type of task runs, as its runner reads it; `rules.payload` makes them from plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPayload:
    """A program and its arguments, or one text for the shell."""

    command: tuple[str, ...] | str
    """A list: the program and its arguments; or a text for `/bin/sh -c`."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables, above the usual ones."""
    cwd: str | None = None
    """An absolute path; by default a fresh, empty folder, removed afterwards."""
    stdin: str | None = None
    """What it reads; by default nothing."""
    success_codes: tuple[int, ...] = (0,)
    """The exit codes that count as success."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpPayload:
    """A request, and the answers that count as success."""

    url: str
    """Where the request goes: `http://` or `https://`."""
    method: str = "GET"
    """`GET`, `HEAD`, `POST`, `PUT`, `PATCH`, `DELETE` or `OPTIONS`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers, above those that every request has."""
    body: str | None = None
    """A text to send."""
    json: Any = None
    """A value to send as JSON, in place of `body`."""
    expected_status: tuple[int, ...] = ()
    """Empty: any from 200 to 299."""
    connect_timeout_seconds: float = 10.0
    """How long finding the address and connecting may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonPayload:
    """A handler of an app, by name."""

    handler: str
    """The name of the handler."""
    args: Mapping[str, Any] = field(default_factory=dict)
    """Arguments for every instance; those of an instance go over them."""
    app: str | None = None
    """Which app's handler; by default the one named like the task's group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationPayload:
    """Built-in work on a data source, by its kind."""

    kind: str
    """Which one, such as `statistics_update`."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """What it does with which data source: the fields of its kind."""


Payload = CommandPayload | HttpPayload | PythonPayload | OperationPayload
