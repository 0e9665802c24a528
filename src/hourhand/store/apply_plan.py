"""Store: what applying a set of tasks would do: read in a handful of statements, however many tasks there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sqlalchemy import BigInteger, Text, and_, bindparam, or_, select

from hourhand.model.audit import Author
from hourhand.model.errors import Conflict, FieldError, InvalidInput
from hourhand.model.task import Declaration, Task, TaskDefinition
from hourhand.model.task_file import Drift, FileTask, TaskSet
from hourhand.model.words import TaskType
from hourhand.rules.applying import Plan, Stored, applied_version, cycle_of, errors_of, file_owner, plan
from hourhand.rules.closest import Closest
from hourhand.rules.declaration import missing_dependency
from hourhand.rules.reach import of_others
from hourhand.store import reach
from hourhand.store.database import Tx
from hourhand.store.declare import Timing
from hourhand.store.definitions import Versions, lock_tasks, tasks_by_id
from hourhand.store.edit import REACHED_DEPENDENCIES, SCHEDULE_FIELDS, first_fire
from hourhand.store.schema import groups, task_dependencies, tasks
from hourhand.store.schema_access import audit_logs
from hourhand.store.sql import any_of, constant
from hourhand.store.statements import Statement

_owner = bindparam("owner", type_=Text)
_CONCERNED = Statement(
    select(tasks.c.id, tasks.c.name, tasks.c.deleted_at)
    .where(or_(tasks.c.managed_by == _owner, and_(any_of(tasks.c.name, "names"), tasks.c.deleted_at.is_(None))))
    .order_by(tasks.c.id)
)
_GROUPS = Statement(select(groups.c.name))
_DEPENDENTS = Statement(
    select(task_dependencies.c.depends_on_id, tasks.c.name, groups.c.name.label("group"))
    .join(tasks, tasks.c.id == task_dependencies.c.task_id)
    .join(groups, groups.c.id == tasks.c.group_id)
    .where(any_of(task_dependencies.c.depends_on_id, "ids"), tasks.c.deleted_at.is_(None))
    .order_by(tasks.c.name)
)
_DELETED_BY = Statement(
    select(audit_logs.c.resource_id, audit_logs.c.user_name)
    .where(
        audit_logs.c.resource_type == constant("task"),
        any_of(audit_logs.c.resource_id, "ids"),
        audit_logs.c.action == constant("delete"),
        audit_logs.c.result == constant("done"),
    )
    .order_by(audit_logs.c.id)
)
_MOST_KNOWN = 5_000
_KNOWN = Statement(
    select(tasks.c.name, groups.c.name.label("group"))
    .join(groups, groups.c.id == tasks.c.group_id)
    .where(tasks.c.deleted_at.is_(None))
    .order_by(tasks.c.name)
    .limit(bindparam("limit", type_=BigInteger))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How a set is to be applied, and who asks."""

    by: str
    prune: bool
    take_over: bool
    plan_hash: str | None
    author: Author | None
    timing: Timing
    versions: Versions


@dataclass(frozen=True, slots=True)
class Looked:
    """What would be done, and what was read to know it."""

    plan: Plan
    living: Mapping[str, Task]
    others: tuple[FileTask, ...]
    """What the set's tasks come to depend on by way of tasks that are not its own."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was read of the store."""

    stored: Stored
    others: tuple[FileTask, ...]
    hidden: frozenset[str]
    """Names that the caller may not be told."""


