"""Maintenance windows for the contract suite, in one line each, and time that passes for them too."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from contracts.elapse import elapse
from hourhand.model.pause import PauseScope
from hourhand.model.window import WindowDefinition

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.task import Task
    from hourhand.model.window import Window

_NUMBERS = itertools.count(1)


def at(moment: datetime) -> str:
    """A schedule of this one moment."""
    return f"@at {moment.isoformat()}"


async def opened(
    world: World, task: Task, scope: PauseScope = PauseScope.TASK, *, begin: float = 0, seconds: int, **changes: Any
) -> Window:
    """Make a window of the task, its group or everything, which opens once: so many seconds from now, for so long."""
    scope_id = {PauseScope.TASK: task.id, PauseScope.GROUP: task.group_id, PauseScope.ALL: None}[scope]
    values: dict[str, Any] = {
        "name": f"window-{next(_NUMBERS)}",
        "schedule": at(await world.store.now() + timedelta(seconds=begin)),
        "duration_seconds": seconds,
        "reason": "the ledger moves",
        **changes,
    }
    return await world.store.create_window(WindowDefinition(scope=scope, scope_id=scope_id, **values), by="ann")


async def by_calendar(world: World, task: Task, scope: PauseScope = PauseScope.TASK, **changes: Any) -> Window:
    """Make a window that is open on the days of a calendar."""
    return await opened(world, task, scope, seconds=1, **{"schedule": None, "duration_seconds": None, **changes})


async def pass_time(world: World, seconds: float) -> None:
    """Let time pass: what opens at a moment opened that much earlier."""
    await elapse(world, seconds)
    for table in ("maintenance_windows", "past_windows"):
        for row in await world.sql(f"SELECT id, schedule FROM {table} WHERE schedule LIKE '@at %'"):  # noqa: S608
            earlier = datetime.fromisoformat(row["schedule"].removeprefix("@at ")) - timedelta(seconds=seconds)
            await world.execute(
                f"UPDATE {table} SET schedule = :schedule WHERE id = :id",  # noqa: S608
                schedule=at(earlier),
                id=row["id"],
            )
