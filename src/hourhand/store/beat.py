"""Store: beat: a sign of life that extends exactly the leases held, in as few round trips as its database allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import BigInteger, Double, Integer, Text, bindparam, select, text, update

from hourhand.model.instance import Beat, Held
from hourhand.model.registry import Executor, Lane
from hourhand.rules.lanes import serves
from hourhand.rules.pausing import closed
from hourhand.store.database import Row, Tx
from hourhand.store.registry import lanes_served
from hourhand.store.rests import open_scopes
from hourhand.store.schema import RUNNING, executors, task_instances
from hourhand.store.sql import any_of, lease_clock, plus_seconds, records, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, Json

# One statement, since whoever is far from the server pays for each: ten round trips of a second outlast a lease.
# The executor's row comes first, then its instances by ascending id: all of them are locked before any is written.
# What is extended is answered as it stands under that lock, not as it stood when the statement began: an attempt that
# was reaped while this waited is superseded.
# Lists come as text: before its first array, the driver asks a new connection four times what an array is.
_POSTGRESQL = Statement(
    text(
        """
WITH beating AS (
    UPDATE executors SET last_heartbeat = clock_timestamp(), running = :running WHERE id = :executor_id
    RETURNING id, group_id, labels, provides
), locked AS MATERIALIZED (
    SELECT t.id FROM task_instances t
    JOIN unnest(
        CAST(string_to_array(:extend_ids, ',') AS bigint[]), CAST(string_to_array(:extend_fences, ',') AS bigint[])
    ) AS h(id, fence) ON t.id = h.id AND t.fence = h.fence
    WHERE t.status = 'running' AND (SELECT count(*) FROM beating) >= 0
    ORDER BY t.id FOR NO KEY UPDATE OF t
), extended AS (
    UPDATE task_instances SET
        lease_until = clock_timestamp() + make_interval(secs => :lease_seconds), last_heartbeat = clock_timestamp()
    WHERE id = ANY (ARRAY(SELECT id FROM locked))
    RETURNING id, fence, cancel_requested
), seen AS (
    SELECT id, fence, cancel_requested FROM extended
    UNION ALL
    SELECT t.id, t.fence, t.cancel_requested FROM task_instances t
    WHERE t.id = ANY (CAST(string_to_array(:others, ',') AS bigint[])) AND t.status = 'running'
)
SELECT
    clock_timestamp() AS now, b.id, b.group_id, b.labels, b.provides,
    (SELECT coalesce(jsonb_agg(jsonb_build_array(s.id, s.fence, s.cancel_requested)), '[]') FROM seen s) AS seen,
    (SELECT coalesce(jsonb_agg(jsonb_build_array(l.id, l.requires, l.labels, l.target_executor_id) ORDER BY l.id), '[]')
     FROM lanes l WHERE l.group_id = b.group_id AND l.target_executor_id IN ('', b.id)) AS lanes,
    (SELECT coalesce(jsonb_agg(jsonb_build_array(p.scope, p.scope_id)), '[]')
     FROM pauses p WHERE p.scope <> 'task' AND (p.until IS NULL OR p.until > clock_timestamp())) AS paused,
    (SELECT coalesce(jsonb_agg(jsonb_build_array(
        w.scope, w.scope_id, w.schedule, w.duration_seconds, c.definition, w.timezone, w.name)), '[]')
     FROM maintenance_windows w LEFT JOIN calendars c ON c.id = w.calendar_id
     WHERE w.enabled AND w.scope <> 'task') AS windows
