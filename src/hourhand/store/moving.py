"""Store: the seam: an instance that ends moves from the living to the execution logs, in one transaction.

Whoever calls this holds the locks of the living rows. Lock order: instances, then the ledger, then permits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Integer, Text, bindparam, delete, exists, func, or_, select, update

from hourhand.model.answers import Aftermath
from hourhand.model.words import Status
from hourhand.rules.broadcast import instant_outcome
from hourhand.store.database import Row, Tx
from hourhand.store.schema import (
    LIVING,
    concurrency_permits,
    execution_logs,
    instance_waits,
    task_dependencies,
    task_instances,
    task_instants,
    tasks,
)
from hourhand.store.sql import any_of, insert, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, Json

SEAM = (
    "id",
    "task_id",
    "task_version",
    "scheduled_time",
    "in_ledger",
    "concurrency_key",
    "blocked_by",
    "shard_total",
    "status",
)
"""What must be known of a living row to end it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How one living instance ends."""

    row: Row
    to: Status
    error_message: str | None = None
    result: Any = None
    output_summary: str | None = None
    summary: Any = None
    duration_ms: int = 0
    start_time: datetime | None = None
    loss_count: int | None = None
    """None leaves it as it is."""


_ENDS = records(
    "ends",
    {
        "id": Id,
        "log_id": BigInteger(),
        "status": Text(),
        "start_time": Instant(),
        "duration_ms": BigInteger(),
        "result": Json(),
        "output_summary": Text(),
        "error_message": Text(),
        "summary": Json(),
        "loss_count": Integer(),
    },
)
_FROM_END = {
    "status": _ENDS.c.status,
    "start_time": _ENDS.c.start_time,
    "result": _ENDS.c.result,
    "loss_count": func.coalesce(_ENDS.c.loss_count, task_instances.c.loss_count),
}
_KEPT = [name for name in LIVING if name not in ("blocked_by", "lease_until")]
_TO_LOGS = Statement(
    insert(execution_logs).from_select(
        [
            "id",
            "instance_id",
            "task_name",
            *_KEPT,
            "end_time",
            "duration_ms",
            "output_summary",
            "error_message",
            "summary",
        ],
        select(
            _ENDS.c.log_id,
            task_instances.c.id,
            tasks.c.name,
            *[_FROM_END.get(name, task_instances.c[name]) for name in _KEPT],
            bindparam("now", type_=Instant()),
            _ENDS.c.duration_ms,
            _ENDS.c.output_summary,
            _ENDS.c.error_message,
            _ENDS.c.summary,
        )
        .select_from(_ENDS)
        .join(task_instances, task_instances.c.id == _ENDS.c.id)
        .join(tasks, tasks.c.id == task_instances.c.task_id),
        include_defaults=False,
    )
)
DELETE_LIVING = Statement(delete(task_instances).where(any_of(task_instances.c.id, "ids")))
DELETE_WAITS = Statement(delete(instance_waits).where(any_of(instance_waits.c.instance_id, "ids")))
DELETE_PERMITS = Statement(delete(concurrency_permits).where(any_of(concurrency_permits.c.instance_id, "ids")))

DELETE_INSTANTS = Statement(
    delete(task_instants).where(
        task_instants.c.task_id == bindparam("task_id", type_=Id), any_of(task_instants.c.scheduled_time, "times")
    )
)

_INSTANTS = records("instants", {"task_id": Id, "scheduled_time": Instant()})
LOCK_INSTANTS = Statement(
    select(task_instants)
    .join(
        _INSTANTS,
        (_INSTANTS.c.task_id == task_instants.c.task_id)
        & (_INSTANTS.c.scheduled_time == task_instants.c.scheduled_time),
    )
    .order_by(task_instants.c.task_id, task_instants.c.scheduled_time)
    .with_for_update(of=task_instants)
)
_LEDGER = records(
    "ledger",
    {
        "task_id": Id,
        "scheduled_time": Instant(),
        "outcome": Text(),
        "shards_left": Integer(),
        "shards_failed": Integer(),
        "ended_at": Instant(),
        "log_id": BigInteger(),
    },
)
_FOLLOWED_TASKS = Statement(
    select(tasks.c.id).where(
        any_of(tasks.c.id, "ids"),
        or_(
            tasks.c.schedule.like("@after%"),
            tasks.c.overlap_policy == "serial",
            tasks.c.overlap_policy == "replace",
            tasks.c.misfire_policy == "catch_up",  # what is caught up comes one after the other
            exists().where(task_dependencies.c.depends_on_id == tasks.c.id),
        ),
    )
)
_WRITE_LEDGER = Statement(
    update(task_instants)
    .values(
        outcome=_LEDGER.c.outcome,
        shards_left=_LEDGER.c.shards_left,
        shards_failed=_LEDGER.c.shards_failed,
        ended_at=_LEDGER.c.ended_at,
        unsettled=_LEDGER.c.log_id,
    )
    .where(
        task_instants.c.task_id == _LEDGER.c.task_id,
        task_instants.c.scheduled_time == _LEDGER.c.scheduled_time,
    )
)


async def end_instances(tx: Tx, ends: Sequence[End], now: datetime) -> Aftermath:
    """Move the rows, close their instants, give their permits back; what follows is the caller's to start."""
    if not ends:
        return Aftermath()
    log_ids = await tx.allocate("execution_log_ids", len(ends))
    ids = [end.row["id"] for end in ends]
    await tx.run(_TO_LOGS, now=now, ends=[_end_row(end, log_id) for end, log_id in zip(ends, log_ids, strict=True)])
    await tx.run(DELETE_LIVING, ids=ids)
    if waiting := [end.row["id"] for end in ends if end.row["blocked_by"] == "dependencies"]:
        await tx.run(DELETE_WAITS, ids=waiting)
    unsettled = await _close_instants(tx, ends, log_ids, now)
    return Aftermath(
        unsettled=unsettled,
        freed_keys=await free_permits(tx, [end.row for end in ends]),
        ended=[
            (end.row["task_id"], end.row["task_version"], end.to, None if end.start_time is None else end.duration_ms)
            for end in ends
        ],
    )


