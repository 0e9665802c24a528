"""Model: figures over what has ended, and over what lives now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hourhand.model.words import TaskType


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What ended in some period.

    Every ending counts, also one that a retry has superseded. Records of skips are no endings of work: they are counted
    apart and are in no rate and no duration. Durations are those of what ran.
    """

    success: int = 0
    failed: int = 0
    cancelled: int = 0
    skipped: int = 0
    losses: int = 0
    """How many executors were lost under the instances that ended."""
    failure_rate: float | None = None
    """Failed of all that ended, 0 to 1; None when nothing did."""
    average_ms: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(Figures):
    """A group, or all of them: what lives now beside what ended."""

    group_id: int | None = None
    """None for all."""
    pending_due: int = 0
    """Could be claimed now: the length of the queue."""
    pending_later: int = 0
    """Pending, with a time to come: made ahead by a schedule, or waiting for the next attempt."""
    planned: int = 0
    running: int = 0
    zombies: int = 0
    """Running under a lease that has expired, and not taken back yet."""
    executors: int = 0
    """Those that have shown a sign of life within a lease."""
    capacity: int = 0
    """How many instances they can run at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The key figures: what lives now, and what ended since `begin`."""

    begin: datetime
    end: datetime
    total: Standing
    groups: tuple[Standing, ...]
    """By id, all groups there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point(Figures):
    """What ended in one step of a series."""

    at: datetime
    """Its beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Figures step by step."""

    begin: datetime
    end: datetime
    step_seconds: int
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share(Figures):
    """What became of one type of task, of operations by their kind."""

    type: str
    operation_kind: str | None
    planned: int = 0
    pending: int = 0
    running: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """What ended in a period, and what lives now, by type and operation kind."""

    begin: datetime
    end: datetime
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LongRunning:
    """An instance that has been running for long."""

    instance_id: int
    task_id: int
    task_name: str
    type: TaskType
    operation_kind: str | None
    group_id: int
    executor_id: str | None
    start_time: datetime
    running_seconds: float
    progress: float | None
    phase: str | None
    retry_count: int
    loss_count: int
    cancel_requested: bool
    zombie: bool
    """Its lease has expired: its executor is not heard of."""
    median_ms: float | None
    """Of the task's last successes; None when it had none lately."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedTask:
    """A task that failed for some reason."""

    id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Failures for one reason."""

    type: str
    operation_kind: str | None
    reason: str
    """The message without what differs from one time to the next (`rules.fingerprint`)."""
    count: int
    first_seen: datetime | None
    last_seen: datetime | None
    """None for what was too rare to be told apart."""
    instance_id: int | None
    """An example: the newest."""
    tasks: tuple[TouchedTask, ...]
    """Some of those that failed for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """Failures by reason, the most frequent first."""

    begin: datetime
    end: datetime
    reasons: tuple[Failure, ...]
