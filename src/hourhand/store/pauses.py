"""Store: pauses, read: who rests now; `rests` reads who rested while an instant came."""

from __future__ import annotations

from sqlalchemy import and_, bindparam, or_, select

from hourhand.model.errors import NotFound
from hourhand.model.pause import Pause, PauseScope
from hourhand.store.database import Row, Tx
from hourhand.store.ids import possible
from hourhand.store.schema import groups, tasks
from hourhand.store.schema_access import pauses
from hourhand.store.sql import store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id

ACTIVE = or_(pauses.c.until.is_(None), pauses.c.until > store_clock())
"""A pause ends when its `until` has come; resuming by hand makes that now."""

_task_id = and_(pauses.c.scope == PauseScope.TASK.value, tasks.c.id == pauses.c.scope_id)
_named = (
    select(pauses, tasks.c.name.label("task_name"), groups.c.name.label("group"))
    .outerjoin(tasks, _task_id)
    .outerjoin(
        groups,
        or_(
            and_(pauses.c.scope == PauseScope.GROUP.value, groups.c.id == pauses.c.scope_id),
            and_(pauses.c.scope == PauseScope.TASK.value, groups.c.id == tasks.c.group_id),
        ),
    )
)
_ACTIVE = Statement(
    # What was deleted meanwhile needs no pause any more.
    _named.where(
        ACTIVE,
        or_(pauses.c.scope == PauseScope.ALL.value, groups.c.id.is_not(None)),
        tasks.c.deleted_at.is_(None),
    ).order_by(pauses.c.id)
)
_GET = Statement(_named.where(pauses.c.id == bindparam("id", type_=Id)))


def pause_of(row: Row) -> Pause:
    """A pause from its row, with the names if they were asked for."""
    return Pause(
        id=row["id"],
        scope=PauseScope(row["scope"]),
        scope_id=row["scope_id"],
        reason=row["reason"],
        owner=row["owner"],
        created_at=row["created_at"],
        until=row["until"],
        task_name=row.get("task_name"),
        group=row.get("group"),
    )


async def active_pauses(tx: Tx) -> list[Pause]:
    """Those in force, the oldest first."""
    return [pause_of(row) for row in await tx.fetch(_ACTIVE)]


async def get_pause(tx: Tx, pause_id: int) -> Pause:
    """One pause, also when it is over."""
    rows = await tx.fetch(_GET, id=pause_id) if possible(pause_id) else []
    if not rows:
        raise NotFound("pause", pause_id)
    return pause_of(rows[0])
