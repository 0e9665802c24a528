"""Shorthand for the suites of task files: sets of tasks, applied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hourhand.model.task_file import TaskSet
from hourhand.rules.task_files import read_tasks

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.task import Task
    from hourhand.model.task_file import Applied, TaskChange

OWNER = "file:billing"


def entry(name: str = "load", *depends_on: str, **changes: Any) -> dict[str, Any]:
    """One task as a file has it."""
    needed = {"depends_on": list(depends_on)} if depends_on else {}
    what = {} if changes.keys() & {"url", "handler", "type"} else {"command": ["true"]}
    return {"name": name, **what, **needed, **changes}


def set_of(*entries: dict[str, Any], name: str = "billing", groups: tuple[str, ...] = ()) -> TaskSet:
    """A set of these."""
    read = read_tasks(entries)
    assert not read.errors
    return TaskSet(name=name, tasks=read.tasks, groups=groups)


async def apply(world: World, *entries: dict[str, Any], by: str = "ada", **more: Any) -> Applied:
    """Apply a set of these."""
    known = {key: more.pop(key) for key in ("name", "groups") if key in more}
    return await world.store.apply(set_of(*entries, **known), by=by, **more)


def actions(applied: Applied) -> dict[str, str]:
    """What becomes of each task, by name."""
    return {one.name: one.action.value for one in applied.changes}


def change(applied: Applied, name: str = "load") -> TaskChange:
    """What becomes of one task."""
    (found,) = [one for one in applied.changes if one.name == name]
    return found


def fields(one: TaskChange) -> dict[str, tuple[Any, Any]]:
    """Field by field, before and after."""
    return {each.field: (each.before, each.after) for each in one.fields}


async def found(world: World, name: str = "load") -> Task:
    """The task of that name."""
    return await world.store.find_task(name)
