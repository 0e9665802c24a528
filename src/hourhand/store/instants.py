"""Store: making instances for instants: the ledger decides, whoever asks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import Boolean, Integer, Text, bindparam, delete, func, or_, select, tuple_

from hourhand.model.answers import Aftermath
from hourhand.model.errors import InvalidInput
from hourhand.model.registry import Executor
from hourhand.model.task import Task, TaskDefinition
from hourhand.model.words import BlockedBy, Requires, SkipReason, Status, TaskType, TriggeredBy
from hourhand.rules.broadcast import WHOLE, Shard, shards
from hourhand.rules.lanes import able, lane_of
from hourhand.rules.lifecycle import entry
from hourhand.rules.misfire import SkipRun
from hourhand.rules.operation_tasks import source_key
from hourhand.rules.substitution import substitute
from hourhand.store.carried import carried
from hourhand.store.database import Tx
from hourhand.store.moving import DELETE_LIVING, DELETE_PERMITS, DELETE_WAITS
from hourhand.store.registry import lane_ids
from hourhand.store.schema import PENDING, PLANNED, SCHEDULED, execution_logs, task_instances, task_instants
from hourhand.store.sql import UNAMBIGUOUS, any_of, constant, insert, records, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, Json
from hourhand.store.waits import Wanted, add_waits

_LONGEST_KEY = 500


@dataclass(frozen=True, slots=True)
class Made:
    """An instant that is to become an instance, or several if it is broadcast."""

    task: Task
    instant: datetime
    triggered_by: TriggeredBy
    shards: tuple[Shard, ...] = WHOLE
    follows: datetime | None = None
    """The predecessor whose end it waits for (overlap `serial` and `replace`)."""
    waits: bool = True
    """Whether it waits for the task's dependencies."""
    requested_by: str | None = None


@dataclass(slots=True)
class NewInstance:
    """A living row about to be inserted."""

    task: Task
    scheduled_time: datetime
    triggered_by: TriggeredBy
    available_at: datetime
    in_ledger: bool = False
    shard: Shard = WHOLE[0]
    blocked_by: BlockedBy | None = None
    status: Status = Status.PENDING
    values: dict[str, Any] = field(default_factory=dict)


_LEDGER = records("ledger", {"task_id": Id, "scheduled_time": Instant(), "shards_left": Integer()})
_ENTER = Statement(
    insert(task_instants)
    .from_select(
        ["task_id", "scheduled_time", "shards_left", "shards_failed"],
        select(_LEDGER.c.task_id, _LEDGER.c.scheduled_time, _LEDGER.c.shards_left, constant(0)).where(UNAMBIGUOUS),
        include_defaults=False,
    )
    .on_conflict_do_nothing()
    .returning(task_instants.c.task_id, task_instants.c.scheduled_time)
)
_NEW_COLUMNS: dict[str, Any] = {
    "id": Id,
    "task_id": Id,
    "task_version": Integer(),
    "group_id": Id,
    "scheduled_time": Instant(),
    "status": Text(),
    "blocked_by": Text(),
    "lane_id": Id,
    "priority": Integer(),
    "available_at": Instant(),
    "args": Json(),
    "triggered_by": Text(),
    "requested_by": Text(),
    "in_ledger": Boolean(),
    "shard_index": Integer(),
    "shard_total": Integer(),
    "target_executor_id": Text(),
    "concurrency_key": Text(),
    "key": Text(),
    "data_source_id": Id,
    "operation_kind": Text(),
    "operation_config_id": Id,
    "backup_reference": Text(),
    "notes": Text(),
}
_NEW = records("new", _NEW_COLUMNS)
OPTIONAL = (
    "args",
    "requested_by",
    "key",
    "data_source_id",
    "operation_kind",
    "operation_config_id",
    "backup_reference",
    "notes",
)
"""What a submission may bring along, and a schedule does not."""
INSERT_INSTANCES = Statement(
    insert(task_instances)
    .from_select(
        [*_NEW_COLUMNS, "created_at", "queued_at"],
        select(
            *[func.greatest(column, store_clock()) if column.name == "available_at" else column for column in _NEW.c],
            store_clock(),
            store_clock(),
        ).where(UNAMBIGUOUS),
        include_defaults=False,
    )
    .on_conflict_do_nothing()
    .returning(task_instances.c.id)
)
_SKIPS = records(
    "skips",
    {
        "id": Id,
        "instance_id": Id,
        "task_name": Text(),
        "task_id": Id,
        "task_version": Integer(),
        "group_id": Id,
        "scheduled_time": Instant(),
        "priority": Integer(),
        "skip_reason": Text(),
        "error_message": Text(),
        "summary": Json(),
        "now": Instant(),
    },
)
_skip_columns = [name for name in _SKIPS.c.keys() if name != "now"]  # noqa: SIM118 - a column collection, not a dict
_INSERT_SKIPS = Statement(
    insert(execution_logs).from_select(
        [
            *_skip_columns,
            "status",
            "lane_id",
            "duration_ms",
            "triggered_by",
            "end_time",
            "created_at",
            "available_at",
        ],
        select(
            *[_SKIPS.c[name] for name in _skip_columns],
            constant("cancelled"),
            constant(0),
            constant(0),
            constant("scheduler"),
            _SKIPS.c.now,
            _SKIPS.c.now,
            _SKIPS.c.scheduled_time,
        ),
        include_defaults=False,
    )
)
# What people submitted is left alone: there may be a million of those, which others are claiming.
_LOCK_MADE_AHEAD = Statement(
    select(task_instances.c.id, task_instances.c.task_id, task_instances.c.scheduled_time)
    .where(
        any_of(task_instances.c.task_id, "ids"),
        SCHEDULED,
        task_instances.c.scheduled_time > bindparam("now", type_=Instant()),
        or_(task_instances.c.status == PLANNED, task_instances.c.status == PENDING),
    )
    .order_by(task_instances.c.id)
    .with_for_update()
)
_TAKEN_BACK = records("taken_back", {"task_id": Id, "scheduled_time": Instant()})
_TAKE_BACK = Statement(
    delete(task_instants).where(
        tuple_(task_instants.c.task_id, task_instants.c.scheduled_time).in_(select(_TAKEN_BACK))
    )
)


