"""What is known of a cluster after faults: facts from three independent witnesses, as plain values.

    the journal     every change of a living row, written by triggers of the database
    the tables      definitions, execution logs, attempts that did not end their instance
    the marks       one line per start and per end, written by the work itself into a file of its own process

The checker compares them with each other and with what the schedules intended; none of them is taken on trust.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFacts:
    """A task as the oracle and the checker need it; it is not edited while the faults last."""

    id: int
    name: str
    schedule: str
    anchored_at: datetime
    timezone: str = "UTC"
    dependency_ids: tuple[int, ...] = ()
    needs_success: bool = True
    """Whether its dependencies must have succeeded (else it is enough that they ended)."""


class Verb(StrEnum):
    """What was done to a living row."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One line of the journal: a living row after it was inserted or updated, or before it was deleted."""

    seq: int
    at: datetime
    verb: Verb
    instance_id: int
    task_id: int
    scheduled_time: datetime
    status: str
    fence: int
    triggered_by: str = "scheduler"
    shard_index: int = 0
    in_ledger: bool = True
    lease_until: datetime | None = None
    executor_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionLog:
    """One ending, or one recorded skip of consecutive instants."""

    id: int
    instance_id: int
    task_id: int
    scheduled_time: datetime
    status: str
    fence: int
    end_time: datetime
    superseded: bool = False
    skip_reason: str | None = None
    summary: Mapping[str, Any] | None = None
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class Loss:
    """An attempt that was taken back because its lease had run out."""

    instance_id: int
    fence: int


class MarkKind(StrEnum):
    """Which moment of an attempt a mark tells of."""

    START = "start"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What an attempt itself said: that it started, or that its work is done."""

    kind: MarkKind
    instance_id: int
    fence: int
    at: datetime
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Everything that is known; what was scheduled after `until` may still have been under way."""

    tasks: tuple[TaskFacts, ...]
    until: datetime
    changes: tuple[Change, ...] = ()
    logs: tuple[ExecutionLog, ...] = ()
    losses: tuple[Loss, ...] = ()
    marks: tuple[Mark, ...] = ()
    accepted: tuple[int, ...] = ()
    """The ids of submissions that were acknowledged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One promise that was broken."""

    invariant: str
    message: str
    task: str = ""
    scheduled_time: datetime | None = None
    instance_id: int | None = None

    def __str__(self) -> str:
        where = [
            self.task and f"task {self.task}",
            self.scheduled_time and f"instant {self.scheduled_time.isoformat()}",
            self.instance_id is not None and f"instance {self.instance_id}",
        ]
        named = ", ".join(str(part) for part in where if part)
        return f"{self.invariant}: {self.message}" + (f" ({named})" if named else "")
