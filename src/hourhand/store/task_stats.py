"""Store: how single tasks fared lately: a probe of an index or two per task, however much there is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from math import ceil
from statistics import median
from typing import Any

from sqlalchemy import BigInteger, Select, bindparam, case, func, select, true

from hourhand.model.errors import InvalidInput
from hourhand.model.trends import TaskEnding, TaskStats
from hourhand.model.words import SkipReason, Status
from hourhand.store.database import Row, Tx
from hourhand.store.graph import running_of
from hourhand.store.ids import possible
from hourhand.store.long_running import durations
from hourhand.store.rows import readable
from hourhand.store.schema import PLANNED, RUNNING, execution_logs, task_instances, tasks
from hourhand.store.sql import any_of, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id, from_micros

MOST_TASKS = 200
MOST_LAST = 100
COUNTED = 1_000
_PERCENTILE = 0.95
_logs = execution_logs.c
_each = records("each", {"id": Id})


@lru_cache(maxsize=2)
def _within(*, grouped: bool) -> Statement:
    query = select(tasks.c.id).where(any_of(tasks.c.id, "ids"), tasks.c.deleted_at.is_(None))
    return Statement(query.where(any_of(tasks.c.group_id, "group_ids")) if grouped else query)


def _last() -> Select[Any]:
    return (
        select(
            _logs.task_id,
            _logs.id,
            _logs.instance_id,
            _logs.status,
            _logs.scheduled_time,
            _logs.start_time,
            _logs.end_time,
            _logs.duration_ms,
            _logs.skip_reason,
        )
        .where(_logs.superseded_at.is_(None))
        .order_by(_logs.end_time.desc(), _logs.id.desc())
        .limit(bindparam("last", type_=BigInteger))
    )


_LAST = Statement(_last().where(_logs.task_id == bindparam("task_id", type_=Id)))
_newest = _last().where(_logs.task_id == _each.c.id).correlate(_each).lateral("newest")
_LAST_OF_EACH = Statement(select(_newest).select_from(_each.join(_newest, true())))
_some = (
    select(task_instances.c.status)
    .where(task_instances.c.task_id == _each.c.id, task_instances.c.status != RUNNING)
    # In the order of the index: else PostgreSQL would rather read the whole table.
    .order_by(task_instances.c.scheduled_time.desc())
    .limit(COUNTED + 1)
    .correlate(_each)
    .subquery("some")
)
# Two counts of one probe, since a scalar subquery has one value: the planned ones in millions.
_MILLION = 1_000_000
_weight = case((_some.c.status == PLANNED, _MILLION), else_=1)
_counted = select(func.coalesce(func.sum(_weight), 0).cast(BigInteger)).correlate(_each).scalar_subquery()
_WAITING = Statement(select(_each.c.id, _counted.label("weight")).select_from(_each))


async def task_stats(tx: Tx, ids: Collection[int], *, last: int, groups: Collection[int] | None) -> list[TaskStats]:
    """In the order of the ids; tasks that there are not, or not within the groups, are left out."""
    if len(ids) > MOST_TASKS:
        raise InvalidInput.one("ids", len(ids), f"{len(ids)} tasks are too many: ask for at most {MOST_TASKS}")
    if not 1 <= last <= MOST_LAST:
        raise InvalidInput.one("last", last, f"{last} is out of range: give 1 to {MOST_LAST}")
    params: dict[str, Any] = {} if groups is None else {"group_ids": sorted(groups)}
    wanted = sorted(one for one in set(ids) if possible(one))
    rows = await tx.fetch(_within(grouped=groups is not None), ids=wanted, **params)
    found = sorted(row["id"] for row in rows)
    if not found:
        return []
    endings: dict[int, list[Row]] = {one: [] for one in found}
    for row in await _endings(tx, found, last):
        endings[row["task_id"]].append(row)
    each = [{"id": one} for one in found]
    waiting = {row["id"]: divmod(row["weight"], _MILLION) for row in await tx.fetch(_WAITING, each=each)}
    running = await running_of(tx, found)
    usual = await durations(tx, found, from_micros(0))
    return [
        _stats(
            one, endings[one], waiting[one], running=running[one]["count"] if one in running else 0, took=usual.get(one)
        )
        for one in dict.fromkeys(ids)
        if one in endings
    ]


async def _endings(tx: Tx, ids: Sequence[int], last: int) -> Iterable[Row]:
    if tx.dialect == "postgresql":
        return await tx.fetch(_LAST_OF_EACH, each=[{"id": one} for one in ids], last=last)
    # SQLite has no LATERAL, and needs none: a statement costs it no round trip.
    return [row for one in ids for row in await tx.fetch(_LAST, task_id=one, last=last)]


def _stats(
    task_id: int, endings: Sequence[Row], waiting: tuple[int, int], *, running: int, took: list[int] | None
) -> TaskStats:
    planned, pending = waiting
    more = planned + pending > COUNTED
    newest_last = sorted(endings, key=lambda row: (row["end_time"], row["id"]))
    took = sorted(took or ())
    return TaskStats(
        task_id=task_id,
        endings=tuple(readable(newest_last, _ending)),
        running=running,
        pending=pending - (more and pending > 0),
        planned=planned - (more and not pending),
        more=more,
        median_ms=float(median(took)) if took else None,
        p95_ms=float(took[ceil(_PERCENTILE * len(took)) - 1]) if took else None,
    )


def _ending(row: Row) -> TaskEnding:
    values = {name: row[name] for name in TaskEnding.__dataclass_fields__}
    reason = row["skip_reason"]
    return TaskEnding(
        **{**values, "status": Status(row["status"]), "skip_reason": None if reason is None else SkipReason(reason)}
    )
