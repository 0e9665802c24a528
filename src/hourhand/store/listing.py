"""Store: lists: keyset only, newest first, a constant number of statements a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any, TypeVar, cast

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
    union_all,
)
from sqlalchemy.types import TypeEngine

from hourhand.model.errors import Gone, NotFound
from hourhand.model.filters import InstanceFilter, TaskFilter
from hourhand.model.instance import Instance
from hourhand.model.page import Page
from hourhand.model.task import Task, TaskVersion
from hourhand.model.words import ENDED, Status, TriggeredBy
from hourhand.store import paging
from hourhand.store.database import Row, Tx
from hourhand.store.definitions import SELECT_TASKS, whole, with_dependencies
from hourhand.store.ids import allocated_since, possible
from hourhand.store.paging import bounded, page, read_cursor, within_bytes, write_cursor
from hourhand.store.rows import definition_of, instance_of
from hourhand.store.schema import LIVING, execution_logs, groups, task_instances, task_versions, tasks
from hourhand.store.sql import any_of, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, Json, from_micros, to_micros

T = TypeVar("T")
FEW_TASKS = 50

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
_GET = Statement(
    union_all(
        SELECT_LIVING.where(task_instances.c.id == bindparam("id", type_=Id)),
        SELECT_ENDED.where(
            execution_logs.c.instance_id == bindparam("id", type_=Id),
            execution_logs.c.end_time >= bindparam("since", type_=Instant()),
            execution_logs.c.superseded_at.is_(None),
        ),
    )
)
_VERSIONS = Statement(
    within_bytes(
        select(task_versions)
        .where(
            task_versions.c.task_id == bindparam("task_id", type_=Id),
            task_versions.c.version < bindparam("before", type_=BigInteger),
        )
        .order_by(task_versions.c.version.desc())
        .limit(bindparam("limit", type_=BigInteger)),
        ("definition",),
        ("version",),
        newest=True,
    )
)


_OF_TYPE = Statement(
    select(tasks.c.id).where(tasks.c.type == bindparam("type", type_=Text)).limit(bindparam("limit", type_=BigInteger))
)

Condition = Callable[[], ColumnElement[bool]]


def _equals(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    return column == bindparam(name, type_=column.type)


@lru_cache(maxsize=512)
def _living(names: tuple[str, ...], status: Status | None, triggered_by: TriggeredBy | None) -> Statement:
    """Newest first by id; the filters that are set, and the status inlined for its partial index."""
    living = task_instances.c
    known: Mapping[str, Condition] = {
        "task_id": lambda: _equals(living.task_id, "task_id"),
        "group_id": lambda: _equals(living.group_id, "group_id"),
        "group_ids": lambda: any_of(living.group_id, "group_ids"),
        "type": lambda: _equals(tasks.c.type, "type"),
        "executor_id": lambda: and_(_equals(living.executor_id, "executor_id"), _is(living.status, Status.RUNNING)),
        "data_source_id": lambda: _equals(living.data_source_id, "data_source_id"),
        "begin": lambda: living.scheduled_time >= bindparam("begin", type_=Instant()),
        "end": lambda: living.scheduled_time < bindparam("end", type_=Instant()),
    }
    query = SELECT_LIVING.where(living.id < bindparam("before", type_=Id), *[known[name]() for name in names])
    if status is not None:
        query = query.where(_is(living.status, status))
    if triggered_by is not None:
        query = query.where(_is(living.triggered_by, triggered_by))
    return _page_of(query.order_by(living.id.desc()))


def _is(column: ColumnElement[Any], word: StrEnum) -> ColumnElement[bool]:
    """Inlined: as a parameter it would hide the partial indexes from a generic plan."""
    return column == literal_column(f"'{word.value}'")


def _unless(column: ColumnElement[Any], word: StrEnum, usual: StrEnum) -> list[ColumnElement[bool]]:
    """The condition of the partial index that leaves the usual word out; SQLite must be told what follows anyway."""
    return [] if word is usual else [column != literal_column(f"'{usual.value}'")]


@lru_cache(maxsize=512)
def _ended(
    names: tuple[str, ...], status: Status | None, triggered_by: TriggeredBy | None, *, superseded: bool
) -> Statement:
    """Newest first by end; each filter has its index, those of words partial ones that only constants can use."""
    return _page_of(_select_ended(names, status, triggered_by, superseded=superseded))


@lru_cache(maxsize=512)
def _ended_of_each(
    names: tuple[str, ...], status: Status | None, triggered_by: TriggeredBy | None, *, superseded: bool
) -> Statement:
    """The same for each of some tasks, by one probe of the task's index each, and of those the newest."""
    each = records("each", {"id": Id})
    query = _select_ended(names, status, triggered_by, superseded=superseded)
    query = query.where(execution_logs.c.task_id == each.c.id)
    newest = query.limit(bindparam("limit", type_=BigInteger)).correlate(each).lateral("newest")
    return _page_of(
        select(newest).select_from(each.join(newest, true())).order_by(newest.c.end_time.desc(), newest.c.log_id.desc())
    )


