"""Store: materialise: instants that are due become instances or recorded skips; any number of schedulers, no leader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import bindparam, func, select

from hourhand.model.answers import Materialised
from hourhand.model.registry import Executor
from hourhand.model.task import Task
from hourhand.model.words import OverlapPolicy, SkipReason, TriggeredBy
from hourhand.rules.broadcast import WHOLE, shards
from hourhand.rules.lanes import able, lane_of
from hourhand.rules.misfire import SkipRun, due
from hourhand.rules.overlap import Verdict, overlap
from hourhand.rules.schedule import After, parse
from hourhand.store.cancel import cancel_instances
from hourhand.store.database import Tx
from hourhand.store.definitions import SELECT_TASKS, with_dependencies
from hourhand.store.instants import Made, joined, make_instants, record_skips
from hourhand.store.registry import alive_executors, paused_tasks
from hourhand.store.schema import task_instances, tasks
from hourhand.store.settle import ARM
from hourhand.store.sql import any_of, store_clock
from hourhand.store.statements import Statement

BURST = 1_000
"""At most this many instants of one task in one transaction; the rest follow in the next."""

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
        task_instances.c.triggered_by == "scheduler",
        task_instances.c.manual_retries == 0,
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


async def materialise(tx: Tx, *, limit: int, look_ahead: timedelta, lease_seconds: float) -> Materialised:
    """Take the tasks to look at, skipping what other schedulers hold, and carry each forward."""
    rows = await tx.fetch(_DUE, limit=limit)
    if not rows:
        return Materialised()
    now = await tx.now()
    return await wake(
        tx,
        await with_dependencies(tx, rows),
        now=now,
        horizon=now + look_ahead,
        look_ahead=look_ahead,
        lease_seconds=lease_seconds,
    )


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
    plans = [plan(task, around, now=now, horizon=horizon, look_ahead=look_ahead) for task in locked]
    await tx.run(
        ARM, armed=[{"id": one.task.id, "next_fire_at": one.next_fire_at, "wake_at": one.wake_at} for one in plans]
    )
    made, aftermath = await make_instants(tx, [instant for one in plans for instant in one.made])
    skipped = await record_skips(tx, ((one.task, run) for one in plans for run in one.skipped), now)
    replaced = [instance_id for one in plans for instance_id in one.replaced]
    if replaced:
        _, more = await cancel_instances(tx, replaced, "replaced by the next instance (overlap_policy is replace)")
        aftermath.add(more)
    return Materialised(tasks=len(locked), instants=made, skipped=skipped, aftermath=aftermath)


async def _surroundings(tx: Tx, locked: Sequence[Task], lease_seconds: float) -> Surroundings:
    exclusive = [task.id for task in locked if task.overlap_policy is not OverlapPolicy.PARALLEL]
    live: dict[int, list[tuple[datetime, int]]] = {}
    for row in await tx.fetch(_LIVE, ids=exclusive) if exclusive else ():
        live.setdefault(row["task_id"], []).append((row["scheduled_time"], row["id"]))
    executors = await alive_executors(tx, lease_seconds) if any(task.broadcast for task in locked) else []
    return Surroundings(live, await paused_tasks(tx), executors)


def plan(task: Task, around: Surroundings, *, now: datetime, horizon: datetime, look_ahead: timedelta) -> Plan:
    """Decide every instant of one task up to the horizon, by the rules."""
    result = Plan(task)
    if task.next_fire_at is None:
        return result
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
    skipped = list(found.skipped)
    following = found.next_fire_at
    early = look_ahead
    live = around.live.get(task.id, [])
    newest = live[-1][0] if live else None
    for instant in found.fire:
        if instant > now and (task.broadcast or task.id in around.paused):
            following, early = (
                instant,
                timedelta(0),
            )  # who is alive, and whether it is paused, is decided at the instant
            break
        if task.id in around.paused:
            skipped.append(SkipRun(SkipReason.PAUSED, instant, instant, 1))
            continue
        targets = shards(able(around.executors, lane_of(task, task.group_id))) if task.broadcast else WHOLE
        if not targets:
            skipped.append(SkipRun(SkipReason.NO_EXECUTOR, instant, instant, 1))
            continue
        decision = overlap(task.overlap_policy, newest, instant, now)
        if decision.verdict is Verdict.LATER:
            following, early = instant, timedelta(0)
            break
        if decision.verdict is Verdict.SKIP:
            skipped.append(SkipRun(SkipReason.OVERLAP, instant, instant, 1))
            continue
        follows = decision.waits_on
        if decision.verdict is Verdict.REPLACE:
            # One that was to be made in this very transaction is never made; those that live are cancelled.
            skipped += [SkipRun(SkipReason.OVERLAP, one.instant, one.instant, 1) for one in result.made]
            result.made.clear()
            result.replaced = [instance_id for _, instance_id in live]
            follows = live[-1][0] if live else None
        result.made.append(Made(task, instant, TriggeredBy.SCHEDULER, shards=targets, follows=follows))
        newest = instant
    result.skipped = joined(sorted(skipped, key=lambda run: run.first))
    if isinstance(schedule, After) and not result.made and following is None:
        # A skipped `@after` instant has no end that would arm the next one.
        following = now + schedule.delay
    result.next_fire_at = following
    result.wake_at = None if following is None else following - early
    return result
