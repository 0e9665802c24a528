"""Store: reap: attempts whose lease has run out are lost; their instances go round again, or end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Text, and_, bindparam, delete, func, literal_column, or_, select, text, update

from hourhand.model.answers import Aftermath
from hourhand.model.instance import Outcome
from hourhand.model.registry import Executor, Lane
from hourhand.model.words import OutcomeKind
from hourhand.rules.broadcast import retarget
from hourhand.rules.lanes import able
from hourhand.store.database import Row, Tx
from hourhand.store.definitions import Versions
from hourhand.store.finish import LOCKED_COLUMNS, Decided, apply, decide
from hourhand.store.registry import alive_executors, lane_ids, lanes_by_id, orphaned_lanes
from hourhand.store.schema import PENDING, RUNNING, executors, leases, task_instances
from hourhand.store.sql import any_of, lease_clock, records, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id

EXPIRED = task_instances.c.lease_until < select(lease_clock()).scalar_subquery()
"""Its executor has been silent for a whole lease."""
_EXPIRED = Statement(
    select(*LOCKED_COLUMNS, task_instances.c.target_executor_id, task_instances.c.lane_id)
    .where(
        task_instances.c.status == RUNNING,
        # As all that run have; and the sum below: else SQLite reads the whole backlog by id, not the index of these.
        task_instances.c.executor_id.is_not(None),
        EXPIRED,
    )
    .order_by(task_instances.c.id + literal_column("0"))
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_UNHELD = Statement(
    select(*LOCKED_COLUMNS)
    .where(
        task_instances.c.status == RUNNING,
        task_instances.c.executor_id == bindparam("executor_id", type_=Text),
        ~any_of(task_instances.c.id, "held"),
    )
    .order_by(task_instances.c.id)
    .with_for_update()
)
_EXPIRE_ALL = Statement(
    update(task_instances).values(lease_until=lease_clock()).where(task_instances.c.status == RUNNING)
)
_FORGET_ALL = Statement(delete(executors))
_GIVE_ALL_LEASES = Statement(delete(leases))
_ORPHANED = Statement(
    select(*[task_instances.c[name] for name in ("id", "lane_id", "concurrency_key", "target_executor_id")])
    .where(
        any_of(task_instances.c.lane_id, "lanes"),
        or_(
            # Spelled as the claim indexes are, so that each lane is one probe.
            and_(task_instances.c.status == PENDING, task_instances.c.loss_count < text("2")),
            and_(task_instances.c.status == PENDING, task_instances.c.loss_count > text("1")),
            task_instances.c.blocked_by == text("'permit'"),
        ),
    )
    .order_by(task_instances.c.id)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_TARGETS = records("targets", {"id": Id, "target_executor_id": Text(), "lane_id": Id})
_RETARGET = Statement(
    update(task_instances)
    .values(
        target_executor_id=_TARGETS.c.target_executor_id,
        lane_id=_TARGETS.c.lane_id,
        # Never in the past: claimers of that lane look only above their low-water mark.
        available_at=func.greatest(task_instances.c.available_at, store_clock()),
    )
    .where(task_instances.c.id == _TARGETS.c.id)
)


async def reap(tx: Tx, versions: Versions, *, limit: int, lease_seconds: float) -> tuple[list[Decided], Aftermath]:
    """Guarantee 7: take back up to `limit` attempts whose executors fell silent."""
    rows = await tx.fetch(_EXPIRED, limit=limit)
    lost = [
        (
            row,
            Outcome(
                kind=OutcomeKind.LOST,
                error_message=f"executor {row['executor_id']} was lost: no heartbeat for a whole lease",
            ),
        )
        for row in rows
    ]
    decided = await decide(tx, lost, versions)
    aftermath = await apply(tx, decided)
    requeued = [one.row for one in decided if not one.transition.to.ended and one.row["target_executor_id"] is not None]
    gone = await orphaned_lanes(tx)
    if requeued or gone:
        alive = await alive_executors(tx, lease_seconds)
        orphaned = await _orphaned(tx, gone, alive, limit)
        await _retarget(tx, [*requeued, *orphaned], alive)
        aftermath.freed_keys |= {row["concurrency_key"] for row in orphaned if row["concurrency_key"] is not None}
    return decided, aftermath


async def _orphaned(
    tx: Tx, gone: Mapping[int, Lane], alive: Sequence[tuple[Executor, int]], limit: int
) -> Sequence[Row]:
    """Shards that wait for an executor that has left the registry and will never claim them.

    Only those that somebody alive can take: the others, which come again each time, would use up the limit.
    """
    takeable = [one for one, lane in gone.items() if able(alive, replace(lane, target_executor_id=""))]
    return await tx.fetch(_ORPHANED, lanes=takeable, limit=limit) if takeable else []


async def _retarget(tx: Tx, rows: Sequence[Row], alive: Sequence[tuple[Executor, int]]) -> None:
    """The shard of a lost executor goes to one that lives and has what its lane asks for."""
    if not rows:
        return
    known = await lanes_by_id(tx, [row["lane_id"] for row in rows])
    moved = {}
    for row in rows:
        lane = known[row["lane_id"]]
        target = retarget(row["target_executor_id"], able(alive, replace(lane, target_executor_id="")))
        if target != row["target_executor_id"]:
            moved[row["id"]] = replace(lane, target_executor_id=target or "")
    if moved:
        ids = await lane_ids(tx, moved.values())
        await tx.run(
            _RETARGET,
            targets=[
                {"id": one, "target_executor_id": lane.target_executor_id, "lane_id": ids[lane]}
                for one, lane in moved.items()
            ],
        )


async def hand_back_unheld(tx: Tx, versions: Versions, *, executor_id: str, held: Sequence[int]) -> Aftermath:
    """After a claim whose answer was lost: whatever runs under this executor's id that it does not hold."""
    rows = await tx.fetch(_UNHELD, executor_id=executor_id, held=list(held))
    decided = await decide(tx, [(row, Outcome(kind=OutcomeKind.HANDED_BACK)) for row in rows], versions)
    return await apply(tx, decided)


async def bury_the_dead(tx: Tx) -> None:
    """On opening a SQLite store: nobody else can be alive, so nobody is registered or holds a lease of any kind."""
    for statement in (_EXPIRE_ALL, _FORGET_ALL, _GIVE_ALL_LEASES):
        await tx.run(statement)
