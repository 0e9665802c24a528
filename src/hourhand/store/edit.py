"""Store: edit: creating, changing and deleting tasks, without losing or repeating an instant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Integer, Text, bindparam, delete, func, null, or_, select, update

from hourhand.model.answers import Aftermath
from hourhand.model.audit import Author
from hourhand.model.errors import DuplicateName, Forbidden, HasDependents, InvalidInput, NotFound, StaleVersion
from hourhand.model.task import Task, TaskDefinition
from hourhand.rules.definition import check
from hourhand.rules.dependency import find_cycle
from hourhand.rules.endings import task_deleted
from hourhand.rules.operation_tasks import refuse_change
from hourhand.rules.reach import limited, of_others
from hourhand.rules.schedule import After, At, parse
from hourhand.rules.schedule import next_instant as next_of
from hourhand.store import reach
from hourhand.store.cancel import cancel_instances
from hourhand.store.database import Tx
from hourhand.store.definitions import lock_tasks, tasks_by_id
from hourhand.store.instants import take_back
from hourhand.store.materialise import up_to_now
from hourhand.store.registry import require_group
from hourhand.store.rows import definition_json, latest, task_values
from hourhand.store.schema import (
    PENDING,
    PLANNED,
    groups,
    instance_waits,
    store_values,
    task_dependencies,
    task_instances,
    task_instants,
    task_versions,
    tasks,
)
from hourhand.store.sql import any_of, insert, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, Json

_DEFINED = [column for column in tasks.c.keys() if column != "id"]  # noqa: SIM118 - a column collection, not a dict
_INSERT = Statement(
    insert(tasks)
    .values({name: bindparam(name, type_=tasks.c[name].type) for name in _DEFINED})
    .on_conflict_do_nothing()
    .returning(tasks.c.id)
)
_EDITED = [name for name in _DEFINED if name not in ("created_at", "created_by")]
_UPDATE = Statement(
    update(tasks)
    .values({name: bindparam(f"new_{name}", type_=tasks.c[name].type) for name in _EDITED})
    .where(tasks.c.id == bindparam("task_id", type_=Id))
)
_ADD_VERSION = Statement(
    insert(task_versions).values(
        task_id=bindparam("task_id", type_=Id),
        version=bindparam("version", type_=Integer),
        definition=bindparam("definition", type_=Json()),
        changed_by=bindparam("changed_by", type_=Text),
        changed_at=bindparam("changed_at", type_=Instant()),
    )
)
_NAME_TAKEN = Statement(
    select(tasks.c.id).where(tasks.c.name == bindparam("name", type_=Text), tasks.c.deleted_at.is_(None))
)
_DEPENDENCIES = records("dependencies", {"task_id": Id, "depends_on_id": Id})
_ADD_DEPENDENCIES = Statement(
    insert(task_dependencies).from_select(["task_id", "depends_on_id"], select(_DEPENDENCIES), include_defaults=False)
)
_CLEAR_DEPENDENCIES = Statement(
    delete(task_dependencies).where(task_dependencies.c.task_id == bindparam("task_id", type_=Id))
)
_first = select(task_dependencies).where(any_of(task_dependencies.c.task_id, "wanted")).cte("reached", recursive=True)
# UNION, not UNION ALL: each edge once, however many ways lead to it.
_reached = _first.union(select(task_dependencies).join(_first, task_dependencies.c.task_id == _first.c.depends_on_id))
REACHED_DEPENDENCIES = Statement(select(_reached))
# Two edits that each look harmless could close a cycle together: edits of dependencies go one at a time.
ONE_AT_A_TIME = Statement(
    select(store_values.c.name).where(store_values.c.name == "dependency_edits").with_for_update()
)
_DEPENDENTS = Statement(
    select(tasks.c.name, groups.c.name.label("group"))
    .join(groups, groups.c.id == tasks.c.group_id)
    .join(task_dependencies, task_dependencies.c.task_id == tasks.c.id)
    .where(task_dependencies.c.depends_on_id == bindparam("task_id", type_=Id), tasks.c.deleted_at.is_(None))
    .order_by(tasks.c.name)
)
_LOCK_UNCLAIMED = Statement(
    select(task_instances.c.id)
    .where(
        task_instances.c.task_id == bindparam("task_id", type_=Id),
        or_(task_instances.c.status == PLANNED, task_instances.c.status == PENDING),
    )
    .order_by(task_instances.c.id)
    .with_for_update()
)
_NEWEST_INSTANT = Statement(
    select(func.max(task_instants.c.scheduled_time).label("newest")).where(
        task_instants.c.task_id == bindparam("task_id", type_=Id)
    )
)
_WAITING_FIELDS = ("dependency_mode", "upstream_failure_policy", "dependency_timeout_seconds")
# What waits follows the task as it stands: decided anew, by the sweep if nobody does so before.
_LOOK_AGAIN = Statement(
    update(instance_waits)
    .values(seen=null())
    .where(
        instance_waits.c.instance_id.in_(
            select(task_instances.c.id).where(
                task_instances.c.task_id == bindparam("task_id", type_=Id),
                task_instances.c.status == PLANNED,
                task_instances.c.blocked_by.is_not(None),
            )
        )
    )
    .returning(instance_waits.c.instance_id)
)
SCHEDULE_FIELDS = ("schedule", "timezone", "enabled")
UNIQUE_NAME = "uq_tasks_name"
NEW = 0
"""In place of the id of a task that has none yet."""


class Edited(NamedTuple):
    """A task before and after an edit; the same when nothing was changed."""

    before: Task
    after: Task
    aftermath: Aftermath


async def create_task(
    tx: Tx, definition: TaskDefinition, *, by: str, look_ahead: timedelta, author: Author | None = None
) -> Task:
    """Check, then write the task and its first version."""
    reach.require(author, f"group {definition.group!r}", definition.group)
    check(definition)
    definition = replace(definition, schedule=parse(definition.schedule, definition.timezone).text)
    group_id = await require_group(tx, definition.group)
    now = await tx.now()
    first = first_fire(definition, now, now)
    await _check_dependencies(tx, NEW, definition, author)
    rows = await tx.fetch(
        _INSERT,
        **task_values(definition),
        group_id=group_id,
        anchored_at=now,
        next_fire_at=first,
        wake_at=_wake_at(definition, first, look_ahead),
        version=1,
        created_at=now,
        updated_at=now,
        deleted_at=None,
        created_by=by,
        updated_by=by,
    )
    if not rows:
        raise DuplicateName("task", definition.name)
    task_id: int = rows[0]["id"]
    await _write_dependencies(tx, task_id, definition.dependency_ids)
    await _write_version(tx, task_id, 1, definition, by=by, now=now)
    return (await tasks_by_id(tx, [task_id]))[task_id]


async def edit_task(
    tx: Tx,
    task_id: int,
    changes: Mapping[str, Any],
    *,
    expected_version: int | None,
    by: str,
    look_ahead: timedelta,
    lease_seconds: float,
    author: Author | None = None,
) -> Edited:
    """Change a task; instants up to this moment follow the old definition, later ones the new."""
    if "dependency_ids" in changes:
        await tx.fetch(ONE_AT_A_TIME)
    before = task = await _lock(tx, task_id, author)
    if expected_version is not None and expected_version != task.version:
        raise StaleVersion("task", task.name, expected_version, task.version)
    edited = replace(task, **changes)
    check(edited)
    reach.require(author, f"group {edited.group!r}", edited.group)
    edited = replace(edited, schedule=parse(edited.schedule, edited.timezone).text)
    if definition_json(edited) == definition_json(task):
        return Edited(task, task, Aftermath())
    group_id = await require_group(tx, edited.group)
    if edited.name != task.name and await tx.fetch(_NAME_TAKEN, name=edited.name):
        raise DuplicateName("task", edited.name)
    if edited.dependency_ids != task.dependency_ids:
        await _check_dependencies(tx, task_id, edited, author, kept=task.dependency_ids)
    now = await tx.now()
    aftermath = await up_to_now(tx, task, now, look_ahead, lease_seconds)
    (task,) = (await tasks_by_id(tx, [task_id])).values()  # its schedule has advanced
    earliest_deleted = (await take_back(tx, [task_id], now)).get(task_id)
    timing = await _timing(tx, task, edited, now, earliest_deleted)
    await tx.run(
        _UPDATE,
        task_id=task_id,
        **{
            f"new_{name}": value
            for name, value in {
                **task_values(edited),
                **timing,
                "group_id": group_id,
                "wake_at": _wake_at(edited, timing["next_fire_at"], look_ahead),
                "version": task.version + 1,
                "updated_at": now,
                "updated_by": by,
                "deleted_at": None,
            }.items()
        },
    )
    if edited.dependency_ids != task.dependency_ids:
        await tx.run(_CLEAR_DEPENDENCIES, task_id=task_id)
        await _write_dependencies(tx, task_id, edited.dependency_ids)
    await _write_version(tx, task_id, task.version + 1, edited, by=by, now=now)
    if any(getattr(edited, name) != getattr(task, name) for name in _WAITING_FIELDS):
        aftermath.waiting |= {row["instance_id"] for row in await tx.fetch(_LOOK_AGAIN, task_id=task_id)}
    return Edited(before, (await tasks_by_id(tx, [task_id]))[task_id], aftermath)


async def delete_task(
    tx: Tx,
    task_id: int,
    *,
    force: bool,
    by: str,
    look_ahead: timedelta,
    lease_seconds: float,
    author: Author | None = None,
) -> tuple[Task, Aftermath]:
    """Mark it deleted; what has not started is cancelled, what runs goes on. The task as it was."""
    await tx.fetch(ONE_AT_A_TIME)
    task = await _lock(tx, task_id, author)
    await _check_dependents(tx, task, author, force=force)
    now = await tx.now()
    aftermath = await up_to_now(tx, task, now, look_ahead, lease_seconds)
    await take_back(tx, [task_id], now)
    left = [row["id"] for row in await tx.fetch(_LOCK_UNCLAIMED, task_id=task_id)]
    _, more = await cancel_instances(tx, left, task_deleted(by))
    aftermath.add(more)
    values = {**task_values(task), "group_id": task.group_id, "anchored_at": task.anchored_at, "version": task.version}
    # updated_at is not touched by deletion.
    values |= {"updated_at": task.updated_at, "updated_by": task.updated_by, "deleted_at": now}
    values |= {"next_fire_at": None, "wake_at": None}
    await tx.run(_UPDATE, task_id=task_id, **{f"new_{name}": value for name, value in values.items()})
    return task, aftermath


async def _lock(tx: Tx, task_id: int, author: Author | None) -> Task:
    task = (await lock_tasks(tx, [task_id])).get(task_id)
    if task is None or task.deleted_at is not None:
        raise NotFound("task", task_id)
    reach.require(author, f"task {task_id}", task.group)
    refuse_change(task)
    return task


async def _check_dependents(tx: Tx, task: Task, author: Author | None, *, force: bool) -> None:
    """Refuse to take away what others need; what tasks of groups out of reach need, by force too."""
    rows = await tx.fetch(_DEPENDENTS, task_id=task.id)
    named = [row["name"] for row in rows if reach.reaches(author, row["group"])]
    others = len(rows) - len(named)
    if force and others and author is not None:
        raise Forbidden(
            f"task {task.name!r} is needed by {of_others(others)}, and {limited(author.name, author.groups or ())}"
        )
    if rows and not force:
        raise HasDependents(task.name, [*named, of_others(others)] if others else named)


async def _timing(
    tx: Tx, task: Task, edited: TaskDefinition, now: datetime, earliest_deleted: datetime | None
) -> dict[str, Any]:
    """Where the schedule stands after the edit."""
    reanchored = edited.schedule != task.schedule or edited.timezone != task.timezone
    anchor = now if reanchored else task.anchored_at
    if all(getattr(edited, name) == getattr(task, name) for name in SCHEDULE_FIELDS):
        return {"anchored_at": anchor, "next_fire_at": earliest_deleted or task.next_fire_at}
    (row,) = await tx.fetch(_NEWEST_INSTANT, task_id=task.id)
    after = latest(row["newest"], now) or now
    return {"anchored_at": anchor, "next_fire_at": first_fire(edited, after, anchor)}


def first_fire(definition: TaskDefinition, after: datetime, anchor: datetime) -> datetime | None:
    """The first instant of a new schedule; refuses a date that has passed."""
    if not definition.enabled:
        return None
    schedule = parse(definition.schedule, definition.timezone)
    if isinstance(schedule, After):
        return after  # first at creation or enabling
    if isinstance(schedule, At):
        if schedule.instant < after - timedelta(seconds=definition.misfire_grace_seconds):
            raise InvalidInput.one(
                "schedule",
                definition.schedule,
                f"{definition.schedule!r} lies in the past (it is {after.isoformat(timespec='seconds')} now): "
                "give a later time, or run the task by hand",
            )
        return schedule.instant
    return next_of(schedule, after, anchor)


def _wake_at(definition: TaskDefinition, next_fire_at: datetime | None, look_ahead: timedelta) -> datetime | None:
    if next_fire_at is None or not definition.enabled:
        return None
    return next_fire_at if definition.broadcast else next_fire_at - look_ahead


async def _check_dependencies(
    tx: Tx, task_id: int, definition: TaskDefinition, author: Author | None, *, kept: Sequence[int] = ()
) -> None:
    """Every dependency exists, none leads back here, and those that are new are within reach."""
    wanted = definition.dependency_ids
    if not wanted:
        return
    await tx.fetch(ONE_AT_A_TIME)
    known = await tasks_by_id(tx, wanted)
    for one in wanted:
        _check_dependency(one, known.get(one), author, kept=one in kept)
    if task_id == NEW:
        return  # nothing can depend on what there was not
    edges: dict[int, list[int]] = {}
    for row in await tx.fetch(REACHED_DEPENDENCIES, wanted=sorted(wanted)):
        edges.setdefault(row["task_id"], []).append(row["depends_on_id"])
    cycle = find_cycle(task_id, wanted, edges)
    if cycle is not None:
        passed = (await tasks_by_id(tx, cycle)).values()
        names = {one.id: one.name if reach.reaches(author, one.group) else of_others(1) for one in passed}
        names[task_id] = definition.name
        path = " → ".join(names[one] for one in cycle)
        raise InvalidInput.one("dependency_ids", list(wanted), f"these dependencies form a cycle: {path}")


def _check_dependency(task_id: int, task: Task | None, author: Author | None, *, kept: bool) -> None:
    """What there is not and what is out of reach are one to a limited caller, who could try all ids else."""
    near = task is not None and reach.reaches(author, task.group)
    if task is None or not (near or kept):
        within = "" if reach.reaches(author, None) else " within your groups"
        raise InvalidInput.one("dependency_ids", task_id, f"there is no task {task_id}{within}")
    if task.deleted_at is not None:
        named = f" ({task.name!r})" if near else ""
        raise InvalidInput.one("dependency_ids", task_id, f"task {task_id}{named} has been deleted")


async def _write_dependencies(tx: Tx, task_id: int, dependency_ids: Sequence[int]) -> None:
    if dependency_ids:
        await tx.run(
            _ADD_DEPENDENCIES, dependencies=[{"task_id": task_id, "depends_on_id": one} for one in dependency_ids]
        )


async def _write_version(
    tx: Tx, task_id: int, version: int, definition: TaskDefinition, *, by: str, now: datetime
) -> None:
    await tx.run(
        _ADD_VERSION,
        task_id=task_id,
        version=version,
        definition=definition_json(definition),
        changed_by=by,
        changed_at=now,
    )
