"""Model: a claim is the leased right of one executor to one attempt; a transition is what its end leads to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hourhand.model.words import BlockedBy, ExecutorLossPolicy, OutcomeKind, RetryBackoff, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What must be known of a running attempt to decide what its outcome leads to."""

    instance_id: int
    fence: int
    retry_count: int = 0
    loss_count: int = 0
    cancel_requested: bool = False
    cancel_reason: str | None = None
    concurrency_key: str | None = None
    max_retries: int | None = None
    retry_delay_seconds: int = 10
    retry_backoff: RetryBackoff = RetryBackoff.EXPONENTIAL
    executor_loss_policy: ExecutorLossPolicy = ExecutorLossPolicy.REQUEUE


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """What the store has to compare and set."""

    to: Status
    retry_count: int
    loss_count: int
    blocked_by: BlockedBy | None = None
    available_at: datetime | None = None
    error_message: str | None = None
    attempt: OutcomeKind | None = None
    """The kind of attempt to record apart, when it did not end its instance."""
