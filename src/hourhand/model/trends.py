"""Model: how single tasks fared lately, and what ran when: what is drawn beside a task, and as a timeline."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hourhand.model.words import SkipReason, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnding:
    """How one instance of a task ended, or that an instant was skipped."""

    instance_id: int
    status: Status
    scheduled_time: datetime
    start_time: datetime | None
    """None when it was never started."""
    end_time: datetime
    duration_ms: int
    skip_reason: SkipReason | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStats:
    """How one task fared lately, and what of it lives."""

    task_id: int
    endings: tuple[TaskEnding, ...]
    """The last ones, the newest last, without those that a retry has superseded."""
    running: int
    pending: int
    planned: int
    more: bool
    """Whether more wait than were counted: `pending` and `planned` are counted up to 1,000 together."""
    median_ms: float | None
    """Of the last successes; None when there were none lately."""
    p95_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """From when to when an executor had an instance, the last time it did; `end_time` is None while it runs."""

    instance_id: int
    task_id: int
    task_name: str
    group_id: int
    status: Status
    start_time: datetime
    end_time: datetime | None
    executor_id: str | None
    attempt: int
    """The number of the attempt, which is its fence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What ran in a period: what still runs first, then what ended last."""

    begin: datetime
    end: datetime
    bars: tuple[Bar, ...]
    truncated: bool
    """Whether more ran than is told."""
