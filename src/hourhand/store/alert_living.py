"""Store: what alert rules ask of the living: who waits, who runs, who is silent."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Double,
    Select,
    bindparam,
    func,
    literal_column,
    or_,
    select,
    text,
    true,
)

from hourhand.model.alert import Scope, ScopeKind
from hourhand.rules.alert_findings import Queue, Registered, Subject, Waiting
from hourhand.store.database import Row, Tx
from hourhand.store.schema import (
    PENDING,
    PLANNED,
    RUNNING,
    SCHEDULED,
    execution_logs,
    executors,
    groups,
    lanes,
    task_instances,
    tasks,
)
from hourhand.store.sql import any_of, lease_clock, plus_seconds, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant

MOST_SUBJECTS = 200
"""So many new ones are found at each look; those that fire already are looked up by their ids."""
MOST_RUNNING = 5_000
MEDIAN_OF, MEDIAN_AMONG = 50, 200
"""The median is that of the last 50 successes, as far as they are among the last 200 endings."""
MEDIAN_KEPT = timedelta(seconds=60)
_living = task_instances.c
_before = bindparam("before", type_=Instant())
_limit = bindparam("limit", type_=BigInteger)
_ZERO: ColumnElement[int] = literal_column("0")
_PRIORITIES: list[ColumnElement[int]] = [literal_column(str(one)) for one in range(10)]
_select = select(
    _living.id,
    _living.task_id,
    tasks.c.name.label("task_name"),
    _living.group_id,
    _living.scheduled_time,
    _living.blocked_by,
    _living.start_time,
    _living.executor_id,
).join(tasks, tasks.c.id == _living.task_id)
# Whatever ran has another fence: no edge into running leaves it as it is.
_overdue = (_living.fence == _ZERO, _living.scheduled_time <= _before)
_unstarted = (*_overdue, _living.created_at <= _before)  # what is backfilled is due when it is made
_held = _living.blocked_by == literal_column("'dispatch'")
_LATE_PENDING = Statement(
    _select.where(
        _living.status == PENDING,
        _living.loss_count < literal_column("2"),
        any_of(_living.lane_id, "lanes"),
        _living.priority.in_(_PRIORITIES),  # all there are, so that the claim index leads on to the time
        _living.available_at <= _before,
        *_unstarted,
    ).limit(_limit)
)
_LANES = Statement(select(lanes.c.id, lanes.c.group_id).order_by(lanes.c.id))
_STILL_LATE = Statement(
    _select.where(any_of(_living.id, "ids"), _living.status.in_([PENDING, PLANNED]), _living.fence == _ZERO)
)
_STILL_RUNNING = Statement(_select.where(any_of(_living.id, "ids"), _living.status == RUNNING))
_UNMADE = Statement(
    select(tasks.c.id, tasks.c.name, tasks.c.group_id, tasks.c.next_fire_at).where(
        tasks.c.wake_at.is_not(None), tasks.c.wake_at <= _before, tasks.c.next_fire_at <= _before
    )
)
_EXECUTORS = Statement(
    select(
        executors.c.id,
        executors.c.group_id,
        groups.c.name.label("group"),
        executors.c.started_at,
        executors.c.last_heartbeat,
        (executors.c.last_heartbeat < plus_seconds(lease_clock(), bindparam("ago", type_=Double))).label("silent"),
    )
    .join(groups, groups.c.id == executors.c.group_id)
    .order_by(executors.c.id)
)
_GROUPS = Statement(select(groups.c.id, groups.c.name).order_by(groups.c.id))
_waiting_in_lanes = (
    select(_living.id)
    .where(
        _living.status == PENDING,
        _living.loss_count < literal_column("2"),
        any_of(_living.lane_id, "lanes"),
        _living.priority.in_(_PRIORITIES),
        _living.available_at <= _before,
    )
    .limit(_limit)
    .subquery("waiting")
)
_QUEUE = Statement(select(func.count().label("n")).select_from(_waiting_in_lanes))
_waiting_of_task = (
    select(_living.id)
    .where(
        _living.task_id == bindparam("task_id", type_=Id), _living.status == PENDING, _living.available_at <= _before
    )
    .limit(_limit)
    .subquery("waiting")
)
_QUEUE_OF_TASK = Statement(select(func.count().label("n")).select_from(_waiting_of_task))
_EACH = records("each", {"id": Id})


def _newest(task: ColumnElement[Any]) -> Select[Any]:
    return (
        select(execution_logs.c.task_id, execution_logs.c.status, execution_logs.c.duration_ms)
        .where(execution_logs.c.task_id == task, execution_logs.c.status != literal_column("'cancelled'"))
        .order_by(execution_logs.c.end_time.desc(), execution_logs.c.id.desc())
        .limit(_limit)
    )


_lateral = _newest(_EACH.c.id).correlate(_EACH).lateral("newest")
_NEWEST_OF_EACH = Statement(select(_lateral).select_from(_EACH.join(_lateral, true())))
_NEWEST_OF_ONE = Statement(_newest(bindparam("task_id", type_=Id)))
_TASKS = Statement(
    select(tasks.c.id, tasks.c.name, tasks.c.group_id, tasks.c.deleted_at).where(any_of(tasks.c.id, "ids"))
)


@lru_cache
def _late_planned(kind: ScopeKind) -> Statement:
    if kind is ScopeKind.TASK:
        return Statement(
            _select.where(_of(kind), _living.status.in_([PENDING, PLANNED]), _not_held(), *_unstarted).limit(_limit)
        )
    waits = _living.blocked_by.in_([literal_column("'dependencies'"), literal_column("'permit'")])
    return Statement(_select.where(_living.status == PLANNED, waits, *_unstarted, _of(kind)).limit(_limit))


@lru_cache
def _unstarted_instants(kind: ScopeKind | None) -> Statement:
    """By task the oldest instant of its schedule of which nothing has started; None: of some tasks."""
    return Statement(
        select(_living.task_id, tasks.c.name, _living.group_id, func.min(_living.scheduled_time).label("oldest"))
        .join(tasks, tasks.c.id == _living.task_id)
        .where(
            text(f"task_instances.{SCHEDULED.text.replace(' AND ', ' AND task_instances.')}"),
            _living.status.in_([PENDING, PLANNED]),
            _not_held(),
            *_overdue,
            any_of(_living.task_id, "ids") if kind is None else _of(kind),
        )
        .group_by(_living.task_id, tasks.c.name, _living.group_id)
        .limit(_limit)
    )


@lru_cache
def _running(kind: ScopeKind) -> Statement:
    return Statement(
        _select.where(
            _living.status == RUNNING, _living.executor_id.is_not(None), _living.start_time <= _before, _of(kind)
        ).limit(_limit)
    )


def _not_held() -> ColumnElement[bool]:
    return or_(_living.blocked_by.is_(None), ~_held)


def _of(kind: ScopeKind) -> ColumnElement[bool]:
    column = {ScopeKind.GROUP: _living.group_id, ScopeKind.TASK: _living.task_id}.get(kind)
    return true() if column is None else column == bindparam("scope_id", type_=Id)


def _params(scope: Scope) -> dict[str, Any]:
    return {} if scope.kind is ScopeKind.ALL else {"scope_id": scope.id}


class Paused:
    """What rests at somebody's wish: that nothing of it starts is no news."""

    def __init__(self, covered: Iterable[tuple[str, int | None]]) -> None:
        self._covered = frozenset(covered)

    def has(self, group_id: int, task_id: int | None = None) -> bool:
        """Whether a group, or a task of it, rests."""
        return not self._covered.isdisjoint({("all", None), ("group", group_id), ("task", task_id)})


