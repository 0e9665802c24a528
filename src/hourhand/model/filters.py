"""Model: what to list; None means any."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hourhand.model.words import LineLevel, Status, TaskType, TriggeredBy


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceFilter:
    """Instances and execution logs; `begin` and `end` bound the end of the ended, the instant of the living.

    What is said of the task (`type`, `q`, `exclude`, `owner`) is compared with the task as it is now, deleted or not.
    """

    task_id: int | None = None
    status: Status | None = None
    ended: bool | None = None
    """Only those that have ended, or only those that have not."""
    group_id: int | None = None
    group_ids: tuple[int, ...] | None = None
    """The groups within the caller's reach."""
    type: TaskType | None = None
    q: str | None = None
    """A part of the task's name, in any case."""
    exclude: str | None = None
    """A part that the task's name must not have, in any case."""
    owner: str | None = None
    executor_id: str | None = None
    data_source_id: int | None = None
    triggered_by: TriggeredBy | None = None
    args: str | None = None
    """A part of the arguments, as JSON, in any case; blanks do not count."""
    error: str | None = None
    """A part of the error message, in any case; what has not ended has none."""
    begin: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """Tasks; `q` is a part of the name, in any case, `exclude` one that it must not have, `name` the whole of it."""

    q: str | None = None
    exclude: str | None = None
    name: str | None = None
    enabled: bool | None = None
    group: str | None = None
    groups: tuple[str, ...] | None = None
    """The groups within the caller's reach."""
    type: TaskType | None = None
    owner: str | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFilter:
    """Lines of an instance log: of at least this level, and with this text in them, in any case."""

    level: LineLevel | None = None
    q: str | None = None
