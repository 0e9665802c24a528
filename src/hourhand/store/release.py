"""Store: release: a planned instance goes on when what it waits for has come.

A release is decided under the dependent's row lock by a second statement that evaluates all its waits; nothing is
ever counted down, so two upstreams that end at the same time cannot each leave the release to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Text, bindparam, func, select, update

from hourhand.model.answers import Aftermath
from hourhand.model.words import DependencyMode, Requires, Status, UpstreamFailurePolicy
from hourhand.rules.dependency import Release, Standing, release, standing, still_to_come
from hourhand.rules.lifecycle import entry, require_edge
from hourhand.store.database import Row, Tx
from hourhand.store.moving import DELETE_WAITS, SEAM, End, end_instances
from hourhand.store.rows import say_once
from hourhand.store.schema import PLANNED, SCHEDULED, instance_waits, task_instances, task_instants, tasks
from hourhand.store.sql import any_of, records, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id
from hourhand.store.waits import MISSING, POINTS, WAITS, resolve, upstreams_by_id

_NOTE_WAITS = Statement(
    update(instance_waits)
    .values(upstream_time=WAITS.c.upstream_time, seen=WAITS.c.seen)
    .where(
        instance_waits.c.instance_id == WAITS.c.instance_id,
        instance_waits.c.upstream_task_id == WAITS.c.upstream_task_id,
    )
)
_LOCK_WAITING = Statement(
    select(
        *[task_instances.c[name] for name in SEAM],
        task_instances.c.created_at,
        select(store_clock()).scalar_subquery().label("now"),
    )
    .where(any_of(task_instances.c.id, "ids"), task_instances.c.blocked_by == "dependencies")
    .order_by(task_instances.c.id)
    .with_for_update()
)
POLICIES = Statement(
    select(
        tasks.c.id, tasks.c.dependency_mode, tasks.c.upstream_failure_policy, tasks.c.dependency_timeout_seconds
    ).where(any_of(tasks.c.id, "ids"))
)
_WAITS_OF = Statement(
    select(
        instance_waits,
        task_instants.c.task_id.label("found"),
        task_instants.c.outcome,
    )
    .outerjoin(
        task_instants,
        (task_instants.c.task_id == instance_waits.c.upstream_task_id)
        & (task_instants.c.scheduled_time == instance_waits.c.upstream_time),
    )
    .where(any_of(instance_waits.c.instance_id, "ids"))
)
_OUTCOMES = Statement(
    select(task_instants.c.task_id, task_instants.c.scheduled_time, task_instants.c.outcome).join(
        POINTS,
        (task_instants.c.task_id == POINTS.c.task_id) & (task_instants.c.scheduled_time == POINTS.c.at),
    )
)
_predecessor = (
    select(func.max(task_instances.c.scheduled_time))
    .where(task_instances.c.task_id == POINTS.c.task_id, task_instances.c.scheduled_time < POINTS.c.at, SCHEDULED)
    .scalar_subquery()
)
_PREDECESSORS = Statement(select(POINTS.c.task_id, POINTS.c.at, _predecessor.label("newest")))
_MOVES = records("moves", {"id": Id, "status": Text(), "blocked_by": Text()})
UNBLOCK = Statement(
    update(task_instances)
    .values(
        status=_MOVES.c.status,
        blocked_by=_MOVES.c.blocked_by,
        available_at=func.greatest(task_instances.c.available_at, store_clock()),
        queued_at=store_clock(),
    )
    .where(task_instances.c.id == _MOVES.c.id, task_instances.c.status == PLANNED)
)

WAITING_ON = Statement(
    select(instance_waits.c.instance_id)
    .distinct()
    .join(
        POINTS,
        (instance_waits.c.upstream_task_id == POINTS.c.task_id) & (instance_waits.c.upstream_time == POINTS.c.at),
    )
    .join(
        task_instants,
        (task_instants.c.task_id == POINTS.c.task_id) & (task_instants.c.scheduled_time == POINTS.c.at),
    )
    # Those that have seen this ending already wait for something else.
    .where(task_instants.c.outcome.is_distinct_from(instance_waits.c.seen))
    .order_by(instance_waits.c.instance_id)
    .limit(bindparam("limit"))
)


@dataclass(slots=True, eq=False)
class Wait:
    """One wait while it is being evaluated, to release its instance or to explain why it waits."""

    instance_id: int
    upstream_task_id: int
    upstream_time: datetime | None
    requires: Requires
    exists: bool
    outcome: Status | None
    coming: bool = False

    @property
    def standing(self) -> Standing:
        """How it stands."""
        return Standing.OPEN if self.coming else standing(self.requires, self.outcome, exists=self.exists)

    @property
    def seen(self) -> str | None:
        """What is noted of its upstream, so that only a change is looked at again."""
        if self.exists:
            return self.outcome and self.outcome.value
        return None if self.coming else MISSING


async def evaluate_waits(tx: Tx, instances: Mapping[int, Row]) -> list[Wait]:
    """All waits of these instances as they stand now."""
    waits = [
        Wait(
            instance_id=row["instance_id"],
            upstream_task_id=row["upstream_task_id"],
            upstream_time=row["upstream_time"],
            requires=Requires(row["requires"]),
            exists=row["found"] is not None,
            outcome=Status(row["outcome"]) if row["outcome"] is not None else None,
        )
        for row in await tx.fetch(_WAITS_OF, ids=sorted(instances))
    ]
    own = [wait for wait in waits if wait.upstream_task_id == instances[wait.instance_id]["task_id"]]
    await _look_for_predecessors(tx, own, instances)
    await _pass_over(tx, [wait for wait in waits if not wait.exists and wait not in own], instances)
    return waits


async def _look_for_predecessors(tx: Tx, own: Sequence[Wait], instances: Mapping[int, Row]) -> None:
    """An instance that waits for its turn waits for all earlier ones: the one it was made behind may be gone first."""
    if not own:
        return
    points = {(wait.upstream_task_id, instances[wait.instance_id]["scheduled_time"]) for wait in own}
    rows = await tx.fetch(_PREDECESSORS, points=[{"task_id": task_id, "at": at} for task_id, at in sorted(points)])
    newest = {(row["task_id"], row["at"]): row["newest"] for row in rows}
    for wait in own:
        before = newest[wait.upstream_task_id, instances[wait.instance_id]["scheduled_time"]]
        wait.exists, wait.outcome = before is not None, None
        wait.upstream_time = before or wait.upstream_time


async def _pass_over(tx: Tx, absent: Sequence[Wait], instances: Mapping[int, Row]) -> None:
    """Instants that were skipped or removed are passed over: the wait moves on to the latest one before."""
    if not absent:
        return
    upstreams = await upstreams_by_id(tx, [wait.upstream_task_id for wait in absent])
    for wait in absent:
        upstream = upstreams[wait.upstream_task_id]
        wait.coming = wait.upstream_time is not None and still_to_come(upstream, wait.upstream_time)
    passed_over = [wait for wait in absent if not wait.coming]
    resolved = await resolve(
        tx, [(wait.upstream_task_id, instances[wait.instance_id]["scheduled_time"]) for wait in passed_over]
    )
    for wait in passed_over:
        wait.upstream_time = resolved[wait.upstream_task_id, instances[wait.instance_id]["scheduled_time"]]
        wait.coming = wait.upstream_time is not None and still_to_come(
            upstreams[wait.upstream_task_id], wait.upstream_time
        )
    points = [
        {"task_id": wait.upstream_task_id, "at": wait.upstream_time} for wait in passed_over if wait.upstream_time
    ]
    outcomes = {
        (row["task_id"], row["scheduled_time"]): row["outcome"]
        for row in (await tx.fetch(_OUTCOMES, points=points) if points else ())
    }
    for wait in passed_over:
        key = (wait.upstream_task_id, wait.upstream_time)
        if key in outcomes:
            wait.exists, wait.coming = True, False
            wait.outcome = Status(outcomes[key]) if outcomes[key] is not None else None


EVALUATED_AT_ONCE = 500
"""At most this many in one transaction: each is a lock held, and time in which nobody else is served."""


async def evaluate(tx: Tx, instance_ids: Iterable[int]) -> Aftermath:
    """Release, fail or leave waiting each of these instances; those that no longer wait are left alone."""
    ids = sorted(set(instance_ids))
    if not ids:
        return Aftermath()
    instances = {row["id"]: row for row in await tx.fetch(_LOCK_WAITING, ids=ids)}
    if not instances:
        return Aftermath()
    # A statement of its own after the locks, so that it sees every ending that was committed before them.
    waits = await evaluate_waits(tx, instances)
    policies = {
        row["id"]: row for row in await tx.fetch(POLICIES, ids=sorted({row["task_id"] for row in instances.values()}))
    }
    waits_of: dict[int, list[Wait]] = {instance_id: [] for instance_id in instances}
    for wait in waits:
        waits_of[wait.instance_id].append(wait)
    verdicts = {
        instance_id: verdict(row, waits_of[instance_id], policies[row["task_id"]])
        for instance_id, row in instances.items()
    }
    aftermath = await _release(tx, [instances[one] for one, verdict in verdicts.items() if verdict is Release.RUN])
    failed = [instances[one] for one, verdict in verdicts.items() if verdict is Release.FAIL]
    aftermath.add(await _fail(tx, failed, waits_of, policies))
    waiting = [wait for wait in waits if verdicts[wait.instance_id] is Release.WAIT]
    if waiting:
        await tx.run(
            _NOTE_WAITS,
            waits=[
                {
                    "instance_id": wait.instance_id,
                    "upstream_task_id": wait.upstream_task_id,
                    "upstream_time": wait.upstream_time,
                    "requires": wait.requires.value,
                    "seen": wait.seen,
                }
                for wait in waiting
            ],
        )
    return aftermath


def waits_until(row: Row, policy: Row) -> datetime:
    """When an instance has waited for its dependencies for too long."""
    since: datetime = max(row["created_at"], row["scheduled_time"])
    return since + timedelta(seconds=policy["dependency_timeout_seconds"])


def verdict(row: Row, waits: Sequence[Wait], policy: Row) -> Release | None:
    """None if that cannot be told here: nothing is noted then, so that whoever can tell will find it."""
    try:
        mode = DependencyMode(policy["dependency_mode"])
        on_failure = UpstreamFailurePolicy(policy["upstream_failure_policy"])
    except ValueError as error:  # Guarantee 10: those who wait beside it are released all the same
        say_once(f"instances of task {row['task_id']} wait for a release of Hourhand that knows its words: {error}")
        return None
    return release(
        [wait.standing for wait in waits if wait.upstream_task_id == row["task_id"]],
        [wait.standing for wait in waits if wait.upstream_task_id != row["task_id"]],
        mode,
        on_failure,
        timed_out=row["now"] > waits_until(row, policy),
    )


async def _release(tx: Tx, rows: Sequence[Row]) -> Aftermath:
    """Guarantee 8: released exactly once, since only a planned row under its lock is."""
    if not rows:
        return Aftermath()
    await tx.run(DELETE_WAITS, ids=[row["id"] for row in rows])
    await unblock(tx, rows)
    return Aftermath(freed_keys={row["concurrency_key"] for row in rows if row["concurrency_key"] is not None})


async def unblock(tx: Tx, rows: Sequence[Row]) -> None:
    """Nothing but perhaps a permit is left to wait for."""
    moves: list[dict[str, Any]] = []
    for row in rows:
        status, blocked_by = entry(held=False, waits=False, concurrency_key=row["concurrency_key"])
        moves.append({"id": row["id"], "status": status.value, "blocked_by": blocked_by})
    await tx.run(UNBLOCK, moves=moves)


async def _fail(
    tx: Tx, rows: Sequence[Row], waits_of: Mapping[int, Sequence[Wait]], policies: Mapping[int, Row]
) -> Aftermath:
    if not rows:
        return Aftermath()
    ends = []
    for row in rows:
        require_edge(row["id"], Status.PLANNED, Status.FAILED)
        unmet = [wait for wait in waits_of[row["id"]] if wait.standing is not Standing.MET]
        reasons = ", ".join(
            f"task {wait.upstream_task_id} at {wait.upstream_time.isoformat() if wait.upstream_time else 'no instant'}"
            f" ({wait.seen or 'not ended'})"
            for wait in unmet
        )
        failed = any(wait.standing is Standing.FAILED for wait in unmet)
        verb = "upstream failed" if failed else "waited too long for"
        at_once = failed and policies[row["task_id"]]["upstream_failure_policy"] == UpstreamFailurePolicy.FAIL
        summary = {"unmet": [_told(one) for one in unmet], "timed_out": not at_once}
        ends.append(End(row=row, to=Status.FAILED, error_message=f"{verb}: {reasons}", summary=summary))
    return await end_instances(tx, ends, rows[0]["now"])


def _told(wait: Wait) -> dict[str, Any]:
    """What the execution log keeps of a wait that was not met."""
    at = wait.upstream_time
    return {
        "task_id": wait.upstream_task_id,
        "scheduled_time": None if at is None else at.isoformat(),
        "standing": wait.standing.value,
        "outcome": wait.seen,
    }