async def look(tx: Tx, wanted: TaskSet, asked: Asked, *, lock: bool = False) -> Looked:
    """What applying it would do; refuses what is wrong with it."""
    seen = await _look(tx, wanted, asked, lock=lock)
    known = [] if not _missing(wanted, seen.stored) else await tx.fetch(_KNOWN, limit=_MOST_KNOWN)
    named = [row["name"] for row in known if reach.reaches(asked.author, row["group"])]
    errors = [*errors_of(wanted, seen.stored, named), *_beyond_reach(wanted, seen, asked.author, named)]
    circle = None if errors else cycle_of(wanted, seen.others, seen.hidden)
    made = plan(wanted, seen.stored, prune=asked.prune, take_over=asked.take_over)
    errors += [circle] if circle else []
    errors += await _past(tx, made)
    if errors:
        raise InvalidInput(errors)
    if asked.plan_hash not in (None, made.hash):
        raise Conflict(
            f"what is stored, or the file, has changed since plan {asked.plan_hash} was made: look at the new plan "
            "by a dry run"
        )
    return Looked(made, seen.stored.living, seen.others)


async def _look(tx: Tx, wanted: TaskSet, asked: Asked, *, lock: bool) -> _Seen:
    """Read what is stored in a handful of statements, however many tasks there are."""
    owner, author = file_owner(wanted.name), asked.author
    names = {one.declaration.definition.name for one in wanted.tasks} | set(wanted.unread)
    needed = {name for one in wanted.tasks for name in one.declaration.depends_on}
    rows = await tx.fetch(_CONCERNED, owner=owner, names=sorted(names | needed))
    ids = [row["id"] for row in rows if row["deleted_at"] is None]
    found = await (lock_tasks if lock else tasks_by_id)(tx, ids)
    living = {task.name: task for task in found.values() if task.deleted_at is None}
    there = {row["name"] for row in await tx.fetch(_GROUPS)}
    _check_reach(wanted, living, there, asked)
    gone = [one for one in living.values() if one.managed_by == owner and one.name not in names]
    for task in gone:
        if not asked.prune and not reach.reaches(author, task.group):
            del living[task.name]  # it stays, and is not the caller's to know of
    edited = [one for one in living.values() if one.managed_by == owner and 0 < applied_version(one) != one.version]
    versions = await asked.versions.get(tx, [(one.id, applied_version(one)) for one in edited]) if edited else {}
    hidden = {one.name for one in living.values() if not reach.reaches(author, one.group)}
    lost = {row["name"]: row for row in rows if row["deleted_at"] is not None and row["name"] in names - living.keys()}
    own = {name: task.id for name, task in living.items() if name in names}
    others, more_hidden = await _others(tx, [living[name].id for name in needed if name in living], own, author)
    stored = Stored(
        living=living,
        names=await _names(tx, living, author),
        groups=there,
        applied={number: definition for (number, _), definition in versions.items()},
        deleted={} if not lost else await _deleted(tx, {name: row["id"] for name, row in lost.items()}),
        dependents={} if not gone else await _dependents(tx, [one.id for one in gone], author),
    )
    return _Seen(stored, others, frozenset(hidden | more_hidden))


def _check_reach(wanted: TaskSet, living: Mapping[str, Task], there: set[str], asked: Asked) -> None:
    """Refuse a caller who is limited to groups whatever the set touches beyond them."""
    author = asked.author
    for name in sorted(set(wanted.groups) - there):
        reach.require(author, f"group {name!r}", name)
    for one in wanted.tasks:
        definition = one.declaration.definition
        reach.require(author, f"group {definition.group!r}", definition.group)
        if definition.name in living:
            reach.require(author, f"task {definition.name!r}", living[definition.name].group)
    if asked.prune:
        owner, named = file_owner(wanted.name), {one.declaration.definition.name for one in wanted.tasks}
        for task in living.values():
            if task.managed_by == owner and task.name not in named:
                reach.require(author, "a task that would be pruned", task.group)


