"""Accounts in the audit: every way in and its end is recorded, and nothing that may be a password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hourhand.model.audit import Author
from hourhand.model.words import Role

if TYPE_CHECKING:
    from contracts.world import World

ME = Author(id="user:1", name="me")
HERE = "192.0.2.7"
HASH = "h"


async def audited(world: World) -> list[tuple[str, str, str, str]]:
    rows = await world.sql("SELECT action, resource_type, user_id, result FROM audit_logs ORDER BY id")
    return [(row["action"], row["resource_type"], row["user_id"], row["result"]) for row in rows]


async def test_a_name_that_nobody_has_is_not_kept_of_a_failed_sign_in(world: World) -> None:
    await world.store.add_user("ada", password_hash=HASH, role=Role.VIEWER)
    for name in ("ada", "my-password-by-mistake"):
        store = world.store.on_behalf(Author(id="nobody", name=name))
        await store.fail_sign_in(name, HERE)
    rows = await world.sql(
        "SELECT user_name, resource_id, summary FROM audit_logs WHERE action = 'sign_in' ORDER BY id"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("ada", None, "the name or the password is wrong"),
        ("nobody", None, "an unknown name"),
    ]
    assert "mistake" not in str([dict(row) for row in await world.sql("SELECT * FROM audit_logs")])


async def test_the_end_of_a_session_that_is_replaced_is_audited(world: World) -> None:
    await world.store.add_user("ada", password_hash=HASH, role=Role.VIEWER)
    store = world.store.on_behalf(ME)
    credential = await store.find_password("ada")
    assert credential is not None
    await store.open_session("s1", credential, address=HERE)
    await store.open_session("s2", credential, address=HERE, replacing="s1")
    await store.open_session("s3", credential, address=HERE, replacing="unheard-of")
    actions = [action for action, *_ in await audited(world)]
    assert actions == ["sign_in", "sign_out", "sign_in", "sign_in"]


async def test_an_admin_token_that_somebody_makes_is_audited(world: World) -> None:
    store = world.store.on_behalf(ME)
    assert await store.ensure_admin_token("h1")
    assert not await store.ensure_admin_token("h2")
    await store.add_admin_token("h3")
    assert await audited(world) == [("create", "token", "user:1", "done")] * 2