def _select_ended(
    names: tuple[str, ...], status: Status | None, triggered_by: TriggeredBy | None, *, superseded: bool
) -> Select[Any]:
    ended = execution_logs.c
    known: Mapping[str, Condition] = {
        "task_id": lambda: _equals(ended.task_id, "task_id"),
        "group_id": lambda: _equals(ended.group_id, "group_id"),
        "group_ids": lambda: any_of(ended.group_id, "group_ids"),
        # Only where it has many tasks (see `_ended_rows`). The sum keeps their index out of it: what follows the order
        # of time finds some soon, what follows the tasks finds all and has to sort them.
        "type": lambda: (ended.task_id + 0).in_(select(tasks.c.id).where(_equals(tasks.c.type, "type"))),
        "executor_id": lambda: _equals(ended.executor_id, "executor_id"),
        "data_source_id": lambda: _equals(ended.data_source_id, "data_source_id"),
        "begin": lambda: ended.end_time >= bindparam("begin", type_=Instant()),
        "end": lambda: ended.end_time < bindparam("end", type_=Instant()),
    }
    before = tuple_(ended.end_time, ended.id) < tuple_(
        bindparam("before_time", type_=Instant()), bindparam("before_id", type_=BigInteger)
    )
    query = SELECT_ENDED.where(before, *[known[name]() for name in names])
    if status is not None:
        query = query.where(_is(ended.status, status), *_unless(ended.status, status, Status.SUCCESS))
    if triggered_by is not None:
        query = query.where(
            _is(ended.triggered_by, triggered_by), *_unless(ended.triggered_by, triggered_by, TriggeredBy.API)
        )
    if not superseded:
        query = query.where(ended.superseded_at.is_(None))
    return query.order_by(ended.end_time.desc(), ended.id.desc())


def _page_of(query: Select[Any]) -> Statement:
    return Statement(query.limit(bindparam("limit", type_=BigInteger)))


async def get_instance(tx: Tx, instance_id: int) -> Instance:
    """One instance wherever it is, in one statement; which day to begin at is another."""
    since = await allocated_since(tx, instance_id)
    rows = await tx.fetch(_GET, id=instance_id, since=since.start)
    if rows:
        return instance_of(rows[0])
    if since.allocated:
        raise Gone(
            f"instance {instance_id} is gone: retention has removed it, "
            "or its task was edited, disabled or deleted before it was due"
        )
    raise NotFound("instance", instance_id)


