"""Rules: why an instance is where it is: from the facts, by the predicates that decide."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from hourhand.model.explanation import Code, Explanation, Reason
from hourhand.model.pause import Pause, PauseScope
from hourhand.model.registry import Executor
from hourhand.model.words import BlockedBy, OutcomeKind, Status, TaskType
from hourhand.rules.endings import reason_given
from hourhand.rules.explain_end import explain_end
from hourhand.rules.explain_waits import explain_waits
from hourhand.rules.facts import MOST_AHEAD, Facts, Key, Lanes, moment
from hourhand.rules.lanes import Lacks, labels_of, lacks
from hourhand.rules.lifecycle import MAX_LOSSES, isolated

SHOWN = 20
"""So many executors or instances are named; there may be more."""
_UNCOUNTED = (OutcomeKind.LOST, OutcomeKind.HANDED_BACK)
"""What became of attempts that were not at fault."""
_LEAD = {
    Status.PLANNED: "It waits",
    Status.PENDING: "It has not started",
    Status.RUNNING: "It runs",
    Status.SUCCESS: "It succeeded",
    Status.FAILED: "It failed",
    Status.CANCELLED: "It was cancelled",
}


def explain(facts: Facts) -> Explanation:
    """Say why; the first reason is the one that decides."""
    instance = facts.instance
    match instance.status:
        case Status.PLANNED:
            reasons = list(_planned(facts))
        case Status.PENDING:
            reasons = list(_pending(facts))
        case Status.RUNNING:
            reasons = list(_running(facts))
        case _:
            reasons = list(explain_end(facts))
    lead = "It never ran" if instance.skip_reason is not None else _LEAD[instance.status]
    if reasons[0].code is Code.RETRY_BACKOFF:
        lead = "It waits"  # it has started, more than once perhaps
    return Explanation(
        instance_id=instance.id,
        status=instance.status,
        summary=f"{lead}: {reasons[0].text}.",
        reasons=tuple(reasons),
    )


def _planned(facts: Facts) -> Iterator[Reason]:
    match facts.instance.blocked_by:
        case BlockedBy.DISPATCH:
            text = "it is held until somebody dispatches it"
            yield Reason(code=Code.HELD, text=text, since=facts.instance.created_at)
            yield from _paused(facts)
        case BlockedBy.DEPENDENCIES:
            yield from explain_waits(facts)
            yield from _paused(facts)
        case BlockedBy.PERMIT:
            yield from _unpermitted(facts)
        case None:  # pragma: no cover
            raise ValueError(f"instance {facts.instance.id} is planned and not blocked")
        case _:  # pragma: no cover
            assert_never(facts.instance.blocked_by)
    yield from _past(facts)


def _pending(facts: Facts) -> Iterator[Reason]:
    obstacles = [*_not_yet(facts), *_paused(facts), *_unserved(facts)]
    if not obstacles:
        obstacles = [*_full(facts), *_behind(facts)]
    yield from obstacles
    if not obstacles:
        yield Reason(
            code=Code.CLAIMABLE,
            text="nothing stands in its way, and an executor is about to claim it",
            data={"executors": _named(_able(facts.lanes))},
            since=facts.instance.available_at,
        )
    yield from _past(facts)


def _unpermitted(facts: Facts) -> Iterator[Reason]:
    """A permit is given when its time has come, to what somebody serves, if the key has room."""
    obstacles = [*_not_yet(facts), *_paused(facts), *_unserved(facts)]
    key = facts.key
    if key is not None and key.taken >= key.limit:
        obstacles.append(_taken(facts, key))
    yield from obstacles
    if not obstacles:
        yield Reason(
            code=Code.PERMIT_DUE,
            text=f"a permit of its concurrency key {facts.instance.concurrency_key!r} is free and is given next",
            data={"key": facts.instance.concurrency_key, "ahead": 0 if key is None else key.ahead},
        )


def _taken(facts: Facts, key: Key) -> Reason:
    name = facts.instance.concurrency_key
    others = key.taken - len(key.holders)
    who = [_some("instance", key.holders)] if key.holders else []
    if others:
        who.append(f"{others} more" if who else f"{others} other{'' if others == 1 else 's'}")
    ahead = f"; {_many(key.ahead, 'wait')} for it first" if key.ahead else ""
    return Reason(
        code=Code.CONCURRENCY_FULL,
        text=f"its concurrency key {name!r} lets {key.limit} at once, and {' and '.join(who)} "
        f"{'holds its permit' if key.taken == 1 else 'hold its permits'}{ahead}",
        data={"key": name, "limit": key.limit, "instances": list(key.holders), "taken": key.taken, "ahead": key.ahead},
    )


def _not_yet(facts: Facts) -> Iterator[Reason]:
    """What is available later: by its schedule or its submitter, or since an attempt did not succeed."""
    instance, attempt = facts.instance, facts.attempt
    at = instance.available_at
    if at is None or at <= facts.looked_at:
        return
    if attempt is not None and attempt.fence == instance.fence - 1 and attempt.outcome not in _UNCOUNTED:
        most = None if facts.definition is None else (facts.definition.max_retries or 0) + 1
        of = "" if most is None else f" of {most}"
        failed = "timed out" if attempt.outcome is OutcomeKind.TIMED_OUT else "failed"
        error = attempt.error_message or "it did not say why"
        yield Reason(
            code=Code.RETRY_BACKOFF,
            text=f"attempt {instance.retry_count}{of} {failed} ({error}), and the next one is at {moment(at)}",
            data={"attempt": instance.retry_count, "attempts": most, "error_message": attempt.error_message},
            since=attempt.end_time,
            until=at,
        )
    elif instance.fence > 0:
        yield Reason(
            code=Code.HANDED_BACK,
            text=f"an executor claimed it and gave it back, since it has no such handler{_named_so(facts)}, cannot "
            f"read its definition, or was stopped (its log says which); it may be claimed again at {moment(at)}",
            since=instance.queued_at,
            until=at,
        )
    else:
        yield Reason(code=Code.NOT_YET_DUE, text=f"its time is {moment(at)}", until=at)


def _paused(facts: Facts) -> Iterator[Reason]:
    for one in facts.pauses:
        what = "everything is" if one.scope is PauseScope.ALL else f"its group {one.group!r} is"
        yield Reason(
            code=Code.PAUSED,
            text=f"{what} paused by {one.owner}{_until(one)}: {one.reason}",
            data={"pause_id": one.id, "scope": one.scope.value, "owner": one.owner, "reason": one.reason},
            since=one.created_at,
            until=one.until,
        )
    for window, opening in ((one.window, one.opening) for one in facts.windows):
        whose = "everything" if window.scope is PauseScope.ALL else f"its group {window.group!r}"
        yield Reason(
            code=Code.WINDOW,
            text=f"the maintenance window {window.name!r} of {whose} is open until {moment(opening.end)}: "
            f"{window.reason}",
            data={"window_id": window.id, "name": window.name, "scope": window.scope.value, "reason": window.reason},
            since=opening.begin,
            until=opening.end,
        )


def _until(pause: Pause) -> str:
    return " until it is resumed" if pause.until is None else f" until {moment(pause.until)}"


def _able(lanes: Lanes | None) -> list[Executor]:
    """Those who may claim it, by the rule by which they do."""
    if lanes is None:
        return []
    return [one for one, group_id in lanes.alive if lacks(one, group_id, lanes.lane) is None]


def _unserved(facts: Facts) -> Iterator[Reason]:
    """Nobody alive may claim it: which part is missing, and what there is instead."""
    lanes = facts.lanes
    if lanes is None or _able(lanes):
        return
    lacking = {one.id: (one, lacks(one, group_id, lanes.lane)) for one, group_id in lanes.alive}
    target = lanes.lane.target_executor_id
    unlabelled = [one for one, what in lacking.values() if what is Lacks.LABELS]
    unable = [one for one, what in lacking.values() if what is Lacks.REQUIRES]
    if target and target not in lacking:
        others = sorted(one.id for one, what in lacking.values() if what is Lacks.TARGET)
        then = "it goes to another executor" if others else "it waits for one to come"
        yield Reason(
            code=Code.TARGET_GONE,
            text=f"it is the part of executor {target!r}, which is not alive; {then}",
            data={"target_executor_id": target, "others": others[:SHOWN]},
        )
    elif unlabelled:
        wanted = dict(labels_of(lanes.lane.labels))
        there = {one.id: dict(one.labels) for one in unlabelled[:SHOWN]}
        yield Reason(
            code=Code.NOBODY_LABELLED,
            text=f"no executor of group {lanes.group!r} that could execute it has the labels {_pairs(wanted)}; "
            f"there are {', '.join(f'{name} ({_pairs(labels)})' for name, labels in there.items())}",
            data={"group": lanes.group, "labels": wanted, "executors": there},
        )
    elif unable:
        provided = {one.id: list(one.provides) for one in unable[:SHOWN]}
        yield Reason(
            code=Code.NOBODY_PROVIDES,
            text=f"no executor of group {lanes.group!r} provides {_needed(facts, lanes.lane.requires)}; "
            f"there are {', '.join(f'{name} ({_words(words)})' for name, words in provided.items())}"
            f"{_next_step(facts, lanes.group)}",
            data={
                "group": lanes.group,
                "requires": lanes.lane.requires,
                "handler": _handler(facts),
                "executors": provided,
            },
        )
    else:
        yield _nobody(lanes)


def _named_so(facts: Facts) -> str:
    handler = _handler(facts)
    return "" if handler is None else f" ({handler!r})"


def _handler(facts: Facts) -> str | None:
    """The name of its handler; None of what is no Python, or cannot be read."""
    definition = facts.definition
    return None if definition is None or definition.type is not TaskType.PYTHON else definition.payload.get("handler")


def _needed(facts: Facts, requires: str) -> str:
    handler = _handler(facts)
    return repr(requires) if handler is None else f"its handler {handler!r} ({requires})"


def _next_step(facts: Facts, group: str) -> str:
    if _handler(facts) is None:
        return ""
    return (
        ". Start the server with the app that has it: `hourhand serve MODULE:APP` "
        f"(on a cluster `hourhand executor MODULE:APP --group {shlex.quote(group)}`)"
    )


def _nobody(lanes: Lanes) -> Reason:
    elsewhere = sorted({one.group for one, group_id in lanes.alive if group_id != lanes.lane.group_id})
    silent = f" ({', '.join(lanes.silent[:SHOWN])} fell silent)" if lanes.silent else ""
    there = f"; there are some in {', '.join(map(repr, elsewhere))}" if elsewhere else ""
    return Reason(
        code=Code.NO_EXECUTOR,
        text=f"no executor of group {lanes.group!r} is alive{silent}{there}: start one",
        data={"group": lanes.group, "silent": list(lanes.silent[:SHOWN]), "groups_with_executors": elsewhere},
    )


def _full(facts: Facts) -> Iterator[Reason]:
    able = _able(facts.lanes)
    if able and all(one.running >= one.capacity for one in able):
        yield Reason(
            code=Code.EXECUTORS_FULL,
            text=f"all executors that could take it are full: {', '.join(_slots(one) for one in able[:SHOWN])}",
            data={
                "executors": {one.id: {"running": one.running, "capacity": one.capacity} for one in able[:SHOWN]},
                "count": len(able),
            },
        )


def _slots(one: Executor) -> str:
    return f"{one.id} has {one.running} of {one.capacity}"


def _behind(facts: Facts) -> Iterator[Reason]:
    ahead = 0 if facts.lanes is None else facts.lanes.ahead
    if ahead:
        yield Reason(
            code=Code.BEHIND_OTHERS,
            text=f"{_many(ahead, 'come')} first, of a higher priority or older (its priority is "
            f"{facts.instance.priority}, 0 is the highest)",
            data={"ahead": ahead, "more": ahead >= MOST_AHEAD, "priority": facts.instance.priority},
            since=facts.instance.available_at,
        )


def _past(facts: Facts) -> Iterator[Reason]:
    """What has happened to it before, which is worth knowing and no obstacle."""
    instance = facts.instance
    if instance.loss_count:
        apart = "; one more ends it, so it is executed apart" if isolated(instance.loss_count) else ""
        yield Reason(
            code=Code.EXECUTOR_LOST_BEFORE,
            text=f"it has lost its executor {_times(instance.loss_count)} and goes round again{apart}",
            data={"losses": instance.loss_count, "most": MAX_LOSSES},
        )
    if instance.manual_retries:
        yield Reason(
            code=Code.RETRIED,
            text=f"it had ended, and was retried by hand {_times(instance.manual_retries)}",
            data={"manual_retries": instance.manual_retries},
        )


def _running(facts: Facts) -> Iterator[Reason]:
    instance = facts.instance
    executor = instance.executor_id
    if facts.lease_expired:
        yield Reason(
            code=Code.LEASE_EXPIRED,
            text=f"executor {executor} has been silent for a whole lease: it is taken to be lost, and the attempt is "
            "about to be taken back",
            data={"executor_id": executor, "last_heartbeat": instance.last_heartbeat},
            since=instance.last_heartbeat,
        )
    if instance.cancel_requested:
        by = "" if facts.cancelled_by is None else f" by {facts.cancelled_by}"
        reason = reason_given(instance.cancel_reason, facts.cancelled_by)
        why = f" ({reason})" if reason else ""
        yield Reason(
            code=Code.CANCEL_REQUESTED,
            text=f"it was asked to stop{by}{why}, and executor {executor} has not reported that it did",
            data={"by": facts.cancelled_by, "reason": reason},
        )
    far = "" if instance.progress is None else f", {instance.progress:.0%} done"
    phase = "" if instance.phase is None else f", in phase {instance.phase!r}"
    beat = "" if instance.last_heartbeat is None else f"; its last heartbeat was at {moment(instance.last_heartbeat)}"
    yield Reason(
        code=Code.RUNNING,
        text=f"executor {executor} is at work on attempt {facts.tries}{far}{phase}{beat}",
        data={
            "executor_id": executor,
            "attempt": facts.tries,
            "last_heartbeat": instance.last_heartbeat,
            "progress": instance.progress,
            "phase": instance.phase,
        },
        since=instance.start_time,
    )
    yield from _past(facts)


def _words(words: Iterable[str]) -> str:
    return ", ".join(words) or "nothing"


def _named(executors: Iterable[Executor]) -> list[str]:
    return [one.id for one in executors][:SHOWN]


def _some(what: str, ids: tuple[int, ...]) -> str:
    return f"{what}{'' if len(ids) == 1 else 's'} {', '.join(map(str, ids))}"


def _many(count: int, do: str) -> str:
    if count >= MOST_AHEAD:
        return f"at least {MOST_AHEAD:,} others {do}"
    return f"1 other {do}s" if count == 1 else f"{count:,} others {do}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _pairs(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in labels.items()) or "no labels"
