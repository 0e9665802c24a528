"""Store: rows as nouns and nouns as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from hourhand.model.instance import Instance
from hourhand.model.registry import Executor, Group
from hourhand.model.task import Task, TaskDefinition
from hourhand.model.words import (
    AddressType,
    BlockedBy,
    DependencyMode,
    ExecutorKind,
    ExecutorLossPolicy,
    MisfirePolicy,
    OverlapPolicy,
    RetryBackoff,
    SkipReason,
    Status,
    TaskType,
    TriggeredBy,
    UpstreamFailurePolicy,
)
from hourhand.store.database import Row

_TASK_WORDS: Mapping[str, Any] = {
    "type": TaskType,
    "misfire_policy": MisfirePolicy,
    "overlap_policy": OverlapPolicy,
    "dependency_mode": DependencyMode,
    "upstream_failure_policy": UpstreamFailurePolicy,
    "retry_backoff": RetryBackoff,
    "executor_loss_policy": ExecutorLossPolicy,
    "tags": tuple,
    "dependency_ids": tuple,
}
_DEFINITION_FIELDS = tuple(field.name for field in fields(TaskDefinition))
_TASK_COLUMNS = tuple(field.name for field in fields(Task) if field.name not in ("group", "dependency_ids"))
_INSTANCE_FIELDS = tuple(field.name for field in fields(Instance))


def task_of(row: Row, dependency_ids: Sequence[int]) -> Task:
    """A task from its row (with the group's name as `group`) and its dependencies."""
    values = {name: row[name] for name in _TASK_COLUMNS}
    values |= {"group": row["group"], "dependency_ids": dependency_ids}
    for name, word in _TASK_WORDS.items():
        values[name] = word(values[name])
    return Task(**values)


def definition_of(stored: Mapping[str, Any]) -> TaskDefinition:
    """A definition from its version's JSON; a field younger than the version has its default."""
    values = {name: stored[name] for name in _DEFINITION_FIELDS if name in stored}
    for name, word in _TASK_WORDS.items():
        if name in values:
            values[name] = word(values[name])
    return TaskDefinition(**values)


def definition_json(task: TaskDefinition) -> dict[str, Any]:
    """What a version keeps: the definition's fields and nothing of the task's state."""
    values = asdict(task)
    return {name: values[name] for name in _DEFINITION_FIELDS}


def task_values(definition: TaskDefinition) -> dict[str, Any]:
    """The definition's columns of `tasks`."""
    values = definition_json(definition)
    del values["group"], values["dependency_ids"]
    return values


def instance_of(row: Row) -> Instance:
    """An instance, living or ended, from a row of the one shape that the lists select."""
    values = {name: row[name] for name in _INSTANCE_FIELDS}
    values["status"] = Status(values["status"])
    values["triggered_by"] = TriggeredBy(values["triggered_by"])
    values["blocked_by"] = values["blocked_by"] and BlockedBy(values["blocked_by"])
    values["skip_reason"] = values["skip_reason"] and SkipReason(values["skip_reason"])
    return Instance(**values)


def group_of(row: Row) -> Group:
    """A group from its row."""
    return Group(
        id=row["id"],
        name=row["name"],
        title=row["title"],
        address_type=AddressType(row["address_type"]),
        address_list=tuple(row["address_list"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def executor_of(row: Row) -> Executor:
    """An executor from its row (with the group's name as `group`)."""
    return Executor(
        id=row["id"],
        group=row["group"],
        hostname=row["hostname"],
        address=row["address"],
        pid=row["pid"],
        version=row["version"],
        capacity=row["capacity"],
        running=row["running"],
        labels=row["labels"],
        provides=tuple(row["provides"]),
        kind=ExecutorKind(row["kind"]),
        started_at=row["started_at"],
        last_heartbeat=row["last_heartbeat"],
    )


def latest(*times: datetime | None) -> datetime | None:
    """The latest of those that are set."""
    return max((time for time in times if time is not None), default=None)
