"""Model: why an instance is where it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from hourhand.model.words import Status


class Code(StrEnum):
    """Every reason there is, in the order in which obstacles are cleared."""

    HELD = "held"
    """It waits until somebody dispatches it."""
    PREDECESSOR = "predecessor"
    """An earlier instance of its task is to end first."""
    UPSTREAM_OPEN = "upstream_open"
    """A dependency's instant has not ended."""
    UPSTREAM_TO_COME = "upstream_to_come"
    """A dependency's instant has not come."""
    UPSTREAM_FAILED = "upstream_failed"
    """A dependency's instant has ended, and not with success."""
    UPSTREAM_MISSING = "upstream_missing"
    """A dependency has no instant to wait for."""
    RELEASE_DUE = "release_due"
    """All that it waited for has come: it is about to go on."""
    NOT_YET_DUE = "not_yet_due"
    """Its time has not come."""
    RETRY_BACKOFF = "retry_backoff"
    """An attempt failed, and the next one is to come."""
    HANDED_BACK = "handed_back"
    """An executor took it and could not execute it."""
    CONCURRENCY_FULL = "concurrency_full"
    """Others have all the permits of its concurrency key."""
    PERMIT_DUE = "permit_due"
    """A permit is free, and is about to be given."""
    PAUSED = "paused"
    """Its group, or everything, is paused."""
    WINDOW = "window"
    """A maintenance window of its group, or of everything, is open."""
    NO_EXECUTOR = "no_executor"
    """No executor of its group is alive."""
    TARGET_GONE = "target_gone"
    """It is for one executor, which is not alive."""
    NOBODY_PROVIDES = "nobody_provides"
    """No executor of its group has what it needs."""
    NOBODY_LABELLED = "nobody_labelled"
    """No executor that could execute it has the labels it asks for."""
    EXECUTORS_FULL = "executors_full"
    """All executors that could take it are full."""
    BEHIND_OTHERS = "behind_others"
    """Others come first."""
    EXECUTOR_LOST_BEFORE = "executor_lost_before"
    """It has lost executors already."""
    RETRIED = "retried"
    """It had ended, and somebody let it live again."""
    CLAIMABLE = "claimable"
    """Nothing stands in its way."""

    RUNNING = "running"
    """An executor is at work."""
    CANCEL_REQUESTED = "cancel_requested"
    """It was asked to stop."""
    LEASE_EXPIRED = "lease_expired"
    """Its executor has fallen silent."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """Its last attempt failed."""
    TIMED_OUT = "timed_out"
    """Its last attempt took too long."""
    EXECUTOR_LOST = "executor_lost"
    """Its executor was lost, and it must not run twice."""
    POISONOUS = "poisonous"
    """It has lost too many executors."""
    FAILED_UPSTREAM = "failed_upstream"
    """A dependency failed, and its policy is to fail then."""
    DEPENDENCY_TIMEOUT = "dependency_timeout"
    """It has waited for its dependencies for too long."""
    CANCELLED = "cancelled"
    """Somebody cancelled it."""
    REPLACED = "replaced"
    """The next instance took its place."""
    TASK_DELETED = "task_deleted"
    """Its task was deleted before it started."""
    SKIPPED_MISFIRE = "skipped_misfire"
    SKIPPED_OVERLAP = "skipped_overlap"
    SKIPPED_WINDOW = "skipped_window"
    SKIPPED_PAUSED = "skipped_paused"
    SKIPPED_NO_EXECUTOR = "skipped_no_executor"
    """Instants that were never made, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One reason: a word for programs, a sentence for people, and the facts behind both."""

    code: Code
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    """When this reason is over, if that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why an instance has not started, still runs, or ended as it did; the first reason is the one that decides."""

    instance_id: int
    status: Status
    summary: str
    reasons: tuple[Reason, ...]
