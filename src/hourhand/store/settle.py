"""Store: settle: what follows from an ending, in a transaction of its own after that of the ending.

Releasing dependents inside the finish loses some: two upstreams ending in two batches each see the other's wait, and
a wait inserted while the finish is uncommitted is never seen. Here everything is read after the commit, and whatever
a crash leaves behind is still marked `unsettled` in the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import BigInteger, bindparam, func, select, update

from hourhand.model.answers import Aftermath
from hourhand.model.errors import InvalidInput
from hourhand.model.pause import PauseScope
from hourhand.model.task import Task
from hourhand.model.words import SkipReason, TriggeredBy
from hourhand.rules.misfire import SkipRun
from hourhand.rules.pausing import stretch_at
from hourhand.rules.schedule import After, Upstream, parse
from hourhand.store.database import Row, Tx
from hourhand.store.definitions import lock_tasks
from hourhand.store.instants import Made, make_instants, record_skips, targets_of
from hourhand.store.moving import LOCK_INSTANTS
from hourhand.store.registry import alive_executors
from hourhand.store.release import EVALUATED_AT_ONCE, WAITING_ON, evaluate
from hourhand.store.rests import rests_since
from hourhand.store.schema import SCHEDULED, task_dependencies, task_instances, task_instants, tasks
from hourhand.store.sql import any_of, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant

Point = tuple[int, datetime]
_UNSETTLED = select(task_instants).where(task_instants.c.unsettled.is_not(None))
_ANY_UNSETTLED = Statement(_UNSETTLED.order_by(task_instants.c.unsettled).limit(bindparam("limit")))
_POINTS = records("points", {"task_id": Id, "scheduled_time": Instant()})
_THESE_UNSETTLED = Statement(
    _UNSETTLED.join(
        _POINTS,
        (_POINTS.c.task_id == task_instants.c.task_id) & (_POINTS.c.scheduled_time == task_instants.c.scheduled_time),
    )
)
_MADE = Statement(
    select(task_instants.c.task_id, task_instants.c.scheduled_time).join(
        _POINTS,
        (_POINTS.c.task_id == task_instants.c.task_id) & (_POINTS.c.scheduled_time == task_instants.c.scheduled_time),
    )
)
_DEPENDENTS = Statement(
    select(task_dependencies.c.task_id, task_dependencies.c.depends_on_id)
    .join(tasks, tasks.c.id == task_dependencies.c.task_id)
    .where(
        any_of(task_dependencies.c.depends_on_id, "ids"),
        tasks.c.schedule == "@upstream",
        tasks.c.enabled,
        tasks.c.deleted_at.is_(None),
    )
)
_AFTER_TASKS = Statement(
    select(tasks.c.id).where(
        any_of(tasks.c.id, "ids"),
        tasks.c.schedule.like("@after%"),
        tasks.c.enabled,
        tasks.c.deleted_at.is_(None),
        tasks.c.next_fire_at.is_(None),
    )
)
_NEWEST = Statement(
    select(task_instants.c.task_id, func.max(task_instants.c.scheduled_time).label("newest"))
    .where(any_of(task_instants.c.task_id, "ids"))
    .group_by(task_instants.c.task_id)
)
_LIVING = Statement(
    select(task_instances.c.task_id).distinct().where(any_of(task_instances.c.task_id, "ids"), SCHEDULED)
)
_ARM = records("armed", {"id": Id, "next_fire_at": Instant(), "wake_at": Instant()})
ARM = Statement(
    update(tasks).values(next_fire_at=_ARM.c.next_fire_at, wake_at=_ARM.c.wake_at).where(tasks.c.id == _ARM.c.id)
)
_SETTLED = records("settled", {"task_id": Id, "scheduled_time": Instant(), "unsettled": BigInteger()})
_CLEAR = Statement(
    update(task_instants)
    .values(unsettled=None)
    .where(
        task_instants.c.task_id == _SETTLED.c.task_id,
        task_instants.c.scheduled_time == _SETTLED.c.scheduled_time,
        # Retried and ended again in the meantime: that ending is settled on its own.
        task_instants.c.unsettled == _SETTLED.c.unsettled,
    )
)


async def settle(
    tx: Tx, points: Iterable[tuple[int, datetime]] | None, *, limit: int, look_ahead: timedelta, lease_seconds: float
) -> tuple[int, Aftermath]:
    """Look after the endings of these instants, or of any; how many there were, and what follows in turn."""
    if points is None:
        unsettled = await tx.fetch(_ANY_UNSETTLED, limit=limit)
    else:
        wanted = [{"task_id": task_id, "scheduled_time": time} for task_id, time in sorted(points)]
        unsettled = await tx.fetch(_THESE_UNSETTLED, points=wanted)
    if not unsettled:
        return 0, Aftermath()
    ended = [row["task_id"] for row in unsettled]
    dependents = await tx.fetch(_DEPENDENTS, ids=ended)
    again = {row["id"] for row in await tx.fetch(_AFTER_TASKS, ids=ended)}
    # Tasks first, ascending: dependents shared (other settlers may pass, edits may not), re-armed ones exclusively.
    locked = await lock_tasks(tx, [row["task_id"] for row in dependents], share=True, unreadable=True)
    aftermath = await _make_downstream(tx, unsettled, dependents, locked, lease_seconds)
    armed = await lock_tasks(tx, again, unreadable=True)
    await _rearm(tx, unsettled, armed, look_ahead)
    ends = [{"task_id": row["task_id"], "at": row["scheduled_time"]} for row in unsettled]
    waiting = {row["instance_id"] for row in await tx.fetch(WAITING_ON, points=ends, limit=EVALUATED_AT_ONCE)}
    # Those made just now are evaluated after this commit, since their other upstreams may be ending at this moment.
    aftermath.add(await evaluate(tx, waiting - aftermath.waiting))
    if len(waiting) == EVALUATED_AT_ONCE:
        # More may wait for these: they stay unsettled, here and in the ledger, until nobody does.
        aftermath.unsettled |= {(row["task_id"], row["scheduled_time"]) for row in unsettled}
        return len(unsettled), aftermath
    # What follows for a task that cannot be read here is left to a process that can read it.
    left = {row["depends_on_id"] for row in dependents if row["task_id"] not in locked} | (again - armed.keys())
    settled = [
        {name: row[name] for name in ("task_id", "scheduled_time", "unsettled")}
        for row in unsettled
        if row["task_id"] not in left
    ]
    if settled:
        await tx.fetch(LOCK_INSTANTS, instants=settled)
        await tx.run(_CLEAR, settled=settled)
    return len(settled), aftermath


async def _make_downstream(
    tx: Tx, unsettled: Sequence[Row], dependents: Sequence[Row], locked: dict[int, Task], lease_seconds: float
) -> Aftermath:
    """An `@upstream` task has an instant as soon as one of its dependencies has ended that instant."""
    following = {
        (dependent["task_id"], row["scheduled_time"])
        for row in unsettled
        for dependent in dependents
        if dependent["depends_on_id"] == row["task_id"]
        and dependent["task_id"] in locked
        and _is(Upstream, locked[dependent["task_id"]])
    }
    now = await tx.now()
    following, rested = await _without_resting(tx, following, now) if following else (following, {})
    alive = await alive_executors(tx, lease_seconds) if any(locked[one].broadcast for one, _ in following) else []
    made = [
        Made(locked[task_id], instant, TriggeredBy.DEPENDENCY, shards=targets_of(locked[task_id], alive))
        for task_id, instant in sorted(following)
    ]
    nobody = [
        (one.task, SkipRun(SkipReason.NO_EXECUTOR, one.instant, one.instant, 1)) for one in made if not one.shards
    ]
    resting = [(locked[one], SkipRun(why, instant, instant, 1)) for (one, instant), why in sorted(rested.items())]
    await record_skips(tx, [*nobody, *resting], now)
    _, aftermath = await make_instants(tx, [one for one in made if one.shards])
    return aftermath


async def _without_resting(tx: Tx, following: set[Point], now: datetime) -> tuple[set[Point], dict[Point, SkipReason]]:
    """Those to be made, and those that are skipped since their task rests; not those that were made before.

    A rest of their group or of everything skips none: what they follow has happened, so they are made, and wait.
    """
    resting: dict[int | None, SkipReason] = {}
    for one in await rests_since(tx, now):
        if one.scope is PauseScope.TASK and (stretch := stretch_at(one, now)) is not None:
            resting[one.scope_id] = stretch.reason
    rested = {point: resting[point[0]] for point in following if point[0] in resting}
    if rested:
        points = [{"task_id": task_id, "scheduled_time": at} for task_id, at in sorted(rested)]
        made = {(row["task_id"], row["scheduled_time"]) for row in await tx.fetch(_MADE, points=points)}
        return following - rested.keys(), {point: why for point, why in rested.items() if point not in made}
    return following, rested


def _is(form: type[Upstream | After], task: Task) -> bool:
    """Looked at again under the lock: it may have been edited in the meantime."""
    if not task.enabled or task.deleted_at is not None:
        return False
    try:
        return isinstance(parse(task.schedule, task.timezone), form)
    except InvalidInput:  # this host's zone data may lack what another host's has
        return False


async def _rearm(tx: Tx, unsettled: Sequence[Row], locked: dict[int, Task], look_ahead: timedelta) -> None:
    """`@after`: the next instant is the end of the last one plus the delay; not while another one lives."""
    unarmed = {task.id for task in locked.values() if task.next_fire_at is None and _is(After, task)}
    if not unarmed:
        return
    newest = {row["task_id"]: row["newest"] for row in await tx.fetch(_NEWEST, ids=sorted(unarmed))}
    unarmed -= {row["task_id"] for row in await tx.fetch(_LIVING, ids=sorted(unarmed))}
    ended = {row["task_id"]: row["ended_at"] for row in unsettled if row["task_id"] in unarmed}
    armed = []
    for task_id, ended_at in ended.items():
        task = locked[task_id]
        delay = cast("After", parse(task.schedule, task.timezone)).delay
        # Above the newest instant: the clock may have been set back, and an instant is made only once.
        instant = max(ended_at + delay, newest[task_id] + timedelta(microseconds=1))
        armed.append({"id": task_id, "next_fire_at": instant, "wake_at": instant - look_ahead})
    if armed:
        await tx.run(ARM, armed=armed)
