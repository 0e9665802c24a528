"""Store: reap: attempts whose lease has run out are lost; their instances go round again, or end."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Text, bindparam, select, update

from hourhand.model.answers import Aftermath
from hourhand.model.instance import Outcome
from hourhand.model.words import OutcomeKind
from hourhand.rules.broadcast import retarget
from hourhand.rules.lanes import able, lane_of
from hourhand.store.database import Row, Tx
from hourhand.store.definitions import Versions, tasks_by_id
from hourhand.store.finish import LOCKED_COLUMNS, Decided, apply, decide
from hourhand.store.registry import alive_executors, lane_ids
from hourhand.store.schema import RUNNING, task_instances
from hourhand.store.sql import any_of, lease_clock, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id

_EXPIRED = Statement(
    select(*LOCKED_COLUMNS, task_instances.c.target_executor_id)
    .where(
        task_instances.c.status == RUNNING,
        task_instances.c.lease_until < select(lease_clock()).scalar_subquery(),
    )
    .order_by(task_instances.c.id)
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
_TARGETS = records("targets", {"id": Id, "target_executor_id": Text(), "lane_id": Id})
_RETARGET = Statement(
    update(task_instances)
    .values(target_executor_id=_TARGETS.c.target_executor_id, lane_id=_TARGETS.c.lane_id)
    .where(task_instances.c.id == _TARGETS.c.id)
)


async def reap(tx: Tx, versions: Versions, *, limit: int, lease_seconds: float) -> tuple[list[Decided], Aftermath]:
    """Guarantee 7: take back up to `limit` attempts whose executors fell silent."""
    rows = await tx.fetch(_EXPIRED, limit=limit)
    if not rows:
        return [], Aftermath()
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
    await _retarget(tx, [one.row for one in decided if not one.transition.to.ended], lease_seconds)
    return decided, aftermath


async def _retarget(tx: Tx, rows: Sequence[Row], lease_seconds: float) -> None:
    """The shard of a lost executor goes to one that lives."""
    bound = [row for row in rows if row["target_executor_id"] is not None]
    if not bound:
        return
    known = await tasks_by_id(tx, [row["task_id"] for row in bound])
    alive = await alive_executors(tx, lease_seconds)
    lanes = {}
    for row in bound:
        task = known[row["task_id"]]
        target = retarget(row["target_executor_id"], able(alive, lane_of(task, task.group_id)))
        if target != row["target_executor_id"]:
            lanes[row["id"]] = lane_of(task, task.group_id, target or "")
    if lanes:
        ids = await lane_ids(tx, lanes.values())
        await tx.run(
            _RETARGET,
            targets=[
                {"id": one, "target_executor_id": lane.target_executor_id, "lane_id": ids[lane]}
                for one, lane in lanes.items()
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
