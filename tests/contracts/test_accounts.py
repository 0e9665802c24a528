"""Users, API tokens and sessions: who may enter, and that nobody can be locked out for good."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.accounts import HASH, HERE, ME, audited, enter, user
from contracts.rows import shift
from hourhand.model.access import Credential
from hourhand.model.audit import Once
from hourhand.model.errors import Conflict, DuplicateName, InvalidInput, NotFound, Unauthenticated
from hourhand.model.words import Role

if TYPE_CHECKING:
    from contracts.world import World


async def test_a_user_is_made_read_and_listed_by_name(world: World) -> None:
    await world.store.ensure_group("billing")
    made = [await user(world, name) for name in ("cleo", "ada", "bob")]
    limited = await user(world, "dora", groups=["billing", "billing"])
    assert limited.groups == ("billing",)
    assert await world.store.get_user(made[0].id) == made[0]
    assert (made[0].role, made[0].groups, made[0].disabled_at) == (Role.EDITOR, None, None)
    first = await world.store.list_users(limit=3)
    assert [one.name for one in first.items] == ["ada", "bob", "cleo"]
    second = await world.store.list_users(limit=3, cursor=first.next_cursor)
    assert ([one.name for one in second.items], second.next_cursor) == (["dora"], None)


async def test_a_taken_name_an_unknown_group_and_an_unknown_user_are_refused(world: World) -> None:
    await user(world)
    with pytest.raises(DuplicateName):
        await user(world)
    with pytest.raises(InvalidInput, match="there is no group 'biling'"):
        await user(world, "bob", groups=["biling"])
    for verb in (world.store.get_user, world.store.delete_user):
        for unknown in (999, 0, -1, 2**70):
            with pytest.raises(NotFound):
                await verb(unknown)
    with pytest.raises(NotFound):
        await world.store.edit_user(999, {"role": "viewer"})
    assert await world.store.find_password("nobody") is None
    assert await world.store.find_password("a\x00") is None


async def test_a_request_that_comes_again_makes_no_second_user_and_keeps_no_hash_of_its_password(world: World) -> None:
    request = Once(principal="user:1", route="/users", key="k", request_hash="sha256-of-a-body-with-a-password")
    store = world.store.on_behalf(ME, once=request)
    made = [await store.add_user("ada", password_hash=HASH, role=Role.VIEWER) for _ in range(2)]
    assert made[0][0] == made[1][0]
    assert [new for _, new in made] == [True, False]
    (row,) = await world.sql("SELECT request_hash FROM idempotency_keys")
    assert row["request_hash"] != request.request_hash
    with pytest.raises(InvalidInput, match="another request"):
        await store.add_user("bob", password_hash=HASH, role=Role.VIEWER)


@pytest.mark.parametrize(
    "changes", [{"role": "viewer"}, {"groups": ["default"]}, {"disabled": True}, {"password_hash": "$new"}]
)
async def test_whatever_changes_about_a_user_ends_all_its_sessions(world: World, changes: dict[str, Any]) -> None:
    await world.store.ensure_group("default")
    ada = await user(world)
    await user(world, "bob")
    await enter(world, "ada", "s1")
    await enter(world, "ada", "s2")
    await enter(world, "bob", "other")
    await world.store.edit_user(ada.id, {"role": "editor", "disabled": False})  # which it is already
    assert await world.store.find_session("s1") is not None
    await world.store.edit_user(ada.id, changes)
    assert [await world.store.find_session(one) for one in ("s1", "s2")] == [None, None]
    assert await world.store.find_session("other") is not None
    assert await world.count("sessions") == 1


async def test_a_disabled_user_has_no_password_until_it_is_enabled_again(world: World) -> None:
    ada = await user(world)
    assert (await world.store.edit_user(ada.id, {"disabled": True})).disabled_at is not None
    assert await world.store.find_password("ada") is None
    assert (await world.store.edit_user(ada.id, {"disabled": False})).disabled_at is None
    found = await world.store.find_password("ada")
    assert found == Credential(user_id=ada.id, name="ada", password_hash=HASH)
    assert HASH not in repr(found)


async def test_a_removed_user_is_gone_with_its_sessions(world: World) -> None:
    ada = await user(world)
    await enter(world)
    await world.store.delete_user(ada.id)
    assert await world.store.find_session("s1") is None
    with pytest.raises(NotFound):
        await world.store.get_user(ada.id)
    assert (await user(world)).id != ada.id


# The last way in


async def test_the_last_admin_can_be_neither_removed_nor_demoted_nor_limited_nor_disabled(world: World) -> None:
    await world.store.ensure_group("default")
    admin = await user(world, "root", role=Role.ADMIN)
    await user(world, "limited", role=Role.ADMIN, groups=["default"])
    await user(world, "editor")
    expired, _ = await world.store.add_token("t", "h1", role=Role.ADMIN, expires_at=await later(world, 60), by="me")
    await shift(world, "expires_at", -3600, f"id = {expired.id}", table="api_tokens")
    for changes in ({"role": "editor"}, {"groups": ["default"]}, {"disabled": True}):
        with pytest.raises(Conflict, match="user 'root' is the last way in"):
            await world.store.edit_user(admin.id, changes)
    with pytest.raises(Conflict, match="last way in"):
        await world.store.delete_user(admin.id)
    await world.store.edit_user(admin.id, {"password_hash": "$new", "role": "admin"})
    other = await user(world, "root2", role=Role.ADMIN)
    await world.store.edit_user(admin.id, {"disabled": True})
    with pytest.raises(Conflict):
        await world.store.delete_user(other.id)
    await world.store.delete_user(admin.id)  # it is no way in any more


async def test_the_last_admin_token_cannot_be_revoked_until_there_is_another_admin(world: World) -> None:
    await world.store.ensure_admin_token("h1")
    (token,) = (await world.store.list_tokens()).items
    with pytest.raises(Conflict, match="token 'admin' is the last way in"):
        await world.store.revoke_token(token.id)
    assert await world.store.find_token("h1") is not None
    admin = await user(world, "root", role=Role.ADMIN)
    await world.store.revoke_token(token.id)
    assert await world.store.find_token("h1") is None
    with pytest.raises(Conflict):
        await world.store.edit_user(admin.id, {"disabled": True})


async def test_a_token_that_expires_is_no_way_in_that_lasts(world: World) -> None:
    await world.store.ensure_admin_token("h1")
    (lasting,) = (await world.store.list_tokens()).items
    short, _ = await world.store.add_token("short", "h2", role=Role.ADMIN, expires_at=await later(world, 60), by="me")
    with pytest.raises(Conflict, match=r"the last way in that lasts.* token that does not expire"):
        await world.store.revoke_token(lasting.id)
    await world.store.revoke_token(short.id)
    await world.store.add_token("other", "h3", role=Role.ADMIN, by="me")
    await world.store.revoke_token(lasting.id)


async def test_of_admins_who_remove_each_other_at_once_one_stays(world: World) -> None:
    admins = [await user(world, f"root{number}", role=Role.ADMIN) for number in range(6)]
    removals = [world.store.edit_user(one.id, {"disabled": True}) for one in admins]
    answers = await asyncio.gather(*removals, return_exceptions=True)
    assert sum(isinstance(answer, Conflict) for answer in answers) == 1
    assert await world.count("users", "disabled_at IS NULL") == 1


# Tokens


async def later(world: World, seconds: float) -> Any:
    return await world.store.now() + timedelta(seconds=seconds)


async def test_a_token_is_made_found_listed_and_revoked(world: World) -> None:
    await world.store.ensure_admin_token("h0")
    await world.store.ensure_group("billing")
    until = await later(world, 3600)
    token, made = await world.store.add_token(
        "deploys", "h1", role=Role.OPERATOR, groups=["billing"], expires_at=until, by="me"
    )
    assert (made, token.created_by, token.revoked_at) == (True, "me", None)
    found = await world.store.find_token("h1")
    assert found is not None
    assert (found.id, found.name, found.role) == (f"token:{token.id}", "deploys", Role.OPERATOR)
    assert (found.groups, found.session) == (frozenset({"billing"}), None)
    first = await world.store.list_tokens(limit=1)
    assert first.items == (token,)
    assert [one.name for one in (await world.store.list_tokens(limit=1, cursor=first.next_cursor)).items] == ["admin"]
    for _ in range(2):
        await world.store.revoke_token(token.id)
    assert await world.store.find_token("h1") is None
    assert (await world.store.list_tokens()).items[0].revoked_at is not None
    with pytest.raises(NotFound):
        await world.store.revoke_token(999)


async def test_a_token_ends_by_itself_and_cannot_be_made_to_have_ended(world: World) -> None:
    token, _ = await world.store.add_token("t", "h1", role=Role.VIEWER, expires_at=await later(world, 60), by="me")
    await shift(world, "expires_at", -61, table="api_tokens")
    assert await world.store.find_token("h1") is None
    assert token.expires_at is not None
    with pytest.raises(InvalidInput, match="has passed"):
        await world.store.add_token("t", "h2", role=Role.VIEWER, expires_at=await later(world, -1), by="me")


async def test_a_request_that_comes_again_makes_no_second_token(world: World) -> None:
    request = Once(principal="user:1", route="/tokens", key="k", request_hash="x")
    store = world.store.on_behalf(ME, once=request)
    first, made = await store.add_token("t", "h1", role=Role.VIEWER, by="me")
    again, made_again = await store.add_token("t", "h2", role=Role.VIEWER, by="me")
    assert (made, made_again, first) == (True, False, again)
    assert await world.store.find_token("h2") is None


# Sessions


async def test_a_session_is_its_user_as_the_user_is_now(world: World) -> None:
    await world.store.ensure_group("billing")
    ada = await user(world, groups=["billing"])
    await enter(world)
    found = await world.store.find_session("s1")
    assert found is not None
    assert (found.id, found.name, found.role) == (f"user:{ada.id}", "ada", Role.EDITOR)
    assert (found.groups, found.session) == (frozenset({"billing"}), "s1")
    await world.execute("UPDATE users SET role = 'viewer', groups = NULL")
    found = await world.store.find_session("s1")
    assert found is not None
    assert (found.role, found.groups) == (Role.VIEWER, None)
    assert await world.store.find_session("s2") is None


async def test_a_session_may_be_that_of_a_token_and_ends_with_it(world: World) -> None:
    await world.store.ensure_admin_token("h0")
    token, _ = await world.store.add_token("t", "h1", role=Role.VIEWER, expires_at=await later(world, 60), by="me")
    opened = await world.store.open_session("s1", "h1", address=HERE)
    assert opened is not None
    who, session = opened
    assert (who.id, who.role, session.token_id, session.user_id) == (f"token:{token.id}", Role.VIEWER, token.id, None)
    assert session.expires_at == token.expires_at
    await world.execute("UPDATE api_tokens SET role = 'operator'")
    found = await world.store.find_session("s1")
    assert found is not None
    assert found.role is Role.OPERATOR
    await world.store.revoke_token(token.id)
    assert await world.store.find_session("s1") is None
    assert await world.store.open_session("s2", "h1", address=HERE) is None
    assert await world.count("sessions") == 0


@pytest.mark.parametrize(
    ("column", "alive", "dead"), [("expires_at", 604_700, 604_801), ("last_seen_at", 43_100, 43_201)]
)
async def test_a_session_ends_after_seven_days_or_twelve_idle_hours(
    world: World, column: str, alive: int, dead: int
) -> None:
    await user(world)
    await enter(world)
    await shift(world, column, -alive, table="sessions")
    assert len((await world.store.list_sessions()).items) == 1
    assert await world.store.get_session("s1") is not None
    await shift(world, column, alive - dead, table="sessions")
    assert await world.store.find_session("s1") is None
    assert await world.store.get_session("s1") is None
    assert (await world.store.list_sessions()).items == ()


async def test_that_a_session_was_seen_is_noted_once_a_minute(world: World) -> None:
    await user(world)
    await enter(world)

    async def seen() -> Any:
        (row,) = await world.sql("SELECT last_seen_at FROM sessions")
        await world.store.find_session("s1")
        (after,) = await world.sql("SELECT last_seen_at FROM sessions")
        return after["last_seen_at"] > row["last_seen_at"]

    assert not await seen()
    await shift(world, "last_seen_at", -61, table="sessions")
    assert await seen()
    assert not await seen()


async def test_a_password_that_was_changed_between_the_look_and_the_session_opens_none(world: World) -> None:
    ada = await user(world)
    credential = await world.store.find_password("ada")
    assert credential is not None
    await world.store.edit_user(ada.id, {"password_hash": "$new"})
    assert await world.store.open_session("s1", credential, address=HERE) is None
    assert await world.store.rehash_password(credential, "$newer") is None
    assert (await world.store.find_password("ada")) == replace(credential, password_hash="$new")  # noqa: S106 - a hash


async def test_no_session_outlives_an_edit_that_happens_at_the_same_time(world: World) -> None:
    ada = await user(world)
    for number in range(10):
        credential = await world.store.find_password("ada")
        assert credential is not None
        edit = world.store.edit_user(ada.id, {"password_hash": f"${number}"})
        await asyncio.gather(world.store.open_session(f"s{number}", credential, address=HERE), edit)
        assert await world.store.find_session(f"s{number}") is None


async def test_a_newer_hash_of_the_same_password_ends_no_session(world: World) -> None:
    await user(world)
    credential = await enter(world)
    newer = await world.store.rehash_password(credential, "$newer")
    assert newer is not None
    assert newer == await world.store.find_password("ada")
    assert await world.store.find_session("s1") is not None


async def test_who_changes_its_own_password_keeps_only_that_session_under_a_new_secret(world: World) -> None:
    await user(world)
    await enter(world, session="s1")
    credential = await enter(world, session="s2")
    await world.store.change_password(credential, "$new", session_hash="s1", new_session_hash="s3")
    assert [await world.store.find_session(one) for one in ("s1", "s2")] == [None, None]
    found = await world.store.find_session("s3")
    assert found is not None
    assert found.name == "ada"
    with pytest.raises(Conflict, match="in the meantime"):
        await world.store.change_password(credential, "$x", session_hash="s3", new_session_hash="s4")
    newest = await world.store.find_password("ada")
    assert newest is not None
    assert newest.password_hash == "$new"  # noqa: S105 - a hash
    with pytest.raises(Unauthenticated):
        await world.store.change_password(newest, "$x", session_hash="gone", new_session_hash="s4")
    assert await world.store.find_password("ada") == newest


async def test_sessions_are_listed_and_closed(world: World) -> None:
    ada = await user(world)
    for name in ("s1", "s2", "s3"):
        await enter(world, session=name)
    first = await world.store.list_sessions(limit=2)
    rest = await world.store.list_sessions(limit=2, cursor=first.next_cursor)
    assert [(one.name, one.user_id, one.address) for one in first.items] == [("ada", ada.id, HERE)] * 2
    (oldest,) = rest.items
    await world.store.close_session(oldest.id)
    assert await world.store.find_session("s1") is None
    for unknown in (oldest.id, 0, 2**70):
        with pytest.raises(NotFound):
            await world.store.close_session(unknown)
    await world.store.sign_out("s2")
    await world.store.sign_out("s2")
    assert await world.store.find_session("s2") is None


async def test_a_sign_in_replaces_the_session_that_the_browser_had(world: World) -> None:
    await user(world)
    await enter(world, session="s1")
    await enter(world, session="s2", replacing="s1")
    assert await world.store.find_session("s1") is None
    assert await world.store.find_session("s2") is not None


# Throttling


async def test_everything_is_audited_and_nothing_of_it_is_secret(world: World) -> None:
    store = world.store.on_behalf(ME)
    await world.store.ensure_admin_token("h0")
    ada = await user(world, role=Role.ADMIN)
    token, _ = await store.add_token("t", "canary-of-a-token", role=Role.VIEWER, by="me")
    await store.fail_sign_in("ada", HERE)
    credential = await store.find_password("ada")
    assert credential is not None
    await store.open_session("canary-of-a-session", credential, address=HERE)
    await store.change_password(
        credential, "canary-of-a-new-hash", session_hash="canary-of-a-session", new_session_hash="canary-2"
    )
    await store.sign_out("canary-2")
    await store.edit_user(ada.id, {"password_hash": "canary-of-another-hash"})
    await store.edit_user(ada.id, {"role": "viewer"})
    await store.edit_user(ada.id, {"role": "viewer"})  # which it is
    await store.revoke_token(token.id)
    await store.revoke_token(token.id)  # which it is
    await store.delete_user(ada.id)
    assert await audited(world) == [
        ("create", "user", "user:1", "done"),
        ("create", "token", "user:1", "done"),
        ("sign_in", "session", "user:1", "refused"),
        ("sign_in", "session", "user:1", "done"),
        ("password", "user", "user:1", "done"),
        ("sign_out", "session", "user:1", "done"),
        ("edit", "user", "user:1", "done"),
        ("edit", "user", "user:1", "done"),
        ("delete", "token", "user:1", "done"),
        ("delete", "user", "user:1", "done"),
    ]
    assert "canary" not in str([dict(row) for row in await world.sql("SELECT * FROM audit_logs")])


async def test_closing_a_session_is_audited(world: World) -> None:
    await user(world)
    await enter(world, session="s1")
    await enter(world, session="s2")
    store = world.store.on_behalf(ME)
    await store.close_session((await store.list_sessions()).items[0].id)
    assert (await audited(world))[-1] == ("delete", "session", "user:1", "done")
    assert await world.store.find_session("s1") is not None