def _end_row(end: End, log_id: int) -> dict[str, Any]:
    return {
        "id": end.row["id"],
        "log_id": log_id,
        "status": end.to.value,
        "start_time": end.start_time,
        "duration_ms": end.duration_ms,
        "result": end.result,
        "output_summary": end.output_summary,
        "error_message": end.error_message,
        "summary": end.summary,
        "loss_count": end.loss_count,
    }


async def free_permits(tx: Tx, rows: Iterable[Row]) -> set[str]:
    """Leaving pending or running gives the permit back in the same transaction; the keys that have room again."""
    keyed = {row["id"]: row["concurrency_key"] for row in rows if row["concurrency_key"] is not None}
    if keyed:
        await tx.run(DELETE_PERMITS, ids=sorted(keyed))
    return set(keyed.values())


async def _close_instants(
    tx: Tx, ends: Sequence[End], log_ids: Sequence[int], now: datetime
) -> set[tuple[int, datetime]]:
    """Guarantee 8: the ledger says in the ending transaction that something follows, so no crash can hide it."""
    ended: dict[tuple[int, datetime], list[tuple[End, int]]] = {}
    for end, log_id in zip(ends, log_ids, strict=True):
        if end.row["in_ledger"]:
            ended.setdefault((end.row["task_id"], end.row["scheduled_time"]), []).append((end, log_id))
    if not ended:
        return set()
    task_ids = sorted({task_id for task_id, _ in ended})
    followed = {row["id"] for row in await tx.fetch(_FOLLOWED_TASKS, ids=task_ids)}
    locked = await tx.fetch(LOCK_INSTANTS, instants=[{"task_id": key[0], "scheduled_time": key[1]} for key in ended])
    changes = []
    for instant in locked:
        group = ended[instant["task_id"], instant["scheduled_time"]]
        left = instant["shards_left"] - len(group)
        failed = instant["shards_failed"] + sum(end.to is not Status.SUCCESS for end, _ in group)
        outcome = instant_outcome(left, failed)
        if outcome is Status.FAILED and group[0][0].row["shard_total"] == 1:
            outcome = group[0][0].to  # a single instance may also have been cancelled
        changes.append(
            {
                "task_id": instant["task_id"],
                "scheduled_time": instant["scheduled_time"],
                "outcome": outcome and outcome.value,
                "shards_left": left,
                "shards_failed": failed,
                "ended_at": None if outcome is None else now,
                "log_id": group[-1][1] if outcome is not None and instant["task_id"] in followed else None,
            }
        )
    await tx.run(_WRITE_LEDGER, ledger=changes)
    return {(change["task_id"], change["scheduled_time"]) for change in changes if change["log_id"] is not None}
