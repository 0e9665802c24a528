"""Rules: what an alert rule says, and when: from what holds, what was remembered, and the time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from hourhand.model.alert import (
    AlertRule,
    Condition,
    Delivery,
    ExecutorLost,
    Facts,
    Failed,
    FailedInARow,
    Finding,
    Item,
    ItemKind,
    Late,
    Memory,
    NeverStarted,
    Notice,
    QueueLonger,
    RunningLonger,
    SubjectState,
)
from hourhand.rules.alert_findings import moment
from hourhand.rules.quiet_hours import quiet

MOST_ITEMS = 50
"""A notice tells this many in words and counts the rest."""
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=10), timedelta(hours=1)
GIVE_UP_AFTER = timedelta(days=3)
_RECOVERED: Mapping[type[Condition], str] = {
    Failed: "has succeeded",
    FailedInARow: "has succeeded",
    Late: "is no longer late: it has started or ended",
    NeverStarted: "has started, or its instant was skipped",
    RunningLonger: "runs no longer",
    ExecutorLost: "is back, or another of its group has started",
    QueueLonger: "has few enough instances waiting again",
}
_GRAVEST = (ItemKind.TEST, ItemKind.FIRING, ItemKind.REMINDER, ItemKind.RECOVERED)


def decide(rule: AlertRule, facts: Facts, memory: Memory, now: datetime) -> tuple[Memory, Notice | None]:
    """What is to be remembered from now on, and what is to be said now."""
    states, items = _states(rule, facts, memory.states, now)
    delivery, notice = _deliver(rule, memory.delivery, items, now)
    return Memory(states=states, delivery=delivery), notice


def _states(
    rule: AlertRule, facts: Facts, before: Mapping[str, SubjectState], now: datetime
) -> tuple[dict[str, SubjectState], list[Item]]:
    items = [_firing(finding.subject, finding.text, finding.about, now) for finding in facts.happened]
    told = {finding.subject: finding.what for finding in facts.happened}
    states: dict[str, SubjectState] = {}
    for subject, finding in facts.holding.items():
        states[subject], item = _holding(rule, finding, before.get(subject), now, told=subject in told)
        items += [] if item is None else [item]
    firing = {subject: state.about["what"] for subject, state in before.items() if state.firing_since is not None}
    for subject, what in (firing | told).items():
        if subject not in states and subject not in facts.forgotten:
            text = f"{what} {_RECOVERED[type(rule.condition)]}"
            about = _for_programs(before[subject].about) if subject in before else {}
            items.append(Item(kind=ItemKind.RECOVERED, subject=subject, text=text, at=now, about=about))
    for subject in facts.known.keys() - states.keys():
        kept = before.get(subject)
        if kept is None or kept.firing_since is not None:
            kept = SubjectState(subject=subject, since=now, about=facts.known[subject])
        states[subject] = kept
    return states, items


def _holding(
    rule: AlertRule, finding: Finding, before: SubjectState | None, now: datetime, *, told: bool
) -> tuple[SubjectState, Item | None]:
    """The condition holds: it may have done so before, and may have been told of in this very moment."""
    about = {**finding.about, "what": finding.what, "text": finding.text}
    state = before or SubjectState(subject=finding.subject, since=now, about=about)
    if state.firing_since is None and now - state.since >= _patience(rule.condition):
        state = replace(state, firing_since=now, last_notified_at=now, about=about)
        return state, None if told else _firing(finding.subject, finding.text, finding.about, now)
    if told:
        return replace(state, last_notified_at=now, about=about), None
    if _is_due_again(rule, state, now):
        return replace(state, last_notified_at=now), _reminder(state, finding.text, now)
    return state, None


def _patience(condition: Condition) -> timedelta:
    """How long it must hold before anything is said."""
    return timedelta(minutes=condition.minutes) if isinstance(condition, QueueLonger) else timedelta()


def _is_due_again(rule: AlertRule, state: SubjectState, now: datetime) -> bool:
    return (
        rule.repeat_seconds is not None
        and state.firing_since is not None
        and state.last_notified_at is not None
        and now - state.last_notified_at >= timedelta(seconds=rule.repeat_seconds)
        and not quiet(rule.quiet_hours, now)
    )


def _firing(subject: str, text: str, about: Mapping[str, Any], now: datetime) -> Item:
    return Item(kind=ItemKind.FIRING, subject=subject, text=text, at=now, about=about)


def _reminder(state: SubjectState, text: str, now: datetime) -> Item:
    since = moment(state.firing_since or now)
    return Item(
        kind=ItemKind.REMINDER,
        subject=state.subject,
        text=f"{text} (since {since})",
        at=now,
        about=_for_programs(state.about),
    )


def _for_programs(about: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in about.items() if name not in ("what", "text")}


def _deliver(rule: AlertRule, delivery: Delivery, items: list[Item], now: datetime) -> tuple[Delivery, Notice | None]:
    """The first goes at once; what comes while a window is open, or in quiet hours, is collected into one."""
    collected, dropped = list(delivery.collected), delivery.dropped
    for item in items:
        if item.kind is ItemKind.RECOVERED:
            waiting = {place for place, one in enumerate(collected) if _recovers(one, item.subject)}
            if waiting:
                collected = [
                    replace(one, recovered_at=now) if place in waiting else one for place, one in enumerate(collected)
                ]
                continue
            if not rule.notify_recovery:
                continue
        if len(collected) < MOST_ITEMS:
            collected.append(item)
        else:
            dropped += 1
    open_until = delivery.open_until if delivery.open_until is not None and now < delivery.open_until else None
    if not collected or open_until is not None or quiet(rule.quiet_hours, now):
        return Delivery(open_until=open_until, collected=tuple(collected), dropped=dropped), None
    return Delivery(open_until=now + timedelta(seconds=rule.group_seconds)), compose(rule, collected, dropped, now)


def _recovers(item: Item, subject: str) -> bool:
    return item.subject == subject and item.kind is not ItemKind.RECOVERED and item.recovered_at is None


def compose(rule: AlertRule, items: list[Item], more: int, now: datetime) -> Notice:
    """Put a notice into words."""
    if len(items) == 1:
        (only,) = items
        word = {ItemKind.RECOVERED: "recovered: ", ItemKind.REMINDER: "still: "}.get(only.kind, "")
        title = f"{rule.name}: {word}{_cut(only.text)}"
    else:
        recovered = sum(one.kind is ItemKind.RECOVERED for one in items)
        alerts = len(items) - recovered + more
        counts = [
            f"{number} {word}{'' if number == 1 else 's'}"
            for number, word in ((alerts, "alert"), (recovered, "recovery"))
            if number
        ]
        title = f"{rule.name}: {', '.join(counts).replace('recoverys', 'recoveries')}"
    lines = [_line(one) for one in items] + ([f"… and {more} more"] if more else [])
    return Notice(
        id=f"{rule.id}-{int(now.timestamp() * 1_000_000)}",
        rule_id=rule.id,
        rule_name=rule.name,
        kind=min((one.kind for one in items), key=_GRAVEST.index),
        at=now,
        title=title,
        text="\n".join(lines),
        items=tuple(items),
        more=more,
    )


def a_test(rule: AlertRule, now: datetime) -> Notice:
    """What a rule's targets get when somebody wants to see whether they get anything."""
    item = Item(
        kind=ItemKind.TEST, subject="", text=f"this is a test of the alert rule {rule.name!r}; all is well", at=now
    )
    return compose(rule, [item], 0, now)


