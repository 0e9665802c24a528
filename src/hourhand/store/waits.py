"""Store: waits: what a planned instance waits for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Text, bindparam, exists, func, or_, select

from hourhand.model.words import Requires
from hourhand.rules.dependency import Upstream, upstream_instant
from hourhand.store.database import Tx
from hourhand.store.schema import PLANNED, instance_waits, task_instances, task_instants, tasks
from hourhand.store.sql import any_of, constant, insert, plus_seconds, records, store_clock
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
POINTS = records("points", {"task_id": Id, "at": Instant()})
_newest = (
    select(func.max(task_instants.c.scheduled_time))
    .where(task_instants.c.task_id == POINTS.c.task_id, task_instants.c.scheduled_time <= POINTS.c.at)
    .scalar_subquery()
)
_NEWEST = Statement(select(POINTS.c.task_id, POINTS.c.at, _newest.label("newest")))
WAITS = records(
    "waits",
    {"instance_id": Id, "upstream_task_id": Id, "upstream_time": Instant(), "requires": Text(), "seen": Text()},
)
_ADD_WAITS = Statement(
    insert(instance_waits).from_select([column.name for column in WAITS.c], select(WAITS), include_defaults=False)
)
_upstream = tasks.alias("upstream")
_dependent = tasks.alias("dependent")
_filled = task_instants.alias("filled")
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
        task_instances.c.blocked_by == constant("dependencies"),
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
            # There was nothing left to wait for, and now there is: somebody has backfilled it.
            instance_waits.c.upstream_time.is_(None)
            & exists().where(
                _filled.c.task_id == instance_waits.c.upstream_task_id,
                _filled.c.scheduled_time <= task_instances.c.scheduled_time,
            ),
            # It has waited for too long, and not just for its turn.
            (instance_waits.c.upstream_task_id != task_instances.c.task_id)
            & (
                plus_seconds(
                    func.greatest(task_instances.c.created_at, task_instances.c.scheduled_time),
                    _dependent.c.dependency_timeout_seconds,
                )
                < store_clock()
            ),
        ),
    )
    .order_by(instance_waits.c.instance_id)
    .limit(bindparam("limit"))
)


async def add_waits(tx: Tx, wanted: Sequence[Wanted]) -> None:
    """Make the waits of new instances; what they wait on is computed now and evaluated after the commit."""
    if not wanted:
        return
    resolved = await resolve(tx, [(one.upstream_task_id, one.at) for one in wanted if one.upstream_time is None])
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


async def upstreams_by_id(tx: Tx, ids: Iterable[int]) -> dict[int, Upstream]:
    """The tasks that are waited for, as the rules see them."""
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


async def resolve(tx: Tx, points: Sequence[tuple[int, datetime]]) -> dict[tuple[int, datetime], datetime | None]:
    """For each (upstream, instant of the dependent): the upstream instant to wait on."""
    if not points:
        return {}
    upstreams = await upstreams_by_id(tx, [task_id for task_id, _ in points])
    unique = [{"task_id": task_id, "at": at} for task_id, at in sorted(set(points))]
    return {
        (row["task_id"], row["at"]): upstream_instant(upstreams[row["task_id"]], row["at"], row["newest"])
        for row in await tx.fetch(_NEWEST, points=unique)
    }


async def waits_to_evaluate(tx: Tx, *, after: int, limit: int) -> list[int]:
    """The sweep: which instances wait although something has changed; a read-only join, nothing is locked."""
    return [row["instance_id"] for row in await tx.fetch(_TO_EVALUATE, after=after, limit=limit)]
