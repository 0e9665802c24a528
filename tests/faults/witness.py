"""Reading the history: the journal, the tables and the marks, each in its own words, put into facts."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from faults import journal
from faults.history import Change, ExecutionLog, History, Loss, TaskFacts, Verb
from faults.marks import read_marks
from hourhand.store.types import from_micros

_TASKS = "SELECT id, name, schedule, timezone, anchored_at, upstream_failure_policy FROM tasks"
_DEPENDENCIES = "SELECT task_id, depends_on_id FROM task_dependencies ORDER BY task_id, depends_on_id"
_CHANGES = f"SELECT seq, at, verb, instance_id, {', '.join(journal.COLUMNS)} FROM fault_journal ORDER BY seq"  # noqa: S608
_LOGS = (
    "SELECT id, instance_id, task_id, scheduled_time, status, fence, end_time, superseded_at, skip_reason, summary, "
    "error_message FROM execution_logs ORDER BY id"
)
_LOSSES = "SELECT instance_id, fence FROM instance_attempts WHERE outcome = 'lost'"


async def read_history(url: str, marks: Path, until: datetime, accepted: tuple[int, ...] = ()) -> History:
    """Put together all that is known of a store and of the work done for it."""
    dependencies: dict[int, list[int]] = {}
    for row in await journal.fetch(url, _DEPENDENCIES):
        dependencies.setdefault(row["task_id"], []).append(row["depends_on_id"])
    return History(
        tasks=tuple(_task(row, dependencies.get(row["id"], [])) for row in await journal.fetch(url, _TASKS)),
        until=until,
        changes=tuple(_change(row) for row in await journal.fetch(url, _CHANGES)),
        logs=tuple(_log(row) for row in await journal.fetch(url, _LOGS)),
        losses=tuple(Loss(row["instance_id"], row["fence"]) for row in await journal.fetch(url, _LOSSES)),
        marks=tuple(read_marks(marks)),
        accepted=accepted,
    )


def moment(value: Any) -> datetime:
    """A time as either database gives it."""
    return from_micros(value) if isinstance(value, int) else value


def _task(row: dict[str, Any], dependencies: list[int]) -> TaskFacts:
    return TaskFacts(
        id=row["id"],
        name=row["name"],
        schedule=row["schedule"],
        timezone=row["timezone"],
        anchored_at=moment(row["anchored_at"]),
        dependency_ids=tuple(dependencies),
        needs_success=row["upstream_failure_policy"] != "run",
    )


def _change(row: dict[str, Any]) -> Change:
    lease = row["lease_until"]
    changed = {
        "at": moment(row["at"]),
        "scheduled_time": moment(row["scheduled_time"]),
        "lease_until": None if lease is None else moment(lease),
        "verb": Verb(row["verb"]),
        "in_ledger": bool(row["in_ledger"]),
    }
    return Change(**(row | changed))


def _log(row: dict[str, Any]) -> ExecutionLog:
    superseded_at = row.pop("superseded_at")
    summary = row["summary"]
    changed = {
        "scheduled_time": moment(row["scheduled_time"]),
        "end_time": moment(row["end_time"]),
        "superseded": superseded_at is not None,
        "summary": json.loads(summary) if isinstance(summary, str) else summary,
    }
    return ExecutionLog(**(row | changed))
