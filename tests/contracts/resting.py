"""Pauses for the contract suite, in one line each."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from contracts.elapse import elapse, skips
from hourhand.model.pause import PauseScope
from hourhand.model.words import SkipReason

if TYPE_CHECKING:
    from datetime import datetime

    from contracts.world import World
    from hourhand.model.pause import Pause
    from hourhand.model.task import Task

EVERY = "@every 60s"
SCOPES = list(PauseScope)
OF_LANES = [PauseScope.GROUP, PauseScope.ALL]


async def paused(
    world: World, task: Task, scope: PauseScope = PauseScope.TASK, *, seconds: float | None = None
) -> Pause:
    """Pause the task, its group or everything, for so long or until it is resumed."""
    scope_id = {PauseScope.TASK: task.id, PauseScope.GROUP: task.group_id, PauseScope.ALL: None}[scope]
    until = None if seconds is None else await world.store.now() + timedelta(seconds=seconds)
    return await world.store.pause(scope, scope_id, reason="the ledger moves", until=until, by="ann")


async def made_ahead(world: World, **changes: Any) -> Task:
    """Five seconds before its first instant, whose instance exists already."""
    task = await world.task(schedule=EVERY, **changes)
    await elapse(world, 55)
    assert (await world.store.materialise()).instants == 1
    return await world.store.get_task(task.id)


def at(task: Task, number: int) -> datetime:
    return task.anchored_at + timedelta(seconds=60 * number)


async def recorded(world: World, task: Task) -> list[tuple[SkipReason | None, int]]:
    """The skips of a task: why, and how many instants."""
    return [(one.skip_reason, (one.summary or {})["count"]) for one in await skips(world, task)]
