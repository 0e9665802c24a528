"""Upstreams and dependents for the contract suite, due at chosen seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.elapse import align, elapse, instances
from hourhand.model.words import OutcomeKind, OverlapPolicy

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.instance import Assignment
    from hourhand.model.task import Task
    from hourhand.model.words import Status


async def every(world: World, seconds: int, *upstreams: Task, **changes: Any) -> Task:
    """A task due every so many seconds, whatever else lives."""
    values = {"overlap_policy": OverlapPolicy.PARALLEL, "dependency_ids": tuple(one.id for one in upstreams), **changes}
    return await world.task(schedule=f"@every {seconds}s", **values)


async def claim(world: World, task: Task) -> list[Assignment]:
    """Claim, keeping those of one task and handing the others back."""
    claimed = await world.claim()
    await world.end([one for one in claimed if one.task_id != task.id], OutcomeKind.HANDED_BACK)
    return [one for one in claimed if one.task_id == task.id]


async def finish(world: World, task: Task, kind: OutcomeKind = OutcomeKind.SUCCESS) -> None:
    claimed = await claim(world, task)
    assert claimed, f"nothing of {task.name} could be claimed"
    await world.end(claimed, kind)


async def statuses(world: World, task: Task) -> list[Status]:
    return [one.status for one in await instances(world, task)]


async def pair(world: World, **changes: Any) -> tuple[Task, Task]:
    """An upstream and its dependent, due in the same second, both made."""
    await world.executor()
    upstream = await every(world, 60)
    dependent = await every(world, 60, upstream, **changes)
    await align(world, upstream, dependent)
    await elapse(world, 65)
    await world.store.materialise()
    return upstream, dependent
