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


def recoveries(history: History, killed: Mapping[int, datetime]) -> list[float]:
    """For each attempt that a kill cut short: seconds from the kill (by pid) until another process had started it."""
    ended = {(one.instance_id, one.fence) for one in history.marks if one.kind is MarkKind.END}
    starts = [one for one in history.marks if one.kind is MarkKind.START]
    cut_short = [one for one in starts if one.pid in killed and (one.instance_id, one.fence) not in ended]
    seconds = []
    for one in cut_short:
        again = [other.at for other in starts if other.instance_id == one.instance_id and other.at > killed[one.pid]]
        if again:
            seconds.append((min(again) - killed[one.pid]).total_seconds())
    return sorted(seconds)
