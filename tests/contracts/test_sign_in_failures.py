"""Failed sign-ins are counted by account and by address, and forgotten in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contracts.accounts import HERE, enter, user
from contracts.rows import shift
from hourhand.model.errors import Throttled

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.store import Store


async def fail(store: Store, times: int, account: str = "ada", address: str | None = HERE) -> None:
    for _ in range(times):
        await store.fail_sign_in(account, address)


async def test_after_five_failures_the_account_is_refused_from_everywhere(world: World) -> None:
    await user(world)
    credential = await world.store.find_password("ada")
    assert credential is not None
    for number in range(4):
        await fail(world.store, 1, address=f"198.51.100.{number}")
    await world.store.sign_in_allowed("ada", HERE)
    await fail(world.store, 1)
    with pytest.raises(Throttled) as refused:
        await world.store.sign_in_allowed("ada", "203.0.113.9")
    assert 890 <= refused.value.seconds <= 900
    with pytest.raises(Throttled):
        await world.store.open_session("s1", credential, address="203.0.113.9")
    with pytest.raises(Throttled):
        await world.store.fail_sign_in("ada", "203.0.113.9")
    assert await world.count("sign_in_failures") == 5
    await world.store.sign_in_allowed("bob", "203.0.113.9")
    await shift(world, "failed_at", -900, "id = (SELECT min(id) FROM sign_in_failures)", table="sign_in_failures")
    await world.store.sign_in_allowed("ada", "203.0.113.9")


async def test_after_five_failures_the_address_is_refused_for_every_account_but_not_for_tokens(world: World) -> None:
    await world.store.ensure_admin_token("h1")
    for number in range(5):
        await fail(world.store, 1, f"user{number}")
    with pytest.raises(Throttled):
        await world.store.sign_in_allowed("ada", HERE)
    with pytest.raises(Throttled):
        await fail(world.store, 1, "somebody")
    await world.store.sign_in_allowed("ada", "203.0.113.9")
    await world.store.sign_in_allowed("ada", None)  # within a session
    assert await world.store.open_session("s1", "h1", address=HERE) is not None


async def test_failures_within_a_session_count_for_the_account_alone(world: World) -> None:
    await fail(world.store, 5, "ada", None)
    for address in (HERE, None):
        with pytest.raises(Throttled):
            await world.store.sign_in_allowed("ada", address)
    for address in (HERE, None):
        await world.store.sign_in_allowed("bob", address)


async def test_who_has_one_ipv6_address_has_all_of_its_site(world: World) -> None:
    for number in range(5):
        await fail(world.store, 1, f"user{number}", f"2001:db8::{number}")
    with pytest.raises(Throttled):
        await world.store.sign_in_allowed("ada", "2001:db8::ffff:1")
    await world.store.sign_in_allowed("ada", "2001:db8:0:1::1")
    for number in range(5):
        await fail(world.store, 1, f"user{number}{number}", "::ffff:192.0.2.1")
    with pytest.raises(Throttled):
        await world.store.sign_in_allowed("ada", "192.0.2.1")
    for number in range(5):
        await fail(world.store, 1, f"other{number}", "local")
    with pytest.raises(Throttled):
        await world.store.sign_in_allowed("ada", "local")


async def test_a_success_forgets_the_failures_of_that_account_alone(world: World) -> None:
    await user(world)
    await fail(world.store, 3, "bob")
    await fail(world.store, 1)
    await enter(world)
    assert await world.count("sign_in_failures") == 3
    await fail(world.store, 2, "bob")
    with pytest.raises(Throttled):
        await world.store.sign_in_allowed("ada", HERE)


async def test_failures_are_forgotten_after_a_day(world: World) -> None:
    await fail(world.store, 2)
    await shift(world, "failed_at", -86_500, "id = (SELECT min(id) FROM sign_in_failures)", table="sign_in_failures")
    await world.store.retain(days=30)
    assert await world.count("sign_in_failures") == 1


# The audit
