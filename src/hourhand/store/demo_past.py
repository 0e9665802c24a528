"""Store: the past that sample tasks of the demo are given: a day of theirs that never was."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Boolean, Integer, Text, bindparam, delete, func, select, update

from hourhand.model.demo import PastEnding
from hourhand.model.errors import Conflict
from hourhand.model.task import Task
from hourhand.model.words import Status
from hourhand.rules.demo import is_sample
from hourhand.rules.figures import HOUR, rounded_down
from hourhand.rules.lanes import lane_of
from hourhand.store import stats_fold
from hourhand.store.database import Tx
from hourhand.store.definitions import tasks_by_id
from hourhand.store.demo import LOADED
from hourhand.store.registry import lane_ids
from hourhand.store.schema import (
    execution_logs,
    id_days,
    instance_attempts,
    instance_logs,
    store_values,
    task_instants,
)
from hourhand.store.schema_access import stats_minutely
from hourhand.store.sql import UNAMBIGUOUS, constant, insert, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, Json, to_micros

LONGEST_AGO = timedelta(days=1)
"""Yesterday's partitions are there; those of the days before need not be."""
_NOTE = "a sample of the demo: it never ran"
_EXECUTOR = "demo-sample"
_LINE_SPAN = 2**32
"""The lines of an attempt are numbered from its fence times this."""

_LOAD = Statement(
    insert(store_values)
    .values(name=LOADED, number=bindparam("number", type_=BigInteger))
    .on_conflict_do_nothing()
    .returning(store_values.c.name)
)

_LOG_COLUMNS: dict[str, Any] = {
    "id": BigInteger(),
    "instance_id": Id,
    "task_name": Text(),
    "task_id": Id,
    "task_version": Integer(),
    "group_id": Id,
    "lane_id": Id,
    "priority": Integer(),
    "scheduled_time": Instant(),
    "start_time": Instant(),
    "end_time": Instant(),
    "status": Text(),
    "retry_count": Integer(),
    "fence": BigInteger(),
    "in_ledger": Boolean(),
    "triggered_by": Text(),
    "executor_id": Text(),
    "duration_ms": BigInteger(),
    "result": Json(),
    "output_summary": Text(),
    "error_message": Text(),
    "summary": Json(),
    "skip_reason": Text(),
}
_LOGS = records("logs", _LOG_COLUMNS)
_WRITE_LOGS = Statement(
    insert(execution_logs).from_select(
        [*_LOG_COLUMNS, "created_at", "available_at", "queued_at", "notes"],
        select(*_LOGS.c, _LOGS.c.scheduled_time, _LOGS.c.scheduled_time, _LOGS.c.scheduled_time, constant(_NOTE)),
        include_defaults=False,
    )
)
_INSTANT_COLUMNS: dict[str, Any] = {
    name: task_instants.c[name].type for name in ("task_id", "scheduled_time", "outcome", "ended_at", "shards_failed")
}
_INSTANTS = records("instants", _INSTANT_COLUMNS)
_WRITE_INSTANTS = Statement(
    insert(task_instants)
    .from_select(
        [*_INSTANT_COLUMNS, "shards_left"],
        select(*_INSTANTS.c, constant(0)).where(UNAMBIGUOUS),
        include_defaults=False,
    )
    .on_conflict_do_nothing()
    .returning(task_instants.c.task_id, task_instants.c.scheduled_time)
)
_ATTEMPT_COLUMNS: dict[str, Any] = {
    column.name: column.type for column in instance_attempts.c if column.name != "outcome"
}
_ATTEMPTS = records("attempts", _ATTEMPT_COLUMNS)
_WRITE_ATTEMPTS = Statement(
    insert(instance_attempts).from_select(
        [*_ATTEMPT_COLUMNS, "outcome"], select(*_ATTEMPTS.c, constant("failed")), include_defaults=False
    )
)
_LINE_COLUMNS: dict[str, Any] = {
    name: instance_logs.c[name].type for name in ("instance_id", "seq", "logged_at", "level", "phase", "message")
}
_LINES = records("lines", _LINE_COLUMNS)
_WRITE_LINES = Statement(insert(instance_logs).from_select(list(_LINE_COLUMNS), select(_LINES), include_defaults=False))
# These ids were given out today for what ended earlier: without this it would be looked for among today's days only.
_ID_DAYS = Statement(
    update(id_days)
    .values(first_id=bindparam("following", type_=BigInteger))
    .where(
        id_days.c.day == select(func.max(id_days.c.day)).scalar_subquery(),
        id_days.c.first_id < bindparam("following", type_=BigInteger),
    )
)
_FORGET_FIGURES = Statement(
    delete(stats_minutely).where(
        stats_minutely.c.group_id == bindparam("group_id", type_=Id),
        stats_minutely.c.writer == bindparam("writer", type_=Text),
        stats_minutely.c.minute >= bindparam("begin", type_=Instant()),
        stats_minutely.c.minute < bindparam("end", type_=Instant()),
    )
)


async def write_past(tx: Tx, endings: Sequence[PastEnding]) -> int:
    """Write the past of sample tasks, once; 0 when they have one."""
    now = await tx.now()
    if not await tx.fetch(_LOAD, number=to_micros(now)):
        return 0
    known = await tasks_by_id(tx, {one.task_id for one in endings})
    _check(endings, known, now)
    # Guarantee 1: what entered the ledger already has an instance of its own.
    fresh = await tx.fetch(
        _WRITE_INSTANTS,
        instants=[
            {
                "task_id": one.task_id,
                "scheduled_time": one.scheduled_time,
                "outcome": one.status.value,
                "ended_at": one.end_time,
                "shards_failed": int(one.status is not Status.SUCCESS),
            }
            for one in endings
            if one.skip_reason is None
        ],
    )
    entered = {(row["task_id"], row["scheduled_time"]) for row in fresh}
    written = sorted(
        (one for one in endings if one.skip_reason is not None or (one.task_id, one.scheduled_time) in entered),
        key=lambda one: one.end_time,
    )
    if written:
        await _write(tx, written, known)
        await _count(tx, written[0].end_time, {task.group_id for task in known.values()})
    return len(written)


