"""Shorthand for the contract suite: alert rules, and what comes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hourhand.model.alert import Target
from hourhand.model.words import OutcomeKind
from hourhand.rules.alert_definition import alert_from

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.alert import AlertRule, Parcel
    from hourhand.model.task import Task

A = Target(id="a", kind="webhook", shown="https://a.example.com/", sealed="sealed-a")
B = Target(id="b", kind="webhook", shown="https://b.example.com/", sealed="sealed-b")


async def make_rule(world: World, condition: dict[str, Any], *targets: Target, **changes: Any) -> AlertRule:
    """Make a rule that tells everything at once."""
    given = {"name": condition["kind"], "condition": condition, "group_seconds": 0, **changes}
    return await world.store.create_alert_rule(alert_from(given), targets or (A,), by="test")


async def fail(world: World, task: Task, kind: OutcomeKind = OutcomeKind.FAILED) -> int:
    """Let an instance of a task fail, or end otherwise; its id."""
    await world.executor()
    instance_id = await world.submit(task)
    for claimed in await world.claim():
        error = "boom" if kind is OutcomeKind.FAILED else None
        await world.end([claimed], kind, error_message=error)
    return instance_id


async def said(world: World) -> list[str]:
    """Decide until there is nothing to decide, and take what is to be said: the texts without their times."""
    while (await world.store.decide_alerts()).more:
        pass
    return [line.partition(" ")[2] for parcel in await taken(world) for line in parcel.event["text"].splitlines()]


async def taken(world: World) -> list[Parcel]:
    """What is to be sent, reported as sent."""
    parcels = await world.store.take_notices(limit=100, seconds=60)
    for parcel in parcels:
        await world.store.notice_sent(parcel.outbox_id)
    return parcels
