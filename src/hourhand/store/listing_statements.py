"""Store: the statements of the lists of instances; each filter that has an index keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    Text,
    and_,
    bindparam,
    func,
    literal_column,
    null,
    select,
    true,
    tuple_,
)
from sqlalchemy.types import TypeEngine

from hourhand.model.words import Status, TriggeredBy
from hourhand.store.schema import LIVING, execution_logs, task_instances, tasks
from hourhand.store.searching import OF_TASK, Condition, contains, contains_json, equals
from hourhand.store.sql import any_of, only_on_sqlite, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, Json

_ENDED_ONLY: Mapping[str, TypeEngine[Any]] = {
    "log_id": BigInteger(),
    "duration_ms": BigInteger(),
    "output_summary": Text(),
    "error_message": Text(),
    "summary": Json(),
    "skip_reason": Text(),
    "superseded_at": Instant(),
}
# One shape for the living and the ended.
SELECT_LIVING = select(
    task_instances.c.id,
    tasks.c.name.label("task_name"),
    *[task_instances.c[name] for name in LIVING],
    null().cast(Instant()).label("end_time"),
    *[null().cast(kind).label(name) for name, kind in _ENDED_ONLY.items()],
).join(tasks, tasks.c.id == task_instances.c.task_id)
SELECT_ENDED = select(
    execution_logs.c.instance_id.label("id"),
    execution_logs.c.task_name,
    *[execution_logs.c[name] for name in LIVING],
    execution_logs.c.end_time,
    execution_logs.c.id.label("log_id"),
    *[execution_logs.c[name] for name in _ENDED_ONLY if name != "log_id"],
)
_ENDED_PLACE = select(execution_logs.c.end_time, execution_logs.c.id.label("log_id"))
_living = task_instances.c
_ended = execution_logs.c


def _of_task(condition: Condition) -> Condition:
    """What many tasks have in common. The sum keeps the index of tasks out of it.

    What follows the order of time finds some soon, what follows the tasks finds all and has to sort them.
    """
    return lambda: (_ended.task_id + 0).in_(select(tasks.c.id).where(condition()))


_OF_LIVING: Mapping[str, Condition] = {
    **OF_TASK,
    "task_id": lambda: equals(_living.task_id, "task_id"),
    "task_ids": lambda: any_of(_living.task_id, "task_ids"),
    "group_id": lambda: equals(_living.group_id, "group_id"),
    "group_ids": lambda: any_of(_living.group_id, "group_ids"),
    "executor_id": lambda: and_(equals(_living.executor_id, "executor_id"), _is(_living.status, Status.RUNNING)),
    "data_source_id": lambda: equals(_living.data_source_id, "data_source_id"),
    "args": lambda: contains_json(_living.args, "args"),
    "begin": lambda: _living.scheduled_time >= bindparam("begin", type_=Instant()),
    "end": lambda: _living.scheduled_time < bindparam("end", type_=Instant()),
    "last": lambda: _living.id >= bindparam("last", type_=Id),
}
_OF_ENDED: Mapping[str, Condition] = {
    **{name: _of_task(condition) for name, condition in OF_TASK.items()},
    "task_id": lambda: equals(_ended.task_id, "task_id"),
    "task_ids": lambda: any_of(_ended.task_id, "task_ids"),
    "group_id": lambda: equals(_ended.group_id, "group_id"),
    "group_ids": lambda: any_of(_ended.group_id, "group_ids"),
    "executor_id": lambda: equals(_ended.executor_id, "executor_id"),
    "data_source_id": lambda: equals(_ended.data_source_id, "data_source_id"),
    "args": lambda: contains_json(_ended.args, "args"),
    "error": lambda: contains(_ended.error_message, "error"),
    "begin": lambda: _ended.end_time >= bindparam("begin", type_=Instant()),
    "end": lambda: _ended.end_time < bindparam("end", type_=Instant()),
    "last": lambda: and_(
        _ended.end_time >= bindparam("last_time", type_=Instant()),
        tuple_(_ended.end_time, _ended.id)
        >= tuple_(bindparam("last_time", type_=Instant()), bindparam("last_id", type_=BigInteger)),
    ),
}
Names = tuple[str, ...]
"""Of the filters that are set."""


def _is(column: ColumnElement[Any], word: StrEnum) -> ColumnElement[bool]:
    """Inlined: as a parameter it would hide the partial indexes from a generic plan."""
    return column == literal_column(f"'{word.value}'")


def _unless(column: ColumnElement[Any], word: StrEnum, usual: StrEnum) -> list[ColumnElement[bool]]:
    """The condition of the partial index that leaves the usual word out; SQLite must be told what follows anyway."""
    return [] if word is usual else [only_on_sqlite(column != literal_column(f"'{usual.value}'"))]


@lru_cache(maxsize=512)
def living(names: Names, status: Status | None, triggered_by: TriggeredBy | None) -> Statement:
    """Newest first by id; the filters that are set, and the status inlined for its partial index."""
    query = _select_living(SELECT_LIVING, names, status)
    if triggered_by is not None:
        query = query.where(_is(_living.triggered_by, triggered_by))
    return page_of(query)


@lru_cache(maxsize=128)
def living_edge(names: Names, status: Status | None) -> Statement:
    """The place up to which so many lie."""
    query = _select_living(select(_living.id), names, status)
    return Statement(query.offset(bindparam("passed", type_=BigInteger)).limit(1))


def _select_living(query: Select[Any], names: Names, status: Status | None) -> Select[Any]:
    query = query.where(_living.id < bindparam("before", type_=Id), *[_OF_LIVING[name]() for name in names])
    if status is not None:
        query = query.where(_is(_living.status, status))
    return query.order_by(_living.id.desc())


@lru_cache(maxsize=512)
def ended(names: Names, status: Status | None, triggered_by: TriggeredBy | None, *, superseded: bool) -> Statement:
    """Newest first by end; each filter has its index, those of words partial ones that only constants can use."""
    return page_of(_select_ended(SELECT_ENDED, names, status, triggered_by, superseded=superseded))


@lru_cache(maxsize=512)
def ended_of_each(
    names: Names, status: Status | None, triggered_by: TriggeredBy | None, *, superseded: bool
) -> Statement:
    """The same for each of some tasks, by one probe of the task's index each, and of those the newest."""
    each = records("each", {"id": Id})
    query = _select_ended(SELECT_ENDED, names, status, triggered_by, superseded=superseded)
    query = query.where(_ended.task_id == each.c.id)
    newest = query.limit(bindparam("limit", type_=BigInteger)).correlate(each).lateral("newest")
    return page_of(
        select(newest).select_from(each.join(newest, true())).order_by(newest.c.end_time.desc(), newest.c.log_id.desc())
    )


