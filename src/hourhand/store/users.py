"""Store: users, and the rule that there is always a way in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Text, bindparam, delete, select, update

from hourhand.model.access import Credential, User
from hourhand.model.errors import Conflict, DuplicateName, InvalidInput, NotFound
from hourhand.model.page import Page
from hourhand.model.words import Role
from hourhand.store import registry
from hourhand.store.database import Row, Tx
from hourhand.store.ids import possible
from hourhand.store.paging import bounded, page, read_cursor
from hourhand.store.schema_access import api_tokens, users
from hourhand.store.sql import constant, insert, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, Json

_ADD = Statement(
    insert(users)
    .values(
        name=bindparam("name", type_=Text),
        password_hash=bindparam("password_hash", type_=Text),
        role=bindparam("role", type_=Text),
        groups=bindparam("groups", type_=Json()),
        created_at=store_clock(),
    )
    .on_conflict_do_nothing()
    .returning(users)
)
_this = users.c.id == bindparam("user_id", type_=Id)
_GET = Statement(select(users).where(_this))
# Whoever signs in holds the row until the session is there, so that what ends a user's sessions ends that one too.
_LOCK = Statement(select(users).where(_this).with_for_update())
_LIST = Statement(
    select(users)
    .where(users.c.name > bindparam("after", type_=Text))
    .order_by(users.c.name)
    .limit(bindparam("limit", type_=Id))
)
_UPDATE = Statement(
    update(users)
    .where(_this)
    .values(
        role=bindparam("role", type_=Text),
        groups=bindparam("groups", type_=Json()),
        disabled_at=bindparam("disabled_at", type_=Instant()),
        password_hash=bindparam("password_hash", type_=Text),
    )
    .returning(users)
)
_DELETE = Statement(delete(users).where(_this))
_FIND_PASSWORD = Statement(
    select(users.c.id, users.c.name, users.c.password_hash).where(
        users.c.name == bindparam("name", type_=Text),
        users.c.disabled_at.is_(None),
        users.c.password_hash.is_not(None),
    )
)
_IS_THERE = Statement(select(users.c.id).where(users.c.name == bindparam("name", type_=Text)))
_REHASH = Statement(
    update(users)
    .where(_this, users.c.password_hash == bindparam("old", type_=Text))
    .values(password_hash=bindparam("new", type_=Text))
)
# Locked in one order, users before tokens: of two admins who would each remove the other, the second finds itself last.
_ADMINS = Statement(
    select(users.c.id)
    .where(
        users.c.role == constant(Role.ADMIN.value),
        users.c.groups.is_(None),
        users.c.disabled_at.is_(None),
        users.c.password_hash.is_not(None),
    )
    .order_by(users.c.id)
    .with_for_update()
)
_ADMIN_TOKENS = Statement(
    select(api_tokens.c.id)
    .where(
        api_tokens.c.role == constant(Role.ADMIN.value),
        api_tokens.c.groups.is_(None),
        api_tokens.c.revoked_at.is_(None),
        api_tokens.c.expires_at.is_(None),  # one that expires leads in today only
    )
    .order_by(api_tokens.c.id)
    .with_for_update()
)


def user_of(row: Row) -> User:
    """A user from the row; the password's hash stays behind."""
    return User(
        id=row["id"],
        name=row["name"],
        role=Role(row["role"]),
        groups=None if row["groups"] is None else tuple(row["groups"]),
        created_at=row["created_at"],
        disabled_at=row["disabled_at"],
    )


def described(user: User) -> dict[str, Any]:
    """What the audit keeps of a user."""
    return {
        "name": user.name,
        "role": user.role.value,
        "groups": None if user.groups is None else list(user.groups),
        "disabled": user.disabled_at is not None,
    }


async def add_user(tx: Tx, name: str, *, password_hash: str | None, role: Role, groups: Sequence[str] | None) -> User:
    """A new user; the name must be free."""
    rows = await tx.fetch(
        _ADD, name=name, password_hash=password_hash, role=role.value, groups=await known_groups(tx, groups)
    )
    if not rows:
        raise DuplicateName("user", name)
    return user_of(rows[0])


async def get_user(tx: Tx, user_id: int) -> User:
    """One user."""
    return user_of(await _one(tx, _GET, user_id))


