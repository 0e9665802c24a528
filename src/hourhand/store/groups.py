"""Store: changing and removing groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Text, bindparam, delete, select, update

from hourhand.model.errors import Conflict, NotFound
from hourhand.model.registry import Group
from hourhand.model.task import DEFAULT_GROUP
from hourhand.store.database import Tx
from hourhand.store.ids import possible
from hourhand.store.rows import group_of
from hourhand.store.schema import executors, groups, lanes, task_instances, tasks
from hourhand.store.schema_access import pauses
from hourhand.store.schema_windows import maintenance_windows
from hourhand.store.sql import constant, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Json

NAMED = 5
_of_group = bindparam("group_id", type_=Id)
_GET = Statement(select(groups).where(groups.c.id == _of_group))
# Whoever writes a task of this group holds the row until that is committed (`registry.require_group`).
_LOCK = Statement(select(groups).where(groups.c.id == _of_group).with_for_update())
_UPDATE = Statement(
    update(groups)
    .where(groups.c.id == _of_group)
    .values(
        title=bindparam("title", type_=Text),
        address_type=bindparam("address_type", type_=Text),
        address_list=bindparam("address_list", type_=Json()),
        updated_at=store_clock(),
    )
    .returning(groups)
)
_SET_ACCESS_TOKEN = Statement(
    update(groups)
    .where(groups.c.id == _of_group)
    .values(access_token_hash=bindparam("token_hash", type_=Text), updated_at=store_clock())
    .returning(groups)
)
_TASKS = Statement(
    select(tasks.c.name)
    .where(tasks.c.group_id == _of_group, tasks.c.deleted_at.is_(None))
    .order_by(tasks.c.name)
    .limit(constant(NAMED + 1))
)
_EXECUTORS = Statement(
    select(executors.c.id).where(executors.c.group_id == _of_group).order_by(executors.c.id).limit(constant(NAMED + 1))
)
_LIVING = Statement(select(task_instances.c.id).where(task_instances.c.group_id == _of_group).limit(constant(1)))
_DELETE_LANES = Statement(delete(lanes).where(lanes.c.group_id == _of_group))
_DELETE_PAUSES = Statement(delete(pauses).where(pauses.c.scope == constant("group"), pauses.c.scope_id == _of_group))
_DELETE_WINDOWS = Statement(
    delete(maintenance_windows).where(
        maintenance_windows.c.scope == constant("group"), maintenance_windows.c.scope_id == _of_group
    )
)
_DELETE = Statement(delete(groups).where(groups.c.id == _of_group))


async def get_group(tx: Tx, group_id: int) -> Group:
    """One group."""
    return await _one(tx, _GET, group_id)


async def edit_group(tx: Tx, group_id: int, changes: Mapping[str, Any]) -> tuple[Group, Group]:
    """Change what may change of a group; how it was and how it is."""
    before = await _one(tx, _LOCK, group_id)
    values: dict[str, Any] = {
        "title": before.title,
        "address_type": before.address_type.value,
        "address_list": list(before.address_list),
    } | dict(changes)
    (row,) = await tx.fetch(_UPDATE, group_id=group_id, **values)
    return before, group_of(row)


async def lock_group(tx: Tx, group_id: int) -> Group:
    """One group, of which nobody can write a task or a limit meanwhile."""
    return await _one(tx, _LOCK, group_id)


async def delete_group(tx: Tx, group_id: int) -> Group:
    """Remove a group that nothing needs any more; what has ended keeps its number."""
    group = await lock_group(tx, group_id)
    if group.name == DEFAULT_GROUP:
        raise Conflict(f"group {group.name!r} is where tasks belong that name no other: it stays")
    if found := await tx.fetch(_TASKS, group_id=group_id):
        raise Conflict(
            f"group {group.name!r} has tasks ({few([row['name'] for row in found])}): move them to another group, "
            "or delete them first"
        )
    if found := await tx.fetch(_EXECUTORS, group_id=group_id):
        raise Conflict(f"group {group.name!r} has executors ({few([row['id'] for row in found])}): stop them first")
    if found := await tx.fetch(_LIVING, group_id=group_id):
        raise Conflict(
            f"group {group.name!r} has instances that have not ended (such as {found[0]['id']}): "
            "cancel them, or wait for them"
        )
    for statement in (_DELETE_LANES, _DELETE_PAUSES, _DELETE_WINDOWS, _DELETE):
        await tx.run(statement, group_id=group_id)
    return group


async def set_access_token(tx: Tx, group_id: int, token_hash: str) -> Group:
    """Replace the token by which executors of the XXL protocol show that they belong here."""
    if not possible(group_id) or not (
        rows := await tx.fetch(_SET_ACCESS_TOKEN, group_id=group_id, token_hash=token_hash)
    ):
        raise NotFound("group", group_id)
    return group_of(rows[0])


async def _one(tx: Tx, statement: Statement, group_id: int) -> Group:
    rows = await tx.fetch(statement, group_id=group_id) if possible(group_id) else ()
    if not rows:
        raise NotFound("group", group_id)
    return group_of(rows[0])


def described(group: Group) -> dict[str, Any]:
    """What the audit keeps of a group."""
    return {
        "name": group.name,
        "title": group.title,
        "address_type": group.address_type.value,
        "address_list": list(group.address_list),
    }


def few(names: Sequence[str]) -> str:
    """The first of these names, for a message."""
    return ", ".join(names[:NAMED]) + (" …" if len(names) > NAMED else "")