async def list_instances(tx: Tx, wanted: InstanceFilter, *, limit: int, cursor: str | None) -> Page[Instance]:
    """The living, newest first; after them the ended, newest first."""
    place = read_cursor(cursor, {"living": (int,), "ended": (int, int)})
    names, params = _given(wanted)
    limit = bounded(limit)
    items: list[Row] = []
    if (place is None or place[0] == "living") and wanted.status not in ENDED:
        before = 2**62 if place is None else place[1]
        items += await tx.fetch(
            _living(names, wanted.status, wanted.triggered_by), **params, before=before, limit=limit + 1
        )
        if len(items) > limit:
            return page(items, limit, instance_of, lambda row: ("living", row["id"]))
    if wanted.status is None or wanted.status in ENDED:
        after = place[1:] if place is not None and place[0] == "ended" else None
        ended = await _ended_rows(tx, wanted, after, limit + 1 - len(items), superseded=False)
        # PostgreSQL shows each statement what is committed by then: who ended in between is told once, as ended.
        moved = {row["id"] for row in ended}
        living = [row for row in items if row["id"] not in moved]
        limit -= len(items) - len(living)
        items = [*living, *ended]
        if limit < 1:
            return await list_instances(tx, wanted, limit=1, cursor=cursor)
    return page(items, limit, instance_of, _place)


def _place(row: Row) -> tuple[Any, ...]:
    return ("living", row["id"]) if row["log_id"] is None else ("ended", to_micros(row["end_time"]), row["log_id"])


async def list_logs(tx: Tx, wanted: InstanceFilter, *, limit: int, cursor: str | None) -> Page[Instance]:
    """One item per ending, newest first."""
    place = read_cursor(cursor, {"ended": (int, int)})
    rows = await _ended_rows(tx, wanted, place[1:] if place else None, bounded(limit) + 1, superseded=True)
    return page(rows, limit, instance_of, _place)


async def _ended_rows(
    tx: Tx, wanted: InstanceFilter, after: Sequence[int] | None, limit: int, *, superseded: bool
) -> Sequence[Row]:
    names, params = _given(wanted)
    time, log_id = (from_micros(after[0]), after[1]) if after else (from_micros(2**52), 2**62)
    params |= {"before_time": time, "before_id": log_id, "limit": limit}
    words = (wanted.status, wanted.triggered_by)
    if wanted.type is not None and wanted.task_id is None:
        ids = [row["id"] for row in await tx.fetch(_OF_TYPE, type=wanted.type, limit=FEW_TASKS + 1)]
        if len(ids) <= FEW_TASKS:
            others = tuple(name for name in names if name != "type")
            return await _of_few_tasks(tx, ids, others, words, params, superseded=superseded)
    return await tx.fetch(_ended(names, *words, superseded=superseded), **params)


async def _of_few_tasks(
    tx: Tx,
    ids: Sequence[int],
    names: tuple[str, ...],
    words: tuple[Status | None, TriggeredBy | None],
    params: Mapping[str, Any],
    *,
    superseded: bool,
) -> Sequence[Row]:
    """However rare their endings are among all others, a probe per task finds the newest."""
    if tx.dialect == "postgresql":
        return await tx.fetch(
            _ended_of_each(names, *words, superseded=superseded), each=[{"id": one} for one in ids], **params
        )
    # SQLite has no LATERAL, and needs none: a statement costs it no round trip.
    one = _ended((*names, "task_id"), *words, superseded=superseded)
    rows = [row for task_id in ids for row in await tx.fetch(one, **params, task_id=task_id)]
    return sorted(rows, key=lambda row: (row["end_time"], row["log_id"]), reverse=True)[: params["limit"]]


def _given(wanted: InstanceFilter) -> tuple[tuple[str, ...], dict[str, Any]]:
    params = {
        name: getattr(wanted, name) for name in wanted.__dataclass_fields__ if name not in ("status", "triggered_by")
    }
    params = {name: value for name, value in params.items() if value is not None}
    return tuple(params), params