async def list_users(tx: Tx, *, limit: int, cursor: str | None) -> Page[User]:
    """By name."""
    place = read_cursor(cursor, {"name": (str,)})
    rows = await tx.fetch(_LIST, after="" if place is None else place[1], limit=bounded(limit) + 1)
    return page(rows, limit, user_of, lambda row: ("name", row["name"]))


async def edit_user(tx: Tx, user_id: int, changes: Mapping[str, Any]) -> tuple[User, User, bool]:
    """Change some of role, groups, disabled and password_hash; how it was, how it is, and whether it differs."""
    ways = await ways_in(tx) if changes.keys() & {"role", "groups", "disabled"} else None
    row = await _one(tx, _LOCK, user_id)
    values = {name: row[name] for name in ("role", "groups", "disabled_at", "password_hash")}
    if "role" in changes:
        values["role"] = Role(changes["role"]).value
    if "groups" in changes:
        values["groups"] = await known_groups(tx, changes["groups"])
    if "password_hash" in changes:
        values["password_hash"] = changes["password_hash"]
    if "disabled" in changes:
        values["disabled_at"] = (row["disabled_at"] or await tx.now()) if changes["disabled"] else None
    before = user_of(row)
    if all(row[name] == value for name, value in values.items()):
        return before, before, False
    limited = values["role"] != Role.ADMIN.value or values["groups"] is not None
    if ways is not None and (limited or values["disabled_at"] is not None):
        refuse_last(ways, "user", user_id, row["name"])
    (changed,) = await tx.fetch(_UPDATE, user_id=user_id, **values)
    return before, user_of(changed), True


async def delete_user(tx: Tx, user_id: int) -> User:
    """Remove a user; the audit keeps the name."""
    ways = await ways_in(tx)
    user = user_of(await _one(tx, _LOCK, user_id))
    refuse_last(ways, "user", user_id, user.name)
    await tx.run(_DELETE, user_id=user_id)
    return user


async def find_password(tx: Tx, name: str) -> Credential | None:
    """What the password of the enabled user of that name is compared with."""
    rows = await tx.fetch(_FIND_PASSWORD, name=name) if "\x00" not in name else ()
    return (
        Credential(user_id=rows[0]["id"], name=rows[0]["name"], password_hash=rows[0]["password_hash"])
        if rows
        else None
    )


async def is_there(tx: Tx, name: str) -> bool:
    """Whether there is a user of that name, enabled or not."""
    return "\x00" not in name and bool(await tx.fetch(_IS_THERE, name=name))


async def rehash_password(tx: Tx, credential: Credential, new: str) -> bool:
    """Keep the same password under a newer hash; False if it was changed in the meantime."""
    return bool(await tx.run(_REHASH, user_id=credential.user_id, old=credential.password_hash, new=new))


async def known_groups(tx: Tx, groups: Iterable[str] | None) -> list[str] | None:
    """The names of existing groups, each once; a refusal that names those there are."""
    if groups is None:
        return None
    wanted = sorted(set(groups))
    known = [group.name for group in await registry.list_groups(tx)]
    missing = [name for name in wanted if name not in known]
    if missing:
        raise InvalidInput.one("groups", missing[0], f"there is no group {missing[0]!r}; there are: {', '.join(known)}")
    for name in wanted:
        await registry.require_group(tx, name)  # held until these limits are written: who deletes it finds them
    return wanted


async def ways_in(tx: Tx) -> set[tuple[str, int]]:
    """The users and tokens that may do everything, for good; they stay as they are until this transaction ends."""
    admins = {("user", row["id"]) for row in await tx.fetch(_ADMINS)}
    return admins | {("token", row["id"]) for row in await tx.fetch(_ADMIN_TOKENS)}


def refuse_last(ways: set[tuple[str, int]], kind: str, number: int, name: str) -> None:
    """Refuse to take away the only one that is left."""
    if ways == {(kind, number)}:
        raise Conflict(
            f"{kind} {name!r} is the last way in that lasts: nobody else is an admin of everything. Make another one "
            "first: a user with the role admin, or such a token that does not expire, limited to no groups"
        )


async def _one(tx: Tx, statement: Statement, user_id: int) -> Row:
    rows = await tx.fetch(statement, user_id=user_id) if possible(user_id) else ()
    if not rows:
        raise NotFound("user", user_id)
    return rows[0]
