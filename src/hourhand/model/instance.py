"""Model: an instance is one occurrence of a task, alive or ended, in one shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Self

from hourhand.model.words import BlockedBy, OutcomeKind, SkipReason, Status, TriggeredBy


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A request for one instance of a task, by a person or a program."""

    task_id: int
    args: Mapping[str, Any] | None = None
    priority: int | None = None
    run_at: datetime | None = None
    key: str | None = None
    triggered_by: TriggeredBy = TriggeredBy.API
    requested_by: str | None = None
    held: bool = False
    """Stay planned until somebody dispatches it."""
    wait: bool = False
    """Wait for the task's dependencies, which a submission otherwise ignores."""
    data_source_id: int | None = None
    operation_kind: str | None = None
    operation_config_id: int | None = None
    backup_reference: str | None = None
    notes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """What became of a submission: a new instance, or the living one that has the same key."""

    instance_id: int
    status: Status
    existing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One occurrence of a task; `log_id` and what follows it are set once it has ended."""

    id: int
    task_id: int
    task_name: str
    task_version: int
    group_id: int
    scheduled_time: datetime
    status: Status
    created_at: datetime
    blocked_by: BlockedBy | None = None
    executor_id: str | None = None
    start_time: datetime | None = None
    end_time: datetime | None = None
    retry_count: int = 0
    result: Mapping[str, Any] | None = None
    lane_id: int = 0
    priority: int = 5
    available_at: datetime | None = None
    queued_at: datetime | None = None
    args: Mapping[str, Any] | None = None
    triggered_by: TriggeredBy = TriggeredBy.SCHEDULER
    requested_by: str | None = None
    fence: int = 0
    lease_until: datetime | None = None
    loss_count: int = 0
    manual_retries: int = 0
    in_ledger: bool = False
    progress: float | None = None
    phase: str | None = None
    checkpoint: Any = None
    last_heartbeat: datetime | None = None
    shard_index: int = 0
    shard_total: int = 1
    target_executor_id: str | None = None
    concurrency_key: str | None = None
    key: str | None = None
    cancel_requested: bool = False
    cancel_reason: str | None = None
    data_source_id: int | None = None
    operation_kind: str | None = None
    operation_config_id: int | None = None
    backup_reference: str | None = None
    notes: str | None = None
    log_id: int | None = None
    duration_ms: int | None = None
    output_summary: str | None = None
    error_message: str | None = None
    summary: Mapping[str, Any] | None = None
    skip_reason: SkipReason | None = None
    superseded_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SubmittedInstance(Instance):
    """The instance that a submission led to; equal to the instance as anybody else sees it."""

    existing: bool = False
    """Whether it lived already, under the same key."""

    @classmethod
    def of(cls, instance: Instance, *, existing: bool) -> Self:
        """The instance, with what became of the submission."""
        return cls(**{one.name: getattr(instance, one.name) for one in fields(Instance)}, existing=existing)

    def __eq__(self, other: object) -> bool:
        """As an instance."""
        if not isinstance(other, Instance):
            return NotImplemented
        return all(getattr(self, one.name) == getattr(other, one.name) for one in fields(Instance))

    __hash__ = Instance.__hash__


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What a claim hands to an executor: everything one attempt needs but the task's definition."""

    instance_id: int
    fence: int
    task_id: int
    task_version: int
    scheduled_time: datetime
    priority: int
    available_at: datetime
    lease_until: datetime
    triggered_by: TriggeredBy
    retry_count: int
    loss_count: int
    args: Mapping[str, Any] | None
    checkpoint: Any
    shard_index: int
    shard_total: int
    data_source_id: int | None
    operation_kind: str | None
    operation_config_id: int | None
    lane_id: int

    @property
    def idempotency_key(self) -> str:
        """Guarantee 4: the same for every attempt at this instance, so that outside effects can be made once."""
        return f"hourhand-{self.instance_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a runner reported of one attempt."""

    kind: OutcomeKind
    result: Mapping[str, Any] | None = None
    error_message: str | None = None
    """For a hand-back: why, if it had started; None if it had not."""
    output_summary: str | None = None
    summary: Mapping[str, Any] | None = None
    duration_ms: int = 0
    retryable: bool = True
    delay_seconds: float = 0.0
    """For a hand-back: how long nobody should claim it again."""
    retry_after_seconds: float | None = None
    """For a failure that is tried again: when, if not after the task's own delay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """One outcome on its way to the store, under the fence of its attempt."""

    instance_id: int
    fence: int
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What became of one ending; `fenced` means the attempt was superseded and nothing changed."""

    instance_id: int
    fence: int
    status: Status | None
    fenced: bool = False
    replaced: bool = False
    """Its result could not be stored and was replaced by an explanation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRecord:
    """One attempt that did not end its instance."""

    instance_id: int
    fence: int
    executor_id: str | None
    start_time: datetime | None
    end_time: datetime
    outcome: OutcomeKind
    error_message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One chunk of what an instance wrote."""

    seq: int
    logged_at: datetime
    message: str
    level: str = "info"
    phase: str | None = None
    stream: str | None = None
    exception: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an attempt has come; a checkpoint is where its successor would resume."""

    instance_id: int
    fence: int
    progress: float | None = None
    phase: str | None = None
    checkpoint: Any = None


@dataclass(frozen=True, slots=True)
class Held:
    """One attempt an executor holds, as it tells the store at each beat."""

    instance_id: int
    fence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """The store's answer to a heartbeat."""

    lanes: tuple[int, ...]
    cancelled: tuple[int, ...] = ()
    superseded: tuple[int, ...] = ()
    registered: bool = True
    now: datetime = field(kw_only=True)
