"""Store: permits: how many instances of a concurrency key may be pending or running at once, exactly.

Counting running rows is racy under READ COMMITTED; here a slot is a row with a unique key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import ARRAY, BigInteger, Integer, Text, bindparam, delete, func, select, text

from hourhand.store.database import Row, Tx
from hourhand.store.registry import lanes_with_an_executor
from hourhand.store.release import UNBLOCK
from hourhand.store.schema import concurrency_permits, task_instances
from hourhand.store.sql import UNAMBIGUOUS, Many, any_of, insert, records, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id

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
# One probe per key, in the order of its index, ending at the room it has. SQLite has no LATERAL and runs the probe
# itself once per key, which costs it no round trip.
_PROBE = """
    SELECT i.id, coalesce(l.max, t.concurrency_limit) AS "limit"
    FROM task_instances i JOIN tasks t ON t.id = i.task_id
        LEFT JOIN concurrency_limits l ON l.key = i.concurrency_key
    WHERE i.blocked_by = 'permit' AND i.concurrency_key = {key} AND i.available_at <= {now} AND {served}
    ORDER BY i.priority, i.available_at, i.id LIMIT {room}
"""
_CANDIDATES = Statement(
    text(
        "SELECT k.key, c.id, c.limit FROM unnest(:keys, :rooms) AS k(key, room) CROSS JOIN LATERAL ("
        + _PROBE.format(key="k.key", now="now()", served="i.lane_id = ANY (:lanes)", room="k.room")
        + ") c"
    )
    .bindparams(
        bindparam("keys", type_=ARRAY(Text)),
        bindparam("rooms", type_=ARRAY(BigInteger)),
        bindparam("lanes", type_=ARRAY(BigInteger)),
    )
    .columns(key=Text, id=BigInteger, limit=Integer)
)
_CANDIDATES_OF_ONE = Statement(
    text(
        _PROBE.format(
            key=":key",
            now="clock_timestamp()",
            served="i.lane_id IN (SELECT value FROM json_each(:lanes))",
            room=":room",
        )
    )
    .bindparams(bindparam("lanes", type_=Many(BigInteger())))
    .columns(id=BigInteger, limit=Integer)
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
    .from_select(["key", "slot", "instance_id"], select(_SLOTS).where(UNAMBIGUOUS), include_defaults=False)
    .on_conflict_do_nothing()
    .returning(concurrency_permits.c.instance_id)
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


_NEXT = Statement(
    select(
        (
            select(func.min(task_instances.c.available_at))
            .where(
                task_instances.c.blocked_by == text("'permit'"),
                task_instances.c.available_at > select(store_clock()).scalar_subquery(),
            )
            .scalar_subquery()
        ).label("at"),
        store_clock().label("now"),
    )
)


async def next_permit(tx: Tx) -> float | None:
    """Seconds until the next instance that a schedule has made ahead wants its permit."""
    (row,) = await tx.fetch(_NEXT)
    return None if row["at"] is None else max(0.0, (row["at"] - row["now"]).total_seconds())


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
    lanes = await lanes_with_an_executor(tx, lease_seconds)
    if not lanes:
        return 0
    taken: dict[str, set[int]] = {key: set() for key in wanted}
    for row in await tx.fetch(_TAKEN, keys=wanted):
        taken[row["key"]].add(row["slot"])
    # The first in line tells the limit; then as many as there is room for, however many wait.
    heads = await _probe(tx, dict.fromkeys(wanted, 1), lanes)
    rooms = {key: head[0]["limit"] - len(taken[key]) for key, head in heads.items()}
    candidates = await _probe(tx, {key: room for key, room in rooms.items() if room > 0}, lanes)
    offers = {row["id"]: (key, slot) for key, rows in candidates.items() for row, slot in _offer(rows, taken[key])}
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


async def _probe(tx: Tx, rooms: Mapping[str, int], lanes: Sequence[int]) -> dict[str, list[Row]]:
    """The first in line of each key, at most as many as it has room for."""
    found: dict[str, list[Row]] = {}
    if rooms and tx.dialect == "postgresql":
        for row in await tx.fetch(_CANDIDATES, keys=list(rooms), rooms=list(rooms.values()), lanes=lanes):
            found.setdefault(row["key"], []).append(row)
    elif rooms:
        for key, room in rooms.items():
            if rows := await tx.fetch(_CANDIDATES_OF_ONE, key=key, room=room, lanes=lanes):
                found[key] = list(rows)
    return found


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
