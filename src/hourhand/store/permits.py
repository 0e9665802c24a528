"""Store: permits: how many instances of a concurrency key may be pending or running at once, exactly.

Counting running rows is racy under READ COMMITTED; here a slot is a row with a unique key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import BigInteger, Integer, Text, bindparam, delete, func, select, text

from hourhand.store.database import Row, Tx
from hourhand.store.registry import lanes_with_an_executor
from hourhand.store.schema import concurrency_limits, concurrency_permits, task_instances, tasks
from hourhand.store.sql import any_of, insert, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant
from hourhand.store.waits import UNBLOCK

# A loose index scan: one step per key, however many instances wait for it.
_WAITING_KEYS = Statement(
    text(
        """
WITH RECURSIVE keys(key) AS (
    SELECT min(concurrency_key) FROM task_instances WHERE blocked_by = 'permit'
    UNION ALL
    SELECT (SELECT min(concurrency_key) FROM task_instances WHERE blocked_by = 'permit' AND concurrency_key > keys.key)
    FROM keys WHERE keys.key IS NOT NULL
)
SELECT key FROM keys WHERE key IS NOT NULL ORDER BY key
"""
    ).columns(key=Text)
)
_TAKEN = Statement(
    select(concurrency_permits.c.key, concurrency_permits.c.slot).where(any_of(concurrency_permits.c.key, "keys"))
)
_CANDIDATES = Statement(
    select(
        task_instances.c.id,
        func.coalesce(concurrency_limits.c.max, tasks.c.concurrency_limit).label("limit"),
    )
    .join(tasks, tasks.c.id == task_instances.c.task_id)
    .outerjoin(concurrency_limits, concurrency_limits.c.key == task_instances.c.concurrency_key)
    .where(
        task_instances.c.blocked_by == text("'permit'"),
        task_instances.c.concurrency_key == bindparam("key", type_=Text),
        task_instances.c.available_at <= bindparam("now", type_=Instant()),
        any_of(task_instances.c.lane_id, "lanes"),
    )
    .order_by(task_instances.c.priority, task_instances.c.available_at, task_instances.c.id)
    .limit(bindparam("limit", type_=BigInteger))
)
_LOCK_CANDIDATES = Statement(
    select(task_instances.c.id)
    .where(any_of(task_instances.c.id, "ids"), task_instances.c.blocked_by == text("'permit'"))
    .order_by(task_instances.c.id)
    .with_for_update(skip_locked=True)
)
_SLOTS = records("slots", {"key": Text(), "slot": Integer(), "instance_id": Id})
_TAKE = Statement(
    insert(concurrency_permits)
    .from_select(["key", "slot", "instance_id"], select(_SLOTS).where(_SLOTS.c.slot >= 0), include_defaults=False)
    .on_conflict_do_nothing()
    .returning(concurrency_permits.c.instance_id)
)
_NEXT_PERMIT = Statement(
    select(func.min(task_instances.c.available_at).label("at")).where(
        task_instances.c.blocked_by == text("'permit'"),
        task_instances.c.available_at > bindparam("now", type_=Instant()),
    )
)
_STRAY = Statement(
    delete(concurrency_permits).where(
        concurrency_permits.c.instance_id.not_in(
            select(task_instances.c.id).where(
                task_instances.c.id == concurrency_permits.c.instance_id, task_instances.c.blocked_by.is_(None)
            )
        )
    )
)
MOST_SLOTS = 10_000


async def waiting_keys(tx: Tx) -> list[str]:
    """Every key that somebody waits for."""
    return [row["key"] for row in await tx.fetch(_WAITING_KEYS)]


async def free_stray_permits(tx: Tx) -> int:
    """Permits of instances that neither wait in a lane nor run: nothing should leave any, the sweep makes sure."""
    return await tx.run(_STRAY)


async def give_permits(tx: Tx, keys: Iterable[str], *, lease_seconds: float) -> int:
    """Give the free slots of these keys, by priority and age, to instances that somebody alive can execute."""
    wanted = sorted(set(keys))
    if not wanted:
        return 0
    now = await tx.now()
    lanes = await lanes_with_an_executor(tx, lease_seconds)
    if not lanes:
        return 0
    taken: dict[str, set[int]] = {key: set() for key in wanted}
    for row in await tx.fetch(_TAKEN, keys=wanted):
        taken[row["key"]].add(row["slot"])
    offers: dict[int, tuple[str, int]] = {}
    for key in wanted:
        candidates = await tx.fetch(_CANDIDATES, key=key, now=now, lanes=lanes, limit=MOST_SLOTS)
        offers |= {row["id"]: (key, slot) for row, slot in _offer(candidates, taken[key])}
    if not offers:
        return 0
    # Lock order: instances before permits. One that another process holds is its affair.
    locked = [row["id"] for row in await tx.fetch(_LOCK_CANDIDATES, ids=sorted(offers))]
    if not locked:
        return 0
    slots = [{"key": offers[one][0], "slot": offers[one][1], "instance_id": one} for one in locked]
    given = [
        row["instance_id"]
        for row in await tx.fetch(_TAKE, slots=sorted(slots, key=lambda one: (one["key"], one["slot"])))
    ]
    if given:
        await tx.run(UNBLOCK, moves=[{"id": one, "status": "pending", "blocked_by": None} for one in sorted(given)])
    return len(given)


def _offer(candidates: Sequence[Row], taken: set[int]) -> list[tuple[Row, int]]:
    """Free slots in the order of the candidates; each candidate's own limit says which slots exist for it."""
    offers = []
    used = set(taken)
    slot = 0
    for row in candidates:
        while slot in used:
            slot += 1
        if slot >= row["limit"]:
            break
        used.add(slot)
        offers.append((row, slot))
    return offers
