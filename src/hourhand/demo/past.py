"""Demo: a day that the sample tasks might have had, up to now; the same tasks at the same time have the same one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any, Final

from hourhand.demo import samples
from hourhand.demo.app import COURIER, EXTRACT, INVENTORY, PHOTOS, REPORT, REVENUE, SHIFT, STOCK
from hourhand.model.demo import PastAttempt, PastEnding
from hourhand.model.task import Task
from hourhand.model.words import SkipReason, Status, TaskType
from hourhand.rules.endings import timed_out
from hourhand.rules.schedule import After, CronSchedule, Every, parse, previous_instant

DAY: Final = timedelta(hours=23, minutes=50)
"""A little less than a store takes: loading takes its time too."""
LINES_KEPT: Final = 30
"""The newest instances of each task have lines; there is no need to write thousands that nobody will read."""
_JUST_NOW: Final = timedelta(seconds=30)
_MOMENT: Final = timedelta(milliseconds=80)

Line = tuple[str, str | None, str]
Chance = Callable[[float], float]
"""Hours ago; how likely a failure was then."""


def _never(_hours_ago: float) -> float:
    return 0.0


def _since(hours: float) -> Chance:
    return lambda ago: float(ago < hours)


def _between(first: float, last: float, chance: float, else_: float = 0.0) -> Chance:
    return lambda ago: chance if last < ago < first else else_


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """How a sample task's instances used to end."""

    seconds: float
    """A typical duration, a day ago."""
    slower: float = 1.0
    """How many times that it takes now: durations with a trend."""
    hours: float = 24.0
    """For how long it has been at work."""
    fails: Chance = _never
    error: str = ""
    tries: int = 1
    """Attempts; each but the last that fails is made again."""
    tried_again_after: float = 5.0
    value: Mapping[str, Any] | str | None = None
    said: tuple[Line, ...] = ()


_BAKED = Habit(seconds=12.0, hours=3, said=(("info", None, "it is in the oven"),))
HABITS: Final[Mapping[str, Habit]] = {
    EXTRACT: Habit(
        seconds=3.1,
        slower=1.5,
        value={"orders": 27},
        said=(
            ("debug", "connecting", "opening the till's journal"),
            ("info", "reading", "read 13 of 27 orders"),
            ("info", "reading", "read 27 of 27 orders"),
        ),
    ),
    REVENUE: Habit(
        seconds=1.2,
        value={"revenue": 211.5},
        said=(("info", "summing tea", "revenue of tea: 46.50"), ("info", "summing cake", "revenue of cake: 211.50")),
    ),
    STOCK: Habit(seconds=1.1, value="cake\t3\ncups\t18\ntea\t41\n"),
    REPORT: Habit(
        seconds=0.9,
        slower=2.2,
        fails=_between(9.5, 8.5, 0.35),
        error="OSError: the printer does not answer",
        value="report of the night",
        said=(("info", "printing", "the report lies on the counter"),),
    ),
    COURIER: Habit(
        seconds=0.4,
        hours=12,
        tries=4,
        tried_again_after=3.0,
        fails=_between(5.0, 4.2, 0.8, 1 / 3),
        error="ConnectionError: the courier hung up: it may work the next time, so this task has max_retries=3",
        value={"price": "5.90"},
    ),
    INVENTORY: Habit(seconds=240.0, value={"shelves": 48}, said=(("info", "shelf 1 of 48", "shelf 1: 17 pieces"),)),
    SHIFT: Habit(
        seconds=1.4,
        hours=8,
        value={"结果": "交接完成"},
        said=(
            ("debug", "收银台", "收银台抽屉已上锁"),
            ("info", "收银台", "现金已清点"),
            ("warning", "冰箱", "冰箱温度 7 °C"),
            ("error", "后门", "后门的灯泡坏了"),
        ),
    ),
    PHOTOS: Habit(seconds=1.6, slower=1.3, value={"pictures": 4}, said=(("info", "shrinking", "picture 4 of 4"),)),
    samples.TILL: Habit(seconds=0.03, hours=2, value="the till answers\n"),
    samples.SHELVES: Habit(seconds=0.04, hours=6, value="Lantern Lane 7: tea has 41 left\n"),
    samples.GREETING: Habit(seconds=0.03, value="the sign is switched on\n"),
    samples.CARDS: Habit(
        seconds=0.05,
        hours=10,
        tries=2,
        fails=_since(3.0),
        error="exit code 4: card terminal: no paper in the printer, put a roll in",
        value="dialling the bank …\n",
    ),
    samples.SCANNER: Habit(seconds=2.4, slower=1.6, fails=_since(10.0), error=timed_out(4)),
    samples.CLOSING: Habit(seconds=0.03, hours=2, value="dear guests, we close soon\n"),
    samples.NEWSLETTER: Habit(seconds=0.05, value="a letter to our readers\n"),
    samples.WEBSITE: Habit(seconds=30.1, hours=2, value="sending prices\n"),
    samples.BREAD: _BAKED,
    samples.BUNS: _BAKED,
    samples.CAKE: _BAKED,
    samples.TOKYO: Habit(seconds=0.03, value="おはようございます\n"),
    samples.BACKUP: Habit(
        seconds=3.1, slower=1.8, fails=_between(15.5, 13.5, 1.0), error="exit code 1: no space left on the disk"
    ),
    samples.ALARM: Habit(seconds=0.01, hours=3),
    samples.BACK_DOOR: Habit(seconds=0.01, hours=3),
}
_FOLLOWS: Final[Mapping[str, tuple[str, ...]]] = {REVENUE: (EXTRACT,), STOCK: (EXTRACT,), REPORT: (REVENUE, STOCK)}
_OVEN: Final = (samples.BREAD, samples.BUNS, samples.CAKE)


