"""Model: what each type of task runs, as its runner reads it; `rules.payload` makes them from plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPayload:
    """A program and its arguments, or one text for the shell."""

    command: tuple[str, ...] | str
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    stdin: str | None = None
    success_codes: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpPayload:
    """A request, and the answers that count as success."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    json: Any = None
    expected_status: tuple[int, ...] = ()
    """Empty: any from 200 to 299."""
    connect_timeout_seconds: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonPayload:
    """A handler of an app, by name."""

    handler: str
    args: Mapping[str, Any] = field(default_factory=dict)
    app: str | None = None
    """Which app's handler; by default the one named like the task's group."""


Payload = CommandPayload | HttpPayload | PythonPayload
