"""Rules: what an instance waits for: its turn, and its dependencies."""

from __future__ import annotations

from collections.abc import Iterator

from hourhand.model.explanation import Code, Reason
from hourhand.model.words import DependencyMode, UpstreamFailurePolicy
from hourhand.rules.dependency import Release, Standing
from hourhand.rules.facts import Awaited, Facts, Waiting, moment
from hourhand.rules.reach import of_others


def explain_waits(facts: Facts) -> Iterator[Reason]:
    """Every wait that is not met; if that keeps it from nothing any more, that it is about to go on."""
    waiting = facts.waiting
    if waiting is None or waiting.release in (Release.RUN, Release.FAIL):
        goes = "fails" if waiting is not None and waiting.release is Release.FAIL else "goes on"
        text = f"what it waited for is decided, and it {goes} within seconds"
        yield Reason(code=Code.RELEASE_DUE, text=text, since=facts.instance.created_at)
        return
    for one in waiting.awaited:
        if one.standing is not Standing.MET:
            yield _predecessor(one, facts) if one.own else _upstream(one, waiting, facts)


def _predecessor(one: Awaited, facts: Facts) -> Reason:
    living = ", ".join(f"instance {instance_id} ({status.value})" for instance_id, status in one.living)
    return Reason(
        code=Code.PREDECESSOR,
        text=f"it takes its turn after {living or 'an earlier instance'} of the same task",
        data=_data(one),
        since=facts.instance.created_at,
    )


def _upstream(one: Awaited, waiting: Waiting, facts: Facts) -> Reason:
    code, state = _state(one)
    named = of_others(1) if one.task_name is None else f"task {one.task_name!r}"
    needs = "one of its dependencies" if waiting.mode is DependencyMode.ANY else "every dependency"
    return Reason(
        code=code,
        text=f"it needs {named}{_at(one)}, {state}; {_what_then(one, waiting)}",
        data={**_data(one), "needs": needs, "upstream_failure_policy": waiting.policy.value},
        since=facts.instance.created_at,
        until=waiting.until,
    )


def _state(one: Awaited) -> tuple[Code, str]:
    if one.to_come:
        return Code.UPSTREAM_TO_COME, "which is still to come"
    if one.standing is Standing.OPEN and one.task_name is None:
        return Code.UPSTREAM_OPEN, "which has not ended"
    if one.standing is Standing.OPEN:
        living = ", ".join(f"instance {instance_id} is {status.value}" for instance_id, status in one.living)
        return Code.UPSTREAM_OPEN, f"which has not ended ({living or 'its instance is on its way'})"
    if one.outcome is not None:
        return Code.UPSTREAM_FAILED, f"which has ended as {one.outcome.value}"
    return Code.UPSTREAM_MISSING, "which was deleted" if one.deleted else "which has no instant to wait for"


def _what_then(one: Awaited, waiting: Waiting) -> str:
    limit = f"waits until {moment(waiting.until)} at the longest, and fails then"
    if one.standing is Standing.OPEN:
        return f"it {limit}"
    if waiting.policy is UpstreamFailurePolicy.RUN:
        return f"it goes on when nothing else is open, or {limit}"
    # Under `fail` it would have failed, unless another dependency may still be enough.
    return f"it goes on if that is retried and succeeds; it {limit}"


def _data(one: Awaited) -> dict[str, object]:
    return {
        "task_id": one.task_id,
        "task_name": one.task_name,
        "scheduled_time": one.instant,
        "outcome": None if one.outcome is None else one.outcome.value,
        "instances": {str(instance_id): status.value for instance_id, status in one.living},
    }


def _at(one: Awaited) -> str:
    return "" if one.instant is None else f" of {moment(one.instant)}"