def targets_of(task: Task, alive: Iterable[tuple[Executor, int]]) -> tuple[Shard, ...]:
    """The shards of an instant: one for anybody, or one for each executor alive that may serve it; perhaps none."""
    return shards(able(alive, lane_of(task, task.group_id))) if task.broadcast else WHOLE


async def make_instants(tx: Tx, wanted: Sequence[Made]) -> tuple[int, Aftermath]:
    """Guarantee 1: an instance is made only for an instant that this transaction entered into the ledger."""
    entered = await enter_instants(tx, [(one.task.id, one.instant, len(one.shards)) for one in wanted])
    fresh = [one for one in wanted if (one.task.id, one.instant) in entered]
    new = [
        NewInstance(
            task=one.task,
            scheduled_time=one.instant,
            triggered_by=one.triggered_by,
            available_at=one.instant,
            in_ledger=True,
            shard=shard,
            values={"requested_by": one.requested_by},
        )
        for one in fresh
        for shard in one.shards
    ]
    waiting_for = [
        [
            *([(one.task.id, Requires.END, one.follows)] if one.follows is not None else []),
            *([(upstream, Requires.SUCCESS, None) for upstream in one.task.dependency_ids] if one.waits else []),
        ]
        for one in fresh
        for _ in one.shards
    ]
    for instance, obstacles in zip(new, waiting_for, strict=True):
        if obstacles:
            instance.blocked_by = BlockedBy.DEPENDENCIES
    inserted = await insert_instances(tx, new)
    waits = [
        Wanted(instance_id, upstream, instance.scheduled_time, requires, time)
        for instance_id, instance, obstacles in zip(inserted, new, waiting_for, strict=True)
        for upstream, requires, time in obstacles
    ]
    await add_waits(tx, waits)
    return len(fresh), Aftermath(
        waiting={wait.instance_id for wait in waits},
        freed_keys={
            key
            for instance in new
            if instance.blocked_by is BlockedBy.PERMIT and (key := instance.values["concurrency_key"])
        },
    )


async def enter_instants(tx: Tx, wanted: Iterable[tuple[int, datetime, int]]) -> set[tuple[int, datetime]]:
    """Enter (task, instant, shards) into the ledger; those that were not there before."""
    unique = {(task_id, instant): count for task_id, instant, count in wanted}
    if not unique:
        return set()
    rows = await tx.fetch(
        _ENTER,
        ledger=[
            {"task_id": task_id, "scheduled_time": instant, "shards_left": count}
            for (task_id, instant), count in sorted(unique.items())
        ],
    )
    return {(row["task_id"], row["scheduled_time"]) for row in rows}


async def take_back(tx: Tx, task_ids: Sequence[int], now: datetime) -> dict[int, datetime]:
    """Unmake what was made ahead for instants after now of these (locked) tasks; the earliest such instant of each."""
    ahead = await tx.fetch(_LOCK_MADE_AHEAD, ids=list(task_ids), now=now)
    if not ahead:
        return {}
    ids = [row["id"] for row in ahead]
    await tx.run(DELETE_WAITS, ids=ids)
    await tx.run(DELETE_LIVING, ids=ids)
    instants = sorted({(row["task_id"], row["scheduled_time"]) for row in ahead}, reverse=True)
    await tx.run(_TAKE_BACK, taken_back=[{"task_id": task_id, "scheduled_time": at} for task_id, at in instants])
    await tx.run(DELETE_PERMITS, ids=ids)
    return dict(instants)  # the last of each task in this order is its earliest


