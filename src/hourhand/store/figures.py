"""Store: figures of a cluster at this moment, read along indexes, and the sign that schedulers leave."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Double, Text, bindparam, case, func, select, text

from hourhand.model.figures import GroupFigures
from hourhand.store.database import Row, Tx
from hourhand.store.schema import PLANNED, RUNNING, executors, groups, leases, task_instances
from hourhand.store.sql import insert, lease_clock, plus_seconds
from hourhand.store.statements import Statement
from hourhand.store.types import Id

COUNTED_AT_MOST = 10_000
"""Of each lane and priority, and of all that is planned: counting a million takes a second where no vacuum was."""
SIGN = "scheduler cycle"
SIGN_SECONDS = 3600.0

# One probe per lane and priority, along the claim indexes. The oldest is always exact: it is the first entry.
_PROBE = """
    SELECT {what} FROM task_instances t
    WHERE t.status = 'pending' AND t.loss_count {losses} AND t.lane_id = l.id AND t.priority = p.priority
        AND t.available_at {when} {now}
"""
# In the order of the index: else PostgreSQL would rather read the whole table.
_COUNT = "(SELECT count(*) FROM (" + _PROBE + " ORDER BY t.available_at, t.id LIMIT :most) AS counted)"
_PENDING = """
SELECT l.group_id, sum({due}) AS due, sum({later}) AS later, max({seconds}) AS seconds
FROM lanes l CROSS JOIN {priorities} GROUP BY l.group_id
"""


def _pending(now: str, priorities: str, seconds_since: str) -> Statement:
    def both(form: str, between: str, **words: str) -> str:
        return between.join(form.format(now=now, losses=losses, **words) for losses in ("< 2", "> 1"))

    oldest = both("coalesce((" + _PROBE + "), {now})", ", ", what="min(t.available_at)", when="<=")
    sql = _PENDING.format(
        due=both(_COUNT, " + ", what="1", when="<="),
        later=both(_COUNT, " + ", what="1", when=">"),
        seconds=seconds_since.format(now=now, oldest=oldest),
        priorities=priorities,
    )
    return Statement(
        text(sql)
        .bindparams(bindparam("most", type_=BigInteger))
        .columns(group_id=Id, due=BigInteger, later=BigInteger, seconds=Double)
    )


_PENDING_IN = {
    "postgresql": _pending(
        "now()",
        "generate_series(0, 9) AS p(priority)",
        "CAST(extract(epoch FROM {now} - least({oldest})) AS float8)",
    ),
    "sqlite": _pending(
        "clock_timestamp()",
        "(WITH RECURSIVE s(priority) AS (VALUES (0) UNION ALL SELECT priority + 1 FROM s WHERE priority < 9) "
        "SELECT priority FROM s) AS p",
        "({now} - min({oldest})) / 1e6",
    ),
}
_RUNNING = Statement(
    select(
        task_instances.c.group_id,
        func.count().label("running"),
        func.sum(
            case((task_instances.c.lease_until < select(lease_clock()).scalar_subquery(), 1), else_=0),
        ).label("zombies"),
    )
    # As all that run have: else SQLite would read the whole backlog, not the index of these.
    .where(task_instances.c.status == RUNNING, task_instances.c.executor_id.is_not(None))
    .group_by(task_instances.c.group_id)
)
_some_planned = (
    select(task_instances.c.group_id)
    .where(task_instances.c.status == PLANNED, task_instances.c.blocked_by.is_not(None))
    .limit(bindparam("most", type_=BigInteger))
    .subquery()
)
_PLANNED = Statement(select(_some_planned.c.group_id, func.count().label("planned")).group_by(_some_planned.c.group_id))
_EXECUTORS = Statement(
    select(
        executors.c.group_id,
        func.count().label("executors"),
        func.sum(executors.c.capacity).label("slots"),
        # What waits in the process for a slot is held too.
        func.sum(
            case((executors.c.running < executors.c.capacity, executors.c.running), else_=executors.c.capacity)
        ).label("slots_used"),
    )
    .where(executors.c.last_heartbeat >= plus_seconds(lease_clock(), bindparam("ago", type_=Double)))
    .group_by(executors.c.group_id)
)
_GROUPS = Statement(select(groups.c.id, groups.c.name).order_by(groups.c.name))

_sign = insert(leases).values(
    name=SIGN,
    holder=bindparam("holder", type_=Text),
    lease_until=plus_seconds(lease_clock(), bindparam("seconds", type_=Double)),
)
_LEAVE_SIGN = Statement(
    _sign.on_conflict_do_update(
        index_elements=["name"],
        set_={"holder": _sign.excluded.holder, "lease_until": _sign.excluded.lease_until},
    )
)
_READ_SIGN = Statement(
    select(
        lease_clock().label("now"),
        select(leases.c.lease_until).where(leases.c.name == SIGN).scalar_subquery().label("lease_until"),
    )
)


async def figures(tx: Tx, *, lease_seconds: float) -> list[GroupFigures]:
    """Of every group, whether it has anything or not."""
    found: dict[int, dict[str, Any]] = {}
    names = {row["id"]: row["name"] for row in await tx.fetch(_GROUPS)}
    for row in await tx.fetch(_PENDING_IN[tx.dialect], most=COUNTED_AT_MOST):
        oldest = max(0.0, row["seconds"])
        _note(found, row, due=row["due"], later=row["later"], oldest_due_seconds=oldest)
    for row in await tx.fetch(_RUNNING):
        _note(found, row, running=row["running"], zombies=row["zombies"])
    for row in await tx.fetch(_PLANNED, most=COUNTED_AT_MOST):
        _note(found, row, planned=row["planned"])
    for row in await tx.fetch(_EXECUTORS, ago=-lease_seconds):
        _note(found, row, executors=row["executors"], slots=row["slots"], slots_used=row["slots_used"])
    return [GroupFigures(group=name, **found.get(group_id, {})) for group_id, name in names.items()]


def _note(found: dict[int, dict[str, Any]], row: Row, **values: float) -> None:
    whole = {name: value if isinstance(value, float) else int(value) for name, value in values.items()}
    found.setdefault(row["group_id"], {}).update(whole)


async def sign_cycle(tx: Tx, scheduler: str) -> None:
    """Write it where the leases are: by their clock, which no step of the time of day moves."""
    await tx.run(_LEAVE_SIGN, holder=scheduler, seconds=SIGN_SECONDS)


async def cycle_seconds(tx: Tx) -> float | None:
    """How long ago the last sign was left."""
    (row,) = await tx.fetch(_READ_SIGN)
    if row["lease_until"] is None:
        return None
    left: float = (row["lease_until"] - row["now"]).total_seconds()
    return max(0.0, SIGN_SECONDS - left)
