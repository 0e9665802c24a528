"""Store: waits: what a planned instance waits for, and its release when they are met.

A release is decided under the dependent's row lock by a second statement that evaluates all its waits; nothing is
ever counted down, so two upstreams that end at the same time cannot each leave the release to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Text, bindparam, func, literal_column, or_, select, update

from hourhand.model.answers import Aftermath
from hourhand.model.words import DependencyMode, Requires, Status, UpstreamFailurePolicy
from hourhand.rules.dependency import Release, Standing, Upstream, release, standing, still_to_come, upstream_instant
from hourhand.rules.lifecycle import entry, require_edge
from hourhand.store.database import Row, Tx
from hourhand.store.moving import DELETE_WAITS, SEAM, End, end_instances
from hourhand.store.schema import PLANNED, instance_waits, task_instances, task_instants, tasks
from hourhand.store.sql import any_of, insert, plus_seconds, records, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant

MISSING = "missing"
"""`seen` of a wait whose instant neither exists nor is to come."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A wait to be made: `at` is the instant of the instance that waits."""

    instance_id: int
    upstream_task_id: int
    at: datetime
    requires: Requires = Requires.SUCCESS
    upstream_time: datetime | None = None
    """Given for a predecessor of the same task; else it follows from the upstream's schedule."""


