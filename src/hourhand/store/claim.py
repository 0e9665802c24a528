"""Store: claim: the leased right to the next instances of some lanes, by priority."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ARRAY, BigInteger, Double, Integer, Text, bindparam, text, update

from hourhand.model.instance import Assignment
from hourhand.model.words import TriggeredBy
from hourhand.store.database import Row, Tx
from hourhand.store.schema import RUNNING, task_instances
from hourhand.store.sql import any_of, lease_clock, plus_seconds, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Instant

PRIORITIES = range(10)
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_RETURNED = tuple(name for name in Assignment.__dataclass_fields__ if name != "instance_id")
_COLUMNS = {"id": task_instances.c.id.type} | {name: task_instances.c[name].type for name in _RETURNED}

# One probe per (priority, lane), each stopping at the first row it cannot take; nothing is filtered afterwards.
# The probes run in the order of the arrays and end at the limit, so lower priorities are not even looked at.
# MATERIALIZED pins it: joined freely, the planner has been seen to scan the table instead.
_POSTGRESQL = Statement(
    text(
        """
WITH probes AS MATERIALIZED (
    SELECT p.lane_id, p.priority, p.mark, p.n
    FROM unnest(:lane_ids, :priorities, :marks) WITH ORDINALITY AS p(lane_id, priority, mark, n) ORDER BY p.n
), lost AS MATERIALIZED (
    SELECT i.id FROM probes p CROSS JOIN LATERAL (
        SELECT t.id FROM task_instances t
        WHERE t.status = 'pending' AND t.loss_count > 1 AND t.lane_id = p.lane_id AND t.priority = p.priority
            AND t.available_at <= now()
        ORDER BY t.available_at, t.id LIMIT :lost FOR UPDATE SKIP LOCKED) i
    LIMIT :lost
), fresh AS MATERIALIZED (
    SELECT i.id FROM probes p CROSS JOIN LATERAL (
        SELECT t.id FROM task_instances t
        WHERE t.status = 'pending' AND t.loss_count < 2 AND t.lane_id = p.lane_id AND t.priority = p.priority
            AND t.available_at <= now() AND t.available_at >= p.mark
        ORDER BY t.available_at, t.id LIMIT :fresh FOR UPDATE SKIP LOCKED) i
    LIMIT :fresh - (SELECT count(*) FROM lost)
)
UPDATE task_instances SET
    status = 'running', executor_id = :executor_id, fence = fence + 1, start_time = clock_timestamp(),
    last_heartbeat = clock_timestamp(), lease_until = clock_timestamp() + make_interval(secs => :lease_seconds)
WHERE id = ANY (ARRAY(SELECT id FROM lost UNION ALL SELECT id FROM fresh))
RETURNING id, """
        + ", ".join(_RETURNED)
    )
    .bindparams(
        bindparam("lane_ids", type_=ARRAY(BigInteger)),
        bindparam("priorities", type_=ARRAY(Integer)),
        bindparam("marks", type_=ARRAY(Instant)),
        bindparam("lost", type_=BigInteger),
        bindparam("fresh", type_=BigInteger),
        bindparam("executor_id", type_=Text),
        bindparam("lease_seconds", type_=Double),
    )
    .columns(**_COLUMNS)
)


_SQLITE_FRESH = Statement(
    text(
        "SELECT id FROM task_instances WHERE status = 'pending' AND loss_count < 2 AND lane_id = :lane_id "
        "AND priority = :priority AND available_at <= clock_timestamp() ORDER BY available_at, id LIMIT :limit"
    ).columns(id=BigInteger)
)
_SQLITE_LOST = Statement(
    text(
        "SELECT id FROM task_instances WHERE status = 'pending' AND loss_count > 1 AND lane_id = :lane_id "
        "AND priority = :priority AND available_at <= clock_timestamp() ORDER BY available_at, id LIMIT :limit"
    ).columns(id=BigInteger)
)
_SQLITE_TAKE = Statement(
    update(task_instances)
    .values(
        status=RUNNING,
        executor_id=bindparam("executor_id", type_=Text),
        fence=task_instances.c.fence + 1,
        start_time=store_clock(),
        last_heartbeat=store_clock(),
        lease_until=plus_seconds(lease_clock(), bindparam("lease_seconds", type_=Double)),
    )
    .where(any_of(task_instances.c.id, "ids"))
    .returning(task_instances.c.id, *[task_instances.c[name] for name in _RETURNED])
)


_NEXT = """
    SELECT min(available_at) AS at FROM task_instances t
    WHERE t.status = 'pending' AND t.loss_count {losses} AND t.lane_id = {lane} AND t.priority = {priority}
        AND t.available_at > {now}
