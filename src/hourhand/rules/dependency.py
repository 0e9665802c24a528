"""Rules: which upstream instant an instance waits on, and when it is released."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from hourhand.model.errors import InvalidInput
from hourhand.model.words import DependencyMode, Requires, Status, UpstreamFailurePolicy
from hourhand.rules.schedule import is_clocked, parse, previous_instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """What is known of a dependency when a wait on it is evaluated."""

    task_id: int
    schedule: str
    timezone: str
    anchored_at: datetime
    next_fire_at: datetime | None
    alive: bool
    """Enabled and not deleted: only then are there instants to come."""
    deleted: bool = False


def still_to_come(upstream: Upstream, instant: datetime) -> bool:
    """Whether an instant without a ledger row will get one; if not it was skipped or removed."""
    return upstream.alive and upstream.next_fire_at is not None and instant >= upstream.next_fire_at


def upstream_instant(upstream: Upstream, at: datetime, newest_in_ledger: datetime | None) -> datetime | None:
    """The dependency's latest instant up to `at` that has a ledger row or is still to come; None if there is none.

    Computed from the schedule, so that of two tasks due in the same second it does not matter which is made first.
    """
    if upstream.deleted:
        return None
    try:
        schedule = parse(upstream.schedule, upstream.timezone)
    except InvalidInput:  # this host's zone data may lack what another host's has
        return newest_in_ledger
    if is_clocked(schedule):
        coming = previous_instant(schedule, at, upstream.anchored_at)
        if coming is not None and still_to_come(upstream, coming):
            return coming if newest_in_ledger is None else max(coming, newest_in_ledger)
    return newest_in_ledger


class Standing(Enum):
    """How one wait stands."""

    OPEN = "open"
    MET = "met"
    FAILED = "failed"


def standing(requires: Requires, outcome: Status | None, *, exists: bool) -> Standing:
    """How a wait stands, given its upstream instant's ledger row (or, if it does not exist, that none is to come)."""
    if not exists:
        return Standing.MET if requires is Requires.END else Standing.FAILED
    if outcome is None:
        return Standing.OPEN
    if outcome is Status.SUCCESS or requires is Requires.END:
        return Standing.MET
    return Standing.FAILED


class Release(Enum):
    """What becomes of a waiting instance."""

    WAIT = "wait"
    RUN = "run"
    FAIL = "fail"


def release(
    order: Sequence[Standing],
    dependencies: Sequence[Standing],
    mode: DependencyMode,
    policy: UpstreamFailurePolicy,
    *,
    timed_out: bool,
) -> Release:
    """Evaluate all waits of an instance at once: `order` is those on its own predecessors, always needed."""
    if any(one is Standing.OPEN for one in order):
        return Release.WAIT
    if mode is DependencyMode.ANY and dependencies:
        if Standing.MET in dependencies:
            return Release.RUN
        failed = Standing.OPEN not in dependencies
    else:
        if all(one is Standing.MET for one in dependencies):
            return Release.RUN
        failed = Standing.FAILED in dependencies
    if failed and policy is UpstreamFailurePolicy.FAIL:
        return Release.FAIL
    if failed and policy is UpstreamFailurePolicy.RUN and Standing.OPEN not in dependencies:
        return Release.RUN
    return Release.FAIL if timed_out else Release.WAIT


def find_cycle(task: int, wanted: Iterable[int], edges: Mapping[int, Sequence[int]]) -> tuple[int, ...] | None:
    """The path by which a task would come to depend on itself, `task` first and last; None if there is none."""
    needed_by = dict.fromkeys(wanted, task)
    open_ends = list(needed_by)
    while open_ends and task not in needed_by:
        one = open_ends.pop()
        for further in edges.get(one, ()):
            if further not in needed_by:
                needed_by[further] = one
                open_ends.append(further)
    if task not in needed_by:
        return None
    path = [task, needed_by[task]]
    while path[-1] != task:
        path.append(needed_by[path[-1]])
    return tuple(reversed(path))