def past(tasks: Sequence[Task], *, now: datetime, day: timedelta = DAY) -> list[PastEnding]:
    """What these tasks might have done, for so long."""
    by_name = {task.name: task for task in tasks if task.name in HABITS}
    ended: dict[str, dict[datetime, PastEnding]] = {}
    skips: list[PastEnding] = []
    for name, habit in HABITS.items():
        if name in by_name:
            told = _Day(by_name[name], habit, now, day)
            due = _upstream(name, ended) if name in _FOLLOWS else told.instants()
            ended[name] = {one.scheduled_time: one for one in told.endings(due)}
            if name == samples.WEBSITE:
                skips = _skips(by_name[name], list(ended[name].values()))
    return [*(one for endings in ended.values() for one in endings.values()), *skips]


def _upstream(name: str, ended: Mapping[str, Mapping[datetime, PastEnding]]) -> Iterator[tuple[datetime, datetime]]:
    """The instants for which all dependencies have succeeded, and when the last of them had; newest first."""
    upstreams = [ended.get(one, {}) for one in _FOLLOWS[name]]
    for instant in sorted(set.intersection(*(set(one) for one in upstreams)), reverse=True):
        ends = [one[instant] for one in upstreams]
        if all(one.status is Status.SUCCESS for one in ends):
            yield instant, max(one.end_time for one in ends)


def _skips(task: Task, runs: Sequence[PastEnding]) -> list[PastEnding]:
    """The instants that came while an earlier instance was alive."""
    period = parse(task.schedule, task.timezone)
    if not isinstance(period, Every):
        return []
    return [
        PastEnding(
            task_id=task.id,
            scheduled_time=one.scheduled_time + period.period,
            end_time=one.scheduled_time + period.period,
            status=Status.CANCELLED,
            skip_reason=SkipReason.OVERLAP,
            skipped=1,
            error_message="skipped: an earlier instance was still alive and overlap_policy is skip or replace",
        )
        for one in runs
    ]


