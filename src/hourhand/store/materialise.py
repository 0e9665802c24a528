"""Store: materialise: instants that are due become instances or recorded skips; any number of schedulers, no leader."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic

from sqlalchemy import bindparam, func, select

from hourhand.model.answers import Aftermath, Materialised
from hourhand.model.errors import InvalidInput
from hourhand.model.pause import Stretch
from hourhand.model.registry import Executor
from hourhand.model.task import Task
from hourhand.model.window import Rest
from hourhand.model.words import OverlapPolicy, SkipReason, TriggeredBy
from hourhand.rules.endings import REPLACED
from hourhand.rules.misfire import SkipRun, due
from hourhand.rules.overlap import Verdict, overlap, policy_for
from hourhand.rules.pausing import covers, rests_of
from hourhand.rules.schedule import After, parse
from hourhand.store.cancel import cancel_instances
from hourhand.store.database import Row, Tx
from hourhand.store.definitions import SELECT_TASKS, tasks_by_id, with_dependencies
from hourhand.store.instants import Made, joined, make_instants, record_skips, targets_of
from hourhand.store.registry import alive_executors
from hourhand.store.rests import rests_since
from hourhand.store.schema import SCHEDULED, task_dependencies, task_instances, tasks
from hourhand.store.settle import ARM
from hourhand.store.sql import any_of, store_clock
from hourhand.store.statements import Statement

logger = logging.getLogger(__name__)
BURST = 1_000
"""At most this many instants of one task in one transaction; the rest follow in the next."""

PLANNING_SECONDS = 0.2
"""Planning is work for the processor alone: heartbeats of the same process must not wait for much of it."""
UNREADABLE_AGAIN = timedelta(minutes=1)
RECORDED_EVERY = timedelta(minutes=10)
"""What falls due in a pause or window is recorded this often: one row for all of it, not one for each instant."""

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
_FOLLOWED = Statement(
    select(task_dependencies.c.depends_on_id).distinct().where(any_of(task_dependencies.c.depends_on_id, "ids"))
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What must be known beside the tasks themselves."""

    live: dict[int, list[tuple[datetime, int]]]
    executors: list[tuple[Executor, int]]
    rests: list[Rest]
    followed: set[int]
    """Of the tasks that may rest, those that others depend on."""


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
        _, more = await cancel_instances(tx, replaced, REPLACED)
        aftermath.add(more)
    skips = Counter[SkipReason]()
    for run in (run for one in plans for run in one.skipped):
        skips[run.reason] += run.count
    return Materialised(tasks=len(plans), instants=made, skipped=skipped, skips=skips, aftermath=aftermath)


async def up_to_now(tx: Tx, task: Task, now: datetime, look_ahead: timedelta, lease_seconds: float) -> Aftermath:
    """Guarantee 2: what came due before a (locked) task is changed is made or skipped by what it was until then."""
    aftermath = Aftermath()
    while task.next_fire_at is not None and task.next_fire_at <= now:
        # Again while there are more than one transaction of the scheduler would make: here nobody comes back for them.
        done = await wake(tx, [task], now=now, horizon=now, look_ahead=look_ahead, lease_seconds=lease_seconds)
        aftermath.add(done.aftermath)
        before = task.next_fire_at
        (task,) = (await tasks_by_id(tx, [task.id])).values()
        if task.next_fire_at == before:
            break  # its schedule cannot be read here
    return aftermath


async def _surroundings(tx: Tx, locked: Sequence[Task], lease_seconds: float) -> Surroundings:
    exclusive = [task.id for task in locked if task.overlap_policy is not OverlapPolicy.PARALLEL]
    live: dict[int, list[tuple[datetime, int]]] = {}
    for row in await tx.fetch(_LIVE, ids=exclusive) if exclusive else ():
        live.setdefault(row["task_id"], []).append((row["scheduled_time"], row["id"]))
    executors = await alive_executors(tx, lease_seconds) if any(task.broadcast for task in locked) else []
    firing = [task.next_fire_at for task in locked if task.next_fire_at is not None]
    rests = await rests_since(tx, min(firing)) if firing else []
    resting = [task.id for task in locked if any(covers(one, task.id, task.group_id) for one in rests)]
    followed = {row["depends_on_id"] for row in await tx.fetch(_FOLLOWED, ids=resting)} if resting else set()
    return Surroundings(live, executors, rests, followed)


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
    rests = rests_of(around.rests, task.id, task.group_id)
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
        rests=rests,
    )
    result = Plan(task, skipped=list(found.skipped), next_fire_at=found.next_fire_at)
    early = look_ahead
    for instant in found.fire:
        if not _decide(result, instant, around, now):
            result.next_fire_at, early = instant, timedelta(0)
            break
    result.skipped = joined(result.skipped, [one.instant for one in result.made])
    if isinstance(schedule, After) and not result.made and result.next_fire_at is None:
        # A skipped `@after` instant has no end that would arm the next one.
        result.next_fire_at = now + schedule.delay
    if result.next_fire_at is not None:
        result.wake_at = result.next_fire_at - early
        if (rest := rests.at(result.next_fire_at)) is not None and result.next_fire_at > now:
            result.wake_at = _look_in_a_rest(result.next_fire_at, rest, now, followed=task.id in around.followed)
    return result


def _look_in_a_rest(instant: datetime, rest: Stretch, now: datetime, *, followed: bool) -> datetime:
    """When to record what falls due in a pause or window: once in a while, at the latest when that ends.

    Who depends on the task passes over what was skipped, and is not kept waiting for that.
    """
    look = instant if followed else max(instant, now + RECORDED_EVERY)
    return look if rest.end is None else min(look, rest.end)


def _decide(result: Plan, instant: datetime, around: Surroundings, now: datetime) -> bool:
    """Add what becomes of one instant to the plan; False if that is decided only at the instant itself."""
    task = result.task
    if instant > now and task.broadcast:
        return False  # who is alive then
    targets = targets_of(task, around.executors)
    if not targets:
        result.skip(instant, SkipReason.NO_EXECUTOR)
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
