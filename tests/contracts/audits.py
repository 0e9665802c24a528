"""Shorthand for the tests of the audit: a store on somebody's behalf, and what was kept of what they did."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from contracts.world import World
from hourhand.model.audit import AuditEntry, AuditFilter, Author, Change, Once

if TYPE_CHECKING:
    from hourhand.store import Store

ADA = Author(id="user:3", name="ada", request_id="r-1")


def on_behalf(world: World, author: Author = ADA, *, once: Once | None = None) -> World:
    """The same store, for somebody."""
    return replace(world, store=world.store.on_behalf(author, once=once))


def request(key: str = "k", body: str = "{}", *, route: str = "/tasks") -> Once:
    """A request that may come again."""
    return Once(principal=ADA.id, route=route, key=key, request_hash=body)


async def kept(world: World, **wanted: Any) -> list[AuditEntry]:
    """What the audit has, oldest first."""
    page = await world.store.list_audit(AuditFilter(**wanted), limit=200)
    assert page.next_cursor is None
    return sorted(page.items, key=lambda entry: entry.id)


async def fill(store: Store, count: int, **changes: Any) -> None:
    """So many entries."""
    values: dict[str, Any] = {"action": "edit", "resource_type": "task", "payload": {"n": 1.5, "t": "é"}, **changes}
    bound = store.on_behalf(ADA)
    for number in range(count):
        await bound.record(Change(resource_id=str(number), **values))
