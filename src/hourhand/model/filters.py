"""Model: what to list; None means any."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hourhand.model.words import Status, TaskType, TriggeredBy


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceFilter:
    """Instances and execution logs; `begin` and `end` bound the end of the ended, the instant of the living."""

    task_id: int | None = None
    status: Status | None = None
    group_id: int | None = None
    group_ids: tuple[int, ...] | None = None
    """The groups within the caller's reach."""
    type: TaskType | None = None
    executor_id: str | None = None
    data_source_id: int | None = None
    triggered_by: TriggeredBy | None = None
    begin: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """Tasks; `q` is a part of the name, in any case, `name` the whole of it."""

    q: str | None = None
    name: str | None = None
    enabled: bool | None = None
    group: str | None = None
    groups: tuple[str, ...] | None = None
    """The groups within the caller's reach."""
    type: TaskType | None = None