_UPSTREAMS = Statement(
    select(
        tasks.c.id,
        tasks.c.schedule,
        tasks.c.timezone,
        tasks.c.anchored_at,
        tasks.c.next_fire_at,
        tasks.c.enabled,
        tasks.c.deleted_at,
    ).where(any_of(tasks.c.id, "ids"))
)
_POINTS = records("points", {"task_id": Id, "at": Instant()})
_newest = (
    select(func.max(task_instants.c.scheduled_time))
    .where(task_instants.c.task_id == _POINTS.c.task_id, task_instants.c.scheduled_time <= _POINTS.c.at)
    .scalar_subquery()
)
_NEWEST = Statement(select(_POINTS.c.task_id, _POINTS.c.at, _newest.label("newest")))
_WAITS = records(
    "waits",
    {"instance_id": Id, "upstream_task_id": Id, "upstream_time": Instant(), "requires": Text(), "seen": Text()},
)
_ADD_WAITS = Statement(
    insert(instance_waits).from_select([column.name for column in _WAITS.c], select(_WAITS), include_defaults=False)
)
_NOTE_WAITS = Statement(
    update(instance_waits)
    .values(upstream_time=_WAITS.c.upstream_time, seen=_WAITS.c.seen)
    .where(
        instance_waits.c.instance_id == _WAITS.c.instance_id,
        instance_waits.c.upstream_task_id == _WAITS.c.upstream_task_id,
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
_POLICIES = Statement(
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
        _POINTS,
        (task_instants.c.task_id == _POINTS.c.task_id) & (task_instants.c.scheduled_time == _POINTS.c.at),
    )
)
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

_upstream = tasks.alias("upstream")
_dependent = tasks.alias("dependent")
_TO_EVALUATE = Statement(
    select(instance_waits.c.instance_id)
    .distinct()
    .join(task_instances, task_instances.c.id == instance_waits.c.instance_id)
    .join(_dependent, _dependent.c.id == task_instances.c.task_id)
    .join(_upstream, _upstream.c.id == instance_waits.c.upstream_task_id)
    .outerjoin(
        task_instants,
        (task_instants.c.task_id == instance_waits.c.upstream_task_id)
        & (task_instants.c.scheduled_time == instance_waits.c.upstream_time),
    )
    .where(
        instance_waits.c.instance_id > bindparam("after", type_=Id),
        # Both inlined, or the partial index of the planned could not be used.
        task_instances.c.status == PLANNED,
        task_instances.c.blocked_by == literal_column("'dependencies'"),
        or_(
            # Its upstream has ended, or lives again, since this was last looked at.
            task_instants.c.task_id.is_not(None) & task_instants.c.outcome.is_distinct_from(instance_waits.c.seen),
            # Its instant was skipped or removed.
            task_instants.c.task_id.is_(None)
            & instance_waits.c.seen.is_distinct_from(MISSING)
            & or_(
                instance_waits.c.upstream_time.is_(None),
                _upstream.c.next_fire_at.is_(None),
                instance_waits.c.upstream_time < _upstream.c.next_fire_at,
                _upstream.c.deleted_at.is_not(None),
            ),
            # It has waited for too long.
            plus_seconds(
                func.greatest(task_instances.c.created_at, task_instances.c.scheduled_time),
                _dependent.c.dependency_timeout_seconds,
            )
            < store_clock(),
        ),
    )
    .order_by(instance_waits.c.instance_id)
    .limit(bindparam("limit"))
)
WAITING_ON = Statement(
    select(instance_waits.c.instance_id)
    .distinct()
    .join(
        _POINTS,
        (instance_waits.c.upstream_task_id == _POINTS.c.task_id) & (instance_waits.c.upstream_time == _POINTS.c.at),
    )
    .order_by(instance_waits.c.instance_id)
)


async def add_waits(tx: Tx, wanted: Sequence[Wanted]) -> None:
    """Make the waits of new instances; what they wait on is computed now and evaluated after the commit."""
    if not wanted:
        return
    resolved = await _resolve(tx, [(one.upstream_task_id, one.at) for one in wanted if one.upstream_time is None])
    await tx.run(
        _ADD_WAITS,
        waits=[
            {
                "instance_id": one.instance_id,
                "upstream_task_id": one.upstream_task_id,
                "upstream_time": one.upstream_time or resolved[one.upstream_task_id, one.at],
                "requires": one.requires.value,
                "seen": None,
            }
            for one in wanted
        ],
    )


async def _upstreams(tx: Tx, ids: Iterable[int]) -> dict[int, Upstream]:
    return {
        row["id"]: Upstream(
            task_id=row["id"],
            schedule=row["schedule"],
            timezone=row["timezone"],
            anchored_at=row["anchored_at"],
            next_fire_at=row["next_fire_at"],
            alive=row["enabled"] and row["deleted_at"] is None,
            deleted=row["deleted_at"] is not None,
        )
        for row in await tx.fetch(_UPSTREAMS, ids=sorted(set(ids)))
    }


async def _resolve(tx: Tx, points: Sequence[tuple[int, datetime]]) -> dict[tuple[int, datetime], datetime | None]:
    """For each (upstream, instant of the dependent): the upstream instant to wait on."""
    if not points:
        return {}
    upstreams = await _upstreams(tx, [task_id for task_id, _ in points])
    unique = [{"task_id": task_id, "at": at} for task_id, at in sorted(set(points))]
    return {
        (row["task_id"], row["at"]): upstream_instant(upstreams[row["task_id"]], row["at"], row["newest"])
        for row in await tx.fetch(_NEWEST, points=unique)
    }


@dataclass(slots=True)
class _Wait:
    """One wait while it is being evaluated."""

    instance_id: int
    upstream_task_id: int
    upstream_time: datetime | None
    requires: Requires
    exists: bool
    outcome: Status | None
    coming: bool = False

    @property
    def standing(self) -> Standing:
        return Standing.OPEN if self.coming else standing(self.requires, self.outcome, exists=self.exists)

    @property
    def seen(self) -> str | None:
        if self.exists:
            return self.outcome and self.outcome.value
        return None if self.coming else MISSING


async def _evaluate_waits(tx: Tx, instances: Mapping[int, Row]) -> list[_Wait]:
    """All waits of these instances as they stand, those on skipped or removed instants re-pointed to earlier ones."""
    waits = [
        _Wait(
            instance_id=row["instance_id"],
            upstream_task_id=row["upstream_task_id"],
            upstream_time=row["upstream_time"],
            requires=Requires(row["requires"]),
            exists=row["found"] is not None,
            outcome=Status(row["outcome"]) if row["outcome"] is not None else None,
        )
        for row in await tx.fetch(_WAITS_OF, ids=sorted(instances))
    ]
    absent = [
        wait for wait in waits if not wait.exists and wait.upstream_task_id != instances[wait.instance_id]["task_id"]
    ]
    if not absent:
        return waits
    upstreams = await _upstreams(tx, [wait.upstream_task_id for wait in absent])
    for wait in absent:
        upstream = upstreams[wait.upstream_task_id]
        wait.coming = wait.upstream_time is not None and still_to_come(upstream, wait.upstream_time)
    passed_over = [wait for wait in absent if not wait.coming]
    resolved = await _resolve(
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
    return waits


async def evaluate(tx: Tx, instance_ids: Iterable[int]) -> Aftermath:
    """Release, fail or leave waiting each of these instances; those that no longer wait are left alone."""
    ids = sorted(set(instance_ids))
    if not ids:
        return Aftermath()
    instances = {row["id"]: row for row in await tx.fetch(_LOCK_WAITING, ids=ids)}
    if not instances:
        return Aftermath()
    # A statement of its own after the locks, so that it sees every ending that was committed before them.
    waits = await _evaluate_waits(tx, instances)
    policies = {
        row["id"]: row for row in await tx.fetch(_POLICIES, ids=sorted({row["task_id"] for row in instances.values()}))
    }
    verdicts = {
        instance_id: _verdict(
            row, [wait for wait in waits if wait.instance_id == instance_id], policies[row["task_id"]]
        )
        for instance_id, row in instances.items()
    }
    aftermath = await _release(tx, [instances[one] for one, verdict in verdicts.items() if verdict is Release.RUN])
    failed = [instances[one] for one, verdict in verdicts.items() if verdict is Release.FAIL]
    aftermath.add(await _fail(tx, failed, waits))
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


def _verdict(row: Row, waits: Sequence[_Wait], policy: Row) -> Release:
    limit = max(row["created_at"], row["scheduled_time"]) + timedelta(seconds=policy["dependency_timeout_seconds"])
    return release(
        [wait.standing for wait in waits if wait.upstream_task_id == row["task_id"]],
        [wait.standing for wait in waits if wait.upstream_task_id != row["task_id"]],
        DependencyMode(policy["dependency_mode"]),
        UpstreamFailurePolicy(policy["upstream_failure_policy"]),
        timed_out=row["now"] > limit,
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


async def _fail(tx: Tx, rows: Sequence[Row], waits: Sequence[_Wait]) -> Aftermath:
    if not rows:
        return Aftermath()
    ends = []
    for row in rows:
        require_edge(row["id"], Status.PLANNED, Status.FAILED)
        unmet = [wait for wait in waits if wait.instance_id == row["id"] and wait.standing is not Standing.MET]
        reasons = ", ".join(
            f"task {wait.upstream_task_id} at {wait.upstream_time.isoformat() if wait.upstream_time else 'no instant'}"
            f" ({wait.seen or 'not ended'})"
            for wait in unmet
        )
        verb = "upstream failed" if any(wait.standing is Standing.FAILED for wait in unmet) else "waited too long for"
        ends.append(End(row=row, to=Status.FAILED, error_message=f"{verb}: {reasons}"))
    return await end_instances(tx, ends, rows[0]["now"])


async def waits_to_evaluate(tx: Tx, *, after: int, limit: int) -> list[int]:
    """The sweep: which instances wait although something has changed; a read-only join, nothing is locked."""
    return [row["instance_id"] for row in await tx.fetch(_TO_EVALUATE, after=after, limit=limit)]