class Medians:
    """How long tasks usually take, remembered for a minute: nothing but speed depends on it being new."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[datetime, float | None]] = {}

    async def of(self, tx: Tx, task_ids: Iterable[int], now: datetime) -> Mapping[int, float | None]:
        """The medians in seconds; None for a task that has never succeeded."""
        self._known = {one: kept for one, kept in self._known.items() if now - kept[0] < MEDIAN_KEPT}
        missing = sorted(set(task_ids) - self._known.keys())
        newest = await newest_endings(tx, missing, MEDIAN_AMONG)
        for task_id in missing:
            successes = [seconds for status, seconds in newest.get(task_id, ()) if status == "success"][:MEDIAN_OF]
            self._known[task_id] = (now, statistics.median(successes) if successes else None)
        return {one: self._known[one][1] for one in task_ids}


async def newest_endings(tx: Tx, task_ids: Sequence[int], count: int) -> dict[int, list[tuple[str, float]]]:
    """Of each task the newest endings but cancelled ones, newest first: status and seconds."""
    if tx.dialect == "postgresql":
        rows = await tx.fetch(_NEWEST_OF_EACH, each=[{"id": one} for one in task_ids], limit=count) if task_ids else ()
    else:  # SQLite has no LATERAL, and needs none: a statement costs it no round trip
        rows = [row for one in task_ids for row in await tx.fetch(_NEWEST_OF_ONE, task_id=one, limit=count)]
    found: dict[int, list[tuple[str, float]]] = {}
    for row in rows:
        found.setdefault(row["task_id"], []).append((row["status"], row["duration_ms"] / 1000))
    return found


async def tasks_by_id(tx: Tx, ids: Iterable[int]) -> dict[int, Subject]:
    """Deleted ones too."""
    rows = await tx.fetch(_TASKS, ids=sorted(set(ids)))
    return {
        row["id"]: Subject(
            task_id=row["id"], task=row["name"], group_id=row["group_id"], deleted=row["deleted_at"] is not None
        )
        for row in rows
    }


async def late(tx: Tx, scope: Scope, before: datetime, firing: Iterable[int], paused: Paused) -> list[Waiting]:
    """What was due before and has not started."""
    params = {"before": before, "limit": MOST_SUBJECTS, **_params(scope)}
    rows = [*await tx.fetch(_late_planned(scope.kind), **params)]
    if scope.kind is not ScopeKind.TASK:
        ids = [one for one, group_id in await _lanes(tx) if scope.id in (None, group_id)]
        rows += await tx.fetch(_LATE_PENDING, lanes=ids, before=before, limit=MOST_SUBJECTS)
    rows += await tx.fetch(_STILL_LATE, ids=sorted(set(firing)))
    return [_waiting(row) for row in rows if not paused.has(row["group_id"], row["task_id"])]


async def _lanes(tx: Tx) -> list[tuple[int, int]]:
    return [(row["id"], row["group_id"]) for row in await tx.fetch(_LANES)]


async def never_started(
    tx: Tx, scope: Scope, before: datetime, firing: Iterable[int], paused: Paused
) -> dict[Subject, datetime]:
    """By task its oldest instant before, of which nothing has started and no skip was recorded."""
    params = {"before": before, "limit": MOST_SUBJECTS}
    rows = [*await tx.fetch(_unstarted_instants(scope.kind), **params, **_params(scope))]
    if ids := sorted(set(firing)):
        rows += await tx.fetch(_unstarted_instants(None), ids=ids, before=before, limit=len(ids))
    found = {Subject(task_id=row["task_id"], task=row["name"], group_id=row["group_id"]): row["oldest"] for row in rows}
    for row in await tx.fetch(_UNMADE, before=before):
        of = Subject(task_id=row["id"], task=row["name"], group_id=row["group_id"])
        if scope.kind is ScopeKind.ALL or scope.id == (of.group_id if scope.kind is ScopeKind.GROUP else of.task_id):
            found.setdefault(of, row["next_fire_at"])
    return {of: time for of, time in found.items() if not paused.has(of.group_id, of.task_id)}


async def running(tx: Tx, scope: Scope, before: datetime, firing: Iterable[int]) -> list[Waiting]:
    """What has been running since before."""
    rows = [
        *await tx.fetch(_running(scope.kind), before=before, limit=MOST_RUNNING, **_params(scope)),
        *await tx.fetch(_STILL_RUNNING, ids=sorted(set(firing))),
    ]
    return [_waiting(row) for row in rows]


def _waiting(row: Row) -> Waiting:
    return Waiting(
        task=Subject(task_id=row["task_id"], task=row["task_name"], group_id=row["group_id"]),
        instance_id=row["id"],
        scheduled_time=row["scheduled_time"],
        blocked_by=row["blocked_by"],
        start_time=row["start_time"],
        executor_id=row["executor_id"],
    )


async def registry(tx: Tx, scope: Scope, lost_after: float) -> list[Registered]:
    """The executors within the scope."""
    rows = await tx.fetch(_EXECUTORS, ago=-lost_after)
    return [Registered(**row) for row in rows if scope.id in (None, row["group_id"])]


async def queues(tx: Tx, scope: Scope, most: int, now: datetime, paused: Paused) -> list[Queue]:
    """How many of each group, or of the one task, could be claimed; counted up to one more than `most`."""
    params = {"before": now, "limit": most + 1}
    if scope.kind is ScopeKind.TASK:
        found = (await tasks_by_id(tx, [scope.id] if scope.id else [])).values()
        return [
            Queue(subject=of.subject, what=of.what, about=of.about, waiting=row["n"])
            for of in found
            if not of.deleted and not paused.has(of.group_id, of.task_id)
            for row in await tx.fetch(_QUEUE_OF_TASK, task_id=of.task_id, **params)
        ]
    there = await _lanes(tx)
    found_queues = []
    for group in await tx.fetch(_GROUPS):
        if scope.id not in (None, group["id"]) or paused.has(group["id"]):
            continue
        ids = [one for one, group_id in there if group_id == group["id"]]
        (row,) = await tx.fetch(_QUEUE, lanes=ids, **params)
        found_queues.append(
            Queue(
                subject=f"group:{group['id']}",
                what=f"group {group['name']!r}",
                waiting=row["n"],
                about={"group_id": group["id"], "group": group["name"]},
            )
        )
    return found_queues
