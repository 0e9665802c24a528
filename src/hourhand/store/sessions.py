"""Store: sessions: opened at a sign-in, looked up at every request of a browser, closed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Boolean, Text, and_, bindparam, delete, func, or_, select, type_coerce, update

from hourhand.model.access import Credential, Principal, Session
from hourhand.model.page import Page
from hourhand.model.words import Role
from hourhand.store.database import Row, Tx
from hourhand.store.ids import possible
from hourhand.store.paging import bounded, page, read_cursor
from hourhand.store.schema_access import api_tokens, sessions, users
from hourhand.store.sql import constant, insert, plus_seconds, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant

LASTS = timedelta(days=7)
IDLE = timedelta(hours=12)
TOUCHED_SECONDS = 60

_valid_token = and_(
    api_tokens.c.revoked_at.is_(None),
    or_(api_tokens.c.expires_at.is_(None), api_tokens.c.expires_at > store_clock()),
)
_by_hash = sessions.c.token_hash == bindparam("session_hash", type_=Text)
_touched_before = plus_seconds(store_clock(), constant(-TOUCHED_SECONDS))
# Role and groups are never those of the sign-in, but those of the user or the token now.
_LIVE = (
    select(
        sessions.c.id,
        sessions.c.user_id,
        sessions.c.token_id,
        sessions.c.created_at,
        sessions.c.last_seen_at,
        sessions.c.expires_at,
        sessions.c.address,
        func.coalesce(users.c.name, api_tokens.c.name).label("name"),
        func.coalesce(users.c.role, api_tokens.c.role).label("role"),
        func.coalesce(users.c.groups, api_tokens.c.groups).label("groups"),
        type_coerce(sessions.c.last_seen_at < _touched_before, Boolean).label("stale"),
    )
    .outerjoin(users, users.c.id == sessions.c.user_id)
    .outerjoin(api_tokens, api_tokens.c.id == sessions.c.token_id)
    .where(
        sessions.c.expires_at > store_clock(),
        sessions.c.last_seen_at > plus_seconds(store_clock(), constant(-int(IDLE.total_seconds()))),
        or_(
            and_(users.c.id.is_not(None), users.c.disabled_at.is_(None)),
            and_(api_tokens.c.id.is_not(None), _valid_token),
        ),
    )
)
_FIND = Statement(_LIVE.where(_by_hash))
_LIST = Statement(
    _LIVE.where(sessions.c.id < bindparam("before", type_=Id))
    .order_by(sessions.c.id.desc())
    .limit(bindparam("limit", type_=Id))
)
_TOUCH = Statement(
    update(sessions).where(_by_hash, sessions.c.last_seen_at < _touched_before).values(last_seen_at=store_clock())
)
# Held until the session is committed: who revokes or changes the holder in the meantime waits, and then finds it.
_KEEP_USER = Statement(
    select(users.c.id)
    .where(
        users.c.id == bindparam("user_id", type_=Id),
        users.c.password_hash == bindparam("password_hash", type_=Text),
        users.c.disabled_at.is_(None),
    )
    .with_for_update(read=True)
)
_KEEP_TOKEN = Statement(
    select(api_tokens.c.id, api_tokens.c.expires_at)
    .where(api_tokens.c.token_hash == bindparam("token_hash", type_=Text), _valid_token)
    .with_for_update(read=True)
)
_OPEN = Statement(
    insert(sessions).values(
        token_hash=bindparam("session_hash", type_=Text),
        user_id=bindparam("user_id", type_=Id),
        token_id=bindparam("token_id", type_=Id),
        created_at=bindparam("now", type_=Instant()),
        last_seen_at=bindparam("now", type_=Instant()),
        expires_at=bindparam("expires_at", type_=Instant()),
        address=bindparam("address", type_=Text),
    )
)
_closed = (sessions.c.id, sessions.c.user_id, sessions.c.token_id)
_CLOSE = Statement(delete(sessions).where(_by_hash).returning(*_closed))
_CLOSE_BY_ID = Statement(delete(sessions).where(sessions.c.id == bindparam("session_id", type_=Id)).returning(*_closed))
_CLOSE_OF_USER = Statement(delete(sessions).where(sessions.c.user_id == bindparam("user_id", type_=Id)))
_CLOSE_OTHERS = Statement(
    delete(sessions).where(
        sessions.c.user_id == bindparam("user_id", type_=Id),
        sessions.c.token_hash != bindparam("session_hash", type_=Text),
    )
)
_CLOSE_OF_TOKEN = Statement(delete(sessions).where(sessions.c.token_id == bindparam("token_id", type_=Id)))
_ROTATE = Statement(update(sessions).where(_by_hash).values(token_hash=bindparam("new_hash", type_=Text)))


def _session_of(row: Row) -> Session:
    return Session(
        id=row["id"],
        user_id=row["user_id"],
        token_id=row["token_id"],
        name=row["name"],
        created_at=row["created_at"],
        last_seen_at=row["last_seen_at"],
        expires_at=row["expires_at"],
        address=row["address"],
    )


def _principal_of(row: Row, session_hash: str) -> Principal:
    return Principal(
        id=f"user:{row['user_id']}" if row["token_id"] is None else f"token:{row['token_id']}",
        name=row["name"],
        role=Role(row["role"]),
        groups=None if row["groups"] is None else frozenset(row["groups"]),
        session=session_hash,
    )


async def open_session(
    tx: Tx, session_hash: str, holder: Credential | str, *, address: str
) -> tuple[Principal, Session] | None:
    """A session of a user whose password was right, or of the token with this hash; None if neither holds any more."""
    now = await tx.now()
    expires_at = now + LASTS
    user_id = token_id = None
    if isinstance(holder, Credential):
        kept = await tx.fetch(_KEEP_USER, user_id=holder.user_id, password_hash=holder.password_hash)
        user_id = holder.user_id
    else:
        kept = await tx.fetch(_KEEP_TOKEN, token_hash=holder)
        token_id = kept[0]["id"] if kept else None
        expires_at = _earlier(expires_at, kept[0]["expires_at"] if kept else None)
    if not kept:
        return None
    await tx.run(
        _OPEN,
        session_hash=session_hash,
        user_id=user_id,
        token_id=token_id,
        now=now,
        expires_at=expires_at,
        address=address,
    )
    (row,) = await tx.fetch(_FIND, session_hash=session_hash)
    return _principal_of(row, session_hash), _session_of(row)


def _earlier(one: datetime, other: datetime | None) -> datetime:
    return one if other is None else min(one, other)


async def find_session(tx: Tx, session_hash: str) -> tuple[Principal, bool] | None:
    """Whose live session it is, and whether it is time to note that it was seen."""
    rows = await tx.fetch(_FIND, session_hash=session_hash)
    return (_principal_of(rows[0], session_hash), rows[0]["stale"]) if rows else None


async def touch(tx: Tx, session_hash: str) -> None:
    """Note that it was seen, unless somebody has done so just now."""
    await tx.run(_TOUCH, session_hash=session_hash)


async def get_session(tx: Tx, session_hash: str) -> Session | None:
    """The live session with this hash."""
    rows = await tx.fetch(_FIND, session_hash=session_hash)
    return _session_of(rows[0]) if rows else None


async def list_sessions(tx: Tx, *, limit: int, cursor: str | None) -> Page[Session]:
    """Those that are live, newest first."""
    place = read_cursor(cursor, {"id": (int,)})
    rows = await tx.fetch(_LIST, before=2**62 if place is None else place[1], limit=bounded(limit) + 1)
    return page(rows, limit, _session_of, lambda row: ("id", row["id"]))


class Closed(NamedTuple):
    """A session that has ended."""

    id: int
    holder: int
    """Whose it was, as `Hint.ACCESS` names them."""


async def close_session(tx: Tx, session_hash: str) -> Closed | None:
    """End the session with this hash; None if there was none."""
    return _closed_of(await tx.fetch(_CLOSE, session_hash=session_hash))


async def close_session_by_id(tx: Tx, session_id: int) -> Closed | None:
    """End a session; None if there is none."""
    return _closed_of(await tx.fetch(_CLOSE_BY_ID, session_id=session_id)) if possible(session_id) else None


def _closed_of(rows: Sequence[Row]) -> Closed | None:
    if not rows:
        return None
    user_id, token_id = rows[0]["user_id"], rows[0]["token_id"]
    return Closed(rows[0]["id"], user_id if token_id is None else -token_id)


async def close_sessions_of(tx: Tx, user_id: int, *, but: str | None = None) -> int:
    """End all sessions of a user, or all but the one with this hash; how many."""
    if but is None:
        return await tx.run(_CLOSE_OF_USER, user_id=user_id)
    return await tx.run(_CLOSE_OTHERS, user_id=user_id, session_hash=but)


async def close_sessions_of_token(tx: Tx, token_id: int) -> int:
    """End all sessions that a token was traded for; how many."""
    return await tx.run(_CLOSE_OF_TOKEN, token_id=token_id)


async def rotate(tx: Tx, session_hash: str, new_hash: str) -> bool:
    """Let the session go on under another hash; False if it has ended."""
    return bool(await tx.run(_ROTATE, session_hash=session_hash, new_hash=new_hash))
