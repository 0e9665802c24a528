"""Store: materialise: instants that are due become instances or recorded skips; any number of schedulers, no leader."""

from __future__ import annotations

import logging
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic

from sqlalchemy import bindparam, func, select

from hourhand.model.answers import Materialised
from hourhand.model.errors import InvalidInput
from hourhand.model.registry import Executor
from hourhand.model.task import Task
from hourhand.model.words import OverlapPolicy, SkipReason, TriggeredBy
from hourhand.rules.misfire import SkipRun, due
from hourhand.rules.overlap import Verdict, overlap, policy_for
from hourhand.rules.schedule import After, parse
from hourhand.store.cancel import cancel_instances
from hourhand.store.database import Row, Tx
from hourhand.store.definitions import SELECT_TASKS, with_dependencies
from hourhand.store.instants import Made, joined, make_instants, record_skips, targets_of
from hourhand.store.registry import alive_executors, paused_tasks
from hourhand.store.schema import SCHEDULED, task_instances, tasks
from hourhand.store.settle import ARM
from hourhand.store.sql import any_of, store_clock
from hourhand.store.statements import Statement

logger = logging.getLogger(__name__)
BURST = 1_000
"""At most this many instants of one task in one transaction; the rest follow in the next."""

PLANNING_SECONDS = 0.2
"""Planning is work for the processor alone: heartbeats of the same process must not wait for much of it."""
UNREADABLE_AGAIN = timedelta(minutes=1)

_DUE = Statement(
    SELECT_TASKS
    # A scalar subquery, since a volatile function itself would keep the index from being used.
    .where(tasks.c.wake_at.is_not(None), tasks.c.wake_at <= select(store_clock()).scalar_subquery())
    .order_by(tasks.c.wake_at)
    .limit(bindparam("limit"))
    .with_for_update(of=tasks, skip_locked=True)
)
_NEXT_WAKE = Statement(select(func.min(tasks.c.wake_at).label("wake_at")).where(tasks.c.wake_at.is_not(None)))
_LIVE = Statement(
    select(task_instances.c.id, task_instances.c.task_id, task_instances.c.scheduled_time)
    .where(
        any_of(task_instances.c.task_id, "ids"),
        SCHEDULED,
    )
    .order_by(task_instances.c.task_id, task_instances.c.scheduled_time)
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What must be known beside the tasks themselves."""

    live: dict[int, list[tuple[datetime, int]]]
    paused: set[int]
    executors: list[tuple[Executor, int]]


@dataclass(slots=True)
class Plan:
    """What becomes of one task's instants."""

    task: Task
    made: list[Made] = field(default_factory=list)
    skipped: list[SkipRun] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)
    next_fire_at: datetime | None = None
    wake_at: datetime | None = None

    def skip(self, instant: datetime, reason: SkipReason) -> None:
        """Note one instant that is not made."""
        self.skipped.append(SkipRun(reason, instant, instant, 1))


async def materialise(tx: Tx, *, limit: int, look_ahead: timedelta, lease_seconds: float) -> Materialised:
    """Take the tasks to look at, skipping what other schedulers hold, and carry each forward."""
    rows = await tx.fetch(_DUE, limit=limit)
    if not rows:
        return Materialised()
    now = await tx.now()
    locked = await with_dependencies(tx, rows)
    postponed = await _postpone(tx, rows, {task.id for task in locked}, now)
    done = Materialised()
    if locked:
        done = await wake(
            tx, locked, now=now, horizon=now + look_ahead, look_ahead=look_ahead, lease_seconds=lease_seconds
        )
    done.tasks += postponed
    return done


async def _postpone(tx: Tx, rows: Sequence[Row], read: Container[int], now: datetime) -> int:
    """Guarantee 10: what this release cannot read is looked at again later, by whoever can; how many.

    Their instants stay due: who reads them next makes them, or records why not (guarantee 2).
    """
    later = now + UNREADABLE_AGAIN
    armed = [
        {"id": row["id"], "next_fire_at": row["next_fire_at"], "wake_at": later}
        for row in rows
        if row["id"] not in read
    ]
    if armed:
        await tx.run(ARM, armed=armed)
    return len(armed)


async def next_wake(tx: Tx) -> datetime | None:
    """When the next task is to be looked at."""
    (row,) = await tx.fetch(_NEXT_WAKE)
    wake_at: datetime | None = row["wake_at"]
    return wake_at


