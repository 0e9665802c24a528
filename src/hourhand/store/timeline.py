"""Store: what ran in a period, as a timeline draws it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, bindparam, literal_column, null, select, true

from hourhand.model.errors import InvalidInput
from hourhand.model.trends import Bar, Timeline
from hourhand.model.words import Status
from hourhand.store.database import Row, Tx
from hourhand.store.rows import readable
from hourhand.store.schema import RUNNING, execution_logs, task_instances, tasks
from hourhand.store.searching import FEW_TASKS, contains, literally
from hourhand.store.sql import any_of, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant

LONGEST = timedelta(days=7)
MOST_BARS = 2_000
LATER = timedelta(days=1)
LOOKED_AT = 200_000
"""What ran in a period and ended after it is looked for in the day after it, among so many endings at most."""
_living, _logs = task_instances.c, execution_logs.c
_begin, _end, _horizon = (bindparam(name, type_=Instant()) for name in ("begin", "end", "horizon"))
_SHOWN = ("task_id", "group_id", "status", "start_time", "executor_id", "fence")
_like = select(tasks.c.id).where(contains(tasks.c.name, "q"))
_LIKE = Statement(_like.limit(bindparam("limit", type_=BigInteger)))
_IS_LIKE = Statement(_like.where(tasks.c.id == bindparam("task_id", type_=Id)))

_FAR = Statement(
    select(_logs.end_time)
    .where(_logs.end_time >= _end, _logs.end_time < _horizon)
    .order_by(_logs.end_time, _logs.id)
    .offset(bindparam("looked_at", type_=BigInteger))
    .limit(1)
)
Names = tuple[str, ...]


def _conditions(names: Names, columns: Any) -> list[ColumnElement[bool]]:
    known: Mapping[str, Callable[[], ColumnElement[bool]]] = {
        "group_ids": lambda: any_of(columns["group_id"], "group_ids"),
        "task_id": lambda: columns["task_id"] == bindparam("task_id", type_=Id),
        "task_ids": lambda: any_of(columns["task_id"], "task_ids"),
        # The sum keeps the tasks' index out of it, see `listing`: only where many tasks have such a name.
        "q": lambda: (columns["task_id"] + 0).in_(_like),
    }
    return [known[name]() for name in names]


@lru_cache(maxsize=16)
def _runs(names: Names) -> Statement:
    """What still runs, by its index, which is no more than the executors have room for."""
    return Statement(
        select(
            _living.id.label("instance_id"),
            tasks.c.name.label("task_name"),
            *[_living[name] for name in _SHOWN],
            null().cast(Instant()).label("end_time"),
        )
        .join(tasks, tasks.c.id == _living.task_id)
        .where(
            _living.status == RUNNING,
            _living.executor_id.is_not(None),
            _living.start_time < _end,
            *_conditions(names, _living),
        )
        # The sum: else SQLite would follow the ids of all the living.
        .order_by(_living.start_time, _living.id + literal_column("0"))
        .limit(bindparam("limit", type_=BigInteger))
    )


@lru_cache(maxsize=64)
def _ends(names: Names, *, after: bool, each: bool) -> Statement:
    """What ended in the period, or after it and had begun before; of `each` task by its index, or of all."""
    query = select(
        _logs.instance_id, _logs.id, _logs.task_name, *[_logs[name] for name in _SHOWN], _logs.end_time
    ).where(_logs.start_time.is_not(None), *_conditions(names, _logs))
    if after:
        query = query.where(_logs.end_time >= _end, _logs.end_time < _horizon, _logs.start_time < _end)
    else:
        query = query.where(_logs.end_time >= _begin, _logs.end_time < _end)
    query = query.order_by(_logs.end_time.desc(), _logs.id.desc()).limit(bindparam("limit", type_=BigInteger))
    if not each:
        return Statement(query)
    tasks_given = records("each", {"id": Id})
    found = query.where(_logs.task_id == tasks_given.c.id).correlate(tasks_given).lateral("found")
    return Statement(select(found).select_from(tasks_given.join(found, true())))


async def timeline(
    tx: Tx,
    begin: datetime,
    end: datetime,
    *,
    groups: Collection[int] | None,
    task_id: int | None,
    q: str | None,
    limit: int,
) -> Timeline:
    """What still runs first, the oldest of it first; then what ended, the newest first."""
    _refuse(begin, end, limit)
    params: dict[str, Any] = {} if groups is None else {"group_ids": sorted(groups)}
    few: Sequence[int] | None = None if task_id is None else [task_id]
    if q is not None:
        like = await _like_that(tx, literally(q), task_id)
        few = like if len(like) <= FEW_TASKS or task_id is not None else None
        params |= {} if few is not None else {"q": literally(q)}
    asked = {**params, "begin": begin, "end": end, "limit": limit + 1}
    bars = [] if few == [] else await _running(tx, few, asked)
    ended: list[Row] = []
    now, truncated = await tx.now(), False
    if end < now:
        asked["horizon"] = end + LATER
        if few is None:
            for row in await tx.fetch(_FAR, end=end, horizon=end + LATER, looked_at=LOOKED_AT):
                asked["horizon"], truncated = row["end_time"], True
        ended += await _ended(tx, few, asked, after=True)
    ended += await _ended(tx, few, asked, after=False)
    over = {(row["instance_id"], row["fence"]) for row in ended}
    # PostgreSQL shows each statement what is committed by then: who ended in between is told once, as ended.
    rows = [*(row for row in bars if (row["instance_id"], row["fence"]) not in over), *ended]
    told = readable(rows[:limit], _bar)
    return Timeline(begin=begin, end=end, bars=tuple(told), truncated=truncated or len(rows) > limit)


async def _like_that(tx: Tx, q: str, task_id: int | None) -> list[int]:
    """The first tasks with such a name, deleted ones included: what they did is still there."""
    if task_id is None:
        return [row["id"] for row in await tx.fetch(_LIKE, q=q, limit=FEW_TASKS + 1)]
    return [row["id"] for row in await tx.fetch(_IS_LIKE, q=q, task_id=task_id)]


def _refuse(begin: datetime, end: datetime, limit: int) -> None:
    if begin >= end:
        raise InvalidInput.one("from", begin, f"{begin.isoformat()} is not before `to` ({end.isoformat()})")
    if end - begin > LONGEST:
        right = f"give a `from` within {LONGEST.days} days of it"
        raise InvalidInput.one(
            "from", begin, f"{begin.isoformat()} is too long before `to` ({end.isoformat()}): {right}"
        )
    if not 1 <= limit <= MOST_BARS:
        raise InvalidInput.one("limit", limit, f"{limit} is out of range: give 1 to {MOST_BARS:,}")


async def _running(tx: Tx, few: Sequence[int] | None, asked: Mapping[str, Any]) -> Sequence[Row]:
    names = tuple(name for name in ("group_ids", "q") if name in asked)
    if few is None:
        return await tx.fetch(_runs(names), **asked)
    return await tx.fetch(_runs((*names, "task_ids")), **asked, task_ids=list(few))


async def _ended(tx: Tx, few: Sequence[int] | None, asked: Mapping[str, Any], *, after: bool) -> Sequence[Row]:
    names = tuple(name for name in ("group_ids", "q") if name in asked)
    if few is None:
        return await tx.fetch(_ends(names, after=after, each=False), **asked)
    if tx.dialect == "postgresql":
        found = await tx.fetch(_ends(names, after=after, each=True), **asked, each=[{"id": one} for one in few])
    else:  # it has no LATERAL, and needs none: a statement costs it no round trip
        one = _ends((*names, "task_id"), after=after, each=False)
        found = [row for task_id in few for row in await tx.fetch(one, **asked, task_id=task_id)]
    return sorted(found, key=lambda row: (row["end_time"], row["id"]), reverse=True)


def _bar(row: Row) -> Bar:
    values = {name: row[name] for name in Bar.__dataclass_fields__ if name != "attempt"}
    return Bar(**{**values, "status": Status(row["status"])}, attempt=row["fence"])
