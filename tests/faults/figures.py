"""Figures of a history: how many were due, made, ended, repeated and lost, and how soon the dead were replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from faults import oracle
from faults.checker import Indexed
from faults.history import History, MarkKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is counted are instants that were due by the end of the history; submissions are counted apart."""

    due: int
    materialised: int
    skipped: int
    dependents: int
    ended: int
    duplicated: int
    lost: int
    submitted: int
    started_again: int


def count(history: History) -> Figures:
    """Count."""
    indexed = Indexed.of(history)
    points = {point: made for point, made in indexed.made.items() if point[1] <= history.until}
    due = {(task.id, instant) for task in history.tasks for instant in oracle.intended(task, history.until)}
    skipped = {
        (task.id, instant)
        for task in history.tasks
        for log in indexed.skips.get(task.id, ())
        for instant in oracle.skipped(log, task)
        if instant <= history.until
    }
    ended = {point for point, made in points.items() if any(indexed.current(one.instance_id) for one in made)}
    starts = [one for one in history.marks if one.kind is MarkKind.START]
    return Figures(
        due=len(due),
        materialised=len(due.intersection(points)),
        skipped=len(skipped),
        dependents=len(set(points) - due),
        ended=len(ended),
        duplicated=sum(len({one.instance_id for one in made}) > 1 for made in points.values()),
        lost=len(due - set(points) - skipped) + len(set(points) - ended),
        submitted=len(history.accepted),
        started_again=len(starts) - len({one.instance_id for one in starts}),
    )


@dataclass(frozen=True, slots=True)
class Recovery:
    """What a kill cut short: seconds from the kill until it could be claimed again, and until another had it."""

    claimable: float
    started: float


def recoveries(history: History, killed: Mapping[int, datetime]) -> list[Recovery]:
    """Each attempt that was cut short by the kill of its process (by pid), and has been started again."""
    indexed = Indexed.of(history)
    ended = {(one.instance_id, one.fence) for one in history.marks if one.kind is MarkKind.END}
    found = []
    for one in history.marks:
        if one.kind is not MarkKind.START or one.pid not in killed or (one.instance_id, one.fence) in ended:
            continue
        moment = killed[one.pid]
        back = [
            change.at
            for change in indexed.changes[one.instance_id]
            if change.fence > one.fence and change.status == "pending"
        ]
        again = [
            mark.at for mark in indexed.marks[one.instance_id] if mark.kind is MarkKind.START and mark.fence > one.fence
        ]
        if back and again:
            found.append(Recovery((min(back) - moment).total_seconds(), (min(again) - moment).total_seconds()))
    return found