@lru_cache(maxsize=128)
def ended_edge(names: Names, status: Status | None, triggered_by: TriggeredBy | None) -> Statement:
    """The place up to which so many lie; the index alone tells."""
    query = _select_ended(_ENDED_PLACE, names, status, triggered_by, superseded=True)
    return Statement(query.offset(bindparam("passed", type_=BigInteger)).limit(1))


@lru_cache(maxsize=8)
def ended_edges_of_each(names: Names) -> Statement:
    """The same for each of some tasks that have so many."""
    each = records("each", {"id": Id})
    query = _select_ended(_ENDED_PLACE, names, None, None, superseded=True).where(_ended.task_id == each.c.id)
    edge = query.offset(bindparam("passed", type_=BigInteger)).limit(1).correlate(each).lateral("edge")
    return Statement(select(edge).select_from(each.join(edge, true())))


def _select_ended(
    query: Select[Any],
    names: Names,
    status: Status | None,
    triggered_by: TriggeredBy | None,
    *,
    superseded: bool,
) -> Select[Any]:
    before = tuple_(_ended.end_time, _ended.id) < tuple_(
        bindparam("before_time", type_=Instant()), bindparam("before_id", type_=BigInteger)
    )
    query = query.where(before, *[_OF_ENDED[name]() for name in names])
    if status is not None:
        query = query.where(_is(_ended.status, status), *_unless(_ended.status, status, Status.SUCCESS))
    if triggered_by is not None:
        query = query.where(
            _is(_ended.triggered_by, triggered_by), *_unless(_ended.triggered_by, triggered_by, TriggeredBy.API)
        )
    if not superseded:
        query = query.where(_ended.superseded_at.is_(None))
    return query.order_by(_ended.end_time.desc(), _ended.id.desc())


def page_of(query: Select[Any]) -> Statement:
    """The first of them."""
    return Statement(query.limit(bindparam("limit", type_=BigInteger)))


@lru_cache(maxsize=512)
def counted(listed: Statement) -> Statement:
    """How many a list has, up to its limit."""
    return Statement(select(func.count().label("found")).select_from(cast("Select[Any]", listed.clause).subquery()))