def _cut(text: str, most: int = 120) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _line(item: Item) -> str:
    word = {ItemKind.RECOVERED: "recovered: ", ItemKind.REMINDER: "still: "}.get(item.kind, "")
    since = f" (recovered {moment(item.recovered_at)})" if item.recovered_at is not None else ""
    return f"{moment(item.at)} {word}{item.text}{since}"


def notice_json(notice: Notice) -> dict[str, Any]:
    """A notice as it is stored, and as webhooks get it."""
    return {
        "notice": notice.id,
        "kind": notice.kind.value,
        "rule": {"id": notice.rule_id, "name": notice.rule_name},
        "at": moment(notice.at),
        "title": notice.title,
        "text": notice.text,
        "items": [item_json(one) for one in notice.items],
        "more": notice.more,
    }


def item_json(item: Item) -> dict[str, Any]:
    """One item of a notice."""
    return {
        "kind": item.kind.value,
        "subject": item.subject,
        "text": item.text,
        "at": item.at.isoformat(),
        "recovered_at": None if item.recovered_at is None else item.recovered_at.isoformat(),
        "about": dict(item.about),
    }


def item_from(stored: Mapping[str, Any]) -> Item:
    """The inverse of `item_json`."""
    recovered = stored["recovered_at"]
    return Item(
        kind=ItemKind(stored["kind"]),
        subject=stored["subject"],
        text=stored["text"],
        at=datetime.fromisoformat(stored["at"]),
        recovered_at=None if recovered is None else datetime.fromisoformat(recovered),
        about=stored["about"],
    )


def wait_after(tries: int, created_at: datetime, now: datetime) -> timedelta | None:
    """How long to wait after a try that failed; None when it is time to give up."""
    if now - created_at >= GIVE_UP_AFTER:
        return None
    return min(LONGEST_WAIT, FIRST_WAIT * float(2 ** min(tries - 1, 16)))
