"""Store: API tokens: made, listed and revoked; whose one is, is asked of `access`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Text, bindparam, select, update

from hourhand.model.access import ApiToken
from hourhand.model.errors import InvalidInput, NotFound
from hourhand.model.page import Page
from hourhand.model.words import Role
from hourhand.store.database import Row, Tx
from hourhand.store.ids import possible
from hourhand.store.paging import bounded, page, read_cursor
from hourhand.store.schema_access import api_tokens
from hourhand.store.sql import insert, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, Json
from hourhand.store.users import known_groups, refuse_last, ways_in

_ADD = Statement(
    insert(api_tokens)
    .values(
        name=bindparam("name", type_=Text),
        token_hash=bindparam("token_hash", type_=Text),
        role=bindparam("role", type_=Text),
        groups=bindparam("groups", type_=Json()),
        created_by=bindparam("created_by", type_=Text),
        created_at=store_clock(),
        expires_at=bindparam("expires_at", type_=Instant()),
    )
    .returning(api_tokens)
)
_this = api_tokens.c.id == bindparam("token_id", type_=Id)
_GET = Statement(select(api_tokens).where(_this))
_LIST = Statement(
    select(api_tokens)
    .where(api_tokens.c.id < bindparam("before", type_=Id))
    .order_by(api_tokens.c.id.desc())
    .limit(bindparam("limit", type_=Id))
)
_REVOKE = Statement(update(api_tokens).where(_this, api_tokens.c.revoked_at.is_(None)).values(revoked_at=store_clock()))


def token_of(row: Row) -> ApiToken:
    """A token from the row; its hash stays behind."""
    return ApiToken(
        id=row["id"],
        name=row["name"],
        role=Role(row["role"]),
        groups=None if row["groups"] is None else tuple(row["groups"]),
        created_by=row["created_by"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
    )


def described(token: ApiToken) -> dict[str, Any]:
    """What the audit keeps of a token."""
    return {
        "name": token.name,
        "role": token.role.value,
        "groups": None if token.groups is None else list(token.groups),
        "expires_at": None if token.expires_at is None else token.expires_at.isoformat(),
    }


async def add_token(
    tx: Tx,
    name: str,
    token_hash: str,
    *,
    role: Role,
    groups: Sequence[str] | None,
    expires_at: datetime | None,
    by: str,
) -> ApiToken:
    """A further token."""
    if expires_at is not None and expires_at <= await tx.now():
        raise InvalidInput.one("expires_at", expires_at, f"{expires_at.isoformat()} has passed: give a later time")
    known = await known_groups(tx, groups)
    (row,) = await tx.fetch(
        _ADD, name=name, token_hash=token_hash, role=role.value, groups=known, created_by=by, expires_at=expires_at
    )
    return token_of(row)


async def get_token(tx: Tx, token_id: int) -> ApiToken:
    """One token, revoked or not."""
    rows = await tx.fetch(_GET, token_id=token_id) if possible(token_id) else ()
    if not rows:
        raise NotFound("token", token_id)
    return token_of(rows[0])


async def list_tokens(tx: Tx, *, limit: int, cursor: str | None) -> Page[ApiToken]:
    """Newest first, the revoked and the expired among them."""
    place = read_cursor(cursor, {"id": (int,)})
    rows = await tx.fetch(_LIST, before=2**62 if place is None else place[1], limit=bounded(limit) + 1)
    return page(rows, limit, token_of, lambda row: ("id", row["id"]))


async def revoke_token(tx: Tx, token_id: int) -> ApiToken | None:
    """Make it worthless; how it was, or None if it has been revoked before."""
    ways = await ways_in(tx)
    token = await get_token(tx, token_id)
    refuse_last(ways, "token", token_id, token.name)
    return token if await tx.run(_REVOKE, token_id=token_id) else None
