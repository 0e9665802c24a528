"""What should have happened: the instants that the schedules intend, computed from the definitions alone."""

from __future__ import annotations

from datetime import datetime, timedelta

from faults.history import ExecutionLog, TaskFacts
from hourhand.rules.schedule import is_clocked, next_instant, parse


def clocked(task: TaskFacts) -> bool:
    """Whether its instants follow from the clock."""
    return is_clocked(parse(task.schedule, task.timezone))


def intended(task: TaskFacts, until: datetime) -> list[datetime]:
    """Every instant of a task from its anchor up to and including `until`, in order; none for `@upstream` and such."""
    schedule = parse(task.schedule, task.timezone)
    instants: list[datetime] = []
    instant = next_instant(schedule, task.anchored_at, task.anchored_at)
    while instant is not None and instant <= until:
        instants.append(instant)
        instant = next_instant(schedule, instant, task.anchored_at)
    return instants


def skipped(log: ExecutionLog, task: TaskFacts) -> list[datetime]:
    """The intended instants that a recorded skip stands for; none if its record cannot be read."""
    try:
        last = datetime.fromisoformat((log.summary or {})["last"])
    except (KeyError, TypeError, ValueError):
        return []
    before_first = log.scheduled_time - timedelta(microseconds=1)
    return [instant for instant in intended(task, last) if before_first < instant <= last]
