"""Store: retry: an ended instance lives again, with the same id, version and checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Integer, Text, bindparam, false, select, update

from hourhand.model.answers import Aftermath
from hourhand.model.errors import Conflict, Gone, IllegalEdge, NotFound
from hourhand.model.words import Status
from hourhand.rules.definition import check_args
from hourhand.rules.lanes import lane_of
from hourhand.rules.lifecycle import entry, legal, require_edge
from hourhand.rules.operation_tasks import refuse_args
from hourhand.store.data_sources import require_same_source
from hourhand.store.database import Row, Tx
from hourhand.store.definitions import Versions, tasks_by_id
from hourhand.store.ids import allocated_since, possible
from hourhand.store.instants import concurrency_key
from hourhand.store.moving import LOCK_INSTANTS
from hourhand.store.registry import lane_ids
from hourhand.store.schema import LIVING, execution_logs, task_instances, task_instants
from hourhand.store.sql import constant, insert, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, Json

_LIVING = Statement(
    select(task_instances.c.status).where(task_instances.c.id == bindparam("id", type_=Id)).with_for_update()
)
_NEWEST_END = Statement(
    select(execution_logs)
    .where(
        execution_logs.c.instance_id == bindparam("id", type_=Id),
        execution_logs.c.end_time >= bindparam("since", type_=Instant()),
    )
    # The one that counts first: a clock that was set back may have given it an earlier time than one superseded.
    .order_by(execution_logs.c.superseded_at.is_not(None), execution_logs.c.end_time.desc(), execution_logs.c.id.desc())
    .limit(1)
)
_SUPERSEDE = Statement(
    update(execution_logs)
    .values(superseded_at=store_clock())
    .where(
        execution_logs.c.id == bindparam("log_id", type_=Id),
        execution_logs.c.end_time == bindparam("end_time", type_=Instant()),
        execution_logs.c.superseded_at.is_(None),
    )
)
_CHANGED = {
    "status": bindparam("status", type_=Text),
    "blocked_by": bindparam("blocked_by", type_=Text),
    "fence": execution_logs.c.fence + 1,
    "args": bindparam("args", type_=Json()),
    "concurrency_key": bindparam("concurrency_key", type_=Text),
    "lane_id": bindparam("lane_id", type_=Id),
    "task_version": bindparam("task_version", type_=Integer),
    "group_id": bindparam("group_id", type_=Id),
    "available_at": store_clock(),
    "queued_at": store_clock(),
    "retry_count": constant(0),
    "loss_count": constant(0),
    "manual_retries": execution_logs.c.manual_retries + 1,
    "cancel_requested": false(),
}
_CLEARED = (
    "cancel_reason",
    "executor_id",
    "start_time",
    "result",
    "lease_until",
    "last_heartbeat",
    "progress",
    "phase",
)
_RESTORED = [name for name in LIVING if name not in _CLEARED]
_REVIVE = Statement(
    insert(task_instances)
    .from_select(
        ["id", *_RESTORED],
        select(execution_logs.c.instance_id, *[_CHANGED.get(name, execution_logs.c[name]) for name in _RESTORED]).where(
            execution_logs.c.id == bindparam("log_id", type_=Id),
            execution_logs.c.end_time == bindparam("end_time", type_=Instant()),
        ),
        include_defaults=False,
    )
    .on_conflict_do_nothing()
    .returning(task_instances.c.id)
)
_REOPEN = Statement(
    update(task_instants)
    .values(
        outcome=None,
        ended_at=None,
        unsettled=None,
        shards_left=task_instants.c.shards_left + 1,
        shards_failed=task_instants.c.shards_failed - 1,
    )
    .where(
        task_instants.c.task_id == bindparam("task_id", type_=Id),
        task_instants.c.scheduled_time == bindparam("scheduled_time", type_=Instant()),
    )
)


async def retry(
    tx: Tx, instance_id: int, args: Mapping[str, Any] | None, *, current_version: bool = False
) -> tuple[Row, Aftermath]:
    """Restore the living row from its newest ending, which is answered; of two retries at once one wins."""
    check_args(args)
    if not possible(instance_id):
        raise NotFound("instance", instance_id)
    living = await tx.fetch(_LIVING, id=instance_id)
    if living:
        state = living[0]["status"]
        raise IllegalEdge(f"instance {instance_id}", state, "retried", legal(Status(state)))
    since = await allocated_since(tx, instance_id)
    rows = await tx.fetch(_NEWEST_END, id=instance_id, since=since.start)
    if not rows:
        if since.allocated:
            raise Gone(f"instance {instance_id} has been removed by retention and cannot be retried: run its task anew")
        raise NotFound("instance", instance_id)
    return rows[0], await _revive(tx, rows[0], args, current_version=current_version)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a revived instance belongs."""

    version: int
    group_id: int
    lane_id: int
    key: str | None


