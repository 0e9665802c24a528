"""Rules: what a pause covers, which stretches it takes out of a schedule, and which lanes it closes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from hourhand.model.pause import Pause, PauseScope, Stretch

Covered = tuple[str, int | None]
"""A pause's scope, and which task or group."""


def closes(covered: Covered, group_id: int) -> bool:
    """Whether nothing of the group is claimed under this pause; that of a single task lets its submissions pass."""
    scope, scope_id = covered
    return scope == PauseScope.ALL or (scope == PauseScope.GROUP and scope_id == group_id)


def closed(pauses: Iterable[Covered], group_id: int) -> bool:
    """Whether nothing of the group is claimed."""
    return any(closes(one, group_id) for one in pauses)


def covers(pause: Pause, task_id: int, group_id: int) -> bool:
    """Whether the task's schedule rests under this pause."""
    by_itself = pause.scope is PauseScope.TASK and pause.scope_id == task_id
    return by_itself or closes((pause.scope, pause.scope_id), group_id)


def rests_of(pauses: Iterable[Pause], task_id: int, group_id: int) -> tuple[Stretch, ...]:
    """When the task's schedule rests: pauses add up, so those that overlap or touch are one stretch."""
    merged: list[Stretch] = []
    mine = (one for one in pauses if covers(one, task_id, group_id))
    for pause in sorted(mine, key=lambda one: one.created_at):
        before = merged[-1] if merged else None
        if before is None or (before.end is not None and before.end < pause.created_at):
            merged.append(Stretch(pause.created_at, pause.until))
        else:
            end = None if before.end is None or pause.until is None else max(before.end, pause.until)
            merged[-1] = Stretch(before.begin, end)
    return tuple(merged)


def rest_at(rests: Sequence[Stretch], instant: datetime) -> Stretch | None:
    """The stretch in which the instant lies."""
    return next((one for one in rests if one.holds(instant)), None)
