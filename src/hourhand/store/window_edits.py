"""Store: making, changing and deleting windows: what was made ahead is taken back, and what rested is looked at again.

What a window was is kept in `past_windows`: instants before the change are judged by that, however late.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Text, bindparam, delete, func, or_, select, update

from hourhand.model.errors import Conflict, DuplicateName, InvalidInput
from hourhand.model.pause import PauseScope
from hourhand.model.window import Calendar, Rest, Window, WindowDefinition
from hourhand.rules.calendars import days_json
from hourhand.rules.pausing import covers, stretch_at
from hourhand.rules.windows import check
from hourhand.store import calendars, windows
from hourhand.store.calendars import MOST, ONE_AT_A_TIME
from hourhand.store.database import Tx
from hourhand.store.instants import take_back
from hourhand.store.pausing import WAKE, check_scope, lock_scope
from hourhand.store.schema import PENDING, PLANNED, SCHEDULED, task_instances
from hourhand.store.schema_windows import maintenance_windows, past_windows
from hourhand.store.settle import ARM
from hourhand.store.sql import any_of, insert
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant

_WRITTEN = ("name", "scope", "scope_id", "schedule", "duration_seconds", "calendar_id", "timezone", "reason", "enabled")
_values = {
    name: bindparam(f"new_{name}", type_=maintenance_windows.c[name].type) for name in (*_WRITTEN, "active_since")
}
_by, _now = bindparam("by", type_=Text), bindparam("now", type_=Instant())
_ADD = Statement(
    insert(maintenance_windows)
    .values(**_values, created_at=_now, updated_at=_now, created_by=_by, updated_by=_by)
    .on_conflict_do_nothing()
    .returning(maintenance_windows.c.id)
)
_of_window = maintenance_windows.c.id == bindparam("window_id", type_=Id)
_EDIT = Statement(update(maintenance_windows).values(**_values, updated_at=_now, updated_by=_by).where(_of_window))
_ANEW = Statement(update(maintenance_windows).values(active_since=_now).where(any_of(maintenance_windows.c.id, "ids")))
_DELETE = Statement(delete(maintenance_windows).where(_of_window))
_TAKEN = Statement(select(maintenance_windows.c.id).where(maintenance_windows.c.name == bindparam("name", type_=Text)))
_COUNT = Statement(select(func.count().label("n")).select_from(maintenance_windows))
_KEPT = [name for name in past_windows.c.keys() if name != "id"]  # noqa: SIM118 - a column collection, not a dict
_KEEP = Statement(
    insert(past_windows).values(**{name: bindparam(name, type_=past_windows.c[name].type) for name in _KEPT})
)
_MADE_AHEAD = Statement(
    select(task_instances.c.task_id, task_instances.c.group_id, task_instances.c.scheduled_time).where(
        any_of(task_instances.c.task_id, "ids"),
        SCHEDULED,
        task_instances.c.scheduled_time > bindparam("now", type_=Instant()),
        or_(task_instances.c.status == PLANNED, task_instances.c.status == PENDING),
    )
)


async def create(tx: Tx, definition: WindowDefinition, *, by: str, look_ahead: timedelta) -> Window:
    """A new window, from now on; its name must be free."""
    definition = check(definition)
    await tx.fetch(ONE_AT_A_TIME)
    (there,) = await tx.fetch(_COUNT)
    if there["n"] >= MOST:
        raise Conflict(f"there are {there['n']} maintenance windows already: delete some that nobody needs")
    await check_scope(tx, definition.scope, definition.scope_id)
    calendar = None if definition.calendar is None else await calendars.find(tx, definition.calendar)
    locked = await lock_scope(tx, definition.scope, definition.scope_id)
    now = await tx.now()
    rows = await tx.fetch(_ADD, **_columns(definition, calendar, now), now=now, by=by)
    if not rows:
        raise DuplicateName("maintenance window", definition.name)
    made = await windows.get(tx, rows[0]["id"])
    await _look_again(tx, [made], locked, now, look_ahead)
    return made


async def edit(
    tx: Tx, window_id: int, changes: Mapping[str, Any], *, by: str, look_ahead: timedelta
) -> tuple[Window, Window]:
    """Change some fields; how it was and how it is. When it is open changes for the instants to come alone."""
    await tx.fetch(ONE_AT_A_TIME)
    before = await windows.get(tx, window_id)
    wanted = check(_changed(before, changes))
    if wanted.name != before.name and await tx.fetch(_TAKEN, name=wanted.name):
        raise DuplicateName("maintenance window", wanted.name)
    if (wanted.scope, wanted.scope_id) != (before.scope, before.scope_id):
        await check_scope(tx, wanted.scope, wanted.scope_id)
    calendar = None if wanted.calendar is None else await calendars.find(tx, wanted.calendar)
    same = all(getattr(wanted, name) == getattr(before, name) for name in _TIMING)
    locked = [] if same else await _lock(tx, [before, wanted])
    now = await tx.now()
    if not same:
        await _keep(tx, before, now)
    since = before.active_since if same else now
    await tx.run(_EDIT, window_id=window_id, **_columns(wanted, calendar, since), now=now, by=by)
    after = await windows.get(tx, window_id)
    if not same:
        await _look_again(tx, [after], locked, now, look_ahead)
    return before, after


async def remove(tx: Tx, window_id: int, *, look_ahead: timedelta) -> Window:
    """Delete a window; if it is open, it ends now."""
    await tx.fetch(ONE_AT_A_TIME)
    before = await windows.get(tx, window_id)
    locked = await _lock(tx, [before])
    now = await tx.now()
    await _keep(tx, before, now)
    await tx.run(_DELETE, window_id=window_id)
    await _look_again(tx, [], locked, now, look_ahead)
    return before


async def edit_calendar(
    tx: Tx, calendar_id: int, changes: Mapping[str, Any], *, look_ahead: timedelta
) -> tuple[Calendar, Calendar]:
    """Change a calendar, and with it when the windows are open that open by it."""
    await tx.fetch(ONE_AT_A_TIME)
    users = await windows.of_calendar(tx, (await calendars.get(tx, calendar_id)).id)
    before, after = await calendars.edit(tx, calendar_id, changes)
    if users and after.definition != before.definition:
        locked = await _lock(tx, users)
        now = await tx.now()
        for one in users:
            await _keep(tx, one, now)
        await tx.run(_ANEW, ids=[one.id for one in users], now=now)
        await _look_again(tx, await windows.of_calendar(tx, calendar_id), locked, now, look_ahead)
    return before, after


_TIMING = ("scope", "scope_id", "schedule", "duration_seconds", "calendar", "timezone", "enabled")
_EDITABLE = tuple(WindowDefinition.__dataclass_fields__)


def _changed(before: Window, changes: Mapping[str, Any]) -> WindowDefinition:
    """Whoever names a calendar means it instead of a schedule, and the other way round."""
    unknown = [name for name in changes if name not in _EDITABLE]
    if unknown:
        raise InvalidInput.one(unknown[0], changes[unknown[0]], f"is no field; there are: {', '.join(_EDITABLE)}")
    values = {name: getattr(before, name) for name in _EDITABLE}
    if changes.get("calendar") is not None:
        values |= {"schedule": None, "duration_seconds": None}
    elif changes.get("schedule") is not None:
        values["calendar"] = None
    return WindowDefinition(**(values | dict(changes)))


def _columns(window: WindowDefinition, calendar: Calendar | None, since: datetime) -> dict[str, Any]:
    values = {name: getattr(window, name) for name in _WRITTEN if name not in ("scope", "calendar_id")}
    values |= {"scope": window.scope.value, "calendar_id": None if calendar is None else calendar.id}
    return {f"new_{name}": value for name, value in values.items()} | {"new_active_since": since}


async def _lock(tx: Tx, those: Sequence[WindowDefinition]) -> list[int]:
    """Every task that rests in one of them; of several scopes all tasks there are, to keep to one order."""
    scopes = {(one.scope, one.scope_id) for one in those}
    return await lock_scope(tx, *(scopes.pop() if len(scopes) == 1 else (PauseScope.ALL, None)))


async def _keep(tx: Tx, before: Window, now: datetime) -> None:
    """Remember what it was; a clock that was set back must not make it end before it began."""
    if not before.enabled:
        return
    recurrence = before.recurrence
    await tx.run(
        _KEEP,
        name=before.name,
        scope=before.scope.value,
        scope_id=before.scope_id,
        schedule=recurrence.schedule,
        duration_seconds=recurrence.duration_seconds,
        days=None if recurrence.days is None else days_json(recurrence.days),
        timezone=recurrence.timezone,
        active_since=before.active_since,
        active_until=max(before.active_since, now),
    )


async def _look_again(
    tx: Tx, changed: Iterable[Window], locked: Sequence[int], now: datetime, look_ahead: timedelta
) -> None:
    """Take back what was made ahead for instants inside, and have schedulers look at what rested until now.

    In statements after the locks, so that they see what schedulers wrote who did not know of the change.
    """
    if not locked:
        return
    rests = [
        Rest(scope=one.scope, scope_id=one.scope_id, begin=now, recurrence=one.recurrence)
        for one in changed
        if one.enabled
    ]
    if rests:
        inside = {
            row["task_id"]
            for row in await tx.fetch(_MADE_AHEAD, ids=list(locked), now=now)
            if any(
                covers(one, row["task_id"], row["group_id"]) and stretch_at(one, row["scheduled_time"]) is not None
                for one in rests
            )
        }
        # Of such a task everything that is to come: it is made again in its order.
        taken_back = await take_back(tx, sorted(inside), now) if inside else {}
        if taken_back:
            armed = [
                {"id": task_id, "next_fire_at": first, "wake_at": first - look_ahead}
                for task_id, first in sorted(taken_back.items())
            ]
            await tx.run(ARM, armed=armed)
    await tx.run(WAKE, ids=list(locked), early=-look_ahead.total_seconds())
