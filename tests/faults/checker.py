"""The checker: which promises does a history break? A pure function of facts; it knows nothing of the store's code.

I1  the fires are the intended instants, each once                 guarantees 1, 2, 9
I2  every accepted instance ends, or its instant is in a recorded skip   guarantees 2, 3, 7
I3  a success was started at least once                            guarantee 4
I4  lease intervals of an instance are disjoint                    guarantee 5
I5  fences strictly increase; a stale write changes nothing        guarantee 6
I6  an instance ends once                                          guarantee 6
I9  dependents are released exactly once, and are released         guarantee 8
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise

from faults import oracle
from faults.history import Change, ExecutionLog, History, Mark, MarkKind, TaskFacts, Verb, Violation

TOLERANCE = timedelta(milliseconds=100)
"""Marks, triggers and leases read clocks of one machine, but not the same call of the same clock."""
BY_SCHEDULE = "scheduler"
RUNNING, PLANNED, PENDING, SUCCESS = "running", "planned", "pending", "success"


@dataclass(slots=True)
class Indexed:
    """The history by instance and by instant."""

    history: History
    tasks: dict[int, TaskFacts] = field(default_factory=dict)
    changes: dict[int, list[Change]] = field(default_factory=lambda: defaultdict(list))
    logs: dict[int, list[ExecutionLog]] = field(default_factory=lambda: defaultdict(list))
    skips: dict[int, list[ExecutionLog]] = field(default_factory=lambda: defaultdict(list))
    marks: dict[int, list[Mark]] = field(default_factory=lambda: defaultdict(list))
    made: dict[tuple[int, datetime], list[Change]] = field(default_factory=lambda: defaultdict(list))
    """The first change of every instance that belongs to an instant of the ledger."""
    instants: dict[int, list[datetime]] = field(default_factory=lambda: defaultdict(list))
    """The instants of each task that were made, in order."""

    @classmethod
    def of(cls, history: History) -> Indexed:
        found = cls(history, tasks={task.id: task for task in history.tasks})
        for change in sorted(history.changes, key=lambda one: one.seq):
            found.changes[change.instance_id].append(change)
        for changes in found.changes.values():
            if changes[0].in_ledger:
                found.made[changes[0].task_id, changes[0].scheduled_time].append(changes[0])
        for task_id, time in sorted(found.made):
            found.instants[task_id].append(time)
        for log in sorted(history.logs, key=lambda one: one.id):
            if log.instance_id in found.changes:
                found.logs[log.instance_id].append(log)
            else:  # what never lived is a skip, or claims to be one
                found.skips[log.task_id].append(log)
        for mark in sorted(history.marks, key=lambda one: one.at):
            found.marks[mark.instance_id].append(mark)
        return found

    def living(self, instance_id: int) -> bool:
        """Whether it has a living row."""
        changes = self.changes.get(instance_id, [])
        return bool(changes) and changes[-1].verb is not Verb.DELETE

    def current(self, instance_id: int) -> list[ExecutionLog]:
        """Its endings that count."""
        return [log for log in self.logs.get(instance_id, ()) if not log.superseded]

    def first_start(self, instance_id: int) -> datetime | None:
        """When its work first began."""
        return min((mark.at for mark in self.marks.get(instance_id, ()) if mark.kind is MarkKind.START), default=None)

    def violation(self, invariant: str, message: str, change: Change | ExecutionLog) -> Violation:
        """A violation about one instance."""
        task = self.tasks.get(change.task_id)
        return Violation(
            invariant=invariant,
            message=message,
            task=task.name if task else str(change.task_id),
            scheduled_time=change.scheduled_time,
            instance_id=change.instance_id,
        )


def check(history: History) -> list[Violation]:
    """Every broken promise, in the order of the invariants."""
    indexed = Indexed.of(history)
    checks = (fires, endings, starts, leases, fences, single_ends, dependents)
    return [violation for one in checks for violation in one(indexed)]


def fires(indexed: Indexed) -> Iterator[Violation]:
    """I1: what was made or skipped is what was intended, no instant twice, none missing."""
    for (task_id, time), changes in indexed.made.items():
        by_shard = defaultdict(set)
        for change in changes:
            by_shard[change.shard_index].add(change.instance_id)
        for ids in by_shard.values():
            if len(ids) > 1:
                yield Violation(
                    invariant="I1",
                    message=f"the instant was made {len(ids)} times: instances {sorted(ids)}",
                    task=indexed.tasks[task_id].name,
                    scheduled_time=time,
                )
    for task in indexed.tasks.values():
        if oracle.clocked(task):
            yield from _compare(indexed, task)


def _compare(indexed: Indexed, task: TaskFacts) -> Iterator[Violation]:
    made = {
        time
        for time in indexed.instants[task.id]
        if any(change.triggered_by == BY_SCHEDULE for change in indexed.made[task.id, time])
    }
    skipped: set[datetime] = set()
    for log in indexed.skips.get(task.id, ()):
        covered = oracle.skipped(log, task)
        summary = log.summary or {}
        counted = summary.get("count")
        if counted != len(covered) and not (summary.get("more") and len(covered) > (counted or 0)):
            yield indexed.violation("I1", f"the skip counts {counted} instants, intended were {len(covered)}", log)
        for instant in sorted(skipped.intersection(covered)):
            yield indexed.violation("I1", f"the instant {instant.isoformat()} was skipped twice", log)
        skipped.update(covered)
    latest = max([indexed.history.until, *made, *skipped])
    intended = oracle.intended(task, latest)
    verdicts = (
        ("was made, but is not an instant of the schedule", made.difference(intended)),
        ("was made and also recorded as skipped", made & skipped),
        (
            "was intended, but neither made nor recorded as skipped",
            {instant for instant in intended if instant <= indexed.history.until} - made - skipped,
        ),
    )
    for message, instants in verdicts:
        for instant in sorted(instants):
            yield Violation(invariant="I1", message=f"the instant {message}", task=task.name, scheduled_time=instant)


def endings(indexed: Indexed) -> Iterator[Violation]:
    """I2: whatever was accepted or made has ended; what was not made says why."""
    for instance_id in indexed.history.accepted:
        if instance_id not in indexed.changes:
            message = "was acknowledged, but never lived"
            yield Violation(invariant="I2", message=message, instance_id=instance_id)
    for instance_id, changes in indexed.changes.items():
        last = changes[-1]
        if indexed.current(instance_id) or last.scheduled_time > indexed.history.until:
            continue
        if indexed.living(instance_id):
            yield indexed.violation("I2", f"has not ended: it is still {last.status} under fence {last.fence}", last)
        else:
            yield indexed.violation("I2", f"is gone without an execution log: it was {last.status}", last)
    for logs in indexed.skips.values():
        for log in logs:
            summary = log.summary or {}
            if log.skip_reason is None:
                yield indexed.violation("I2", f"ended {log.status} without having lived or a skip_reason", log)
            elif not isinstance(summary.get("count"), int) or not isinstance(summary.get("last"), str):
                yield indexed.violation("I2", f"the skip does not say how many and until when: {log.summary!r}", log)


def starts(indexed: Indexed) -> Iterator[Violation]:
    """I3: nothing succeeds that was not started."""
    for instance_id, logs in indexed.logs.items():
        for log in logs:
            if log.status == SUCCESS and indexed.first_start(instance_id) is None:
                yield indexed.violation("I3", "succeeded, but its work never started", log)


def leases(indexed: Indexed) -> Iterator[Violation]:
    """I4: a lease ends when its holder reports, or when it runs out; only then may the next one begin."""
    lost = {(loss.instance_id, loss.fence) for loss in indexed.history.losses}
    for instance_id, changes in indexed.changes.items():
        held: Change | None = None  # the newest change under the lease that was last seen
        free_from: datetime | None = None
        for change in changes:
            under_lease = change.status == RUNNING and change.verb is not Verb.DELETE
            if under_lease and change.lease_until is None:
                yield indexed.violation("I4", f"runs under fence {change.fence} without a lease", change)
                continue
            if held is not None and under_lease and change.fence == held.fence:
                if change.executor_id != held.executor_id:
                    message = f"two hold fence {change.fence}: {held.executor_id} and {change.executor_id}"
                    yield indexed.violation("I4", message, change)
                held = change
                continue
            if held is not None:
                # The lost did not report: their lease lasts as long as it was given, whoever has taken it back.
                reported = not under_lease and (instance_id, held.fence) not in lost
                free_from = change.at if reported else held.lease_until
                held = None
            if under_lease:
                if free_from is not None and change.at + TOLERANCE < free_from:
                    message = (
                        f"leased under fence {change.fence} at {change.at.isoformat()}, "
                        f"while an earlier lease lasted until {free_from.isoformat()}"
                    )
                    yield indexed.violation("I4", message, change)
                held = change


def fences(indexed: Indexed) -> Iterator[Violation]:
    """I5: each edge into or out of running raises the fence, and only the newest attempt is believed."""
    for changes in indexed.changes.values():
        for before, after in pairwise(changes):
            if after.verb is Verb.DELETE:
                same = (after.fence, after.status) == (before.fence, before.status)
                if before.verb is not Verb.DELETE and not same:
                    yield indexed.violation("I5", "what was deleted is not what was last written", after)
                continue
            edge = RUNNING in (before.status, after.status) and before.status != after.status
            again = after.verb is Verb.INSERT
            if after.fence < before.fence or ((edge or again) and after.fence == before.fence):
                message = f"{before.status} → {after.status}, but fence {before.fence} → {after.fence}"
                yield indexed.violation("I5", message, after)
    for instance_id, logs in indexed.logs.items():
        for log in logs:
            if log.status == SUCCESS:
                yield from _believed(indexed, instance_id, log)


def _believed(indexed: Indexed, instance_id: int, log: ExecutionLog) -> Iterator[Violation]:
    """A success under a fence is true only if the attempt with that fence had done its work by then."""
    running = {change.fence for change in indexed.changes[instance_id] if change.status == RUNNING}
    if log.fence not in running:
        yield indexed.violation("I5", f"succeeded under fence {log.fence}, under which it never ran", log)
        return
    done = [mark for mark in indexed.marks.get(instance_id, ()) if mark.kind is MarkKind.END]
    if not any(mark.fence == log.fence and mark.at <= log.end_time + TOLERANCE for mark in done):
        stale = sorted({mark.fence for mark in done if mark.fence != log.fence})
        message = (
            f"succeeded under fence {log.fence} at {log.end_time.isoformat()}, when the attempt of that fence had not "
            f"done its work; attempts that had: {stale}"
        )
        yield indexed.violation("I5", message, log)


def single_ends(indexed: Indexed) -> Iterator[Violation]:
    """I6: one ending counts, and what has ended does not live."""
    for instance_id in indexed.changes:
        current = indexed.current(instance_id)
        if len(current) > 1:
            message = f"ended {len(current)} times: {', '.join(log.status for log in current)}"
            yield indexed.violation("I6", message, current[-1])
        if current and indexed.living(instance_id):
            yield indexed.violation("I6", f"ended {current[-1].status}, but lives", current[-1])


def dependents(indexed: Indexed) -> Iterator[Violation]:
    """I9: each dependent is there once, is released once, and not before what it waits for has ended."""
    for task in indexed.tasks.values():
        if not task.dependency_ids:
            continue
        if task.schedule == "@upstream":
            yield from _missing(indexed, task)
        for time in indexed.instants[task.id]:
            for change in indexed.made[task.id, time]:
                yield from _released(indexed, task, change)


def _missing(indexed: Indexed, task: TaskFacts) -> Iterator[Violation]:
    ended = {
        time
        for upstream in task.dependency_ids
        for time in indexed.instants[upstream]
        if time <= indexed.history.until and _end_of(indexed, upstream, time) is not None
    }
    for time in sorted(ended.difference(indexed.instants[task.id])):
        message = "a dependency has ended this instant, but the dependent was never made"
        yield Violation(invariant="I9", message=message, task=task.name, scheduled_time=time)


def _released(indexed: Indexed, task: TaskFacts, made: Change) -> Iterator[Violation]:
    changes = indexed.changes[made.instance_id]
    releases = [
        after
        for before, after in pairwise(changes)
        if (before.status, after.status, after.verb) == (PLANNED, PENDING, Verb.UPDATE)
    ]
    if len({one.fence for one in releases}) < len(releases):
        yield indexed.violation("I9", f"was released {len(releases)} times", made)
    ends = [_end_of(indexed, upstream, time) for upstream, time in _awaited(indexed, task, made.scheduled_time)]
    met = all(end is not None and (end.status == SUCCESS or not task.needs_success) for end in ends)
    started = indexed.first_start(made.instance_id)
    if started is None:
        if met and made.scheduled_time <= indexed.history.until and not releases and indexed.living(made.instance_id):
            yield indexed.violation("I9", "everything it waits for has ended, but it was never released", made)
        return
    early = [end for end in ends if end is None or started + TOLERANCE < end.end_time]
    if early or not met:
        yield indexed.violation("I9", "its work started before what it waits for had ended as needed", made)


def _awaited(indexed: Indexed, task: TaskFacts, time: datetime) -> list[tuple[int, datetime]]:
    """What an instant waits for: the latest instant of each dependency that was made, none after its own.

    Of a dependency that the clock does not make, which one was the newest when the dependent was made cannot be told
    from outside; the one of the same instant can.
    """
    awaited = []
    for upstream in task.dependency_ids:
        instants = indexed.instants[upstream]
        count = bisect_right(instants, time)
        if count and (instants[count - 1] == time or oracle.clocked(indexed.tasks[upstream])):
            awaited.append((upstream, instants[count - 1]))
    return awaited


def _end_of(indexed: Indexed, task_id: int, time: datetime) -> ExecutionLog | None:
    """How an instant ended: its first success, or else its first ending; None while it has none."""
    logs = [log for change in indexed.made.get((task_id, time), ()) for log in indexed.logs.get(change.instance_id, ())]
    return min(logs, key=lambda log: (log.status != SUCCESS, log.end_time), default=None)