async def _revive(tx: Tx, ended: Row, args: Mapping[str, Any] | None, *, current_version: bool) -> Aftermath:
    instance_id: int = ended["instance_id"]
    if ended["skip_reason"] is not None:
        raise Conflict(
            f"instance {instance_id} is a record of instants that were skipped ({ended['skip_reason']}) and never ran: "
            "make them with a backfill of their range"
        )
    refuse_args(args, operation=ended["operation_kind"] is not None)
    await require_same_source(tx, ended)
    if current_version:
        belongs = await _place_now(tx, ended, args)
    else:
        lane_id, key = await _place(tx, ended, args)
        belongs = _Place(ended["task_version"], ended["group_id"], lane_id, key)
    key = belongs.key
    status, blocked_by = entry(held=False, waits=False, concurrency_key=key)
    require_edge(instance_id, Status(ended["status"]), status)
    place = {"log_id": ended["id"], "end_time": ended["end_time"]}
    won = await tx.run(_SUPERSEDE, **place)
    if not won:
        raise IllegalEdge(f"instance {instance_id}", status.value, "retried", legal(status))
    revived = await tx.fetch(
        _REVIVE,
        **place,
        status=status.value,
        blocked_by=blocked_by,
        args=ended["args"] if args is None else dict(args),
        concurrency_key=key,
        lane_id=belongs.lane_id,
        task_version=belongs.version,
        group_id=belongs.group_id,
    )
    if not revived:
        raise Conflict(
            f"instance {instance_id} cannot be retried while another instance with its key {ended['key']!r} lives"
        )
    if ended["in_ledger"]:
        instant = {"task_id": ended["task_id"], "scheduled_time": ended["scheduled_time"]}
        await tx.fetch(LOCK_INSTANTS, instants=[instant])
        await tx.run(_REOPEN, **instant)
    return Aftermath(freed_keys=set() if key is None else {key})


async def _place_now(tx: Tx, ended: Row, args: Mapping[str, Any] | None) -> _Place:
    """Where it belongs by the task as it stands."""
    task = (await tasks_by_id(tx, [ended["task_id"]])).get(ended["task_id"])
    if task is None or task.deleted_at is not None:
        raise Conflict(
            f"instance {ended['instance_id']} cannot be retried with the current version: its task was deleted; "
            "retry it with the version it has"
        )
    lane = lane_of(task, task.group_id, ended["target_executor_id"] or "")
    key = concurrency_key(task, (ended["args"] if args is None else args) or {}, ended["data_source_id"])
    return _Place(task.version, task.group_id, (await lane_ids(tx, [lane]))[lane], key)


async def _place(tx: Tx, ended: Row, args: Mapping[str, Any] | None) -> tuple[int, str | None]:
    """Its lane, which went with its executor if it was a shard, and its concurrency key, which may hold arguments."""
    lane_id, key, target = ended["lane_id"], ended["concurrency_key"], ended["target_executor_id"]
    if target is None and (key is None or args is None):
        return lane_id, key
    definition = await Versions().require(tx, ended["task_id"], ended["task_version"])
    if target is not None:
        lane = lane_of(definition, ended["group_id"], target)
        lane_id = (await lane_ids(tx, [lane]))[lane]
    return lane_id, key if args is None else concurrency_key(definition, args)
