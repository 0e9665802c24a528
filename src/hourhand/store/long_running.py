"""Store: what has been running for long, beside what its task usually takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from statistics import median
from typing import Any

from sqlalchemy import BigInteger, Text, bindparam, func, literal_column, select, tuple_

from hourhand.model.errors import InvalidInput
from hourhand.model.page import Page
from hourhand.model.stats import LongRunning
from hourhand.model.words import TaskType
from hourhand.store.database import Row, Tx
from hourhand.store.paging import MOST, read_cursor, write_cursor
from hourhand.store.rows import readable
from hourhand.store.schema import RUNNING, execution_logs, task_instances, tasks
from hourhand.store.sql import any_of, constant, lease_clock, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, from_micros, to_micros

LAST = 50
LOOKED_AT = 200
"""Among so many endings of a task its successes are looked for, lest all be read of one that never succeeds."""
LATELY = timedelta(days=7)
_living = task_instances.c
_SHOWN = (
    "task_id",
    "group_id",
    "operation_kind",
    "executor_id",
    "start_time",
    "progress",
    "phase",
    "retry_count",
    "loss_count",
    "cancel_requested",
)


@lru_cache(maxsize=4)
def _running(*, grouped: bool, typed: bool) -> Statement:
    """By the index of what runs, which is no more than the executors have room for; then sorted."""
    query = (
        select(
            _living.id.label("instance_id"),
            tasks.c.name.label("task_name"),
            tasks.c.type,
            *[_living[name] for name in _SHOWN],
            (_living.lease_until < select(lease_clock()).scalar_subquery()).label("zombie"),
        )
        .join(tasks, tasks.c.id == _living.task_id)
        .where(
            _living.status == RUNNING,
            _living.executor_id.is_not(None),
            _living.start_time < bindparam("before", type_=Instant()),
            tuple_(_living.start_time, _living.id)
            > tuple_(bindparam("after_time", type_=Instant()), bindparam("after_id", type_=Id)),
        )
        # The sum: else SQLite would follow the ids of all the living.
        .order_by(_living.start_time, _living.id + literal_column("0"))
        .limit(bindparam("limit", type_=BigInteger))
    )
    if grouped:
        query = query.where(any_of(_living.group_id, "group_ids"))
    return Statement(query.where(tasks.c.type == bindparam("type", type_=Text)) if typed else query)


def _usual(gather: str) -> Statement:
    """The last successes of each of some tasks, by one probe of the task's index each."""
    each = records("each", {"id": Id})
    endings = (
        select(execution_logs.c.duration_ms, execution_logs.c.status, execution_logs.c.end_time, execution_logs.c.id)
        .where(
            execution_logs.c.task_id == each.c.id,
            execution_logs.c.end_time >= bindparam("since", type_=Instant()),
        )
        .order_by(execution_logs.c.end_time.desc(), execution_logs.c.id.desc())
        .limit(LOOKED_AT)
        .correlate(each)
        .subquery("endings")
    )
    last = (
        select(endings.c.duration_ms)
        .where(endings.c.status == constant("success"))
        .order_by(endings.c.end_time.desc(), endings.c.id.desc())
        .limit(LAST)
        .subquery("last")
    )
    gathered = select(getattr(func, gather)(last.c.duration_ms)).correlate(each).scalar_subquery()
    return Statement(select(each.c.id, gathered.label("durations")).select_from(each))


_USUAL = {"postgresql": _usual("array_agg"), "sqlite": _usual("group_concat")}


async def long_running(
    tx: Tx,
    *,
    minutes: int,
    groups: Collection[int] | None,
    task_type: TaskType | None,
    limit: int,
    cursor: str | None,
) -> Page[LongRunning]:
    """The longest first."""
    if not 1 <= limit <= MOST:
        raise InvalidInput.one("limit", limit, f"{limit} is out of range: give 1 to {MOST}")
    place = read_cursor(cursor, {"running": (int, int)})
    now = await tx.now()
    params: dict[str, Any] = {} if groups is None else {"group_ids": sorted(groups)}
    params |= {} if task_type is None else {"type": task_type.value}
    rows = await tx.fetch(
        _running(grouped=groups is not None, typed=task_type is not None),
        **params,
        before=now - timedelta(minutes=minutes),
        after_time=from_micros(0 if place is None else place[1]),
        after_id=0 if place is None else place[2],
        limit=limit + 1,
    )
    shown = rows[:limit]
    usual = await _medians(tx, {row["task_id"] for row in shown}, now - LATELY)
    items = readable(shown, lambda row: _item(row, now, usual))
    last = shown[-1] if len(rows) > limit else None
    more = None if last is None else write_cursor("running", to_micros(last["start_time"]), last["instance_id"])
    return Page(tuple(items), more)


async def _medians(tx: Tx, task_ids: Collection[int], since: datetime) -> dict[int, float]:
    return {one: float(median(some)) for one, some in (await durations(tx, task_ids, since)).items()}


async def durations(tx: Tx, task_ids: Collection[int], since: datetime) -> dict[int, list[int]]:
    """How long the last successes of each task took, in milliseconds; tasks without any are left out."""
    if not task_ids:
        return {}
    rows = await tx.fetch(_USUAL[tx.dialect], each=[{"id": one} for one in sorted(task_ids)], since=since)
    return {row["id"]: _numbers(row["durations"]) for row in rows if row["durations"] is not None}


def _numbers(gathered: str | Sequence[int]) -> list[int]:
    return [int(one) for one in (gathered.split(",") if isinstance(gathered, str) else gathered)]


def _item(row: Row, now: datetime, usual: Mapping[int, float]) -> LongRunning:
    values = {name: row[name] for name in ("instance_id", "task_name", *_SHOWN)}
    return LongRunning(
        **values,
        type=TaskType(row["type"]),
        zombie=bool(row["zombie"]),
        running_seconds=max(0.0, (now - row["start_time"]).total_seconds()),
        median_ms=usual.get(row["task_id"]),
    )