class _Day:
    """The day of one task, told backwards."""

    def __init__(self, task: Task, habit: Habit, now: datetime, day: timedelta) -> None:
        self._task = task
        self._habit = habit
        self._now = now
        self._begin = now - min(timedelta(hours=habit.hours), day)
        self._chance = random.Random(task.name)  # noqa: S311 - the same each time

    def instants(self) -> Iterator[tuple[datetime, datetime]]:
        """When it was due, and when it could start; newest first."""
        # In one oven one after the other.
        turn = _OVEN.index(self._task.name) if self._task.name in _OVEN else 0
        waits = turn * timedelta(seconds=1.3 * self._habit.seconds)
        return takewhile(lambda one: one[0] > self._begin, ((one, one + waits) for one in self._all()))

    def _all(self) -> Iterator[datetime]:
        schedule = parse(self._task.schedule, self._task.timezone)
        latest = self._now - _JUST_NOW - timedelta(seconds=2 * self._habit.seconds * self._habit.slower)
        match schedule:
            case CronSchedule():
                at = previous_instant(schedule, latest)
                while at is not None:
                    yield at
                    at = previous_instant(schedule, at - timedelta(seconds=1))
            case Every(period=period) | After(delay=period):
                # The grid of its anchor, carried on into the past; or one after the other.
                apart = self._apart(period) if isinstance(schedule, After) else self._apart_on_grid(period)
                at = (self._task.next_fire_at or self._now) - apart
                while True:
                    if at < latest:
                        yield at
                    at -= apart
            case _:
                return

    def _apart(self, delay: timedelta) -> timedelta:
        shared = len(_OVEN) if self._task.name in _OVEN else 1
        return delay + timedelta(seconds=1.3 * self._habit.seconds * shared)

    def _apart_on_grid(self, period: timedelta) -> timedelta:
        return period * -(-timedelta(seconds=self._habit.seconds) // period)

    def endings(self, due: Iterator[tuple[datetime, datetime]]) -> Iterator[PastEnding]:
        """One for each instant."""
        for number, (instant, ready) in enumerate(due):
            ending = self._ending(instant, ready, lines=number < LINES_KEPT)
            if ending.end_time < self._now - _JUST_NOW / 2:
                yield ending

    def _ending(self, instant: datetime, ready: datetime, *, lines: bool) -> PastEnding:
        habit = self._habit
        ago = (self._now - instant) / timedelta(hours=1)
        start = ready + _MOMENT * (1 + self._chance.random())
        attempts: list[PastAttempt] = []
        while True:
            failed = self._chance.random() < habit.fails(ago)
            end = start + self._duration(ago)
            if not failed or len(attempts) + 1 == habit.tries:
                break
            attempts.append(PastAttempt(start_time=start, end_time=end, error_message=habit.error))
            start = end + timedelta(seconds=habit.tried_again_after)
        said = (*habit.said, *((("error", None, habit.error),) if failed else ()))
        return PastEnding(
            task_id=self._task.id,
            scheduled_time=instant,
            start_time=start,
            end_time=end,
            status=Status.FAILED if failed else Status.SUCCESS,
            result=_result(self._task.type, habit, failed=failed),
            output=habit.value if isinstance(habit.value, str) else None,
            error_message=habit.error if failed else None,
            attempts=tuple(attempts),
            lines=said if lines else (),
        )

    def _duration(self, ago: float) -> timedelta:
        typical = self._habit.seconds * (self._habit.slower + (1 - self._habit.slower) * ago / 24)
        return timedelta(seconds=typical * self._chance.uniform(0.85, 1.25))


def _result(kind: TaskType, habit: Habit, *, failed: bool) -> dict[str, Any]:
    match kind:
        case TaskType.HTTP:
            return {"status_code": 200, "output": '{"status":"ok"}'}
        case TaskType.COMMAND:
            return {"output": habit.value or "", "error": habit.error if failed else "", "exit_code": int(failed)}
        case _:
            return {} if failed else {"value": habit.value}
