"""A small language for crafted histories: what the three witnesses would say of a few instances."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from faults.history import Change, ExecutionLog, History, Loss, Mark, MarkKind, TaskFacts, Verb

BEGIN = datetime(2026, 11, 15, 12, tzinfo=UTC)
LEASE = 2.0


def at(seconds: float) -> datetime:
    """A time, so many seconds after the beginning."""
    return BEGIN + timedelta(seconds=seconds)


@dataclass
class Story:
    """Facts as they are told one after the other; times are seconds after the beginning."""

    tasks: dict[int, TaskFacts] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    logs: list[ExecutionLog] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    accepted: list[int] = field(default_factory=list)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def task(self, task_id: int = 1, schedule: str = "@every 10s", **facts: Any) -> None:
        self.tasks[task_id] = TaskFacts(
            id=task_id, name=f"task-{task_id}", schedule=schedule, anchored_at=BEGIN, **facts
        )

    def change(self, instance_id: int, verb: Verb, when: float, **changed: Any) -> None:
        """Journal a change; what is not said stays as it was."""
        before = next((one for one in reversed(self.changes) if one.instance_id == instance_id), None)
        values: dict[str, Any] = {name: getattr(before, name) for name in Change.__slots__} if before else {}
        values |= {"seq": next(self._numbers), "at": at(when), "verb": verb, "instance_id": instance_id} | changed
        self.changes.append(Change(**values))

    def make(self, instance_id: int, instant: float, task_id: int = 1, when: float = 0.5, **changed: Any) -> None:
        values = {"status": "pending", "fence": 0} | changed
        self.change(instance_id, Verb.INSERT, when, task_id=task_id, scheduled_time=at(instant), **values)

    def claim(
        self, instance_id: int, when: float, fence: int = 1, executor: str = "e1", *, started: bool = True
    ) -> None:
        lease = at(when + LEASE)
        self.change(
            instance_id, Verb.UPDATE, when, status="running", fence=fence, lease_until=lease, executor_id=executor
        )
        if started:
            self.mark(MarkKind.START, instance_id, when, fence)

    def extend(self, instance_id: int, when: float, **changed: Any) -> None:
        self.change(instance_id, Verb.UPDATE, when, lease_until=at(when + LEASE), **changed)

    def lose(self, instance_id: int, when: float, fence: int) -> None:
        """Take an attempt back whose lease has run out."""
        self.losses.append(Loss(instance_id, fence))
        self.requeue(instance_id, when, fence + 1)

    def requeue(self, instance_id: int, when: float, fence: int) -> None:
        self.change(instance_id, Verb.UPDATE, when, status="pending", fence=fence, lease_until=None, executor_id=None)

    def release(self, instance_id: int, when: float) -> None:
        self.change(instance_id, Verb.UPDATE, when, status="pending")

    def end(self, instance_id: int, when: float, status: str = "success", *, done: bool = True, **changed: Any) -> None:
        """End an instance as it stands: its work says so, its row goes, its log is written."""
        last = next(one for one in reversed(self.changes) if one.instance_id == instance_id)
        if done:
            self.mark(MarkKind.END, instance_id, when, last.fence)
        self.change(instance_id, Verb.DELETE, when)
        self.log(instance_id, when, status, **changed)

    def log(self, instance_id: int, when: float, status: str = "success", **changed: Any) -> None:
        last = next(one for one in reversed(self.changes) if one.instance_id == instance_id)
        values: dict[str, Any] = {
            "id": next(self._numbers),
            "instance_id": instance_id,
            "task_id": last.task_id,
            "scheduled_time": last.scheduled_time,
            "status": status,
            "fence": last.fence,
            "end_time": at(when),
        }
        self.logs.append(ExecutionLog(**(values | changed)))

    def skip(self, first: float, last: float, count: int, task_id: int = 1, **changed: Any) -> None:
        number = next(self._numbers)
        values: dict[str, Any] = {
            "id": number,
            "instance_id": 1_000 + number,
            "task_id": task_id,
            "scheduled_time": at(first),
            "status": "cancelled",
            "fence": 0,
            "end_time": at(last),
            "skip_reason": "overlap",
            "summary": {"count": count, "last": at(last).isoformat()},
        }
        self.logs.append(ExecutionLog(**(values | changed)))

    def mark(self, kind: MarkKind, instance_id: int, when: float, fence: int) -> None:
        self.marks.append(Mark(kind=kind, instance_id=instance_id, fence=fence, at=at(when), pid=fence))

    def succeed(self, instance_id: int, instant: float, task_id: int = 1, **changed: Any) -> None:
        """An instance without any trouble."""
        self.make(instance_id, instant, task_id, **changed)
        self.claim(instance_id, instant + 0.1)
        self.end(instance_id, instant + 0.2)

    def history(self, until: float) -> History:
        return History(
            tasks=tuple(self.tasks.values()),
            until=at(until),
            changes=tuple(self.changes),
            logs=tuple(self.logs),
            losses=tuple(self.losses),
            marks=tuple(self.marks),
            accepted=tuple(self.accepted),
        )
