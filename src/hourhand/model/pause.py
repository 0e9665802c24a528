"""Model: a pause: a task, a group, or everything rests for a while."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from hourhand.model.words import SkipReason


class PauseScope(StrEnum):
    """What rests."""

    ALL = "all"
    GROUP = "group"
    TASK = "task"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Somebody let something rest, from `created_at` until `until`, or until it is resumed."""

    id: int
    scope: PauseScope
    scope_id: int | None
    """The id of the task or group; None for everything."""
    reason: str
    owner: str
    created_at: datetime
    until: datetime | None = None
    task_name: str | None = None
    group: str | None = None
    """The name of the group that rests, or that the task belongs to."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """From a moment up to another, which is no part of it; without an end it is not known when it ends."""

    begin: datetime
    end: datetime | None = None
    reason: SkipReason = SkipReason.PAUSED
    """Why what lies within is skipped."""
    name: str = ""
    """Of the window that is open then, if it is one."""

    def holds(self, instant: datetime) -> bool:
        """Whether the instant lies within."""
        return self.begin <= instant and (self.end is None or instant < self.end)
