"""Secrets are sealed with another key all at once, or not at all."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from contracts.alerting import A, B, make_rule
from hourhand.model.audit import Author
from hourhand.model.errors import Conflict
from hourhand.service.envelope import Envelope, Unsealable
from hourhand.service.post import owner_of

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.alert import Target

OLD, NEW = Envelope(b"o" * 32), Envelope(b"n" * 32)


def sealed(target: Target, envelope: Envelope) -> Target:
    secret = envelope.seal(f"secret of {target.id}".encode(), belongs_to=owner_of(target.id))
    return replace(target, sealed=base64.b64encode(secret).decode())


def opened(target: Target, envelope: Envelope) -> str:
    return envelope.open(base64.b64decode(target.sealed), belongs_to=owner_of(target.id)).decode()


def anew(owner: str, secret: bytes) -> bytes:
    return NEW.seal(OLD.open(secret, belongs_to=owner), belongs_to=owner)


async def test_every_secret_is_sealed_anew_and_the_key_is_the_new_one(world: World) -> None:
    assert await world.store.agree_on_key(OLD.check)
    await make_rule(world, {"kind": "failed"}, sealed(A, OLD), sealed(B, OLD))
    await make_rule(world, {"kind": "executor_lost"}, sealed(A, OLD))
    store = world.store.on_behalf(Author(id="local", name="ada"))
    assert await store.reseal(anew, before=OLD.check, after=NEW.check) == 3
    assert await world.store.key_check() == NEW.check
    assert not await world.store.agree_on_key(OLD.check)
    targets = [one for rule in (await world.store.list_alert_rules()).items for one in rule.targets]
    assert sorted(opened(one, NEW) for one in targets) == ["secret of a", "secret of a", "secret of b"]
    assert {one.shown for one in targets} == {A.shown, B.shown}
    (entry,) = [one for one in (await world.store.list_audit()).items if one.action == "rotate"]
    assert (entry.resource_type, entry.user_name) == ("secret-key", "ada")


async def test_with_another_key_than_the_stores_nothing_is_changed(world: World) -> None:
    for agreed in (None, NEW.check):
        if agreed:
            assert await world.store.agree_on_key(agreed)
        with pytest.raises(Conflict, match="another key"):
            await world.store.reseal(anew, before=OLD.check, after=NEW.check)
        assert await world.store.key_check() == agreed


async def test_one_secret_that_cannot_be_opened_leaves_all_as_they_were(world: World) -> None:
    assert await world.store.agree_on_key(OLD.check)
    await make_rule(world, {"kind": "failed"}, sealed(A, OLD))
    await make_rule(world, {"kind": "late", "seconds": 5}, sealed(B, NEW))
    with pytest.raises(Unsealable):
        await world.store.reseal(anew, before=OLD.check, after=NEW.check)
    assert await world.store.key_check() == OLD.check
    rules = {one.name: one.targets[0] for one in (await world.store.list_alert_rules()).items}
    assert opened(rules["failed"], OLD) == "secret of a"
