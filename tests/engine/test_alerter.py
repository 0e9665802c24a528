"""The scheduler's part in alerts: who decides, when not to, and what becomes of a notice."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from contracts.alerting import A, B, fail, make_rule
from contracts.world import World
from hourhand.contracts.notifier import NotSent
from hourhand.model.errors import StoreUnavailable
from hourhand.scheduler.alerter import AT_ONCE, EVERY_SECONDS, LEASE, Alerter, Decider, Sender

if TYPE_CHECKING:
    from hourhand.model.alert import Posted
    from hourhand.store import Store

FAILED = {"kind": "failed"}
PATIENCE = 30.0


@pytest.fixture
def world(store: Store) -> World:
    return World(store)


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


async def notices(world: World) -> list[Posted]:
    return list((await world.store.list_notices()).items)


async def decided(world: World, decider: Decider, clock: Clock, seconds: float) -> int:
    """Go on for so long, a step every second; how many notices there are then."""
    for _ in range(int(seconds)):
        clock.seconds += 1
        await decider.step()
    return len(await notices(world))


async def test_nothing_is_decided_before_executors_had_the_time_to_beat(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    decider = Decider(world.store, "s1", heartbeat_seconds=5, clock=clock)
    await make_rule(world, FAILED)
    await fail(world, await world.task())
    assert await decided(world, decider, clock, 7) == 0
    assert await decided(world, decider, clock, 2) == 1
    await fail(world, await world.task())

    async def away() -> Any:
        raise StoreUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(world.store, "decide_alerts", away)
        with pytest.raises(StoreUnavailable):
            await decider.step()
    assert await decided(world, decider, clock, 7) == 1
    assert await decided(world, decider, clock, 2) == 2
    await fail(world, await world.task())
    clock.seconds += 60  # this machine was away
    assert await decided(world, decider, clock, 7) == 2
    assert await decided(world, decider, clock, 2) == 3


async def test_one_decides_at_a_time_and_the_next_one_when_it_leaves(world: World) -> None:
    clock = Clock()
    first, second = (Decider(world.store, name, heartbeat_seconds=0.1, clock=clock) for name in ("s1", "s2"))
    await make_rule(world, FAILED)
    assert await first.step() == EVERY_SECONDS
    await fail(world, await world.task())
    assert await decided(world, second, clock, 5) == 0
    await first.leave()
    assert await decided(world, second, clock, 2) == 1
    assert not await world.store.take_lease(LEASE, "s3", 1)


async def test_a_long_look_is_followed_by_a_longer_rest(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    decider = Decider(world.store, "s1", heartbeat_seconds=0.1, clock=clock)
    await decided(world, decider, clock, 4)
    decide = world.store.decide_alerts

    async def slowly() -> Any:
        clock.seconds += 5
        return await decide()

    monkeypatch.setattr(world.store, "decide_alerts", slowly)
    assert await decider.step() == pytest.approx(45)


class Post:
    """Targets that do as they are told."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.refusal: Exception | None = None
        self.hanging = asyncio.Event()
        self.hanging.set()

    async def send(self, target: Any, event: Any) -> None:
        if target.id == "a":
            await self.hanging.wait()
        if self.refusal is not None:
            raise self.refusal
        self.sent.append(f"{target.id}:{event['notice']}")


async def settled(world: World, sender: Sender) -> list[Posted]:
    """Send, until every notice was tried and nothing is under way."""
    await sender.step()
    async with asyncio.timeout(PATIENCE):
        while sender._under_way:  # noqa: SLF001 - nothing else tells
            await asyncio.sleep(0.01)
    return await notices(world)


async def one_notice(world: World, *targets: Any) -> None:
    await make_rule(world, FAILED, *targets)
    await fail(world, await world.task())
    await world.store.decide_alerts()


async def test_what_is_due_is_sent_once(world: World) -> None:
    await one_notice(world, A, B)
    post = Post()
    sender = Sender(world.store, post)
    for _ in range(2):
        found = await settled(world, sender)
        assert all(one.sent_at is not None for one in found)
    assert len(post.sent) == 2


async def test_a_target_that_hangs_holds_up_no_other_and_is_sent_again(world: World) -> None:
    await one_notice(world, A, B)
    post = Post()
    post.hanging.clear()
    sender = Sender(world.store, post)
    await sender.step()
    async with asyncio.timeout(PATIENCE):
        while len([one for one in await notices(world) if one.sent_at]) < 1:
            await asyncio.sleep(0.01)
    await sender.leave()
    assert [one.split(":")[0] for one in post.sent] == ["b"]
    await world.execute("UPDATE alert_outbox SET next_try_at = created_at")
    post.hanging.set()
    assert all(one.sent_at is not None for one in await settled(world, sender))


@pytest.mark.parametrize(
    ("refusal", "error", "given_up"),
    [
        (NotSent("busy"), "busy", False),
        (NotSent("never", final=True), "never", True),
        (ValueError("a fault of ours"), None, False),  # logged, and sent again later
    ],
)
async def test_what_could_not_be_sent_says_why_and_waits(
    world: World, refusal: Exception, error: str | None, *, given_up: bool
) -> None:
    await one_notice(world)
    post = Post()
    post.refusal = refusal
    (posted,) = await settled(world, Sender(world.store, post))
    assert posted.sent_at is None
    assert posted.last_error == error
    assert (posted.given_up_at is not None) is given_up


async def test_what_cannot_be_marked_is_sent_again_later(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await one_notice(world)

    async def away(_outbox_id: int) -> None:
        raise StoreUnavailable("away")

    post = Post()
    with monkeypatch.context() as patch:
        patch.setattr(world.store, "notice_sent", away)
        (posted,) = await settled(world, Sender(world.store, post))
    assert posted.sent_at is None
    await world.execute("UPDATE alert_outbox SET next_try_at = created_at")
    await settled(world, Sender(world.store, post))
    assert len(post.sent) == 2
    assert len(set(post.sent)) == 1  # under the same id, so that the receiver can drop it


async def test_a_target_that_was_removed_gets_nothing(world: World) -> None:
    await one_notice(world, A)
    (rule,) = (await world.store.list_alert_rules()).items
    await world.store.edit_alert_rule(rule.id, {}, [B], by="test")
    (posted,) = await settled(world, Sender(world.store, Post()))
    assert posted.last_error == "the target has been removed from its rule"
    assert posted.given_up_at is not None


async def test_no_more_than_some_are_sent_at_once(world: World) -> None:
    await make_rule(world, FAILED, A)
    for number in range(AT_ONCE + 2):
        await fail(world, await world.task(f"t{number}"))
        await world.store.decide_alerts()
    post = Post()
    post.hanging.clear()
    sender = Sender(world.store, post)
    for _ in range(2):
        await sender.step()
    assert sum(one.tries for one in await notices(world)) == AT_ONCE
    await sender.leave()


async def test_both_steps_are_the_schedulers(world: World) -> None:
    alerter = Alerter(world.store, "s1", Post(), heartbeat_seconds=5)
    for step in alerter.steps.values():
        assert await step() > 0
    await alerter.leave()
    assert await world.store.take_lease(LEASE, "s2", 1)
