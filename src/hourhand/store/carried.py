"""Store: what instances of operations carry beside others: their kind, and the data source that they work on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from hourhand.model.task import TaskDefinition
from hourhand.rules.operation_tasks import source_name
from hourhand.store.database import Tx
from hourhand.store.schema_access import data_sources
from hourhand.store.sql import any_of
from hourhand.store.statements import Statement

_SOURCES = Statement(select(data_sources.c.id, data_sources.c.name).where(any_of(data_sources.c.name, "names")))


async def carried(tx: Tx, tasks: Sequence[TaskDefinition]) -> list[dict[str, Any]]:
    """By each task's own configuration; one whose data source is gone fails when it starts, and says so."""
    names = sorted({name for task in tasks if (name := source_name(task)) is not None})
    rows = await tx.fetch(_SOURCES, names=names) if names else []
    found = {row["name"]: row["id"] for row in rows}
    return [
        {"operation_kind": task.payload.get("kind"), "data_source_id": found.get(source_name(task))} for task in tasks
    ]