async def insert_instances(tx: Tx, new: Sequence[NewInstance]) -> list[int]:
    """Insert living rows; their ids in the same order. A row whose key lives already is left out of the store."""
    if not new:
        return []
    lanes = {id(one): lane_of(one.task, one.task.group_id, one.shard.target_executor_id or "") for one in new}
    known = await lane_ids(tx, lanes.values())
    operations = [one for one in new if one.task.type is TaskType.OPERATION]
    for one, values in zip(operations, await carried(tx, [one.task for one in operations]), strict=True):
        one.values = values | {name: value for name, value in one.values.items() if value is not None}
    ids = await tx.allocate("instance_ids", len(new))
    rows = []
    for one, instance_id in zip(new, ids, strict=True):
        one.values["concurrency_key"] = concurrency_key(
            one.task, one.values.get("args"), one.values.get("data_source_id")
        )
        one.status, one.blocked_by = entry(
            held=one.blocked_by is BlockedBy.DISPATCH,
            waits=one.blocked_by is BlockedBy.DEPENDENCIES,
            concurrency_key=one.values["concurrency_key"],
        )
        rows.append(
            {
                "id": instance_id,
                "task_id": one.task.id,
                "task_version": one.task.version,
                "group_id": one.task.group_id,
                "scheduled_time": one.scheduled_time,
                "status": one.status.value,
                "blocked_by": one.blocked_by,
                "lane_id": known[lanes[id(one)]],
                "priority": one.values.get("priority", one.task.priority),
                "available_at": one.available_at,
                "triggered_by": one.triggered_by.value,
                "in_ledger": one.in_ledger,
                "shard_index": one.shard.index,
                "shard_total": one.shard.total,
                "target_executor_id": one.shard.target_executor_id,
                "concurrency_key": one.values["concurrency_key"],
                **{name: one.values.get(name) for name in OPTIONAL},
            }
        )
    await tx.fetch(INSERT_INSTANCES, new=rows)
    return list(ids)


def concurrency_key(task: TaskDefinition, args: Any, data_source_id: int | None = None) -> str | None:
    """The key with its `${arg}` filled in; one that cannot be filled in is shared by all such instances.

    Operations without a key of their own take turns on their data source.
    """
    if task.concurrency_key is None:
        return None if data_source_id is None else source_key(data_source_id)
    try:
        key = substitute(task.concurrency_key, {**(task.payload.get("args") or {}), **(args or {})}, "concurrency_key")
    except InvalidInput:
        return task.concurrency_key
    # No index takes a key of any length; a long one is told apart by its hash.
    return key if len(key) <= _LONGEST_KEY else f"{key[:100]}…{sha256(key.encode()).hexdigest()}"


async def record_skips(tx: Tx, skips: Iterable[tuple[Task, SkipRun]], now: datetime) -> int:
    """Guarantee 2: what does not fire is recorded, one row for each run of consecutive skips."""
    runs = list(skips)
    if not runs:
        return 0
    log_ids = await tx.allocate("execution_log_ids", len(runs))
    instance_ids = await tx.allocate("instance_ids", len(runs))
    await tx.run(
        _INSERT_SKIPS,
        skips=[
            {
                "id": log_id,
                "instance_id": instance_id,
                "task_name": task.name,
                "task_id": task.id,
                "task_version": task.version,
                "group_id": task.group_id,
                "scheduled_time": run.first,
                "priority": task.priority,
                "skip_reason": run.reason.value,
                "error_message": _explain(run),
                "summary": {"count": run.count, "last": run.last.isoformat(), **({"more": True} if run.more else {})},
                "now": now,
            }
            for (task, run), log_id, instance_id in zip(runs, log_ids, instance_ids, strict=True)
        ],
    )
    return len(runs)


_EXPLANATIONS = {
    SkipReason.MISFIRE: "missed by more than misfire_grace_seconds",
    SkipReason.OVERLAP: "an earlier instance was still alive and overlap_policy is skip or replace",
    SkipReason.WINDOW: "inside a maintenance window",
    SkipReason.PAUSED: "the task, its group or everything was paused",
    SkipReason.NO_EXECUTOR: "no executor was alive to broadcast to",
}


def _explain(run: SkipRun) -> str:
    many = "" if run.count == 1 else f" ({'at least ' if run.more else ''}{run.count} instants)"
    return f"skipped: {_EXPLANATIONS[run.reason]}{many}"


def joined(runs: Iterable[SkipRun], made: Sequence[datetime]) -> list[SkipRun]:
    """Consecutive runs for the same reason as one; `made` are the instants, ascending, that come in between."""
    result: list[SkipRun] = []
    for run in sorted(runs, key=lambda one: one.first):
        before = result[-1] if result else None
        if (
            before is not None
            and before.reason is run.reason
            and bisect_right(made, before.last) == bisect_right(made, run.first)
        ):
            result[-1] = replace(before, last=run.last, count=before.count + run.count, more=before.more or run.more)
        else:
            result.append(run)
    return result
