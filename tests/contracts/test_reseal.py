"""Secrets are sealed with another key all at once, or not at all; nothing is stored under a key that was rotated."""

from __future__ import annotations

import asyncio
import base64
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from contracts.alerting import A, B, make_rule
from hourhand.model.audit import Author
from hourhand.model.errors import Conflict, InvalidInput
from hourhand.model.sealing import Unopened
from hourhand.service.envelope import Envelope, Unsealable
from hourhand.service.post import owner_of

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.alert import Target

OLD, NEW = Envelope(b"o" * 32), Envelope(b"n" * 32)


def sealed(target: Target, envelope: Envelope) -> Target:
    secret = envelope.seal(f"secret of {target.id}".encode(), belongs_to=owner_of(target.id))
    return replace(target, sealed=base64.b64encode(secret).decode(), sealed_with=envelope.check)


def opened(target: Target, envelope: Envelope) -> str:
    return envelope.open(base64.b64decode(target.sealed), belongs_to=owner_of(target.id)).decode()


def anew(owner: str, secret: bytes) -> bytes | None:
    try:
        return NEW.seal(OLD.open(secret, belongs_to=owner), belongs_to=owner)
    except Unsealable:
        return None


async def test_every_secret_is_sealed_anew_and_the_key_is_the_new_one(world: World) -> None:
    assert await world.store.agree_on_key(OLD.check)
    await make_rule(world, {"kind": "failed"}, sealed(A, OLD), sealed(B, OLD))
    await make_rule(world, {"kind": "executor_lost"}, sealed(A, OLD))
    store = world.store.on_behalf(Author(id="local", name="ada"))
    done = await store.reseal(anew, before=OLD.check, after=NEW.check)
    assert (done.count, done.unopened) == (3, ())
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


async def test_what_cannot_be_opened_is_named_and_left_and_the_rest_is_sealed_anew(world: World) -> None:
    assert await world.store.agree_on_key(OLD.check)
    lost = replace(sealed(B, Envelope(b"x" * 32)), sealed_with=OLD.check)
    rule = await make_rule(world, {"kind": "failed"}, sealed(A, OLD), lost)
    broken = await make_rule(
        world, {"kind": "late", "seconds": 5}, replace(A, sealed="no base64", sealed_with=OLD.check)
    )
    done = await world.store.reseal(anew, before=OLD.check, after=NEW.check)
    assert done.count == 1
    assert done.unopened == (
        Unopened(rule_id=rule.id, rule="failed", target=B.shown),
        Unopened(rule_id=broken.id, rule="late", target=A.shown),
    )
    assert await world.store.key_check() == NEW.check
    kept, left = (await world.store.get_alert_rule(rule.id)).targets
    assert opened(kept, NEW) == "secret of a"
    assert left.sealed == lost.sealed


async def test_what_was_sealed_before_a_rotation_is_refused_after_it(world: World) -> None:
    assert await world.store.agree_on_key(OLD.check)
    rule = await make_rule(world, {"kind": "failed"}, sealed(A, OLD))
    late = sealed(B, OLD)
    await world.store.reseal(anew, before=OLD.check, after=NEW.check)
    with pytest.raises(Conflict, match="start this process again with the new key"):
        await make_rule(world, {"kind": "executor_lost"}, late)
    with pytest.raises(Conflict, match="was rotated"):
        await world.store.edit_alert_rule(rule.id, {"name": "other"}, ["a", late], by="test")
    (left,) = (await world.store.list_alert_rules()).items
    assert (left.name, [opened(one, NEW) for one in left.targets]) == ("failed", ["secret of a"])
    await world.store.edit_alert_rule(rule.id, {}, ["a", sealed(B, NEW)], by="test")
    found = (await world.store.get_alert_rule(rule.id)).targets
    assert [opened(one, NEW) for one in found] == ["secret of a", "secret of b"]


async def test_a_target_is_kept_by_an_id_that_the_rule_has(world: World) -> None:
    rule = await make_rule(world, {"kind": "failed"}, A, B)
    await world.store.edit_alert_rule(rule.id, {}, ["b"], by="test")
    assert (await world.store.get_alert_rule(rule.id)).targets == (B,)
    with pytest.raises(InvalidInput, match="no target of this id") as refused:
        await world.store.edit_alert_rule(rule.id, {}, ["b", "a"], by="test")
    assert [one.field for one in refused.value.errors] == ["targets.1"]


async def test_whoever_edits_while_the_key_is_rotated_neither_loses_nor_brings_back_a_secret(world: World) -> None:
    assert await world.store.agree_on_key(OLD.check)
    rules = [await make_rule(world, {"kind": "failed"}, sealed(A, OLD), name=f"r{number}") for number in range(8)]

    async def edit(number: int) -> None:
        for turn in range(10):
            changes = {"group_seconds": turn}
            kept = ["a"] if turn % 2 else None
            await world.store.edit_alert_rule(rules[number].id, changes, kept, by="test")

    async def add(number: int) -> None:
        for turn in range(10):
            with suppress(Conflict):
                await make_rule(world, {"kind": "failed"}, sealed(B, OLD), name=f"n{number}-{turn}")

    async def rotate() -> None:
        await asyncio.sleep(0.02)
        await world.store.reseal(anew, before=OLD.check, after=NEW.check)

    await asyncio.gather(rotate(), *[work(number) for number in range(8) for work in (edit, add)])
    found = (await world.store.list_alert_rules(limit=200)).items
    assert len(found) >= len(rules)
    assert {opened(one, NEW) for rule in found for one in rule.targets} <= {"secret of a", "secret of b"}
