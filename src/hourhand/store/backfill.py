"""Store: backfill: a range of instants on request, only those that were never made."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Text, bindparam, select

from hourhand.model.answers import Aftermath
from hourhand.model.errors import InvalidInput, NotFound
from hourhand.model.task import Task
from hourhand.model.words import TriggeredBy
from hourhand.rules.pausing import rests_of
from hourhand.rules.schedule import is_clocked, next_instant, parse
from hourhand.store.database import Tx
from hourhand.store.definitions import lock_tasks, tasks_by_id
from hourhand.store.instants import Made, make_instants, targets_of
from hourhand.store.materialise import up_to_now
from hourhand.store.registry import alive_executors
from hourhand.store.rests import rests_since
from hourhand.store.schema import store_values
from hourhand.store.statements import Statement
from hourhand.store.types import from_micros

MOST_INSTANTS = 10_000
LEDGER_FLOOR = "ledger_floor"
_FLOOR = Statement(select(store_values.c.number).where(store_values.c.name == bindparam("name", type_=Text)))


async def ledger_floor(tx: Tx) -> datetime | None:
    """Below this the ledger has been pruned and cannot tell what was made."""
    rows = await tx.fetch(_FLOOR, name=LEDGER_FLOOR)
    return from_micros(rows[0]["number"]) if rows and rows[0]["number"] is not None else None


async def backfill(
    tx: Tx, task_id: int, begin: datetime, end: datetime, *, by: str, look_ahead: timedelta, lease_seconds: float
) -> tuple[int, Aftermath]:
    """Make the instants of [begin, end] that have no ledger row; instants still to come are left to the scheduler."""
    _check_range(begin, end)
    task = (await lock_tasks(tx, [task_id])).get(task_id)
    if task is None or task.deleted_at is not None:
        raise NotFound("task", task_id)
    schedule = parse(task.schedule, task.timezone)
    now = await tx.now()
    if not is_clocked(schedule):
        raise InvalidInput.one(
            "schedule", task.schedule, f"{task.schedule!r} has no instants of its own to backfill: run the task instead"
        )
    floor = await ledger_floor(tx)
    # Of a task that is younger than what was pruned the ledger still knows everything.
    if floor is not None and begin < floor and task.created_at < floor:
        raise InvalidInput.one(
            "from",
            begin.isoformat(),
            f"what happened before {floor.isoformat()} is no longer known (retention): begin there or later",
        )
    before = Aftermath()
    if await _rested(tx, task, now):
        before = await up_to_now(tx, task, now, look_ahead, lease_seconds)
        (task,) = (await tasks_by_id(tx, [task_id])).values()
    last = min(end, now if task.next_fire_at is None else min(now, task.next_fire_at - timedelta(microseconds=1)))
    targets = targets_of(task, await alive_executors(tx, lease_seconds) if task.broadcast else [])
    if not targets:
        raise InvalidInput.one("task_id", task_id, f"no executor of group {task.group!r} is alive to broadcast to")
    instants: list[datetime] = []
    instant = next_instant(schedule, begin - timedelta(microseconds=1), task.anchored_at)
    while instant is not None and instant <= last:
        if len(instants) == MOST_INSTANTS:
            raise InvalidInput.one(
                "to", end.isoformat(), f"the range has more than {MOST_INSTANTS} instants: ask for a shorter one"
            )
        instants.append(instant)
        instant = next_instant(schedule, instant, task.anchored_at)
    if not instants:
        return 0, before
    made = [Made(task, one, TriggeredBy.BACKFILL, shards=targets, requested_by=by) for one in instants]
    count, aftermath = await make_instants(tx, made)
    aftermath.add(before)
    return count, aftermath


async def _rested(tx: Tx, task: Task, now: datetime) -> bool:
    """Whether there are instants that a pause or window has passed over and nobody has recorded yet."""
    first = task.next_fire_at
    if first is None or first > now:
        return False
    return rests_of(await rests_since(tx, first), task.id, task.group_id).at(first) is not None


def _check_range(begin: datetime, end: datetime) -> None:
    for field, time in (("from", begin), ("to", end)):
        if time.utcoffset() is None:
            raise InvalidInput.one(
                field, time.isoformat(), f"{time.isoformat()} has no time zone: write {time.isoformat()}Z for UTC"
            )
    if begin > end:
        raise InvalidInput.one("from", begin.isoformat(), f"{begin.isoformat()} is after `to` ({end.isoformat()})")
