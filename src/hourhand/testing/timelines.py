"""Testing: when tasks fire, by a clock that the test moves; the rules are those of the scheduler, there is no store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hourhand.model.errors import InvalidInput, shown
from hourhand.model.task import TaskDefinition
from hourhand.model.words import SkipReason
from hourhand.rules.misfire import due
from hourhand.rules.schedule import Schedule, is_clocked, next_instant, parse, preview
from hourhand.sdk.app import HANDLERS, App
from hourhand.sdk.handlers import FunctionHandler

MOST = 100_000
"""So many firings are told at once; a test that asks for more has made a mistake."""

Scheduled = str | TaskDefinition | Callable[..., object]


def fire_times(
    scheduled: Scheduled,
    *,
    start: datetime,
    end: datetime,
    timezone: str | None = None,
    anchor: datetime | None = None,
) -> list[datetime]:
    """The instants after `start` and up to `end`, in UTC.

    `scheduled` is a schedule, or a function of an app. `timezone` is for a schedule alone; a task has its own.
    `@every` counts from `anchor`, which is `start` unless given.
    """
    schedule = _schedule(scheduled, timezone)
    instant = _aware("start", start)
    last, origin = _aware("end", end), _aware("anchor", anchor or start)
    found: list[datetime] = []
    while True:
        following = next_instant(schedule, instant, origin)
        if following is None or following > last:
            return found
        _refuse_more(len(found))
        found.append(following)
        instant = following


def schedule_notes(scheduled: Scheduled, *, start: datetime, timezone: str | None = None) -> tuple[str, ...]:
    """What is to be known of its days, and of the clock changes of the year that follows."""
    return preview(_schedule(scheduled, timezone), _aware("start", start), 0).notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """One instant of a task, and what became of it."""

    task: str
    instant: datetime
    """What it is for, in UTC."""
    at: datetime
    """When it was made; later than the instant if nobody was there to make it."""
    skipped: SkipReason | None = None
    count: int = 1
    """Of a run of skipped instants: how many; `instant` is the first of them."""

    @property
    def late(self) -> bool:
        """Whether it was made after its time."""
        return self.at > self.instant


@dataclass(slots=True)
class _Clocked:
    definition: TaskDefinition
    schedule: Schedule
    next: datetime | None


class Timeline:
    """The tasks of an app on a clock of their own, which stands still until it is told to move.

    Tasks with `@after`, `@upstream` and `@manual` never fire here: what they follow is the work itself.
    """

    def __init__(self, app: App, start: datetime) -> None:
        self.start = self.now = _aware("start", start)
        self._clocked: list[_Clocked] = []
        for declaration in app.declarations():
            definition = declaration.definition
            schedule = parse(definition.schedule, definition.timezone)
            if definition.enabled and is_clocked(schedule):
                first = next_instant(schedule, self.start, self.start)
                self._clocked.append(_Clocked(definition, schedule, first))

    def advance(
        self,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        until: datetime | None = None,
    ) -> list[Firing]:
        """Let time pass while a scheduler runs; what fires meanwhile, in its order.

        After `down`, this begins with what the tasks' misfire policies make of what was missed.
        """
        back, self.now = self.now, self._later(days, hours, minutes, seconds, until)
        found = [firing for one in self._clocked for firing in (*self._missed(one, back), *self._on_time(one))]
        return sorted(found, key=lambda firing: (firing.at, firing.instant, firing.task))

    def down(
        self,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        until: datetime | None = None,
    ) -> None:
        """Let time pass while no scheduler runs."""
        self.now = self._later(days, hours, minutes, seconds, until)

    @property
    def notes(self) -> dict[str, tuple[str, ...]]:
        """By task: what is to be known of its days, and of the clock changes of the year that follows."""
        told = {one.definition.name: preview(one.schedule, self.now, 0, self.start).notes for one in self._clocked}
        return {name: notes for name, notes in told.items() if notes}

    def _later(self, days: float, hours: float, minutes: float, seconds: float, until: datetime | None) -> datetime:
        passed = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        if until is not None and passed:
            raise InvalidInput.one("until", until, "is given together with a length of time: give the one or the other")
        later = self.now + passed if until is None else _aware("until", until)
        if later < self.now:
            raise InvalidInput.one("until", later, f"{later} is before {self.now}: time does not go back")
        return later

    def _missed(self, one: _Clocked, back: datetime) -> list[Firing]:
        """What came due up to the moment at which the scheduler is back."""
        found: list[Firing] = []
        while one.next is not None and one.next <= back:
            result = due(
                one.schedule,
                self.start,
                one.next,
                now=back,
                horizon=back,
                policy=one.definition.misfire_policy,
                grace_seconds=one.definition.misfire_grace_seconds,
                catch_up_limit=one.definition.catch_up_limit,
            )
            name = one.definition.name
            found += [Firing(task=name, instant=instant, at=back) for instant in result.fire]
            found += [
                Firing(task=name, instant=run.first, at=back, skipped=run.reason, count=run.count)
                for run in result.skipped
            ]
            one.next = result.next_fire_at
        return found

    def _on_time(self, one: _Clocked) -> list[Firing]:
        found: list[Firing] = []
        while one.next is not None and one.next <= self.now:
            _refuse_more(len(found))
            found.append(Firing(task=one.definition.name, instant=one.next, at=one.next))
            one.next = next_instant(one.schedule, one.next, self.start)
        return found


def _schedule(scheduled: Scheduled, timezone: str | None) -> Schedule:
    if isinstance(scheduled, str):
        return parse(scheduled, timezone or "UTC")
    made: tuple[FunctionHandler, ...] = getattr(scheduled, HANDLERS, ())
    if isinstance(scheduled, TaskDefinition):
        definition = scheduled
    elif len(made) == 1:
        definition = made[0].declaration.definition
    else:
        right = "give a schedule, or a function that is one task of an app"
        raise InvalidInput.one("scheduled", shown(scheduled), f"{shown(scheduled)} has no schedule of its own: {right}")
    if timezone is not None:
        raise InvalidInput.one("timezone", timezone, f"the task has its own, {definition.timezone!r}: leave it out")
    return parse(definition.schedule, definition.timezone)


def _aware(name: str, moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise InvalidInput.one(name, moment, f"{moment} has no time zone: give one, such as UTC")
    return moment.astimezone(UTC)


def _refuse_more(found: int) -> None:
    if found == MOST:
        raise InvalidInput.one("end", None, f"there are more than {MOST:,} instants up to then: choose a shorter time")
