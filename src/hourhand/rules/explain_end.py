"""Rules: why an instance ended as it did, and what can be done about it."""

from __future__ import annotations

from collections.abc import Iterator

from hourhand.model.explanation import Code, Reason
from hourhand.model.instance import Instance
from hourhand.model.words import ExecutorLossPolicy, SkipReason, Status
from hourhand.rules.endings import REPLACED, deleted_by, reason_given, timed_out
from hourhand.rules.facts import Facts
from hourhand.rules.lifecycle import MAX_LOSSES

_SKIPPED = {
    SkipReason.MISFIRE: (
        Code.SKIPPED_MISFIRE,
        "no scheduler was there when it was due, and its misfire_policy does not make up for it",
    ),
    SkipReason.OVERLAP: (
        Code.SKIPPED_OVERLAP,
        "an earlier instance of its task was still alive, and its overlap_policy does not let them overlap",
    ),
    SkipReason.WINDOW: (Code.SKIPPED_WINDOW, "it was due in a maintenance window"),
    SkipReason.PAUSED: (Code.SKIPPED_PAUSED, "its task, its group or everything was paused when it was due"),
    SkipReason.NO_EXECUTOR: (
        Code.SKIPPED_NO_EXECUTOR,
        "it is broadcast to all executors, and none that could execute it was alive",
    ),
}


def explain_end(facts: Facts) -> Iterator[Reason]:
    """One reason, and that it was retried by hand if it was."""
    instance = facts.instance
    if instance.skip_reason is not None:
        yield _skipped(instance, instance.skip_reason)
        return
    match instance.status:
        case Status.SUCCESS:
            yield _success(facts)
        case Status.FAILED:
            yield _failed(facts)
        case _:
            yield _cancelled(facts)
    if instance.manual_retries:
        yield Reason(
            code=Code.RETRIED,
            text=f"it had ended before, and was retried by hand ({instance.manual_retries})",
            data={"manual_retries": instance.manual_retries},
        )


def _skipped(instance: Instance, reason: SkipReason) -> Reason:
    code, why = _SKIPPED[reason]
    summary = instance.summary or {}
    count = summary.get("count", 1)
    many = "" if count == 1 else f" ({'at least ' if summary.get('more') else ''}{count} instants)"
    return Reason(
        code=code,
        text=f"{why}{many}; a backfill of its range makes up for it",
        data={"count": count, "first": instance.scheduled_time, "last": summary.get("last")},
        since=instance.scheduled_time,
    )


def _success(facts: Facts) -> Reason:
    after = "at the first attempt" if facts.tries == 1 else f"at attempt {facts.tries}"
    return _ended(Code.SUCCEEDED, f"{after}, on executor {facts.instance.executor_id}", facts.instance)


def _failed(facts: Facts) -> Reason:
    instance, definition = facts.instance, facts.definition
    if instance.start_time is None and (unmet := _unmet(instance)) is not None:
        return unmet
    error = instance.error_message or "it did not say why"
    if instance.loss_count >= MAX_LOSSES:
        text = f"it lost its executor {instance.loss_count} times and was given up as poisonous ({error})"
        return _ended(Code.POISONOUS, text, instance)
    only_once = definition is not None and definition.executor_loss_policy is ExecutorLossPolicy.FAIL
    if instance.loss_count and only_once:
        text = f"its executor was lost, and its executor_loss_policy is fail ({error})"
        return _ended(Code.EXECUTOR_LOST, text, instance)
    tries = "1 attempt" if facts.tries == 1 else f"{facts.tries} attempts"
    most = None if definition is None else (definition.max_retries or 0) + 1
    left = "" if most is None or instance.retry_count + 1 >= most else ", since a further one would be in vain"
    if definition is not None and instance.error_message == timed_out(definition.timeout_seconds):
        text = f"it took longer than its timeout_seconds ({definition.timeout_seconds}) allow, after {tries}"
        return _ended(Code.TIMED_OUT, text, instance, attempts=most)
    return _ended(Code.FAILED, f"after {tries}{left}: {error}", instance, attempts=most)


def _unmet(instance: Instance) -> Reason | None:
    """What it waited for in vain, as the release has noted it."""
    unmet = (instance.summary or {}).get("unmet")
    if not unmet:
        return None
    waited = bool((instance.summary or {}).get("timed_out"))
    named = ", ".join(
        f"task {one['task_id']} of {one['scheduled_time'] or 'no instant'} ({one['outcome'] or 'not ended'})"
        for one in unmet
    )
    return Reason(
        code=Code.DEPENDENCY_TIMEOUT if waited else Code.FAILED_UPSTREAM,
        text=f"it waited for its dependencies longer than dependency_timeout_seconds allow: {named}"
        if waited
        else f"a dependency failed, and its upstream_failure_policy is fail: {named}",
        data={"unmet": unmet},
        since=instance.created_at,
        until=instance.end_time,
    )


def _cancelled(facts: Facts) -> Reason:
    instance = facts.instance
    why = instance.cancel_reason or instance.error_message
    if why == REPLACED:
        text = "the next instance of its task took its place (overlap_policy is replace)"
        return _ended(Code.REPLACED, text, instance)
    deleter = deleted_by(why)
    if deleter is not None:
        return _ended(Code.TASK_DELETED, f"its task was deleted by {deleter} before it started", instance, by=deleter)
    by = "somebody" if facts.cancelled_by is None else facts.cancelled_by
    when = "while it ran" if instance.start_time is not None else "before it started"
    why = reason_given(why, facts.cancelled_by)
    return _ended(
        Code.CANCELLED,
        f"{by} cancelled it {when} ({why or 'without a reason'}); it can be retried",
        instance,
        by=facts.cancelled_by,
        reason=why,
    )


def _ended(code: Code, text: str, instance: Instance, **more: object) -> Reason:
    return Reason(
        code=code,
        text=text,
        data={
            "retry_count": instance.retry_count,
            "losses": instance.loss_count,
            "executor_id": instance.executor_id,
            "error_message": instance.error_message,
            **more,
        },
        since=instance.start_time,
        until=instance.end_time,
    )
