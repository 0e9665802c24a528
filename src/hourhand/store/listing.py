"""Store: lists of instances: keyset only, newest first, a constant number of statements a page.

What has an index is found by it. What has none (a text in the arguments or the error, what many tasks have in common)
is looked for among a bounded number of rows, so that a page may be short, or empty, and still be followed by another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, union_all

from hourhand.model.errors import Gone, NotFound
from hourhand.model.filters import InstanceFilter
from hourhand.model.instance import Instance
from hourhand.model.page import Page
from hourhand.model.words import ENDED, Status, TriggeredBy
from hourhand.store.database import Row, Tx
from hourhand.store.ids import allocated_since
from hourhand.store.listing_statements import (
    SELECT_ENDED,
    SELECT_LIVING,
    Names,
    counted,
    ended,
    ended_edge,
    ended_edges_of_each,
    ended_of_each,
    living,
    living_edge,
)
from hourhand.store.paging import bounded, page, read_cursor, write_cursor
from hourhand.store.rows import instance_of
from hourhand.store.schema import execution_logs, task_instances
from hourhand.store.searching import FEW_TASKS, OF_TASK, described, literal
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, from_micros, to_micros

LOOKED_AT = 10_000
"""How many rows one page looks through for what no index finds; the next page goes on where it stopped."""
_APART = ("status", "triggered_by", "ended")
_TEXTS = ("args", "error")
_LIVING_PATHS = ("task_id", "task_ids", "executor_id", "data_source_id")
_ENDED_PATHS = ("task_id", "data_source_id", "executor_id", "status", "triggered_by", "group_id")
"""The filters with an index, the one that leaves least over first."""
_BOUNDS = ("begin", "end")
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


@dataclass(frozen=True, slots=True)
class _Sought:
    """What a filter asks for."""

    params: Mapping[str, Any]
    status: Status | None
    triggered_by: TriggeredBy | None
    tasks: Sequence[int] | None
    """The tasks that it describes, if they are few; None if they are many, or if it describes none."""

    @property
    def names(self) -> Names:
        return tuple(self.params)

    @property
    def words(self) -> tuple[Status | None, TriggeredBy | None]:
        return self.status, self.triggered_by

    @property
    def looked_for(self) -> bool:
        """Whether no index finds it."""
        return any(name in self.params for name in (*OF_TASK, *_TEXTS))

    @property
    def nothing(self) -> bool:
        """Whether it describes tasks that there are not."""
        return self.tasks is not None and not self.tasks

    def only(self, names: Sequence[str]) -> dict[str, Any]:
        return {name: value for name, value in self.params.items() if name in names}

    def within(self, **bounds: object) -> _Sought:
        return replace(self, params={**self.params, **bounds})


@dataclass(frozen=True, slots=True)
class _Found:
    """Some rows, and the place up to which was looked, if there may be more behind it."""

    rows: Sequence[Row]
    edge: Row | None = None


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


async def _sought(tx: Tx, wanted: InstanceFilter) -> _Sought:
    given = {name: getattr(wanted, name) for name in wanted.__dataclass_fields__ if name not in _APART}
    params = literal({name: value for name, value in given.items() if value is not None})
    found = _Sought(params, wanted.status, wanted.triggered_by, None)
    of_task = tuple(name for name in params if name in OF_TASK)
    if not of_task:
        return found
    asked = found.only((*of_task, "task_id"))
    rows = await tx.fetch(described(tuple(asked)), **asked, limit=FEW_TASKS + 1)
    if len(rows) > FEW_TASKS:
        return found
    others = {name: value for name, value in params.items() if name not in asked}
    return replace(found, params=others, tasks=[row["id"] for row in rows])


async def list_instances(tx: Tx, wanted: InstanceFilter, *, limit: int, cursor: str | None) -> Page[Instance]:
    """The living, newest first; after them the ended, newest first."""
    place = read_cursor(cursor, {"living": (int,), "ended": (int, int)})
    limit = bounded(limit)
    sought = await _sought(tx, wanted)
    items: list[Row] = []
    if (place is None or place[0] == "living") and _may_live(wanted):
        alive = await _living_rows(tx, sought, 2**62 if place is None else place[1], limit + 1)
        items += alive.rows
        if len(items) > limit:
            return page(items, limit, instance_of, _place)
        if alive.edge is not None:
            return _up_to(page(items, limit, instance_of, _place), ("living", alive.edge["id"]))
    edge: Row | None = None
    if wanted.ended is not False and (wanted.status is None or wanted.status in ENDED):
        after = place[1:] if place is not None and place[0] == "ended" else None
        found = await _ended_rows(tx, sought, after, limit + 1 - len(items), superseded=False)
        # PostgreSQL shows each statement what is committed by then: who ended in between is told once, as ended.
        moved = {row["id"] for row in found.rows}
        staying = [row for row in items if row["id"] not in moved]
        limit -= len(items) - len(staying)
        items, edge = [*staying, *found.rows], found.edge
        if limit < 1:
            return await list_instances(tx, wanted, limit=1, cursor=cursor)
    listed = page(items, limit, instance_of, _place)
    return listed if edge is None else _up_to(listed, _place(edge))


async def list_logs(tx: Tx, wanted: InstanceFilter, *, limit: int, cursor: str | None) -> Page[Instance]:
    """One item per ending, newest first."""
    place = read_cursor(cursor, {"ended": (int, int)})
    limit = bounded(limit)
    if wanted.ended is False:
        return Page((), None)
    sought = await _sought(tx, wanted)
    found = await _ended_rows(tx, sought, place[1:] if place else None, limit + 1, superseded=True)
    listed = page(found.rows, limit, instance_of, _place)
    return listed if found.edge is None else _up_to(listed, _place(found.edge))


def _place(row: Row) -> tuple[Any, ...]:
    return ("living", row["id"]) if row["log_id"] is None else ("ended", to_micros(row["end_time"]), row["log_id"])


def _up_to(listed: Page[Instance], place: tuple[Any, ...]) -> Page[Instance]:
    """A page behind which there may be more, since only so much was looked at."""
    return listed if listed.next_cursor else replace(listed, next_cursor=write_cursor(*place))


def _may_live(wanted: InstanceFilter) -> bool:
    """Whether what has not ended can fit; it has no error."""
    return wanted.ended is not True and wanted.status not in ENDED and wanted.error is None


async def _living_rows(tx: Tx, sought: _Sought, before: int, limit: int) -> _Found:
    if sought.nothing:
        return _Found([])
    if sought.tasks is not None:
        sought = sought.within(task_ids=sought.tasks)
    edge: Sequence[Row] = []
    if sought.looked_for:
        path = sought.only(_LIVING_PATHS)
        edge = await tx.fetch(living_edge(tuple(path), sought.status), **path, before=before, passed=LOOKED_AT - 1)
        if edge:
            sought = sought.within(last=edge[0]["id"])
    rows = await tx.fetch(living(sought.names, *sought.words), **sought.params, before=before, limit=limit)
    return _Found(rows, edge[0] if edge else None)


async def _ended_rows(tx: Tx, sought: _Sought, after: Sequence[int] | None, limit: int, *, superseded: bool) -> _Found:
    if sought.nothing:
        return _Found([])
    time, log_id = (from_micros(after[0]), after[1]) if after else (from_micros(2**52), 2**62)
    before = {"before_time": time, "before_id": log_id}
    names, params = sought.names, {**sought.params, **before, "limit": limit}
    edge = await _edge(tx, sought, before) if sought.looked_for else None
    if edge is not None:
        names = (*names, "last")
        params |= {"last_time": edge["end_time"], "last_id": edge["log_id"]}
    if sought.tasks is None:
        return _Found(await tx.fetch(ended(names, *sought.words, superseded=superseded), **params), edge)
    # However rare their endings are among all others, a probe per task finds the newest.
    if tx.dialect == "postgresql":
        statement = ended_of_each(names, *sought.words, superseded=superseded)
        return _Found(await tx.fetch(statement, each=[{"id": one} for one in sought.tasks], **params), edge)
    # SQLite has no LATERAL, and needs none: a statement costs it no round trip.
    one = ended((*names, "task_id"), *sought.words, superseded=superseded)
    rows = [row for task_id in sought.tasks for row in await tx.fetch(one, **params, task_id=task_id)]
    return _Found(sorted(rows, key=_end, reverse=True)[:limit], edge)


async def _edge(tx: Tx, sought: _Sought, before: Mapping[str, Any]) -> Row | None:
    """The place up to which those lie that will be looked at, along the index that is likely to be used for it."""
    bounds = sought.only(_BOUNDS)
    if sought.tasks is not None:
        return await _edge_of_few(tx, sought.tasks, {**bounds, **before}, tuple(bounds))
    status = None if sought.status is Status.SUCCESS else sought.status
    triggered_by = None if sought.triggered_by is TriggeredBy.API else sought.triggered_by
    given = {**sought.params, "status": status, "triggered_by": triggered_by}
    path = next((name for name in _ENDED_PATHS if given.get(name) is not None), "")
    params = {**sought.only([path]), **bounds}
    statement = ended_edge(
        tuple(params), status if path == "status" else None, triggered_by if path == "triggered_by" else None
    )
    rows = await tx.fetch(statement, **params, **before, passed=LOOKED_AT - 1)
    return rows[0] if rows else None


async def _edge_of_few(tx: Tx, tasks: Sequence[int], params: Mapping[str, Any], bounds: Names) -> Row | None:
    """To each task its share; behind the newest of their edges nobody looks."""
    params = {**params, "passed": max(1, LOOKED_AT // len(tasks)) - 1}
    if tx.dialect == "postgresql":
        rows = await tx.fetch(ended_edges_of_each(bounds), each=[{"id": one} for one in tasks], **params)
    else:
        one = ended_edge((*bounds, "task_id"), None, None)
        rows = [row for task_id in tasks for row in await tx.fetch(one, **params, task_id=task_id)]
    return max(rows, key=_end, default=None)


def _end(row: Row) -> tuple[datetime, int]:
    return row["end_time"], row["log_id"]


async def count_instances(tx: Tx, wanted: InstanceFilter, *, most: int) -> int:
    """How many a list of instances of one status has."""
    sought = await _sought(tx, wanted)
    params = dict(sought.params) if sought.tasks is None else {**sought.params, "task_ids": sought.tasks}
    if wanted.status in ENDED:
        listed = ended(tuple(params), *sought.words, superseded=False)
        params |= {"before_time": from_micros(2**52), "before_id": 2**62}
    elif _may_live(wanted):
        listed = living(tuple(params), *sought.words)
        params["before"] = 2**62
    else:
        return 0
    (row,) = await tx.fetch(counted(listed), **params, limit=most)
    return int(row["found"])
