"""Store: declare: the tasks of an app, written where that is the app's to do."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import Text, bindparam, or_, select

from hourhand.model.answers import Aftermath, Declared
from hourhand.model.errors import DuplicateName, InvalidInput
from hourhand.model.task import Declaration, Task, TaskDefinition
from hourhand.rules.closest import Closest
from hourhand.rules.declaration import Verdict, decide, declared_hash, in_order, missing_dependency, owner_of
from hourhand.rules.schedule import At, parse
from hourhand.store.database import Tx
from hourhand.store.definitions import lock_tasks
from hourhand.store.edit import ONE_AT_A_TIME, SCHEDULE_FIELDS, create_task, edit_task, first_fire
from hourhand.store.registry import ensure_group
from hourhand.store.schema import tasks
from hourhand.store.sql import any_of
from hourhand.store.statements import Statement

_CONCERNED = Statement(
    select(tasks.c.id).where(
        or_(tasks.c.managed_by == bindparam("owner", type_=Text), any_of(tasks.c.name, "names")),
    )
)
_FIELDS = tuple(one.name for one in fields(TaskDefinition))


@dataclass(frozen=True, slots=True)
class Timing:
    """What creating and editing need to know of the store."""

    look_ahead: timedelta
    lease_seconds: float


class Written(NamedTuple):
    """What came of a declaring, with each task that was written, before (None for a new one) and after."""

    answer: Declared
    tasks: tuple[tuple[Task | None, Task], ...]
    aftermath: Aftermath


@dataclass(slots=True)
class _Work:
    """One declaring: who, what is stored, and what came of it so far."""

    app: str
    release: int
    timing: Timing
    ordered: tuple[Declaration, ...]
    living: dict[str, Task] = field(default_factory=dict)
    deleted: dict[str, Task] = field(default_factory=dict)
    """The newest of each name that was this app's."""
    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)
    written: list[tuple[Task | None, Task]] = field(default_factory=list)
    aftermath: Aftermath = field(default_factory=Aftermath)

    @property
    def owner(self) -> str:
        return owner_of(self.app)


async def declare(tx: Tx, declarations: Sequence[Declaration], *, app: str, release: int, timing: Timing) -> Written:
    """Write what is new of an app's tasks; all or nothing."""
    ordered = in_order(declarations)
    # Executors of two releases may start at once: one declares after the other, so that the newer has the last word.
    await tx.fetch(ONE_AT_A_TIME)
    for name in sorted({one.definition.group for one in ordered}):
        await ensure_group(tx, name)
    work = _Work(app, release, timing, ordered)
    await _look(tx, work)
    for one in ordered:
        await _declare(tx, work, one)
    answer = Declared(created=tuple(work.created), changed=tuple(work.changed), kept=tuple(work.kept))
    return Written(answer, tuple(work.written), work.aftermath)


async def _look(tx: Tx, work: _Work) -> None:
    """Read what is stored, all under lock before anything is written: tasks come first in the order of locks."""
    names = {name for one in work.ordered for name in (one.definition.name, *one.depends_on)}
    rows = await tx.fetch(_CONCERNED, owner=work.owner, names=sorted(names))
    work.living, work.deleted = {}, {}
    for task in (await lock_tasks(tx, [row["id"] for row in rows])).values():  # by ascending id: the newest last
        if task.deleted_at is None:
            work.living[task.name] = task
        elif task.managed_by == work.owner:
            work.deleted[task.name] = task


async def _declare(tx: Tx, work: _Work, declaration: Declaration) -> None:
    name = declaration.definition.name
    new_hash = declared_hash(declaration, work.release)
    while True:
        stored = work.living.get(name) or work.deleted.get(name)
        decision = decide(stored, new_hash, work.app)
        reason = decision.reason
        if decision.verdict in (Verdict.CREATE, Verdict.CHANGE):
            wanted = replace(declaration.definition, managed_by=work.owner, declared_hash=new_hash)
            ids, reason = _dependencies(work, declaration)
            reason = reason or _renamed(work, wanted, stored) or await _past(tx, wanted, stored)
            if not reason:
                # Else somebody has taken the name since we looked; now we can see it, and it will be theirs to keep.
                with suppress(DuplicateName):
                    await _write(tx, work, replace(wanted, dependency_ids=ids), stored)
                    return
                await _look(tx, work)
                continue
        if reason:
            work.kept.append((name, reason))
        return


def _dependencies(work: _Work, declaration: Declaration) -> tuple[tuple[int, ...], str]:
    """Their ids, or why there are none."""
    missing = [name for name in declaration.depends_on if name not in work.living]
    if missing:
        return (), missing_dependency(
            missing[0], Closest([*work.living, *[one.definition.name for one in work.ordered]])
        )
    ids = {*declaration.definition.dependency_ids, *[work.living[name].id for name in declaration.depends_on]}
    return tuple(sorted(ids)), ""


def _renamed(work: _Work, wanted: TaskDefinition, stored: Task | None) -> str:
    """A person gave it another name: made again under the old one, its handler would be run by two tasks."""
    handler = wanted.payload.get("handler")
    if stored is not None or handler is None:
        return ""
    for task in work.living.values():
        if task.managed_by == work.owner != task.updated_by and task.payload.get("handler") == handler:
            return f"{task.updated_by} has renamed it to {task.name!r}"
    return ""


async def _past(tx: Tx, wanted: TaskDefinition, stored: Task | None) -> str:
    """A date that has passed is no reason to refuse the rest: programs keep such dates in their text for years."""
    if stored is not None and all(getattr(stored, name) == getattr(wanted, name) for name in SCHEDULE_FIELDS):
        return ""
    if not isinstance(parse(wanted.schedule, wanted.timezone), At):
        return ""
    now = await tx.now()
    try:
        first_fire(wanted, now, now)
    except InvalidInput as refused:
        return str(refused)
    return ""


async def _write(tx: Tx, work: _Work, wanted: TaskDefinition, stored: Task | None) -> None:
    timing = work.timing
    if stored is None:
        task = await create_task(tx, wanted, by=work.owner, look_ahead=timing.look_ahead)
        work.created.append(task.name)
        work.written.append((None, task))
    else:
        before, task, aftermath = await edit_task(
            tx,
            stored.id,
            {name: getattr(wanted, name) for name in _FIELDS},
            expected_version=None,
            by=work.owner,
            look_ahead=timing.look_ahead,
            lease_seconds=timing.lease_seconds,
        )
        work.aftermath.add(aftermath)
        work.changed.append(task.name)
        work.written.append((before, task))
    work.living[task.name] = task
