"""Executor: what is reported of an attempt that may have been stopped."""

from __future__ import annotations

import logging
from dataclasses import replace

from hourhand.executor.attempt import LiveAttempt, Why
from hourhand.model.instance import Outcome
from hourhand.model.words import ExecutorLossPolicy, OutcomeKind
from hourhand.rules.endings import timed_out

logger = logging.getLogger("hourhand.executor")


def verdict(attempt: LiveAttempt, outcome: Outcome | None) -> Outcome | None:
    """Its outcome in the light of why it was stopped; None for one that is no longer this executor's."""
    why = attempt.stopped
    if why is Why.SUPERSEDED:
        # What may be ended by its callback is superseded in the ordinary course of things.
        logger.log(
            logging.INFO if attempt.may_end_elsewhere else logging.WARNING,
            "instance %d: the attempt under fence %d was superseded; what came of it is not reported",
            attempt.held.instance_id,
            attempt.held.fence,
        )
        return None
    begun = outcome is not None or attempt.task is not None
    outcome = outcome or Outcome(kind=OutcomeKind.CANCELLED)
    if why is None or outcome.kind is OutcomeKind.SUCCESS:
        return outcome
    match why:
        case Why.TIMED_OUT:
            message = timed_out(attempt.definition.timeout_seconds)
            return replace(outcome, kind=OutcomeKind.TIMED_OUT, error_message=message, retryable=True)
        case Why.SHUTDOWN:
            if attempt.definition.executor_loss_policy is ExecutorLossPolicy.FAIL:
                return replace(outcome, kind=OutcomeKind.LOST, error_message=why.value)
            # Not counted as a loss: a deployment is no sign of poison, and a checkpoint is kept.
            return Outcome(kind=OutcomeKind.HANDED_BACK, error_message=why.value if begun else None)
        case _:
            return replace(outcome, kind=OutcomeKind.CANCELLED)
