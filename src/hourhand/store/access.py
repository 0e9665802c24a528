"""Store: API tokens, the key of callbacks, and the leases by which one process at a time does a chore."""

from __future__ import annotations

import secrets

from sqlalchemy import Double, Text, bindparam, delete, or_, select

from hourhand.model.access import Principal
from hourhand.model.words import Role
from hourhand.store.database import Tx
from hourhand.store.schema import leases, store_values
from hourhand.store.schema_access import api_tokens
from hourhand.store.sql import insert, lease_clock, plus_seconds, store_clock
from hourhand.store.statements import Statement

_FIND = Statement(
    select(api_tokens.c.id, api_tokens.c.name, api_tokens.c.role, api_tokens.c.groups).where(
        api_tokens.c.token_hash == bindparam("token_hash", type_=Text),
        api_tokens.c.revoked_at.is_(None),
        or_(api_tokens.c.expires_at.is_(None), api_tokens.c.expires_at > store_clock()),
    )
)
_FIRST = Statement(
    insert(store_values)
    .values(name="admin_token", text=bindparam("token_hash", type_=Text))
    .on_conflict_do_nothing()
    .returning(store_values.c.name)
)
_ADD = Statement(
    insert(api_tokens)
    .values(
        name="admin",
        token_hash=bindparam("token_hash", type_=Text),
        role="admin",
        created_by="first start",
        created_at=store_clock(),
    )
    .returning(api_tokens.c.id)
)
CALLBACK_KEY_BYTES = 32
_CALLBACK_KEY = Statement(select(store_values.c.text).where(store_values.c.name == "callback_key"))
_ADD_CALLBACK_KEY = Statement(
    insert(store_values).values(name="callback_key", text=bindparam("key", type_=Text)).on_conflict_do_nothing()
)
_lease = insert(leases).values(
    name=bindparam("name", type_=Text),
    holder=bindparam("holder", type_=Text),
    lease_until=plus_seconds(lease_clock(), bindparam("seconds", type_=Double)),
)
_TAKE_LEASE = Statement(
    _lease.on_conflict_do_update(
        index_elements=["name"],
        set_={"holder": _lease.excluded.holder, "lease_until": _lease.excluded.lease_until},
        where=or_(leases.c.lease_until < lease_clock(), leases.c.holder == _lease.excluded.holder),
    ).returning(leases.c.holder)
)
_GIVE_LEASE = Statement(
    delete(leases).where(
        leases.c.name == bindparam("name", type_=Text), leases.c.holder == bindparam("holder", type_=Text)
    )
)


async def ensure_admin_token(tx: Tx, token_hash: str) -> int | None:
    """Make this the first admin token, unless there has been one: of many processes that start at once, one wins."""
    if not await tx.fetch(_FIRST, token_hash=token_hash):
        return None
    return await add_admin_token(tx, token_hash)


async def add_admin_token(tx: Tx, token_hash: str) -> int:
    """A further admin token; those there are stay valid."""
    (row,) = await tx.fetch(_ADD, token_hash=token_hash)
    return int(row["id"])


async def find_token(tx: Tx, token_hash: str) -> Principal | None:
    """The valid token with this hash."""
    rows = await tx.fetch(_FIND, token_hash=token_hash)
    if not rows:
        return None
    (row,) = rows
    groups = None if row["groups"] is None else frozenset(row["groups"])
    return Principal(id=f"token:{row['id']}", name=row["name"], role=Role(row["role"]), groups=groups)


async def callback_key(tx: Tx) -> bytes:
    """Made at first use: of many processes that want it at once one makes it, and all get that one."""
    rows = await tx.fetch(_CALLBACK_KEY)
    if not rows:
        await tx.run(_ADD_CALLBACK_KEY, key=secrets.token_hex(CALLBACK_KEY_BYTES))
        rows = await tx.fetch(_CALLBACK_KEY)
    return bytes.fromhex(rows[0]["text"])


async def take_lease(tx: Tx, name: str, holder: str, seconds: float) -> bool:
    """Take or prolong the lease of a chore; False while somebody else holds it."""
    return bool(await tx.fetch(_TAKE_LEASE, name=name, holder=holder, seconds=seconds))


async def give_lease(tx: Tx, name: str, holder: str) -> None:
    """Let the next one have it at once."""
    await tx.run(_GIVE_LEASE, name=name, holder=holder)
