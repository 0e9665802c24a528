"""Store: an approved plan becomes an instance of its kind's built-in task; what instances of operations carry."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import BigInteger, Text, select

from hourhand.model.audit import Author, Change
from hourhand.model.errors import Conflict, DuplicateName
from hourhand.model.operation import Start
from hourhand.model.task import Task
from hourhand.rules.lines import line_seq
from hourhand.rules.operation_tasks import (
    BUILT_IN,
    SUBMITTED,
    built_in_task,
    first_lines,
    submission_of,
    task_name,
)
from hourhand.store import audit
from hourhand.store.database import Tx
from hourhand.store.edit import create_task
from hourhand.store.schema import instance_logs
from hourhand.store.sql import constant, insert, records, store_clock
from hourhand.store.statements import Statement
from hourhand.store.submit import Accepted, submit
from hourhand.store.task_listing import task_by_name
from hourhand.store.types import Id
from hourhand.store.values import clean_text

_LINE_BYTES = 32 * 1024
_BEFORE_ANY_ATTEMPT = 0
_FIRST_LINES = records("lines", {"instance_id": Id, "seq": BigInteger(), "message": Text()})
_WRITE = Statement(
    insert(instance_logs).from_select(
        ["instance_id", "seq", "message", "level", "phase", "logged_at"],
        select(*_FIRST_LINES.c, constant("info"), constant(SUBMITTED), store_clock()),
        include_defaults=False,
    )
)


async def start(
    tx: Tx, wanted: Start, *, look_ahead: timedelta, lease_seconds: float, author: Author | None
) -> Accepted:
    """The instance, its audit entry and the first lines of its log, all or nothing."""
    task = await _built_in(tx, wanted.kind, look_ahead)
    accepted = await submit(tx, [submission_of(task.id, wanted)], lease_seconds=lease_seconds, author=author)
    (submitted,) = accepted.submitted
    if not submitted.existing:
        await _write_lines(tx, submitted.instance_id, list(first_lines(wanted, _LINE_BYTES)))
        await audit.record(tx, author, [_change(wanted, submitted.instance_id)])
    return accepted


async def _built_in(tx: Tx, kind: str, look_ahead: timedelta) -> Task:
    found = await task_by_name(tx, task_name(kind))
    if found is None:
        try:
            return await create_task(tx, built_in_task(kind), by=BUILT_IN, look_ahead=look_ahead)
        except DuplicateName:  # another process has made it between the look and the write
            found = await task_by_name(tx, task_name(kind))
    if found is None or found.managed_by != BUILT_IN:
        raise Conflict(
            f"the name {task_name(kind)!r} is needed for operations that are started by hand, and somebody else's task "
            "has it: rename that"
        )
    return found


async def _write_lines(tx: Tx, instance_id: int, messages: Sequence[str]) -> None:
    await tx.run(
        _WRITE,
        lines=[
            {
                "instance_id": instance_id,
                "seq": line_seq(_BEFORE_ANY_ATTEMPT, counter),
                "message": clean_text(message, 2 * _LINE_BYTES),
            }
            for counter, message in enumerate(messages)
        ],
    )


def _change(wanted: Start, instance_id: int) -> Change:
    return Change(
        action="plan" if wanted.held else "start",
        resource_type="operation",
        resource_id=str(instance_id),
        summary=f"{task_name(wanted.kind)} on {wanted.place}",
        payload={
            "kind": wanted.kind,
            "instance_id": instance_id,
            "data_source_id": wanted.data_source_id,
            "plan_hash": wanted.plan_hash,
            "config": wanted.config,
            "run_at": wanted.run_at,
            "notes": wanted.notes,
        },
        script=wanted.script,
    )
