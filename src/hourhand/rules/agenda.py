"""Rules: the instants to come of many tasks together: merged by time, and counted step by step."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import heapify, heappop, heapreplace
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

from hourhand.model.agenda import BusyTask, Clocked, Load, LoadStep, UpcomingInstant
from hourhand.model.errors import InvalidInput
from hourhand.model.pause import PauseScope
from hourhand.model.window import Rest
from hourhand.rules import zones
from hourhand.rules.cron_fields import Refused
from hourhand.rules.pausing import NOTHING, Covered, Rests, rests_of
from hourhand.rules.schedule import Every, Schedule, count_instants, is_clocked, next_instant, number_from, parse
from hourhand.rules.upcoming import MOST_STRETCHES, skipped_by

LONGEST_AGENDA: Final = timedelta(days=366)
LONGEST_LOAD: Final = timedelta(days=62)
MOST_STEPS: Final = 1_000
MOST_CELLS: Final = 1_000_000
"""So many counts are made for one load, a second's work or two; tasks with the same instants share theirs."""
_CRON_CELLS: Final = 5
"""For so many counts stands one of a cron, which takes that much longer than one of a fixed rate."""
BUSIEST: Final = 10
_MINUTE, _DAY = 60, 86_400
_USUAL_STEPS: Final = (3_600, 7_200, 10_800, 21_600, _DAY)
_TICK: Final = timedelta(microseconds=1)


class Agenda:
    """Tasks that fire by themselves, and what lets them rest."""

    def __init__(self, tasks: Iterable[Clocked], rests: Iterable[Rest]) -> None:
        self._tasks = {task.task_id: task for task in tasks}
        self._rests: dict[Covered, list[Rest]] = defaultdict(list)
        for one in rests:
            self._rests[one.scope, one.scope_id].append(one)

    def upcoming(self, begin: datetime, after: tuple[datetime, int] | None = None) -> Iterator[UpcomingInstant]:
        """The instants from `begin` on, or after a time and task, soonest first; each is found when it is asked for."""
        place = (begin, 0) if after is None else max((begin, 0), after)
        # A task is not looked at before its next instant has its turn: it may never have.
        heap = [(task.next_fire_at, task.task_id) for task in self._tasks.values()]
        heapify(heap)
        while heap:
            at, task_id = heap[0]
            task = self._tasks[task_id]
            if (at, task_id) > place:
                yield self._told(task, at)
                following = _next(task, at)
            else:
                following = _next(task, max(at, place[0] - _TICK))
            if following is None:
                heappop(heap)
            else:
                heapreplace(heap, (following, task_id))

    def load(
        self, begin: datetime, end: datetime, step_seconds: int, timezone: str, *, truncated: bool = False
    ) -> Load:
        """How many of them fire in each step of a period; those that a pause or a window takes out do not count."""
        edges = steps(begin, end, step_seconds, timezone)
        alike: dict[_Alike, list[Clocked]] = defaultdict(list)
        for task in self._tasks.values():
            if (one := self._alike(task, edges[0])) is not None and one.first < end:
                alike[one].append(task)
        counting = _Counting(edges)
        busy: Counter[int] = Counter()
        for one, some in alike.items():
            count = counting.add(one, len(some))
            busy.update({task.task_id: count for task in some if count})
        named = [(self._tasks[task_id], count) for task_id, count in busy.most_common(BUSIEST)]
        return Load(
            begin=edges[0],
            end=edges[-1],
            step_seconds=step_seconds,
            steps=tuple(LoadStep(at=at, count=n) for at, n in zip(edges, counting.counts, strict=False)),
            busiest=tuple(
                BusyTask(task_id=task.task_id, task_name=task.task_name, group=task.group, count=count)
                for task, count in named
            ),
            truncated=truncated or counting.truncated,
        )

    def _told(self, task: Clocked, at: datetime) -> UpcomingInstant:
        rest = self._resting(task).at(at)
        return UpcomingInstant(
            task_id=task.task_id,
            task_name=task.task_name,
            group=task.group,
            timezone=task.timezone,
            at=at,
            note=None if rest is None else skipped_by(rest),
        )

    def _resting(self, task: Clocked) -> Rests:
        if not self._rests:
            return NOTHING
        own: tuple[Covered, ...] = (
            (PauseScope.ALL, None),
            (PauseScope.GROUP, task.group_id),
            (PauseScope.TASK, task.task_id),
        )
        return rests_of([one for key in own for one in self._rests.get(key, ())], task.task_id, task.group_id)

    def _alike(self, task: Clocked, start: datetime) -> _Alike | None:
        schedule = _schedule(task)
        first = task.next_fire_at if task.next_fire_at >= start else _next(task, start - _TICK)
        if schedule is None or first is None:
            return None
        anchor = task.anchored_at if isinstance(schedule, Every) else None
        return _Alike(schedule, anchor, first, self._resting(task))


@dataclass(frozen=True, slots=True)
class _Alike:
    """What tasks with the same instants have in common: they are counted once."""

    schedule: Schedule
    anchor: datetime | None
    first: datetime
    rests: Rests


