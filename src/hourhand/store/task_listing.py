"""Store: lists of tasks and of their versions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, Text, bindparam, select

from hourhand.model.errors import NotFound
from hourhand.model.filters import TaskFilter
from hourhand.model.page import Page
from hourhand.model.task import Task, TaskVersion
from hourhand.store import paging
from hourhand.store.database import Row, Tx
from hourhand.store.definitions import SELECT_TASKS, whole, with_dependencies
from hourhand.store.ids import possible
from hourhand.store.listing_statements import counted, page_of
from hourhand.store.paging import bounded, page, read_cursor, within_bytes, write_cursor
from hourhand.store.rows import definition_of
from hourhand.store.schema import groups, task_versions, tasks
from hourhand.store.searching import OF_TASK, Condition, equals, literal
from hourhand.store.sql import any_of
from hourhand.store.statements import Statement
from hourhand.store.types import Id

_BY_NAME = Statement(SELECT_TASKS.where(equals(tasks.c.name, "name"), tasks.c.deleted_at.is_(None)))
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
_KNOWN: Mapping[str, Condition] = {
    **OF_TASK,
    "name": lambda: equals(tasks.c.name, "name"),
    "enabled": lambda: tasks.c.enabled == bindparam("enabled", type_=tasks.c.enabled.type),
    "group": lambda: equals(groups.c.name, "group"),
    "groups": lambda: any_of(groups.c.name, "groups"),
}


@lru_cache(maxsize=64)
def _tasks(names: tuple[str, ...]) -> Statement:
    return page_of(
        SELECT_TASKS.where(
            tasks.c.deleted_at.is_(None),
            tasks.c.name > bindparam("after", type_=Text),
            *[_KNOWN[name]() for name in names],
        ).order_by(tasks.c.name)
    )


def _given(wanted: TaskFilter) -> dict[str, Any]:
    params = {name: getattr(wanted, name) for name in wanted.__dataclass_fields__}
    return literal({name: value for name, value in params.items() if value is not None})


async def list_tasks(tx: Tx, wanted: TaskFilter, *, limit: int, cursor: str | None) -> Page[Task]:
    """By name, which is unique among those that are not deleted."""
    place = read_cursor(cursor, {"name": (str,)})
    params = _given(wanted)
    rows = await tx.fetch(
        _tasks(tuple(params)), **params, after="" if place is None else place[1], limit=bounded(limit) + 1
    )
    found = await with_dependencies(tx, rows[:limit])
    return Page(tuple(found), write_cursor("name", rows[limit - 1]["name"]) if len(rows) > limit else None)


async def count_tasks(tx: Tx, wanted: TaskFilter, *, most: int) -> int:
    """How many a list of tasks has."""
    params = _given(wanted)
    (row,) = await tx.fetch(counted(_tasks(tuple(params))), **params, after="", limit=most)
    return int(row["found"])


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
