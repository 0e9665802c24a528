"""Rules: the life of an instance; this module alone owns its legal edges."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import assert_never

from hourhand.model.claim import Claim, Transition
from hourhand.model.errors import IllegalEdge
from hourhand.model.instance import Outcome
from hourhand.model.words import BlockedBy, ExecutorLossPolicy, OutcomeKind, Status
from hourhand.rules.retry import retry_delay

EDGES: Mapping[Status, frozenset[Status]] = MappingProxyType(
    {
        Status.PLANNED: frozenset({Status.PENDING, Status.FAILED, Status.CANCELLED}),
        Status.PENDING: frozenset({Status.RUNNING, Status.CANCELLED}),
        Status.RUNNING: frozenset(
            {Status.SUCCESS, Status.FAILED, Status.CANCELLED, Status.PENDING, Status.PLANNED},
        ),
        Status.SUCCESS: frozenset(),
        Status.FAILED: frozenset({Status.PENDING, Status.PLANNED}),
        Status.CANCELLED: frozenset({Status.PENDING, Status.PLANNED}),
    },
)

MAX_LOSSES = 3
"""Guarantee 7: an instance that lost this many executors is failed as poisonous."""


def legal(state: Status) -> tuple[str, ...]:
    """The states that may follow, in the order in which the lifecycle names them."""
    return tuple(status.value for status in Status if status in EDGES[state])


def require_edge(instance_id: int, state: Status, to: Status) -> None:
    """Refuse an edge that the lifecycle does not have, naming those it has."""
    if to not in EDGES[state]:
        raise IllegalEdge(f"instance {instance_id}", state.value, to.value, legal(state))


def entry(*, held: bool, waits: bool, concurrency_key: str | None) -> tuple[Status, BlockedBy | None]:
    """Where an instance stands once the obstacles named are what is left of it."""
    if held:
        return Status.PLANNED, BlockedBy.DISPATCH
    if waits:
        return Status.PLANNED, BlockedBy.DEPENDENCIES
    if concurrency_key is not None:
        return Status.PLANNED, BlockedBy.PERMIT
    return Status.PENDING, None


def isolated(loss_count: int) -> bool:
    """Whether it must be executed apart: one more loss would end it, so it must not be another's fault.

    The claim's indexes are spelled after this: `loss_count < 2` and `loss_count > 1`.
    """
    return loss_count >= MAX_LOSSES - 1


def finish(claim: Claim, outcome: Outcome, now: datetime) -> Transition:
    """What the outcome of an attempt leads to."""
    match outcome.kind:
        case OutcomeKind.SUCCESS:
            return _end(claim, Status.SUCCESS, None)
        case OutcomeKind.HANDED_BACK:
            if claim.cancel_requested:
                return _end(
                    claim,
                    Status.CANCELLED,
                    claim.cancel_reason or outcome.error_message or "cancelled before it started",
                )
            # Of one that had started it is said why; it counts for nothing, and its traces are explained.
            attempt = None if outcome.error_message is None else OutcomeKind.HANDED_BACK
            available_at = now + timedelta(seconds=outcome.delay_seconds)
            return _again(claim, available_at, attempt=attempt, error=outcome.error_message)
        case _ if claim.cancel_requested or outcome.kind is OutcomeKind.CANCELLED:
            return _end(claim, Status.CANCELLED, _why_cancelled(claim, outcome))
        case OutcomeKind.LOST:
            return _lost(claim, outcome, now)
        case OutcomeKind.FAILED | OutcomeKind.TIMED_OUT:
            return _failed(claim, outcome, now)
        case _:  # pragma: no cover
            assert_never(outcome.kind)


def _why_cancelled(claim: Claim, outcome: Outcome) -> str:
    """An attempt that failed of itself says so; one that was stopped has only been told why."""
    said, asked = outcome.error_message, claim.cancel_reason
    return (asked or said if outcome.kind is OutcomeKind.CANCELLED else said or asked) or "cancelled on request"


def _failed(claim: Claim, outcome: Outcome, now: datetime) -> Transition:
    if not outcome.retryable or claim.retry_count >= (claim.max_retries or 0):
        return _end(claim, Status.FAILED, outcome.error_message)
    if outcome.retry_after_seconds is not None:
        delay = timedelta(seconds=outcome.retry_after_seconds)
    else:
        delay = retry_delay(
            claim.retry_delay_seconds,
            claim.retry_backoff,
            claim.retry_count,
            seed=f"{claim.instance_id}/{claim.fence}",
        )
    return _again(claim, now + delay, retries=1, attempt=outcome.kind, error=outcome.error_message)


def _lost(claim: Claim, outcome: Outcome, now: datetime) -> Transition:
    losses = claim.loss_count + 1
    reason = outcome.error_message or "its executor was lost"
    if claim.executor_loss_policy is ExecutorLossPolicy.FAIL:
        return _end(claim, Status.FAILED, f"{reason}; executor_loss_policy is fail", losses=1)
    if losses >= MAX_LOSSES:
        return _end(claim, Status.FAILED, f"{reason}; given up as poisonous after {losses} lost executors", losses=1)
    return _again(claim, now, losses=1, attempt=OutcomeKind.LOST, error=reason)


def _end(claim: Claim, to: Status, error: str | None, *, losses: int = 0) -> Transition:
    return Transition(to=to, retry_count=claim.retry_count, loss_count=claim.loss_count + losses, error_message=error)


def _again(
    claim: Claim,
    available_at: datetime,
    *,
    retries: int = 0,
    losses: int = 0,
    attempt: OutcomeKind | None = None,
    error: str | None = None,
) -> Transition:
    """Back into the lane; one with a concurrency key has given its permit back and needs a new one."""
    to, blocked_by = entry(held=False, waits=False, concurrency_key=claim.concurrency_key)
    return Transition(
        to=to,
        blocked_by=blocked_by,
        retry_count=claim.retry_count + retries,
        loss_count=claim.loss_count + losses,
        available_at=available_at,
        attempt=attempt,
        error_message=error,
    )