class _Counting:
    """Counts the instants of one schedule after the other into the steps of a period."""

    def __init__(self, edges: Sequence[datetime]) -> None:
        self.counts = [0] * (len(edges) - 1)
        self.truncated = False
        self._edges = edges
        self._cells = 0

    def add(self, one: _Alike, times: int) -> int:
        """Count one schedule so many times; how often it fires."""
        total = 0
        for begin, end in self._free(one):
            if self._cells >= MOST_CELLS:
                self.truncated = True
                break
            for step, count in self._counted(one, begin, end):
                self.counts[step] += count * times
                total += count
                self._cells += 1 if isinstance(one.schedule, Every) else _CRON_CELLS
        return total

    def _free(self, one: _Alike) -> Iterator[tuple[datetime, datetime]]:
        """The stretches in which it does not rest."""
        # Of what follows its last instance, only the next instant is known.
        at, end = one.first, self._edges[-1] if is_clocked(one.schedule) else one.first + _TICK
        for _ in range(MOST_STRETCHES):
            if at >= end:
                return
            rest = one.rests.at(at)
            if rest is None:
                until = one.rests.next_begin(at, end)
                yield at, until
                at = until
            else:
                at = end if rest.end is None else rest.end
        self.truncated |= at < end

    def _counted(self, one: _Alike, begin: datetime, end: datetime) -> Iterator[tuple[int, int]]:
        """Steps and how many instants lie in them: by going through whichever takes less time."""
        if not is_clocked(one.schedule):
            yield self._step(begin), 1
            return
        first, last = self._step(begin), self._step(end - _TICK)
        if isinstance(one.schedule, Every):
            # Each has an anchor of its own, so that there may be thousands to count: from edge to edge in one go.
            bounds = [begin, *self._edges[first + 1 : last + 1], end]
            numbers = [number_from(one.schedule, at, one.anchor) for at in bounds]
            yield from ((first + place, high - low) for place, (low, high) in enumerate(pairwise(numbers)))
            return
        # To find the next instant takes half as long as to count those of a step.
        if count_instants(one.schedule, begin, end, one.anchor) <= 2 * (last - first + 1):
            at = next_instant(one.schedule, begin - _TICK, one.anchor)
            while at is not None and at < end:
                yield self._step(at), 1
                at = next_instant(one.schedule, at, one.anchor)
            return
        for step in range(first, last + 1):
            low, high = max(begin, self._edges[step]), min(end, self._edges[step + 1])
            yield step, count_instants(one.schedule, low, high, one.anchor)

    def _step(self, at: datetime) -> int:
        return bisect_right(self._edges, at) - 1


def _schedule(task: Clocked) -> Schedule | None:
    try:
        return parse(task.schedule, task.timezone)
    except InvalidInput:  # this host's zone data may lack what another host's has
        return None


def _next(task: Clocked, after: datetime) -> datetime | None:
    schedule = _schedule(task)
    return None if schedule is None else next_instant(schedule, after, task.anchored_at)


# Periods and steps


def period(begin: datetime, end: datetime, longest: timedelta) -> None:
    """Refuse a period that is none, or too long."""
    if begin >= end:
        raise InvalidInput.one("from", begin, f"{begin.isoformat()} is not before `to` ({end.isoformat()})")
    if end - begin > longest:
        days = longest // timedelta(days=1)
        raise InvalidInput.one("to", end, f"{end.isoformat()} is more than {days} days after `from`: give less")


def usual_step(begin: datetime, end: datetime) -> int:
    """An hour, or what fits a longer period."""
    fitting = (end - begin + timedelta(days=1)) / MOST_STEPS
    return next(step for step in _USUAL_STEPS if timedelta(seconds=step) >= fitting)


def steps(begin: datetime, end: datetime, step_seconds: int, timezone: str) -> list[datetime]:
    """Where the steps of a period begin, by the clock of a zone, and where the last one ends.

    Steps of less than a day begin with each day. One begins when the wall clock first shows its time: a step that the
    clock skips is not there, one that it goes through twice is longer.
    """
    longest = LONGEST_LOAD // zones.SECOND
    if not _MINUTE <= step_seconds <= longest or (_DAY % step_seconds and step_seconds % _DAY):
        right = f"give what a day can be divided into, such as 15m, 1h, 6h, or up to {LONGEST_LOAD.days} whole days"
        raise InvalidInput.one("step", step_seconds, f"{step_seconds} seconds is no step here: {right}")
    number = -((begin - end) // timedelta(seconds=step_seconds))
    if number > MOST_STEPS:
        raise InvalidInput.one(
            "step",
            step_seconds,
            f"with steps of {step_seconds} seconds there would be {number:,}, and there are at most {MOST_STEPS:,}: "
            "give a longer step, or a shorter period",
        )
    try:
        zone = ZoneInfo(zones.check(timezone))
    except Refused as refused:
        raise InvalidInput.one("timezone", timezone, str(refused)) from None
    day = timedelta(days=begin.astimezone(zone).toordinal() - zones.EPOCH.toordinal())
    local = (begin.astimezone(zone).replace(tzinfo=zones.EPOCH.tzinfo) - zones.EPOCH) - day
    step = timedelta(seconds=step_seconds)
    at = day + local // step * step
    found: list[datetime] = []
    while (edge := zones.EPOCH + zones.first_pass(timezone, at)) < end:
        if edge <= begin:
            found = [edge]  # within an hour that comes twice, its steps may all have begun before
        elif edge > found[-1]:
            found.append(edge)
        at += step
    return [*found, end]
