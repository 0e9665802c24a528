"""Store: figures: counters that were folded, what is not folded yet, and what lives now."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Integer, Select, case, func, select, text, union_all

from hourhand.model.stats import Distribution, Failure, Failures, Overview, Point, Series, Share, Standing, TouchedTask
from hourhand.model.words import TaskType
from hourhand.rules.figures import HOUR, MINUTE, Tally, edges, rounded_down, rounded_up, unit_of
from hourhand.store import stats_kept
from hourhand.store.database import Row, Tx
from hourhand.store.registry import alive_executors, list_groups
from hourhand.store.schema import PENDING, PLANNED, RUNNING, lanes, task_instances, tasks
from hourhand.store.sql import any_of, constant, lease_clock, store_clock
from hourhand.store.statements import Statement
from hourhand.store.stats_fold import TOUCHED, count_endings
from hourhand.store.types import from_micros

MOST_REASONS = 1_000
_living = task_instances.c
_LIVES = ("pending_due", "pending_later", "planned", "running", "zombies")


def _limits(groups: Collection[int] | None, task_type: TaskType | None = None) -> tuple[dict[str, bool], Row]:
    """Which filters a statement has, and their values."""
    params: dict[str, Any] = {} if groups is None else {"group_ids": sorted(groups)}
    params |= {} if task_type is None else {"type": task_type.value}
    return {"grouped": groups is not None, "typed": task_type is not None}, params


async def _tallies(
    tx: Tx,
    names: tuple[str, ...],
    begin: datetime,
    end: datetime,
    *,
    step_seconds: int = MINUTE,
    by_hours: bool = True,
    groups: Collection[int] | None,
    task_type: TaskType | None = None,
) -> dict[tuple[Any, ...], Tally]:
    """What ended in a period of whole minutes, by these columns of the counters, or by `slot`."""
    found = await stats_kept.places(tx, begin, end, by_hours=by_hours)
    which, params = _limits(groups, task_type)
    params = {**params, "step": step_seconds} if "slot" in names else params
    tallies: dict[tuple[Any, ...], Tally] = defaultdict(Tally)
    for row in await tx.fetch(stats_kept.figures(names, **which), **params, **found.params()):
        tally = tallies[tuple(row[name] for name in names)]
        if row["bucket"] is None:
            tally.add(row["status"], row["count"], skipped=bool(row["skipped"]), duration_ms=row["duration_ms"])
        else:
            tally.add_durations({row["bucket"]: row["count"]})
    if found.folded < end:
        step = timedelta(seconds=step_seconds)
        for row in await count_endings(tx, found.folded, end, groups=groups, task_type=task_type, with_reasons=False):
            place = {**row, "slot": (row["minute"] - begin) // step}
            tally = tallies[tuple(place[name] for name in names)]
            skipped = row["status"] == "cancelled" and row["fingerprint"] != ""
            tally.add(row["status"], row["count"], skipped=skipped, duration_ms=row["duration_ms"])
            tally.add_durations({int(one): number for one, number in row["buckets"]["durations"].items()})
    return tallies


async def series(
    tx: Tx,
    begin: datetime,
    end: datetime,
    *,
    step_seconds: int,
    groups: Collection[int] | None,
    task_type: TaskType | None,
    timezone: str | None,
) -> Series:
    """Figures step by step; where a clock makes steps unequal, by what they have in common."""
    bounds = edges(begin, end, step_seconds, timezone)
    begin, *inner, end = bounds
    unit = unit_of(bounds)
    # Counters of whole hours are of no use to a clock that is half an hour off.
    by_hours = all(edge == rounded_down(edge, HOUR) for edge in inner)
    found = await _tallies(
        tx, ("slot",), begin, end, step_seconds=unit, by_hours=by_hours, groups=groups, task_type=task_type
    )
    tallies: dict[datetime, Tally] = {edge: Tally() for edge in bounds[:-1]}
    for (slot,), tally in found.items():
        tallies[bounds[bisect_right(inner, begin + slot * timedelta(seconds=unit))]].include(tally)
    made = (Point(at=at, **tally.figures()) for at, tally in tallies.items())
    return Series(begin=begin, end=end, step_seconds=step_seconds, points=tuple(made))


# What lives


def _number(condition: ColumnElement[bool] | None = None) -> ColumnElement[int]:
    return func.count() if condition is None else func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


def _standing(group_id: ColumnElement[Any], **counts: ColumnElement[Any]) -> Select[Any]:
    return select(
        group_id.label("group_id"), *[counts.get(name, constant(0)).cast(Integer).label(name) for name in _LIVES]
    )


@lru_cache(maxsize=2)
def _lives(*, grouped: bool) -> Statement:
    """Each part by a partial index. Of what is pending the claim index alone is read: it knows lane and time."""

    def pending(lost: str) -> Select[Any]:
        now = select(store_clock()).scalar_subquery()
        each = (
            select(
                _living.lane_id,
                _number(_living.available_at <= now).label("due"),
                _number(_living.available_at > now).label("later"),
            )
            .where(_living.status == PENDING, text(lost))
            .group_by(_living.lane_id)
            .subquery()
        )
        query = _standing(lanes.c.group_id, pending_due=each.c.due, pending_later=each.c.later)
        return query.select_from(each.join(lanes, lanes.c.id == each.c.lane_id))

    expired = _living.lease_until < select(lease_clock()).scalar_subquery()
    running = _standing(_living.group_id, running=_number(), zombies=_number(expired)).where(
        _living.status == RUNNING, _living.executor_id.is_not(None)
    )
    planned = _standing(_living.group_id, planned=_number()).where(
        _living.status == PLANNED, _living.blocked_by.is_not(None)
    )
    parts = [
        (pending("loss_count < 2"), lanes.c.group_id),
        (pending("loss_count > 1"), lanes.c.group_id),
        (running.group_by(_living.group_id), _living.group_id),
        (planned.group_by(_living.group_id), _living.group_id),
    ]
    return Statement(
        union_all(*[query.where(any_of(group_id, "group_ids")) if grouped else query for query, group_id in parts])
    )


async def overview(tx: Tx, *, hours: int, groups: Collection[int] | None, lease_seconds: float) -> Overview:
    """The key figures, in all and by group."""
    now = await tx.now()
    begin, end = rounded_down(now - timedelta(hours=hours), MINUTE), rounded_up(now, MINUTE)
    known = [one.id for one in await list_groups(tx) if groups is None or one.id in groups]
    tallies = await _tallies(tx, ("group_id",), begin, end, groups=groups)
    total = Tally()
    for tally in tallies.values():
        total.include(tally)
    _, limited = _limits(groups)
    alive = [
        {"group_id": group_id, "executors": 1, "capacity": executor.capacity}
        for executor, group_id in await alive_executors(tx, lease_seconds)
        if groups is None or group_id in groups
    ]
    standing = [*await tx.fetch(_lives(grouped=groups is not None), **limited), *alive]
    ids = sorted({*known, *(one for (one,) in tallies), *(row["group_id"] for row in standing)})
    return Overview(
        begin=begin,
        end=now,
        total=Standing(**total.figures(), **_sums(standing)),
        groups=tuple(
            Standing(
                group_id=one,
                **tallies[(one,)].figures(),
                **_sums(row for row in standing if row["group_id"] == one),
            )
            for one in ids
        ),
    )


def _sums(rows: Iterable[Row]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for row in rows:
        for name, number in row.items():
            if name != "group_id":
                sums[name] += number
    return sums


@lru_cache(maxsize=2)
def _by_type(*, grouped: bool) -> Statement:
    """All the living: it is not asked for often, and there is no index by what it tells apart."""
    kind = func.coalesce(_living.operation_kind, constant(""))
    query = (
        select(tasks.c.type, kind.label("kind"), _living.status, func.count().label("count"))
        .select_from(task_instances)
        .join(tasks, tasks.c.id == _living.task_id)
        .group_by(tasks.c.type, kind, _living.status)
    )
    return Statement(query.where(any_of(_living.group_id, "group_ids")) if grouped else query)


async def distribution(tx: Tx, begin: datetime, end: datetime, *, groups: Collection[int] | None) -> Distribution:
    """By type and operation kind."""
    begin, end = rounded_down(begin, MINUTE), rounded_up(end, MINUTE)
    tallies = await _tallies(tx, ("type", "kind"), begin, end, groups=groups)
    living: dict[tuple[Any, ...], dict[str, int]] = defaultdict(dict)
    _, limited = _limits(groups)
    for row in await tx.fetch(_by_type(grouped=groups is not None), **limited):
        living[row["type"], row["kind"]][row["status"]] = row["count"]
    shares = (
        Share(type=key[0], operation_kind=key[1] or None, **tallies[key].figures(), **living[key])
        for key in sorted({*tallies, *living})
    )
    return Distribution(begin=begin, end=end, shares=tuple(shares))


# Failures

_NAMES = Statement(select(tasks.c.id, tasks.c.name).where(any_of(tasks.c.id, "ids")))
_Reason = tuple[str, str, str]


class _Seen:
    """What is known of one reason."""

    def __init__(self) -> None:
        self.count = 0
        self.first: int | None = None
        self.last: int | None = None
        self.instance_id: int | None = None
        self.task_ids: set[int] = set()

    def add(self, count: int, seen: Mapping[str, Any]) -> None:
        self.count += count
        if seen.get("first") is None:
            return  # of what was too rare to be looked at
        self.first = seen["first"] if self.first is None else min(self.first, seen["first"])
        self.last = max(self.last or 0, seen["last"])
        self.instance_id = max(self.instance_id or 0, seen["instance_id"])
        self.task_ids.update(seen.get("tasks", ()))


async def failures(
    tx: Tx, *, days: int, groups: Collection[int] | None, task_type: TaskType | None, limit: int
) -> Failures:
    """By type, operation kind and reason, the most frequent first."""
    now = await tx.now()
    begin, end = rounded_down(now - timedelta(days=days), MINUTE), rounded_up(now, MINUTE)
    found = await stats_kept.places(tx, begin, end)
    which, params = _limits(groups, task_type)
    params = {**params, **found.params()}
    seen: dict[_Reason, _Seen] = defaultdict(_Seen)
    for row in await tx.fetch(stats_kept.reasons(**which), **params, limit=MOST_REASONS):
        seen[_reason(row)].add(row["count"], row)
    if found.folded < end:
        for row in await count_endings(tx, found.folded, end, groups=groups, task_type=task_type, failed=True):
            seen[_reason(row)].add(row["count"], row["buckets"].get("seen", {}))
    most = sorted(seen, key=lambda key: (-seen[key].count, key))[:limit]
    for row in await tx.fetch(stats_kept.touched(**which), **params, fingerprints=sorted({key[2] for key in most})):
        seen[_reason(row)].task_ids.add(row["task_id"])
    touched = {key: sorted(seen[key].task_ids)[:TOUCHED] for key in most}
    ids = sorted({one for some in touched.values() for one in some})
    names = {row["id"]: row["name"] for row in await tx.fetch(_NAMES, ids=ids)}
    told = (
        _failure(key, seen[key], [TouchedTask(id=one, name=names.get(one, "")) for one in touched[key]]) for key in most
    )
    return Failures(begin=begin, end=now, reasons=tuple(told))


def _reason(row: Row) -> _Reason:
    return row["type"], row["kind"], row["fingerprint"]


def _failure(key: _Reason, seen: _Seen, touched: Iterable[TouchedTask]) -> Failure:
    return Failure(
        type=key[0],
        operation_kind=key[1] or None,
        reason=key[2],
        count=seen.count,
        first_seen=None if seen.first is None else from_micros(seen.first),
        last_seen=None if seen.last is None else from_micros(seen.last),
        instance_id=seen.instance_id,
        tasks=tuple(touched),
    )
