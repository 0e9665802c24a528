"""Model: the demo: sample tasks of a small shop, and a day of theirs that never was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hourhand.model.words import SkipReason, Status

DEMO_APP = "hourhand.demo"
"""The app that declares the sample tasks: what it has made and manages belongs to the demo, and nothing else does."""
DEMO_GROUP = "demo-shop"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoState:
    """What of the demo there is in a store."""

    loaded_at: datetime | None = None
    tasks: int = 0
    living: int = 0
    """Instances of sample tasks, deleted ones included, that have not ended."""
    executors: int = 0
    """Of the demo's group, that have beaten lately."""
    owned: bool = False
    """Whether anything at all belongs to it, if only tasks that somebody has deleted."""

    @property
    def wants_executor(self) -> bool:
        """Whether there is anything for an executor of its group to do, or to stop."""
        return self.tasks > 0 or self.living > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAttempt:
    """An attempt of a past instance that was not its last."""

    start_time: datetime
    end_time: datetime
    error_message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PastEnding:
    """An ending that a sample task might have had; without a `start_time` it is a recorded skip."""

    task_id: int
    scheduled_time: datetime
    end_time: datetime
    status: Status
    start_time: datetime | None = None
    result: Mapping[str, Any] | None = None
    output: str | None = None
    error_message: str | None = None
    skip_reason: SkipReason | None = None
    skipped: int = 0
    """How many instants in a row a skip stands for, of which `scheduled_time` is the first."""
    last_skipped: datetime | None = None
    attempts: tuple[PastAttempt, ...] = ()
    """Those before the last."""
    lines: tuple[tuple[str, str | None, str], ...] = ()
    """Level, phase and message, of the last attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRemoved:
    """How much was taken away."""

    tasks: int = 0
    execution_logs: int = 0
