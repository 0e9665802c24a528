"""Store: reap: attempts whose lease has run out are lost; their instances go round again, or end."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Text, and_, bindparam, exists, func, literal_column, or_, select, text, update

from hourhand.model.answers import Aftermath
from hourhand.model.instance import Outcome
from hourhand.model.words import OutcomeKind
from hourhand.rules.broadcast import retarget
from hourhand.rules.lanes import able, lane_of
from hourhand.store.database import Row, Tx
from hourhand.store.definitions import Versions, tasks_by_id
from hourhand.store.finish import LOCKED_COLUMNS, Decided, apply, decide
from hourhand.store.registry import alive_executors, lane_ids
from hourhand.store.schema import PENDING, RUNNING, executors, lanes, task_instances
from hourhand.store.sql import any_of, lease_clock, records, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id

_EXPIRED = Statement(
    select(*LOCKED_COLUMNS, task_instances.c.target_executor_id)
    .where(
        task_instances.c.status == RUNNING,
        # As all that run have; and the sum below: else SQLite reads the whole backlog by id, not the index of these.
        task_instances.c.executor_id.is_not(None),
        task_instances.c.lease_until < select(lease_clock()).scalar_subquery(),
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
_ORPHANED_LANES = Statement(
    select(lanes.c.id).where(
        lanes.c.target_executor_id != "", ~exists().where(executors.c.id == lanes.c.target_executor_id)
    )
)
_ORPHANED = Statement(
    select(*[task_instances.c[name] for name in ("id", "task_id", "concurrency_key", "target_executor_id")])
    .where(
        any_of(task_instances.c.lane_id, "lanes"),
        or_(
            # Spelled as the claim indexes are, so that each lane is one probe.
            and_(task_instances.c.status == PENDING, task_instances.c.loss_count == text("0")),
            and_(task_instances.c.status == PENDING, task_instances.c.loss_count > text("0")),
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
    orphaned = await _orphaned(tx, limit)
    requeued = [one.row for one in decided if not one.transition.to.ended]
    await _retarget(tx, [*requeued, *orphaned], lease_seconds)
    aftermath.freed_keys |= {row["concurrency_key"] for row in orphaned if row["concurrency_key"] is not None}
    return decided, aftermath


async def _orphaned(tx: Tx, limit: int) -> Sequence[Row]:
    """Shards that wait for an executor that has left the registry and will never claim them."""
    gone = [row["id"] for row in await tx.fetch(_ORPHANED_LANES)]
    return await tx.fetch(_ORPHANED, lanes=gone, limit=limit) if gone else []


async def _retarget(tx: Tx, rows: Sequence[Row], lease_seconds: float) -> None:
    """The shard of a lost executor goes to one that lives."""
    bound = [row for row in rows if row["target_executor_id"] is not None]
    if not bound:
        return
    known = await tasks_by_id(tx, [row["task_id"] for row in bound])
    alive = await alive_executors(tx, lease_seconds)
    moved = {}
    for row in bound:
        task = known[row["task_id"]]
        target = retarget(row["target_executor_id"], able(alive, lane_of(task, task.group_id)))
        if target != row["target_executor_id"]:
            moved[row["id"]] = lane_of(task, task.group_id, target or "")
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


async def expire_all_leases(tx: Tx) -> int:
    """On opening a SQLite store: nobody else can be alive, so nobody holds a lease."""
    return await tx.run(_EXPIRE_ALL)