"""
_NEXT_POSTGRESQL = Statement(
    text(
        "SELECT extract(epoch FROM min(n.at) - clock_timestamp())::float8 AS seconds "
        "FROM unnest(:lane_ids) AS l(id), generate_series(0, 9) AS p(priority) CROSS JOIN LATERAL ("
        + " UNION ALL ".join(
            _NEXT.format(losses=losses, lane="l.id", priority="p.priority", now="now()") for losses in ("< 2", "> 1")
        )
        + ") n"
    )
    .bindparams(bindparam("lane_ids", type_=ARRAY(BigInteger)))
    .columns(seconds=Double)
)
_NEXT_SQLITE = tuple(
    Statement(
        text(
            "SELECT (min(at) - clock_timestamp()) / 1e6 AS seconds FROM ("
            + _NEXT.format(losses=losses, lane=":lane_id", priority=":priority", now="clock_timestamp()")
            + ")"
        ).columns(seconds=Double)
    )
    for losses in ("< 2", "> 1")
)


async def next_available(tx: Tx, lanes: Sequence[int]) -> float | None:
    """Seconds until the first instance of these lanes that cannot be claimed yet can be."""
    if tx.dialect == "postgresql":
        (row,) = await tx.fetch(_NEXT_POSTGRESQL, lane_ids=lanes)
        return None if row["seconds"] is None else max(0.0, row["seconds"])
    found = [
        row["seconds"]
        for statement in _NEXT_SQLITE
        for lane in lanes
        for priority in PRIORITIES
        for row in await tx.fetch(statement, lane_id=lane, priority=priority)
        if row["seconds"] is not None
    ]
    return max(0.0, min(found)) if found else None


async def claim(
    tx: Tx,
    *,
    executor_id: str,
    lanes: Sequence[int],
    limit: int,
    lease_seconds: float,
    take_lost: bool,
    marks: Sequence[datetime],
) -> list[Assignment]:
    """Take up to `limit` instances, highest priority first, oldest first within a lane; `marks` are `Marks.probes`.

    Guarantee 5: a row is pending for one claimer only, since it is locked before it is looked at again.
    """
    # Lanes of one priority in another order each time: in a fixed one a backlog in the first would starve the rest.
    # Drawn, since any counter that is shared falls into step with executors that claim in turn.
    places = random.sample(range(len(lanes)), len(lanes))
    probes = [
        (lanes[place], priority, marks[rank * len(lanes) + place])
        for rank, priority in enumerate(PRIORITIES)
        for place in places
    ]
    if not probes or limit < 1:
        return []
    if tx.dialect == "postgresql":
        rows = await tx.fetch(
            _POSTGRESQL,
            lane_ids=[lane for lane, _, _ in probes],
            priorities=[priority for _, priority, _ in probes],
            marks=[mark for _, _, mark in probes],
            lost=int(take_lost),
            fresh=limit,
            executor_id=executor_id,
            lease_seconds=lease_seconds,
        )
    else:
        ids = await _probe(tx, [(lane, priority) for lane, priority, _ in probes], limit, take_lost=take_lost)
        rows = await tx.fetch(_SQLITE_TAKE, ids=ids, executor_id=executor_id, lease_seconds=lease_seconds)
    return sorted((_assignment(row) for row in rows), key=lambda one: (one.priority, one.available_at, one.instance_id))


async def _probe(tx: Tx, probes: Sequence[tuple[int, int]], limit: int, *, take_lost: bool) -> list[int]:
    ids: list[int] = []
    for statement, room in ((_SQLITE_LOST, int(take_lost)), (_SQLITE_FRESH, limit)):
        left = min(room, limit - len(ids))
        for lane, priority in probes:
            if left == 0:
                break
            found = await tx.fetch(statement, lane_id=lane, priority=priority, limit=left)
            ids += [row["id"] for row in found]
            left -= len(found)
    return ids


def _assignment(row: Row) -> Assignment:
    values: dict[str, Any] = {name: row[name] for name in _RETURNED}
    values["triggered_by"] = TriggeredBy(values["triggered_by"])
    return Assignment(instance_id=row["id"], **values)
