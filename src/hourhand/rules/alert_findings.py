"""Rules: for what the condition of an alert rule holds, from what the store knows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from hourhand.model.alert import Facts, FailedInARow, Finding, QueueLonger, RunningLonger, SubjectState

LONGEST_ERROR = 500
_BLOCKED = {"dependencies": "it waits for its dependencies", "permit": "it waits for its concurrency key"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A task, as alerts name it."""

    task_id: int
    task: str
    group_id: int
    deleted: bool = False

    @property
    def subject(self) -> str:
        """By which its state is remembered."""
        return f"task:{self.task_id}"

    @property
    def what(self) -> str:
        """In words."""
        return f"task {self.task!r}"

    @property
    def about(self) -> dict[str, Any]:
        """For programs."""
        return {"task_id": self.task_id, "task": self.task, "group_id": self.group_id}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An ending that failed."""

    task: Subject
    instance_id: int
    log_id: int
    scheduled_time: datetime
    end_time: datetime
    error_message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A living instance: one that has not started, or one that runs."""

    task: Subject
    instance_id: int
    scheduled_time: datetime
    blocked_by: str | None = None
    start_time: datetime | None = None
    executor_id: str | None = None
    median_seconds: float | None = None

    @property
    def subject(self) -> str:
        """By which its state is remembered."""
        return f"instance:{self.instance_id}"

    @property
    def what(self) -> str:
        """In words."""
        return f"instance {self.instance_id} of {self.task.what}"

    @property
    def about(self) -> dict[str, Any]:
        """For programs."""
        return {
            **self.task.about,
            "instance_id": self.instance_id,
            "scheduled_time": moment(self.scheduled_time),
            "executor_id": self.executor_id,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """An executor of the registry."""

    id: str
    group_id: int
    group: str
    started_at: datetime
    last_heartbeat: datetime
    silent: bool

    @property
    def subject(self) -> str:
        """By which its state is remembered."""
        return f"executor:{self.id}"

    @property
    def about(self) -> Mapping[str, Any]:
        """For programs."""
        return {"executor_id": self.id, "group_id": self.group_id, "group": self.group}


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """How many wait to be claimed, counted no further than needed."""

    subject: str
    what: str
    waiting: int
    about: Mapping[str, Any]


def moment(time: datetime) -> str:
    """A time as people and programs read it."""
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")


def _short(error: str | None) -> str:
    text = " ".join((error or "no error message").split())
    return text if len(text) <= LONGEST_ERROR else f"{text[: LONGEST_ERROR - 1]}…"


def _finding(of: Subject | Waiting, text: str, **about: object) -> Finding:
    return Finding(subject=of.subject, what=of.what, text=text, about=of.about | about)


def failed(
    failures: Iterable[Failure],
    firing: Collection[str],
    newest: Mapping[int, Sequence[str]],
    tasks: Mapping[int, Subject],
) -> Facts:
    """Every failure is told; a task is in trouble until an instance of it succeeds."""
    happened = tuple(
        _finding(
            one.task,
            f"{one.task.what} failed: {_short(one.error_message)} "
            f"(instance {one.instance_id}, due {moment(one.scheduled_time)})",
            instance_id=one.instance_id,
            error_message=_short(one.error_message),
            end_time=moment(one.end_time),
        )
        for one in failures
    )
    told = {finding.subject: finding for finding in happened}
    forgotten = _forgotten({*firing, *told}, tasks)
    holding = {}
    for subject in sorted({*firing, *told} - forgotten):
        of = tasks[_number(subject)]
        if list(newest.get(of.task_id, ()))[:1] != ["success"]:
            holding[subject] = told.get(subject) or _finding(of, f"{of.what} has failed and not succeeded since")
    return Facts(happened=happened, holding=holding, forgotten=forgotten)


def failed_in_a_row(
    condition: FailedInARow,
    failures: Sequence[Failure],
    firing: Collection[str],
    newest: Mapping[int, Sequence[str]],
    tasks: Mapping[int, Subject],
) -> Facts:
    """A task is in trouble once its newest endings are all failures, until one succeeds."""
    errors = {one.task.task_id: _short(one.error_message) for one in failures}
    failing = {one.task.subject for one in failures}
    forgotten = _forgotten({*firing, *failing}, tasks)
    holding = {}
    for subject in sorted({*firing, *failing} - forgotten):
        task_id = _number(subject)
        of = tasks[task_id]
        endings = list(newest.get(task_id, ()))[: condition.count]
        # One that fires goes on until a success, also where retention has taken some of its failures.
        if "success" not in endings and (subject in firing or len(endings) >= condition.count):
            told = f": {errors[task_id]}" if task_id in errors else ""
            holding[of.subject] = _finding(of, f"{of.what} failed {condition.count} times in a row{told}")
    return Facts(holding=holding, forgotten=forgotten)


def _number(subject: str) -> int:
    return int(subject.partition(":")[2])


def _forgotten(subjects: Iterable[str], tasks: Mapping[int, Subject]) -> frozenset[str]:
    return frozenset(one for one in subjects if (of := tasks.get(_number(one))) is None or of.deleted)


def late(waiting: Iterable[Waiting]) -> Facts:
    """These are due for too long and have not started."""
    findings = [
        _finding(
            one,
            f"{one.what} was due {moment(one.scheduled_time)} and has not started: "
            f"{_BLOCKED.get(one.blocked_by or '', 'no executor has claimed it')}",
        )
        for one in waiting
    ]
    return Facts(holding={one.subject: one for one in findings})


def never_started(oldest: Mapping[Subject, datetime]) -> Facts:
    """Of these tasks an instant has passed, this the oldest, and nothing of it has started."""
    findings = [
        _finding(
            of,
            f"{of.what}: nothing has started for its instant {moment(time)}, and no skip was recorded",
            scheduled_time=moment(time),
        )
        for of, time in oldest.items()
    ]
    return Facts(holding={one.subject: one for one in findings})


def running_longer(condition: RunningLonger, running: Iterable[Waiting], now: datetime) -> Facts:
    """These run for longer than they should."""
    holding = {}
    for one in running:
        if condition.seconds is not None:
            limit, told = condition.seconds, f"{condition.seconds:g} s"
        elif condition.times_median is not None and one.median_seconds is not None:
            limit = condition.times_median * one.median_seconds
            told = f"{condition.times_median:g} times its task's median of {one.median_seconds:.3g} s"
        else:
            continue  # of a task that has never succeeded nobody knows how long it takes
        if one.start_time is not None and now - one.start_time >= timedelta(seconds=limit):
            holding[one.subject] = _finding(
                one,
                f"{one.what} runs since {moment(one.start_time)}, longer than {told}, on {one.executor_id}",
            )
    return Facts(holding=holding)


def executor_lost(
    registry: Sequence[Registered], states: Mapping[str, SubjectState], last_look: datetime | None, now: datetime
) -> Facts:
    """Whoever is silent is lost, and so is whoever was known and is gone: a clean stop takes its state along.

    One that is lost recovers by beating again, or by somebody of its group that started after it was last heard of.
    """
    there = {one.subject: one for one in registry}
    known = {one.subject: one.about for one in registry if not one.silent}
    lost: dict[str, tuple[datetime, Mapping[str, Any]]] = {}
    for subject, one in there.items():
        if one.silent:
            lost[subject] = (one.last_heartbeat, one.about)
    for subject in states.keys() - there.keys():
        about = states[subject].about
        heard = about.get("last_heartbeat")
        lost[subject] = (last_look or now if heard is None else datetime.fromisoformat(heard), about)
    holding = {}
    for subject, (heard, about) in lost.items():
        group = about["group"]
        replaced = any(
            not one.silent and one.group_id == about["group_id"] and one.started_at > heard for one in registry
        )
        state = states.get(subject)
        # One that was known is told of even if it was replaced by now; one without a state has been told of.
        if replaced and (state is None or state.firing_since is not None):
            continue
        what = f"executor {about['executor_id']} of group {group!r}"
        holding[subject] = Finding(
            subject=subject,
            what=what,
            text=f"{what} was last heard of {moment(heard)} and did not stop cleanly",
            about={**about, "last_heartbeat": heard.isoformat()},
        )
    return Facts(holding=holding, known=known)


def queue_longer(condition: QueueLonger, queues: Iterable[Queue]) -> Facts:
    """More than so many wait to be claimed."""
    return Facts(
        holding={
            one.subject: Finding(
                subject=one.subject,
                what=one.what,
                text=f"{one.what} has had more than {condition.count} instances waiting "
                f"for {condition.minutes:g} minutes",
                about=one.about,
            )
            for one in queues
            if one.waiting > condition.count
        }
    )
