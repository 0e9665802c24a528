"""Store: explain: the facts of one instance, in a number of statements that no backlog changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Text,
    bindparam,
    func,
    literal_column,
    select,
    text,
    tuple_,
    union_all,
)

from hourhand.model.audit import Author
from hourhand.model.explanation import Explanation
from hourhand.model.instance import AttemptRecord, Instance
from hourhand.model.words import BlockedBy, DependencyMode, OutcomeKind, Status, UpstreamFailurePolicy
from hourhand.rules import explain as rules
from hourhand.rules.facts import MOST_AHEAD, Awaited, Facts, Key, Lanes, Waiting
from hourhand.rules.lifecycle import isolated
from hourhand.rules.pausing import closes
from hourhand.store import reach
from hourhand.store.attempts import read_attempts
from hourhand.store.database import Row, Tx
from hourhand.store.definitions import Versions
from hourhand.store.ids import first_day
from hourhand.store.listing import get_instance
from hourhand.store.pauses import active_pauses
from hourhand.store.reap import EXPIRED
from hourhand.store.registry import alive_executors, lanes_by_id, list_executors
from hourhand.store.release import POLICIES, Wait, evaluate_waits, verdict, waits_until
from hourhand.store.schema import (
    PENDING,
    concurrency_limits,
    concurrency_permits,
    groups,
    instance_attempts,
    task_instances,
    tasks,
)
from hourhand.store.schema_access import audit_logs
from hourhand.store.sql import any_of
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant
from hourhand.store.waits import POINTS
from hourhand.store.windows import open_windows

_GROUP = Statement(select(groups.c.name).where(groups.c.id == bindparam("group_id", type_=Id)))
_IS_EXPIRED = Statement(
    select(EXPIRED.label("expired")).where(task_instances.c.id == bindparam("instance_id", type_=Id))
)
_NEWEST_ATTEMPT = Statement(
    select(instance_attempts)
    .where(
        instance_attempts.c.instance_id == bindparam("instance_id", type_=Id),
        instance_attempts.c.end_time >= bindparam("since", type_=Instant()),
    )
    .order_by(instance_attempts.c.fence.desc())
    .limit(1)
)
_CANCELLED_BY = Statement(
    select(audit_logs.c.user_name)
    .where(
        audit_logs.c.resource_type == literal_column("'instance'"),
        audit_logs.c.resource_id == bindparam("resource_id", type_=Text),
        audit_logs.c.action == literal_column("'cancel'"),
        audit_logs.c.result == literal_column("'done'"),
    )
    .order_by(audit_logs.c.occurred_at.desc())
    .limit(1)
)
_NAMES = Statement(
    select(tasks.c.id, tasks.c.name, tasks.c.deleted_at, groups.c.name.label("group"))
    .outerjoin(groups, groups.c.id == tasks.c.group_id)
    .where(any_of(tasks.c.id, "ids"))
)
_AWAITED = Statement(
    select(task_instances.c.id, task_instances.c.task_id, task_instances.c.scheduled_time, task_instances.c.status)
    .join(
        POINTS,
        (task_instances.c.task_id == POINTS.c.task_id) & (task_instances.c.scheduled_time == POINTS.c.at),
    )
    .order_by(task_instances.c.id)
    .limit(10 * rules.SHOWN)
)
_key = bindparam("key", type_=Text)
_LIMIT = Statement(
    select(func.coalesce(concurrency_limits.c.max, tasks.c.concurrency_limit).label("limit"))
    .select_from(tasks)
    .outerjoin(concurrency_limits, concurrency_limits.c.key == _key)
    .where(tasks.c.id == bindparam("task_id", type_=Id))
)
_holders = (
    select(concurrency_permits.c.instance_id)
    .where(concurrency_permits.c.key == _key)
    .order_by(concurrency_permits.c.slot)
    .limit(rules.SHOWN)
)
_HOLDERS = Statement(_holders)
_HOLDERS_WITHIN = Statement(
    _holders.join(task_instances, task_instances.c.id == concurrency_permits.c.instance_id).where(
        any_of(task_instances.c.group_id, "within")
    )
)
_TAKEN = Statement(select(func.count().label("n")).where(concurrency_permits.c.key == _key))


async def explain(
    tx: Tx, versions: Versions, instance_id: int, *, lease_seconds: float, author: Author | None = None
) -> Explanation:
    """Gather what the rules need to know and the author may, and ask them."""
    await reach.require_instances(tx, author, [instance_id])
    instance = await get_instance(tx, instance_id)
    version = (instance.task_id, instance.task_version)
    now = await tx.now()
    facts: dict[str, Any] = {
        "looked_at": now,
        "instance": instance,
        "definition": (await versions.get(tx, [version])).get(version),
    }
    match instance.status:
        case Status.PLANNED | Status.PENDING:
            facts |= await _obstacles(tx, instance, now, lease_seconds, author)
        case Status.RUNNING:
            rows = await tx.fetch(_IS_EXPIRED, instance_id=instance.id)
            facts["lease_expired"] = bool(rows and rows[0]["expired"])
    if instance.start_time is not None and instance.fence > 1:
        facts["earlier"] = len(await read_attempts(tx, instance.id))
    if instance.cancel_requested or instance.status is Status.CANCELLED:
        rows = await tx.fetch(_CANCELLED_BY, resource_id=str(instance.id))
        facts["cancelled_by"] = rows[0]["user_name"] if rows else None
    return rules.explain(Facts(**facts))


async def _obstacles(
    tx: Tx, instance: Instance, now: datetime, lease_seconds: float, author: Author | None
) -> dict[str, Any]:
    covered = [one for one in await active_pauses(tx) if closes((one.scope, one.scope_id), instance.group_id)]
    windows = await open_windows(tx)
    closing = [one for one in windows if closes((one.window.scope, one.window.scope_id), instance.group_id)]
    found: dict[str, Any] = {"pauses": tuple(covered), "windows": tuple(closing)}
    if instance.blocked_by is BlockedBy.DISPATCH:
        return found
    if instance.blocked_by is BlockedBy.DEPENDENCIES:
        return found | {"waiting": await _waiting(tx, instance, now, author)}
    if instance.fence > 0:
        found["attempt"] = await _newest_attempt(tx, instance.id)
    if instance.blocked_by is BlockedBy.PERMIT:
        found["key"] = await _concurrency(tx, instance, now, author)
    return found | {"lanes": await _lanes(tx, instance, now, lease_seconds, author)}


async def _newest_attempt(tx: Tx, instance_id: int) -> AttemptRecord | None:
    rows = await tx.fetch(_NEWEST_ATTEMPT, instance_id=instance_id, since=await first_day(tx, instance_id))
    return AttemptRecord(**{**rows[0], "outcome": OutcomeKind(rows[0]["outcome"])}) if rows else None


async def _waiting(tx: Tx, instance: Instance, now: datetime, author: Author | None) -> Waiting:
    """Evaluate its waits as its release does, and leave them as they are."""
    row = {name: getattr(instance, name) for name in ("id", "task_id", "scheduled_time", "created_at")} | {"now": now}
    waits = sorted(await evaluate_waits(tx, {instance.id: row}), key=lambda one: one.upstream_task_id)
    (policy,) = await tx.fetch(POLICIES, ids=[instance.task_id])
    names = {one["id"]: one for one in await tx.fetch(_NAMES, ids=sorted({one.upstream_task_id for one in waits}))}
    points = [{"task_id": one.upstream_task_id, "at": one.upstream_time} for one in waits if one.upstream_time]
    living = await tx.fetch(_AWAITED, points=points) if points else []
    decided = verdict(row, waits, policy)
    unreadable = decided is None  # whoever can read its words decides; until then it waits
    return Waiting(
        awaited=tuple(_awaited(one, instance, names[one.upstream_task_id], living, author) for one in waits),
        release=decided,
        mode=DependencyMode.ALL if unreadable else DependencyMode(policy["dependency_mode"]),
        policy=UpstreamFailurePolicy.WAIT if unreadable else UpstreamFailurePolicy(policy["upstream_failure_policy"]),
        until=waits_until(row, policy),
    )


def _awaited(wait: Wait, instance: Instance, upstream: Row, living: Sequence[Row], author: Author | None) -> Awaited:
    point = (wait.upstream_task_id, wait.upstream_time)
    own = wait.upstream_task_id == instance.task_id
    near = own or reach.reaches(author, upstream["group"])
    return Awaited(
        task_id=wait.upstream_task_id,
        task_name=upstream["name"] if near else None,
        own=own,
        instant=wait.upstream_time,
        standing=wait.standing,
        to_come=wait.coming,
        deleted=upstream["deleted_at"] is not None,
        outcome=wait.outcome,
        living=tuple(
            (row["id"], Status(row["status"]))
            for row in living
            if near and (row["task_id"], row["scheduled_time"]) == point
        )[: rules.SHOWN],
    )


async def _concurrency(tx: Tx, instance: Instance, now: datetime, author: Author | None) -> Key:
    key = instance.concurrency_key
    within = await reach.within(tx, author)
    holders = _HOLDERS if within is None else _HOLDERS_WITHIN
    limits = {} if within is None else {"within": sorted(within)}
    (limit,) = await tx.fetch(_LIMIT, key=key, task_id=instance.task_id)
    (taken,) = await tx.fetch(_TAKEN, key=key)
    return Key(
        limit=limit["limit"],
        holders=tuple(row["instance_id"] for row in await tx.fetch(holders, key=key, **limits)),
        taken=taken["n"],
        ahead=await _ahead(tx, _first_for_key(instance.priority), instance, now, key=key),
    )


async def _lanes(tx: Tx, instance: Instance, now: datetime, lease_seconds: float, author: Author | None) -> Lanes:
    (group,) = await tx.fetch(_GROUP, group_id=instance.group_id)
    alive = await alive_executors(tx, lease_seconds)
    heard = {one.id for one, _ in alive}
    silent = [
        one.id for one in await list_executors(tx, lease_seconds) if one.group == group["name"] and one.id not in heard
    ]
    ahead = 0
    if instance.status is Status.PENDING:
        first = _first_in_lane(instance.priority, apart=isolated(instance.loss_count))
        ahead = await _ahead(tx, first, instance, now, lane_id=instance.lane_id)
    return Lanes(
        group=group["name"],
        lane=(await lanes_by_id(tx, [instance.lane_id]))[instance.lane_id],
        alive=tuple((one, group_id) for one, group_id in alive if reach.reaches(author, one.group)),
        silent=tuple(silent),
        ahead=ahead,
    )


async def _ahead(tx: Tx, first: Statement, instance: Instance, now: datetime, **which: Any) -> int:
    (row,) = await tx.fetch(first, **which, now=now, available_at=instance.available_at, instance_id=instance.id)
    return int(row["n"])


@lru_cache(maxsize=20)
def _first_in_lane(priority: int, *, apart: bool) -> Statement:
    """How many the claim takes before it; spelled as the claim's indexes are."""
    living = task_instances.c
    losses = text("loss_count > 1" if apart else "loss_count < 2")
    return _first(priority, living.status == PENDING, losses, living.lane_id == bindparam("lane_id", type_=Id))


@lru_cache(maxsize=10)
def _first_for_key(priority: int) -> Statement:
    """How many are given a permit of its key before it."""
    return _first(priority, text("blocked_by = 'permit'"), task_instances.c.concurrency_key == _key)


def _first(priority: int, *line: ColumnElement[bool] | Any) -> Statement:
    """One probe of the index per priority, each ending where enough are counted."""
    living = task_instances.c
    higher = [
        select(living.id).where(
            *line,
            living.priority == literal_column(str(one), Integer),
            living.available_at <= bindparam("now", type_=Instant()),
        )
        for one in range(priority)
    ]
    older = select(living.id).where(
        *line,
        living.priority == literal_column(str(priority), Integer),
        tuple_(living.available_at, living.id)
        < tuple_(bindparam("available_at", type_=Instant()), bindparam("instance_id", type_=BigInteger)),
    )
    probes = [select(one.limit(MOST_AHEAD).subquery()) for one in (*higher, older)]
    counted = union_all(*probes).limit(MOST_AHEAD).subquery()
    return Statement(select(func.count().label("n")).select_from(counted))