async def _others(
    tx: Tx, ids: Sequence[int], own: Mapping[str, int], author: Author | None
) -> tuple[tuple[FileTask, ...], set[str]]:
    """What tasks that are not the set's depend on, by name, as far as the set's lead there; and the names to hide."""
    outside = sorted(set(ids) - set(own.values()))
    rows = await tx.fetch(REACHED_DEPENDENCIES, wanted=outside) if outside else ()
    found = await tasks_by_id(tx, {row[key] for row in rows for key in ("task_id", "depends_on_id")})
    edges: dict[str, list[str]] = {}
    for row in rows:
        one, needed = found[row["task_id"]], found[row["depends_on_id"]]
        if one.name not in own and one.deleted_at is None and needed.deleted_at is None:
            edges.setdefault(one.name, []).append(needed.name)
    hidden = {one.name for one in found.values() if not reach.reaches(author, one.group)}
    return tuple(
        FileTask(
            place="",
            declaration=Declaration(
                definition=TaskDefinition(name=name, type=TaskType.COMMAND), depends_on=tuple(needed)
            ),
        )
        for name, needed in edges.items()
    ), hidden


async def _names(tx: Tx, living: Mapping[str, Task], author: Author | None) -> dict[int, str]:
    """How the dependencies of these are called; those of groups out of reach are not told."""
    known = {task.id: task for task in living.values()}
    unknown = {number for task in living.values() for number in task.dependency_ids} - known.keys()
    known |= await tasks_by_id(tx, unknown)
    return {
        task.id: of_others(1)
        if not reach.reaches(author, task.group)
        else task.name
        if task.deleted_at is None
        else f"{task.name} (deleted)"
        for task in known.values()
    }


async def _deleted(tx: Tx, ids: Mapping[str, int]) -> dict[str, Drift]:
    """Who deleted these tasks, as far as the audit knows."""
    rows = await tx.fetch(_DELETED_BY, ids=[str(number) for number in ids.values()])
    by = {int(row["resource_id"]): str(row["user_name"]) for row in rows}
    found = await tasks_by_id(tx, ids.values())
    times = {name: found[number].deleted_at for name, number in ids.items()}
    return {name: Drift(by=by.get(ids[name]), at=at, deleted=True) for name, at in times.items() if at is not None}


async def _dependents(tx: Tx, ids: Sequence[int], author: Author | None) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for row in await tx.fetch(_DEPENDENTS, ids=sorted(ids)):
        name = row["name"] if reach.reaches(author, row["group"]) else of_others(1)
        found.setdefault(row["depends_on_id"], []).append(name)
    return found


def _missing(wanted: TaskSet, stored: Stored) -> bool:
    return any(name not in stored.living for one in wanted.tasks for name in one.declaration.depends_on)


def _beyond_reach(wanted: TaskSet, seen: _Seen, author: Author | None, known: Sequence[str]) -> Iterator[FieldError]:
    """What there is not and what is out of reach are one to a limited caller; what a task has already, it may keep."""
    living = seen.stored.living
    close = Closest(known)
    for one in wanted.tasks:
        stored = living.get(one.declaration.definition.name)
        kept = set() if stored is None else set(stored.dependency_ids)
        for name in one.declaration.depends_on:
            task = living.get(name)
            if task is not None and task.id not in kept and not reach.reaches(author, task.group):
                yield FieldError(f"{one.place}.depends_on", name, missing_dependency(name, close))


async def _past(tx: Tx, made: Plan) -> list[FieldError]:
    """Dates that have passed, of tasks that would be given them."""
    errors: list[FieldError] = []
    timed = [
        step.task
        for step in made.steps
        if step.task is not None
        and (step.stored is None or any(each.field in SCHEDULE_FIELDS for each in step.change.fields))
    ]
    if timed:
        now = await tx.now()
        for task in timed:
            with placed(task, errors):
                first_fire(task.declaration.definition, now, now)
    return errors


@contextmanager
def placed(task: FileTask, errors: list[FieldError] | None = None) -> Iterator[None]:
    """Say of a refusal which task of the set it is about."""
    try:
        yield
    except InvalidInput as refused:
        placed = [replace(each, field=f"{task.place}.{each.field}") for each in refused.errors]
        if errors is None:
            raise InvalidInput(placed) from refused
        errors += placed
