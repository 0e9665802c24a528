"""Shorthand for tests about users and sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hourhand.model.audit import Author
from hourhand.model.words import Role

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.access import Credential, User

HERE = "192.0.2.7"
ME = Author(id="user:1", name="me", request_id="r-1")
HASH = "$argon2id$canary-of-a-hash"


async def user(world: World, name: str = "ada", **changes: Any) -> User:
    values: dict[str, Any] = {"password_hash": HASH, "role": Role.EDITOR, **changes}
    made, _ = await world.store.on_behalf(ME).add_user(name, **values)
    return made


async def enter(world: World, name: str = "ada", session: str = "s1", **more: Any) -> Credential:
    """Sign a user in; the password is taken to have been right."""
    credential = await world.store.find_password(name)
    assert credential is not None
    assert await world.store.open_session(session, credential, address=HERE, **more) is not None
    return credential


async def audited(world: World) -> list[tuple[str, str, str, str]]:
    rows = await world.sql("SELECT action, resource_type, user_id, result FROM audit_logs ORDER BY id")
    return [(row["action"], row["resource_type"], row["user_id"], row["result"]) for row in rows]


# Users
