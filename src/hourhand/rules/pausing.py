"""Rules: what a pause or a window covers, which stretches it takes out of a schedule, and which lanes it closes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from hourhand.model.pause import PauseScope, Stretch
from hourhand.model.window import Rest
from hourhand.model.words import SkipReason
from hourhand.rules.windows import next_begin, open_at

Covered = tuple[str, int | None]
"""A pause's scope, and which task or group."""


def closes(covered: Covered, group_id: int) -> bool:
    """Whether nothing of the group is claimed under this pause; that of a single task lets its submissions pass."""
    scope, scope_id = covered
    return scope == PauseScope.ALL or (scope == PauseScope.GROUP and scope_id == group_id)


def closed(pauses: Iterable[Covered], group_id: int) -> bool:
    """Whether nothing of the group is claimed."""
    return any(closes(one, group_id) for one in pauses)


def is_resting(pauses: Iterable[Covered], task_id: int, group_id: int) -> bool:
    """Whether the schedule of the task rests under one of these."""
    return any(one == (PauseScope.TASK, task_id) or closes(one, group_id) for one in pauses)


def covers(rest: Rest, task_id: int, group_id: int) -> bool:
    """Whether the task's schedule rests under this pause, or in this window while it is open."""
    return is_resting([(rest.scope, rest.scope_id)], task_id, group_id)


@dataclass(frozen=True, slots=True)
class Rests:
    """When the schedule of one task rests."""

    pauses: tuple[Stretch, ...] = ()
    """Pauses add up, so those that overlap or touch are one stretch."""
    windows: tuple[Rest, ...] = ()

    def at(self, instant: datetime) -> Stretch | None:
        """The stretch in which the instant lies; of windows that overlap, that which is open longest."""
        paused = next((one for one in self.pauses if one.holds(instant)), None)
        if paused is not None or not self.windows:
            return paused
        found = [stretch for one in self.windows if (stretch := stretch_at(one, instant)) is not None]
        return max(found, key=lambda one: one.end or one.begin, default=None)

    def next_begin(self, after: datetime, before: datetime) -> datetime:
        """Where the next stretch may begin after a moment; at the latest `before`."""
        begins = [one.begin for one in self.pauses if one.begin > after]
        begins += [one.begin for one in self.windows if one.begin > after]
        begins += [
            begin
            for one in self.windows
            if one.recurrence is not None
            and one.begin <= after
            and (one.end is None or one.end > after)
            and (begin := next_begin(one.recurrence, after)) is not None
        ]
        return min([before, *begins])


NOTHING = Rests()


def stretch_at(window: Rest, instant: datetime) -> Stretch | None:
    """While a window is open, as far as it is in force; a pause is open from its beginning to its end."""
    if not Stretch(window.begin, window.end).holds(instant):
        return None
    if window.recurrence is None:
        return Stretch(window.begin, window.end)
    found = open_at(window.recurrence, instant)
    if found is None:
        return None
    end = found.end if window.end is None else min(found.end, window.end)
    return Stretch(max(found.begin, window.begin), end, SkipReason.WINDOW, window.name)


def rests_of(rests: Iterable[Rest], task_id: int, group_id: int) -> Rests:
    """When the task's schedule rests."""
    mine = [one for one in rests if covers(one, task_id, group_id)]
    if not mine:
        return NOTHING
    merged: list[Stretch] = []
    for pause in sorted((one for one in mine if one.recurrence is None), key=lambda one: one.begin):
        before = merged[-1] if merged else None
        if before is None or (before.end is not None and before.end < pause.begin):
            merged.append(Stretch(pause.begin, pause.end))
        else:
            end = None if before.end is None or pause.end is None else max(before.end, pause.end)
            merged[-1] = Stretch(before.begin, end)
    return Rests(tuple(merged), tuple(one for one in mine if one.recurrence is not None))
