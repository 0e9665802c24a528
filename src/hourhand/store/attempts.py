"""Store: what a running attempt writes: progress, checkpoints and log lines, each under its fence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BigInteger, Boolean, Double, Integer, Text, bindparam, case, func, literal, select, update

from hourhand.model.instance import AttemptRecord, Held, LogLine, Progress
from hourhand.model.words import OutcomeKind, Status
from hourhand.rules.definition import check_json
from hourhand.rules.endings import ending_attempt
from hourhand.rules.lines import of_callback
from hourhand.store.database import Row, Tx
from hourhand.store.ids import first_day
from hourhand.store.schema import RUNNING, execution_logs, instance_attempts, instance_logs, task_instances
from hourhand.store.sql import insert, plus_seconds, records, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, Json
from hourhand.store.values import clean_text

MESSAGE_BYTES = 64 * 1024
_TOLERANCE_SECONDS = 3_600
_PROGRESS = records(
    "reports",
    {
        "id": Id,
        "fence": BigInteger(),
        "progress": Double(),
        "phase": Text(),
        "checkpoint": Json(),
        "has_checkpoint": Boolean(),
    },
)
_NOTHING = {"progress": None, "phase": None, "checkpoint": None, "has_checkpoint": False}
_mine = (
    (task_instances.c.id == _PROGRESS.c.id)
    & (task_instances.c.fence == _PROGRESS.c.fence)
    & (task_instances.c.status == RUNNING)
)
_LOCK_MINE = Statement(
    select(task_instances.c.id, task_instances.c.fence)
    .join(_PROGRESS, _mine)
    .order_by(task_instances.c.id)
    .with_for_update(of=task_instances, key_share=True)  # does not wait for lines on their way
)
_REPORT = Statement(
    update(task_instances)
    .values(
        progress=func.coalesce(_PROGRESS.c.progress, task_instances.c.progress),
        phase=func.coalesce(_PROGRESS.c.phase, task_instances.c.phase),
        checkpoint=case((_PROGRESS.c.has_checkpoint, _PROGRESS.c.checkpoint), else_=task_instances.c.checkpoint),
    )
    .where(_mine)
)
_LINES = records(
    "lines",
    {
        "instance_id": Id,
        "fence": BigInteger(),
        "seq": BigInteger(),
        "logged_at": Instant(),
        "level": Text(),
        "phase": Text(),
        "stream": Text(),
        "message": Text(),
        "exception": Text(),
    },
)
_line_columns = [name for name in _LINES.c.keys() if name != "fence"]  # noqa: SIM118 - a column collection, not a dict
# An executor's clock may be wrong, but a line must be in a day that exists, and where its readers look for it; the
# start of its attempt is the same each time it is sent.
_logged_at = case(
    (
        _LINES.c.logged_at.between(
            task_instances.c.start_time, plus_seconds(store_clock(), literal(_TOLERANCE_SECONDS, Integer))
        ),
        _LINES.c.logged_at,
    ),
    else_=task_instances.c.start_time,
)
_WRITE_LINES = Statement(
    insert(instance_logs)
    .from_select(
        _line_columns,
        select(*[_logged_at if name == "logged_at" else _LINES.c[name] for name in _line_columns])
        .select_from(_LINES)
        .join(
            task_instances,
            (task_instances.c.id == _LINES.c.instance_id) & (task_instances.c.fence == _LINES.c.fence),
        )
        .where(task_instances.c.status == RUNNING)
        .order_by(task_instances.c.id, _LINES.c.seq)
        # Guarantee 6, and what whoever follows the lines relies on: the attempt can neither end nor be superseded
        # while lines of it are on their way. The lock is the weakest that does it, so that heartbeats pass.
        .with_for_update(of=task_instances, read=True, key_share=True),
        include_defaults=False,
    )
    .on_conflict_do_nothing()
)
_lines = (
    select(instance_logs)
    .where(
        instance_logs.c.instance_id == bindparam("instance_id", type_=Id),
        instance_logs.c.seq > bindparam("after", type_=BigInteger),
        instance_logs.c.logged_at >= bindparam("since", type_=Instant()),
    )
    .limit(bindparam("limit", type_=BigInteger))
)
_READ_LINES = Statement(_lines.order_by(instance_logs.c.seq))
_READ_LAST_LINES = Statement(
    _lines.where(instance_logs.c.seq < bindparam("before", type_=BigInteger)).order_by(instance_logs.c.seq.desc())
)
# An ending that a retry by hand took back is an attempt among others.
_READ_REVIVED = Statement(
    select(
        execution_logs.c.instance_id,
        execution_logs.c.fence,
        execution_logs.c.executor_id,
        execution_logs.c.start_time,
        execution_logs.c.end_time,
        execution_logs.c.status,
        execution_logs.c.error_message,
    ).where(
        execution_logs.c.instance_id == bindparam("instance_id", type_=Id),
        execution_logs.c.end_time >= bindparam("since", type_=Instant()),
        execution_logs.c.superseded_at.is_not(None),
        execution_logs.c.start_time.is_not(None),
    )
)
_READ_ATTEMPTS = Statement(
    select(instance_attempts)
    .where(
        instance_attempts.c.instance_id == bindparam("instance_id", type_=Id),
        instance_attempts.c.end_time >= bindparam("since", type_=Instant()),
    )
    .order_by(instance_attempts.c.fence)
)


async def report_progress(tx: Tx, reports: Sequence[Progress]) -> list[Held]:
    """Store how far attempts have come; those that were superseded meanwhile are returned and changed nothing."""
    rows: dict[Held, dict[str, Any]] = {}
    for one in reports:
        held = Held(one.instance_id, one.fence)
        row = rows.setdefault(held, {"id": one.instance_id, "fence": one.fence, **_NOTHING})
        # Of several reports of one attempt the last word on each counts.
        if one.progress is not None:
            row["progress"] = min(1.0, max(0.0, one.progress))
        if one.phase is not None:
            row["phase"] = clean_text(one.phase, 200)
        if one.checkpoint is not None:
            # Never mended: a successor would resume from what its predecessor did not say.
            check_json(one.checkpoint, "checkpoint")
            row |= {"checkpoint": one.checkpoint, "has_checkpoint": True}
    mine = {Held(row["id"], row["fence"]) for row in await tx.fetch(_LOCK_MINE, reports=list(rows.values()))}
    if mine:
        await tx.run(_REPORT, reports=[rows[held] for held in rows if held in mine])
    return [held for held in rows if held not in mine]


async def write_lines(tx: Tx, lines: Sequence[tuple[Held, LogLine]]) -> int:
    """Store what running attempts wrote; a line sent twice is stored once, one of a superseded attempt not at all.

    Executors write in the order of their numbers. Callbacks may come in at several processes at once; one that was
    overtaken by a later number is not stored either, since whoever follows the lines has passed it.
    """
    lines = [*lines]
    if called := [held for held, line in lines if of_callback(line.seq)]:
        await tx.fetch(_LOCK_MINE, reports=[{**_NOTHING, "id": one.instance_id, "fence": one.fence} for one in called])
        lines = [(held, line) for held, line in lines if not (of_callback(line.seq) and await _passed(tx, held, line))]
    return await tx.run(
        _WRITE_LINES,
        lines=[
            {
                "instance_id": held.instance_id,
                "fence": held.fence,
                "seq": line.seq,
                "logged_at": line.logged_at,
                "level": clean_text(line.level, 16),
                "phase": clean_text(line.phase, 200),
                "stream": clean_text(line.stream, 16),
                "message": clean_text(line.message, MESSAGE_BYTES),
                "exception": clean_text(line.exception, MESSAGE_BYTES),
            }
            for held, line in lines
        ],
    )


async def _passed(tx: Tx, held: Held, line: LogLine) -> bool:
    return bool(await read_lines(tx, held.instance_id, after=line.seq - 1, limit=1))


async def read_lines(tx: Tx, instance_id: int, *, after: int, limit: int, before: int | None = None) -> list[LogLine]:
    """The first lines after a sequence number or, with `before`, the last ones before that; in order."""
    wanted = {"instance_id": instance_id, "after": after, "since": await first_day(tx, instance_id), "limit": limit}
    if before is None:
        rows = await tx.fetch(_READ_LINES, **wanted)
    else:
        rows = list(reversed(await tx.fetch(_READ_LAST_LINES, **wanted, before=before)))
    return [line_of(row) for row in rows]


def line_of(row: Row) -> LogLine:
    """A line from its row."""
    return LogLine(
        seq=row["seq"],
        logged_at=row["logged_at"],
        message=row["message"],
        level=row["level"],
        phase=row["phase"],
        stream=row["stream"],
        exception=row["exception"],
    )


async def read_attempts(tx: Tx, instance_id: int) -> list[AttemptRecord]:
    """The attempts that did not end the instance, or not for good."""
    wanted = {"instance_id": instance_id, "since": await first_day(tx, instance_id)}
    rows = [
        *await tx.fetch(_READ_ATTEMPTS, **wanted),
        *[
            {**row, "outcome": ending_attempt(Status(row["status"]), row["error_message"])}
            for row in await tx.fetch(_READ_REVIVED, **wanted)
        ],
    ]
    return [
        AttemptRecord(
            instance_id=row["instance_id"],
            fence=row["fence"],
            executor_id=row["executor_id"],
            start_time=row["start_time"],
            end_time=row["end_time"],
            outcome=OutcomeKind(row["outcome"]),
            error_message=row["error_message"],
        )
        for row in sorted(rows, key=lambda row: row["fence"])
    ]
