"""Store: maintenance windows, read: which there are, and which are open."""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, bindparam, or_, select

from hourhand.model.errors import NotFound
from hourhand.model.pause import PauseScope
from hourhand.model.window import OpenWindow, Rest, Window
from hourhand.rules.pausing import covers
from hourhand.rules.windows import open_at
from hourhand.store.database import Row, Tx
from hourhand.store.definitions import tasks_by_id
from hourhand.store.ids import possible
from hourhand.store.rests import recurrence_of, rests_since
from hourhand.store.rows import readable
from hourhand.store.schema import groups, tasks
from hourhand.store.schema_windows import calendars, maintenance_windows
from hourhand.store.statements import Statement
from hourhand.store.types import Id

_named = (
    select(
        maintenance_windows,
        calendars.c.name.label("calendar"),
        calendars.c.definition.label("days"),
        tasks.c.name.label("task_name"),
        groups.c.name.label("group"),
    )
    .outerjoin(calendars, calendars.c.id == maintenance_windows.c.calendar_id)
    .outerjoin(
        tasks,
        and_(maintenance_windows.c.scope == PauseScope.TASK.value, tasks.c.id == maintenance_windows.c.scope_id),
    )
    .outerjoin(
        groups,
        or_(
            and_(maintenance_windows.c.scope == PauseScope.GROUP.value, groups.c.id == maintenance_windows.c.scope_id),
            and_(maintenance_windows.c.scope == PauseScope.TASK.value, groups.c.id == tasks.c.group_id),
        ),
    )
)
_GET = Statement(_named.where(maintenance_windows.c.id == bindparam("window_id", type_=Id)))
_ALL = Statement(_named.order_by(maintenance_windows.c.name))
_OF_CALENDAR = Statement(
    _named.where(maintenance_windows.c.calendar_id == bindparam("calendar_id", type_=Id)).order_by(
        maintenance_windows.c.id
    )
)
_SAME = [name for name in Window.__dataclass_fields__ if name not in ("scope", "recurrence")]


async def get(tx: Tx, window_id: int) -> Window:
    """One window."""
    rows = await tx.fetch(_GET, window_id=window_id) if possible(window_id) else []
    if not rows:
        raise NotFound("maintenance window", window_id)
    return window_of(rows[0])


async def list_windows(tx: Tx) -> list[Window]:
    """All of them, by name."""
    return readable(await tx.fetch(_ALL), window_of)


async def of_calendar(tx: Tx, calendar_id: int) -> list[Window]:
    """Those that open by a calendar."""
    return [window_of(row) for row in await tx.fetch(_OF_CALENDAR, calendar_id=calendar_id)]


async def open_windows(tx: Tx) -> list[OpenWindow]:
    """Those that are open at this moment."""
    rows = await tx.fetch(_ALL)
    if not rows:
        return []
    now = await tx.now()
    return [
        OpenWindow(one, opening)
        for one in readable(rows, window_of)
        if one.enabled and (opening := open_at(one.recurrence, now)) is not None
    ]


async def rests_of_task(tx: Tx, task_id: int) -> list[Rest]:
    """The pauses and windows in which the schedule of a task rests from now on."""
    task = (await tasks_by_id(tx, [task_id])).get(task_id) if possible(task_id) else None
    if task is None or task.deleted_at is not None:
        raise NotFound("task", task_id)
    found = await rests_since(tx, await tx.now() if task.next_fire_at is None else task.next_fire_at)
    return [one for one in found if covers(one, task.id, task.group_id)]


def window_of(row: Row) -> Window:
    """A window from its row, with the names around it."""
    values: dict[str, Any] = {name: row[name] for name in _SAME}
    return Window(**{**values, "scope": PauseScope(row["scope"]), "recurrence": recurrence_of(row)})


def described(window: Window) -> dict[str, Any]:
    """What the audit keeps of a window."""
    kept = ("name", "scope_id", "schedule", "duration_seconds", "calendar", "timezone", "reason", "enabled")
    return {"scope": window.scope.value, **{name: getattr(window, name) for name in kept}}
