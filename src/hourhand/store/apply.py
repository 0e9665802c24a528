"""Store: apply: a set of tasks compared with what is stored, and made so, in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sqlalchemy import Text, bindparam, update

from hourhand.model.answers import Aftermath
from hourhand.model.errors import Conflict
from hourhand.model.registry import Group
from hourhand.model.task import Declaration, Task
from hourhand.model.task_file import ApplyAction, FileTask, TaskSet
from hourhand.rules.applying import Plan, Step, applied_version, file_owner
from hourhand.rules.declaration import declared_hash, in_order
from hourhand.rules.definition import FIELDS
from hourhand.store.apply_plan import Asked, look, placed
from hourhand.store.database import Tx
from hourhand.store.edit import ONE_AT_A_TIME, create_task, delete_task, edit_task
from hourhand.store.registry import ensure_group
from hourhand.store.schema import tasks
from hourhand.store.sql import any_of
from hourhand.store.statements import Statement
from hourhand.store.types import Id

# A deleted task that still is the set's was deleted by somebody else: those that the set removed are nobody's.
_LET_GO = Statement(
    update(tasks)
    .values(managed_by=None)
    .where(
        tasks.c.managed_by == bindparam("owner", type_=Text),
        any_of(tasks.c.name, "names"),
        tasks.c.deleted_at.is_not(None),
    )
)
_SETTLE = Statement(
    update(tasks)
    .values(declared_hash=bindparam("new_hash", type_=Text))
    .where(tasks.c.id == bindparam("task_id", type_=Id))
)
_WRITTEN = tuple(name for name in FIELDS if name != "name")
_DONE = (ApplyAction.CREATE, ApplyAction.EDIT, ApplyAction.ADOPT)


class Made(NamedTuple):
    """What came of it: groups that were made; tasks that were written, before and after, None where there is none."""

    plan: Plan
    groups: tuple[Group, ...]
    tasks: tuple[tuple[Task | None, Task | None], ...]
    aftermath: Aftermath


@dataclass(slots=True)
class _Work:
    """One applying: of which set, for whom, and what came of it so far."""

    owner: str
    asked: Asked
    ids: dict[str, int]
    """Of everything that tasks of the set may depend on."""
    written: list[tuple[Task | None, Task | None]] = field(default_factory=list)
    aftermath: Aftermath = field(default_factory=Aftermath)


async def apply(tx: Tx, wanted: TaskSet, asked: Asked) -> Made:
    """Make it so."""
    # Two may apply at once, and apps declare: one after the other, so that each sees what the other made.
    await tx.fetch(ONE_AT_A_TIME)
    looked = await look(tx, wanted, asked, lock=True)
    made = looked.plan
    if made.refused:
        named = "; ".join(f"{one.name!r}: {one.reason}" for one in made.refused)
        raise Conflict(f"nothing was applied: {named}")
    new_groups = [await ensure_group(tx, name) for name in made.groups]
    work = _Work(file_owner(wanted.name), asked, {name: task.id for name, task in looked.living.items()})
    for step, task in _in_order(made.steps, looked.others):
        await _write(tx, work, step, task)
    for leaving in _leaving(made.steps):
        await _remove(tx, work, leaving)
    made_again = [step.change.name for step in made.steps if step.change.action is ApplyAction.CREATE]
    let_go = [*made_again, *[before.name for before, after in work.written if before is not None and after is None]]
    if let_go:
        await tx.run(_LET_GO, owner=work.owner, names=sorted(let_go))
    await _settle(tx, made.steps)
    return Made(made, tuple(new_groups), tuple(work.written), work.aftermath)


def _in_order(steps: Sequence[Step], others: Sequence[FileTask]) -> Iterator[tuple[Step, FileTask]]:
    """What is to be written, each after all that it depends on, be it by way of tasks that are not the set's."""
    by_name = {step.change.name: (step, step.task) for step in steps if step.task is not None}
    every = [*[task for _, task in by_name.values()], *others]
    for one in in_order([task.declaration for task in every]):
        found = by_name.get(one.definition.name)
        if found is not None and found[0].change.action in _DONE:
            yield found


def _leaving(steps: Sequence[Step]) -> Iterator[Task]:
    """What is to be deleted, each before what it depends on."""
    leaving = {one.stored.id: one.stored for one in steps if one.stored and one.change.action is ApplyAction.DELETE}
    ordered = in_order(
        [
            Declaration(
                definition=task,
                depends_on=tuple(leaving[one].name for one in task.dependency_ids if one in leaving),
            )
            for task in leaving.values()
        ]
    )
    by_name = {task.name: task for task in leaving.values()}
    for one in reversed(ordered):
        yield by_name[one.definition.name]


async def _write(tx: Tx, work: _Work, step: Step, task: FileTask) -> None:
    declaration, stored, asked = task.declaration, step.stored, work.asked
    wanted = replace(
        declaration.definition,
        dependency_ids=tuple(sorted(work.ids[name] for name in declaration.depends_on)),
        managed_by=work.owner,
        declared_hash=declared_hash(declaration, 1 if stored is None else stored.version + 1),
    )
    before: Task | None = None
    with placed(task):
        if stored is None:
            after = await create_task(tx, wanted, by=asked.by, look_ahead=asked.timing.look_ahead, author=asked.author)
        else:
            before, after, aftermath = await edit_task(
                tx,
                stored.id,
                {name: getattr(wanted, name) for name in _WRITTEN},
                expected_version=None,
                by=asked.by,
                look_ahead=asked.timing.look_ahead,
                lease_seconds=asked.timing.lease_seconds,
                author=asked.author,
            )
            work.aftermath.add(aftermath)
    work.ids[after.name] = after.id
    work.written.append((before, after))


async def _settle(tx: Tx, steps: Sequence[Step]) -> None:
    """What somebody else did, and the file says too by now, is as applied: undone later, it would be nobody's drift."""
    for step in steps:
        if step.task is not None and step.stored is not None and step.change.action is ApplyAction.UNCHANGED:
            version = step.stored.version
            if applied_version(step.stored) != version:
                new_hash = declared_hash(step.task.declaration, version)
                await tx.run(_SETTLE, task_id=step.stored.id, new_hash=new_hash)


async def _remove(tx: Tx, work: _Work, task: Task) -> None:
    asked = work.asked
    removed, aftermath = await delete_task(
        tx,
        task.id,
        force=False,
        by=asked.by,
        look_ahead=asked.timing.look_ahead,
        lease_seconds=asked.timing.lease_seconds,
        author=asked.author,
    )
    work.aftermath.add(aftermath)
    work.written.append((removed, None))
