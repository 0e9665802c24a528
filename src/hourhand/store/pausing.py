"""Store: pausing and resuming: what was made ahead is taken back, and what rested is looked at again."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Double, bindparam, func, select, update

from hourhand.model.errors import InvalidInput, NotFound, shown
from hourhand.model.pause import Pause, PauseScope
from hourhand.store.database import Tx
from hourhand.store.ids import possible
from hourhand.store.instants import take_back
from hourhand.store.pauses import get_pause
from hourhand.store.schema import groups, tasks
from hourhand.store.schema_access import pauses
from hourhand.store.settle import ARM
from hourhand.store.sql import any_of, insert, plus_seconds
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant

LONGEST_REASON = 1_000
_ADD = Statement(
    insert(pauses)
    .values(
        **{
            name: bindparam(name, type_=pauses.c[name].type)
            for name in ("scope", "scope_id", "reason", "owner", "created_at", "until")
        }
    )
    .returning(pauses.c.id)
)
_END = Statement(
    update(pauses)
    # A clock that was set back must not make it end before it began.
    .values(until=func.greatest(pauses.c.created_at, bindparam("now", type_=Instant())))
    .where(
        pauses.c.id == bindparam("pause_id", type_=Id),
        (pauses.c.until.is_(None)) | (pauses.c.until > bindparam("now", type_=Instant())),
    )
)
_TASK_THERE = Statement(
    select(tasks.c.id).where(tasks.c.id == bindparam("scope_id", type_=Id), tasks.c.deleted_at.is_(None))
)
_GROUP_THERE = Statement(select(groups.c.id).where(groups.c.id == bindparam("scope_id", type_=Id)))
_enabled = (
    select(tasks.c.id).where(tasks.c.enabled, tasks.c.deleted_at.is_(None)).order_by(tasks.c.id).with_for_update()
)
_scope_id = bindparam("scope_id", type_=Id)
_LOCK = {
    PauseScope.ALL: Statement(_enabled),
    PauseScope.GROUP: Statement(_enabled.where(tasks.c.group_id == _scope_id)),
    PauseScope.TASK: Statement(_enabled.where(tasks.c.id == _scope_id)),
}
_early = plus_seconds(tasks.c.next_fire_at, bindparam("early", type_=Double))
WAKE = Statement(update(tasks).values(wake_at=_early).where(any_of(tasks.c.id, "ids"), tasks.c.wake_at > _early))


async def pause(
    tx: Tx,
    scope: PauseScope,
    scope_id: int | None,
    *,
    reason: str,
    until: datetime | None,
    by: str,
    look_ahead: timedelta,
) -> Pause:
    """Let a task, a group or everything rest from now on."""
    await _check(tx, scope, scope_id, reason)
    # All that may be made ahead is locked first: a scheduler that has not seen the pause has then made it, and
    # whoever comes later sees the pause.
    locked = await lock_scope(tx, scope, scope_id)
    now = await tx.now()
    if until is not None:
        _check_until(until, now)
    (row,) = await tx.fetch(
        _ADD, scope=scope.value, scope_id=scope_id, reason=reason, owner=by, created_at=now, until=until
    )
    taken_back = await take_back(tx, locked, now)
    if taken_back:
        await tx.run(
            ARM,
            armed=[
                {"id": task_id, "next_fire_at": first, "wake_at": first - look_ahead}
                for task_id, first in sorted(taken_back.items())
            ],
        )
    return await get_pause(tx, row["id"])


async def resume(tx: Tx, pause_id: int, *, look_ahead: timedelta) -> Pause:
    """End a pause now; what it was before."""
    before = await get_pause(tx, pause_id)
    locked = await lock_scope(tx, before.scope, before.scope_id)
    if not await tx.run(_END, pause_id=pause_id, now=await tx.now()):
        raise NotFound("pause in force with id", pause_id)
    if locked:
        # In a statement after the locks, so that it sees what schedulers wrote who still knew of the pause.
        await tx.run(WAKE, ids=locked, early=-look_ahead.total_seconds())
    return before


async def lock_scope(tx: Tx, scope: PauseScope, scope_id: int | None) -> list[int]:
    """Hold every task whose schedule rests with it, so that nobody makes instants of it meanwhile; their ids."""
    params = {} if scope is PauseScope.ALL else {"scope_id": scope_id}
    return [row["id"] for row in await tx.fetch(_LOCK[scope], **params)]


async def _check(tx: Tx, scope: PauseScope, scope_id: int | None, reason: str) -> None:
    if not reason.strip() or len(reason) > LONGEST_REASON or "\0" in reason:
        right = f"say in 1 to {LONGEST_REASON:,} characters why, for those who wonder what has stopped"
        raise InvalidInput.one("reason", reason, f"{shown(reason)} is no reason: {right}")
    await check_scope(tx, scope, scope_id)


async def check_scope(tx: Tx, scope: PauseScope, scope_id: int | None) -> None:
    """Refuse what there is not."""
    if (scope is PauseScope.ALL) != (scope_id is None):
        right = "everything has no id" if scope is PauseScope.ALL else f"name the {scope.value} by its id"
        raise InvalidInput.one("scope_id", scope_id, f"{scope_id!r} does not fit the scope {scope.value}: {right}")
    if scope_id is not None:
        there = _TASK_THERE if scope is PauseScope.TASK else _GROUP_THERE
        if not possible(scope_id) or not await tx.fetch(there, scope_id=scope_id):
            raise NotFound(scope.value, scope_id)


def _check_until(until: datetime, now: datetime) -> None:
    if until.utcoffset() is None:
        raise InvalidInput.one("until", until, f"{until.isoformat()} has no time zone: give one, such as UTC")
    if until <= now:
        raise InvalidInput.one(
            "until",
            until,
            f"{until.isoformat()} has passed (it is {now.isoformat(timespec='seconds')} now): give a later time, or "
            "none for a pause that lasts until it is resumed",
        )
