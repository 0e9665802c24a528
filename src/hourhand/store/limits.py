"""Store: limits: users and tokens that are limited to a group lose it with the group.

Else whoever makes a group of that name later would let them in. Limits without a group are nothing, never everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select, update

from hourhand.store import tokens, users
from hourhand.store.database import Row, Tx
from hourhand.store.schema_access import api_tokens
from hourhand.store.schema_access import users as user_rows
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Json

_TABLES = {"user": user_rows, "token": api_tokens}
_SHOWN: Mapping[str, Callable[[Row], dict[str, Any]]] = {
    "user": lambda row: users.described(users.user_of(row)),
    "token": lambda row: tokens.described(tokens.token_of(row)),
}
_LIMITED = {
    kind: Statement(select(table).where(table.c.groups.is_not(None)).order_by(table.c.id).with_for_update())
    for kind, table in _TABLES.items()
}
_LIMIT = {
    kind: Statement(
        update(table)
        .values(groups=bindparam("left", type_=Json()))
        .where(table.c.id == bindparam("holder_id", type_=Id))
        .returning(table)
    )
    for kind, table in _TABLES.items()
}


_HOLDERS = {
    "user": Statement(select(user_rows.c.name, user_rows.c.groups).where(user_rows.c.groups.is_not(None))),
    "token": Statement(
        select(api_tokens.c.name, api_tokens.c.groups).where(
            api_tokens.c.groups.is_not(None), api_tokens.c.revoked_at.is_(None)
        )
    ),
}


class Limited(NamedTuple):
    """A user or token, before and after, as the audit shows it."""

    kind: str
    id: int
    before: dict[str, Any]
    after: dict[str, Any]


async def holders(tx: Tx, name: str) -> list[str]:
    """Who is limited to a group, such as `user ada`; tokens that were revoked are nobody."""
    found = [(kind, row) for kind, statement in _HOLDERS.items() for row in await tx.fetch(statement)]
    return sorted(f"{kind} {row['name']}" for kind, row in found if name in row["groups"])


async def forget_group(tx: Tx, name: str) -> list[Limited]:
    """Take a group out of all limits; whoever writes new ones holds the group's row, which the caller has locked."""
    changed = []
    for kind, shown in _SHOWN.items():
        for row in await tx.fetch(_LIMITED[kind]):
            if name in row["groups"]:
                left = [one for one in row["groups"] if one != name]
                (after,) = await tx.fetch(_LIMIT[kind], holder_id=row["id"], left=left)
                changed.append(Limited(kind, row["id"], shown(row), shown(after)))
    return changed