@lru_cache(maxsize=64)
def _tasks(names: tuple[str, ...]) -> Statement:
    known: Mapping[str, Condition] = {
        "q": lambda: tasks.c.name.icontains(bindparam("q", type_=Text), escape=_ESCAPE),
        "name": lambda: _equals(tasks.c.name, "name"),
        "enabled": lambda: tasks.c.enabled == bindparam("enabled", type_=tasks.c.enabled.type),
        "group": lambda: _equals(groups.c.name, "group"),
        "groups": lambda: any_of(groups.c.name, "groups"),
        "type": lambda: _equals(tasks.c.type, "type"),
    }
    return _page_of(
        SELECT_TASKS.where(
            tasks.c.deleted_at.is_(None),
            tasks.c.name > bindparam("after", type_=Text),
            *[known[name]() for name in names],
        ).order_by(tasks.c.name)
    )


@lru_cache(maxsize=512)
def _counted(listed: Statement) -> Statement:
    """How many a list has, up to its limit."""
    return Statement(select(func.count().label("found")).select_from(cast("Select[Any]", listed.clause).subquery()))


async def count_tasks(tx: Tx, wanted: TaskFilter, *, most: int) -> int:
    """How many a list of tasks has."""
    params = _given_tasks(wanted)
    (row,) = await tx.fetch(_counted(_tasks(tuple(params))), **params, after="", limit=most)
    return int(row["found"])


async def count_instances(tx: Tx, wanted: InstanceFilter, *, most: int) -> int:
    """How many a list of instances of one status has."""
    names, params = _given(wanted)
    if wanted.status in ENDED:
        params |= {"before_time": from_micros(2**52), "before_id": 2**62}
        listed = _ended(names, wanted.status, wanted.triggered_by, superseded=False)
    else:
        params["before"] = 2**62
        listed = _living(names, wanted.status, wanted.triggered_by)
    (row,) = await tx.fetch(_counted(listed), **params, limit=most)
    return int(row["found"])


def _given_tasks(wanted: TaskFilter) -> dict[str, Any]:
    params = {name: getattr(wanted, name) for name in wanted.__dataclass_fields__}
    params = {name: value for name, value in params.items() if value is not None}
    if "q" in params:
        params["q"] = _literally(params["q"])
    return params


async def list_tasks(tx: Tx, wanted: TaskFilter, *, limit: int, cursor: str | None) -> Page[Task]:
    """By name, which is unique among those that are not deleted."""
    place = read_cursor(cursor, {"name": (str,)})
    params = _given_tasks(wanted)
    rows = await tx.fetch(
        _tasks(tuple(params)), **params, after="" if place is None else place[1], limit=bounded(limit) + 1
    )
    found = await with_dependencies(tx, rows[:limit])
    return Page(tuple(found), write_cursor("name", rows[limit - 1]["name"]) if len(rows) > limit else None)


_ESCAPE = "/"


def _literally(part: str) -> str:
    """A part of a name for LIKE, in which nothing has a meaning of its own."""
    for sign in (_ESCAPE, "%", "_"):
        part = part.replace(sign, _ESCAPE + sign)
    return part


_BY_NAME = Statement(SELECT_TASKS.where(_equals(tasks.c.name, "name"), tasks.c.deleted_at.is_(None)))


async def task_by_name(tx: Tx, name: str) -> Task | None:
    """The task of that name that is not deleted."""
    if "\x00" in name:
        return None  # no text of PostgreSQL holds it
    found = await whole(tx, await tx.fetch(_BY_NAME, name=name))
    return found[0] if found else None


async def list_versions(tx: Tx, task_id: int, *, limit: int, cursor: str | None) -> Page[TaskVersion]:
    """Newest first."""
    place = read_cursor(cursor, {"version": (int,)})
    if not possible(task_id):
        raise NotFound("task", task_id)
    asked = {"limit": bounded(limit) + 1, "most_bytes": paging.PAGE_BYTES}
    rows = await tx.fetch(_VERSIONS, task_id=task_id, before=2**31 if place is None else place[1], **asked)
    return page(rows, limit, _version_of, lambda row: ("version", row["version"]))


def _version_of(row: Row) -> TaskVersion:
    return TaskVersion(
        task_id=row["task_id"],
        version=row["version"],
        definition=definition_of(row),
        changed_by=row["changed_by"],
        changed_at=row["changed_at"],
    )