def _check(endings: Sequence[PastEnding], known: dict[int, Task], now: datetime) -> None:
    for one in endings:
        task = known.get(one.task_id)
        if task is None or not is_sample(task):
            named = one.task_id if task is None else repr(task.name)
            raise Conflict(f"task {named} is none of the demo's: only sample tasks can be given a past")
        if not now - LONGEST_AGO <= one.scheduled_time <= one.end_time <= now:
            raise Conflict(f"an ending at {one.end_time.isoformat()} does not lie within the day before now")


async def _write(tx: Tx, written: Sequence[PastEnding], known: dict[int, Task]) -> None:
    lanes = {task.id: lane_of(task, task.group_id) for task in known.values()}
    places = await lane_ids(tx, lanes.values())
    ids = list(await tx.allocate("instance_ids", len(written)))
    log_ids = list(await tx.allocate("execution_log_ids", len(written)))
    logs, attempts, lines = [], [], []
    for one, instance_id, log_id in zip(written, ids, log_ids, strict=True):
        logs.append(_log(one, known[one.task_id], instance_id, log_id, places[lanes[one.task_id]]))
        attempts += [
            {
                "instance_id": instance_id,
                "fence": _fence(number),
                "executor_id": _EXECUTOR,
                "start_time": tried.start_time,
                "end_time": tried.end_time,
                "error_message": tried.error_message,
            }
            for number, tried in enumerate(one.attempts)
        ]
        lines += _lines(one, instance_id)
    await tx.run(_WRITE_LOGS, logs=logs)
    await tx.run(_WRITE_ATTEMPTS, attempts=attempts)
    await tx.run(_WRITE_LINES, lines=lines)
    await tx.run(_ID_DAYS, following=ids[-1] + 1)


def _fence(number: int) -> int:
    """Of the first attempt, the second …: a claim raises it, and so does a failure that is tried again."""
    return 2 * number + 1


def _log(one: PastEnding, task: Task, instance_id: int, log_id: int, lane_id: int) -> dict[str, Any]:
    last = one.last_skipped or one.scheduled_time
    ran = None if one.start_time is None else round((one.end_time - one.start_time).total_seconds() * 1_000)
    return {
        "id": log_id,
        "instance_id": instance_id,
        "task_name": task.name,
        "task_id": task.id,
        "task_version": task.version,
        "group_id": task.group_id,
        "lane_id": lane_id,
        "priority": task.priority,
        "scheduled_time": one.scheduled_time,
        "start_time": one.start_time,
        "end_time": one.end_time,
        "status": one.status.value,
        "retry_count": len(one.attempts),
        "fence": 0 if ran is None else _fence(len(one.attempts)),
        "in_ledger": one.skip_reason is None,
        "triggered_by": "dependency" if task.schedule == "@upstream" else "scheduler",
        "executor_id": None if ran is None else _EXECUTOR,
        "duration_ms": ran or 0,
        "result": one.result,
        "output_summary": one.output,
        "error_message": one.error_message,
        "summary": None if one.skip_reason is None else {"count": one.skipped, "last": last.isoformat()},
        "skip_reason": None if one.skip_reason is None else one.skip_reason.value,
    }


def _lines(one: PastEnding, instance_id: int) -> list[dict[str, Any]]:
    """Spread evenly over the time that the last attempt took."""
    begin = one.start_time or one.end_time
    apart = (one.end_time - begin) / (len(one.lines) + 1)
    return [
        {
            "instance_id": instance_id,
            "seq": _fence(len(one.attempts)) * _LINE_SPAN + number,
            "logged_at": begin + apart * number,
            "level": level,
            "phase": phase,
            "message": message,
        }
        for number, (level, phase, message) in enumerate(one.lines, start=1)
    ]


async def _count(tx: Tx, first: datetime, group_ids: set[int]) -> None:
    """Count what the folding of figures has passed already; the rest it finds by itself."""
    marks = await stats_fold.read_marks(tx)
    folded, hours = marks.get(stats_fold.FOLDED), marks.get(stats_fold.HOURS)
    begin = rounded_down(first, HOUR)
    if folded is None or folded <= begin:
        return
    counters = await stats_fold.count_endings(tx, begin, folded, groups=group_ids)
    await _replace(tx, stats_fold.MINUTES_ROWS, counters, begin=begin, end=folded, group_ids=group_ids)
    if hours is not None and hours > begin:
        by_hour = stats_fold.summed(
            {**row, "minute": rounded_down(row["minute"], HOUR)} for row in counters if row["minute"] < hours
        )
        kept = stats_fold.capped(by_hour)
        await _replace(tx, stats_fold.HOURS_ROWS, kept, begin=begin, end=hours, group_ids=group_ids)


async def _replace(
    tx: Tx, writer: str, counters: Sequence[dict[str, Any]], *, begin: datetime, end: datetime, group_ids: set[int]
) -> None:
    for group_id in sorted(group_ids):
        await tx.run(_FORGET_FIGURES, group_id=group_id, writer=writer, begin=begin, end=end)
    if counters:
        await tx.run(stats_fold.KEEP, kept=[{**row, "writer": writer} for row in counters])