FROM (SELECT) AS always LEFT JOIN beating b ON true
"""
    )
    .bindparams(
        bindparam("executor_id", type_=Text),
        bindparam("running", type_=Integer),
        bindparam("extend_ids", type_=Text),
        bindparam("extend_fences", type_=Text),
        bindparam("others", type_=Text),
        bindparam("lease_seconds", type_=Double),
    )
    .columns(
        now=Instant,
        id=Text,
        group_id=BigInteger,
        labels=Json,
        provides=Json,
        seen=Json,
        lanes=Json,
        paused=Json,
        windows=Json,
    )
)

_BEAT = Statement(
    update(executors)
    .values(last_heartbeat=lease_clock(), running=bindparam("now_running", type_=Integer))
    .where(executors.c.id == bindparam("executor_id", type_=Text))
    .returning(executors.c.id, executors.c.group_id, executors.c.labels, executors.c.provides)
)
_HELD = records("held", {"id": Id, "fence": BigInteger()})
_STILL_HELD = Statement(
    select(task_instances.c.id)
    .join(_HELD, (task_instances.c.id == _HELD.c.id) & (task_instances.c.fence == _HELD.c.fence))
    .where(task_instances.c.status == RUNNING)
)
_EXTEND = Statement(
    update(task_instances)
    .values(
        lease_until=plus_seconds(lease_clock(), bindparam("lease_seconds", type_=Double)),
        last_heartbeat=store_clock(),
    )
    .where(any_of(task_instances.c.id, "ids"))
)
_SEE = Statement(
    select(task_instances.c.id, task_instances.c.fence, task_instances.c.cancel_requested).where(
        any_of(task_instances.c.id, "ids"), task_instances.c.status == RUNNING
    )
)


async def beat(tx: Tx, *, executor_id: str, held: Sequence[Held], extend: Sequence[Held], lease_seconds: float) -> Beat:
    """One heartbeat: extend the leases of exactly what is held, and learn what was cancelled or superseded."""
    kept = _beat_postgresql if tx.dialect == "postgresql" else _beat_sqlite
    return await kept(tx, executor_id, held, extend, lease_seconds)


async def _beat_postgresql(
    tx: Tx, executor_id: str, held: Sequence[Held], extend: Sequence[Held], lease_seconds: float
) -> Beat:
    extended = {one.instance_id for one in extend}
    (row,) = await tx.fetch(
        _POSTGRESQL,
        executor_id=executor_id,
        running=len(held),
        extend_ids=_joined(one.instance_id for one in extend),
        extend_fences=_joined(one.fence for one in extend),
        others=_joined(one.instance_id for one in held if one.instance_id not in extended),
        lease_seconds=lease_seconds,
    )
    lanes: tuple[int, ...] = ()
    if row["id"] is not None and not closed(
        [*row["paused"], *open_scopes(row["windows"], row["now"])], row["group_id"]
    ):
        executor, group_id = _executor(row), row["group_id"]
        lanes = tuple(one for one, *lane in row["lanes"] if serves(executor, group_id, Lane(group_id, *lane)))
    return _answer(held, row["seen"], lanes=lanes, registered=row["id"] is not None, now=row["now"])


def _joined(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


async def _beat_sqlite(
    tx: Tx, executor_id: str, held: Sequence[Held], extend: Sequence[Held], lease_seconds: float
) -> Beat:
    """A statement at a time: SQLite writes in no WITH, and no statement costs it a round trip."""
    now = await tx.now()
    registered = await tx.fetch(_BEAT, executor_id=executor_id, now_running=len(held))
    pairs = [{"id": one.instance_id, "fence": one.fence} for one in extend]
    if pairs and (ids := [row["id"] for row in await tx.fetch(_STILL_HELD, held=pairs)]):
        await tx.run(_EXTEND, ids=ids, lease_seconds=lease_seconds)
    seen = await tx.fetch(_SEE, ids=[one.instance_id for one in held]) if held else []
    lanes: tuple[int, ...] = ()
    if registered:
        lanes = await lanes_served(tx, _executor(registered[0]), registered[0]["group_id"])
    rows = [(row["id"], row["fence"], row["cancel_requested"]) for row in seen]
    return _answer(held, rows, lanes=lanes, registered=bool(registered), now=now)


def _executor(row: Row) -> Executor:
    """As much of it as decides what it may serve."""
    return Executor(id=row["id"], group="", labels=row["labels"], provides=tuple(row["provides"]))


def _answer(
    held: Sequence[Held],
    seen: Iterable[Sequence[int]],
    *,
    lanes: tuple[int, ...],
    registered: bool,
    now: datetime,
) -> Beat:
    running = {instance_id: (fence, cancelled) for instance_id, fence, cancelled in seen}
    mine = {one.instance_id for one in held if running.get(one.instance_id, (None,))[0] == one.fence}
    return Beat(
        lanes=lanes,
        cancelled=tuple(sorted(one for one in mine if running[one][1])),
        superseded=tuple(sorted(one.instance_id for one in held if one.instance_id not in mine)),
        registered=registered,
        now=now,
    )