async def wake(
    tx: Tx,
    locked: Sequence[Task],
    *,
    now: datetime,
    horizon: datetime,
    look_ahead: timedelta,
    lease_seconds: float,
) -> Materialised:
    """Make or skip all instants of these (locked) tasks up to the horizon and advance their schedules."""
    around = await _surroundings(tx, locked, lease_seconds)
    plans = _plans(locked, around, now=now, horizon=horizon, look_ahead=look_ahead)
    await tx.run(
        ARM, armed=[{"id": one.task.id, "next_fire_at": one.next_fire_at, "wake_at": one.wake_at} for one in plans]
    )
    made, aftermath = await make_instants(tx, [instant for one in plans for instant in one.made])
    skipped = await record_skips(tx, ((one.task, run) for one in plans for run in one.skipped), now)
    replaced = [instance_id for one in plans for instance_id in one.replaced]
    if replaced:
        _, more = await cancel_instances(tx, replaced, "replaced by the next instance (overlap_policy is replace)")
        aftermath.add(more)
    return Materialised(tasks=len(plans), instants=made, skipped=skipped, aftermath=aftermath)


async def _surroundings(tx: Tx, locked: Sequence[Task], lease_seconds: float) -> Surroundings:
    exclusive = [task.id for task in locked if task.overlap_policy is not OverlapPolicy.PARALLEL]
    live: dict[int, list[tuple[datetime, int]]] = {}
    for row in await tx.fetch(_LIVE, ids=exclusive) if exclusive else ():
        live.setdefault(row["task_id"], []).append((row["scheduled_time"], row["id"]))
    executors = await alive_executors(tx, lease_seconds) if any(task.broadcast for task in locked) else []
    return Surroundings(live, await paused_tasks(tx), executors)


def _plans(
    locked: Sequence[Task], around: Surroundings, *, now: datetime, horizon: datetime, look_ahead: timedelta
) -> list[Plan]:
    """Plan one task after the other, as many as the time allows; the rest are as due as before."""
    plans: list[Plan] = []
    until = monotonic() + PLANNING_SECONDS
    for task in locked:
        if plans and monotonic() > until:
            break
        try:
            plans.append(plan(task, around, now=now, horizon=horizon, look_ahead=look_ahead))
        except InvalidInput as error:
            # Guarantee 10: one bad row never blocks the rest. Another host may have the zone that this one lacks.
            logger.warning(
                "task %s (%r) cannot be planned here and is looked at again later: %s", task.id, task.name, error
            )
            plans.append(Plan(task, next_fire_at=task.next_fire_at, wake_at=now + UNREADABLE_AGAIN))
    return plans


def plan(task: Task, around: Surroundings, *, now: datetime, horizon: datetime, look_ahead: timedelta) -> Plan:
    """Decide every instant of one task up to the horizon, by the rules."""
    if task.next_fire_at is None:
        return Plan(task)
    schedule = parse(task.schedule, task.timezone)
    found = due(
        schedule,
        task.anchored_at,
        task.next_fire_at,
        now=now,
        horizon=horizon,
        policy=task.misfire_policy,
        grace_seconds=task.misfire_grace_seconds,
        catch_up_limit=task.catch_up_limit,
        burst=BURST,
    )
    result = Plan(task, skipped=list(found.skipped), next_fire_at=found.next_fire_at)
    early = look_ahead
    for instant in found.fire:
        if not _decide(result, instant, around, now):
            result.next_fire_at, early = instant, timedelta(0)
            break
    result.skipped = joined(sorted(result.skipped, key=lambda run: run.first))
    if isinstance(schedule, After) and not result.made and result.next_fire_at is None:
        # A skipped `@after` instant has no end that would arm the next one.
        result.next_fire_at = now + schedule.delay
    result.wake_at = None if result.next_fire_at is None else result.next_fire_at - early
    return result


def _decide(result: Plan, instant: datetime, around: Surroundings, now: datetime) -> bool:
    """Add what becomes of one instant to the plan; False if that is decided only at the instant itself."""
    task = result.task
    paused = task.id in around.paused
    if instant > now and (task.broadcast or paused):
        return False  # who is alive, and whether it is still paused
    targets = targets_of(task, around.executors)
    if paused or not targets:
        result.skip(instant, SkipReason.PAUSED if paused else SkipReason.NO_EXECUTOR)
        return True
    live = around.live.get(task.id, [])
    newest = result.made[-1].instant if result.made else live[-1][0] if live else None
    missed = instant < now - timedelta(seconds=task.misfire_grace_seconds)
    policy = policy_for(task.overlap_policy, task.misfire_policy, missed=missed)
    decision = overlap(policy, newest, instant, now)
    follows = decision.waits_on
    match decision.verdict:
        case Verdict.LATER:
            return False
        case Verdict.SKIP:
            result.skip(instant, SkipReason.OVERLAP)
            return True
        case Verdict.REPLACE:
            # One that was to be made in this very transaction is never made; those that live are cancelled.
            for one in result.made:
                result.skip(one.instant, SkipReason.OVERLAP)
            result.made.clear()
            result.replaced = [instance_id for _, instance_id in live]
            follows = live[-1][0] if live else None
    result.made.append(Made(task, instant, TriggeredBy.SCHEDULER, shards=targets, follows=follows))
    return True
