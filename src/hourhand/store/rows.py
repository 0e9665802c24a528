"""Store: rows as nouns and nouns as rows; a row that this release cannot read is told apart from all others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from hourhand.model.errors import StoreError, shown
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

T = TypeVar("T")
logger = logging.getLogger(__name__)


class Unreadable(StoreError):
    """A row that this release cannot read: a newer one wrote it, or somebody did by hand."""


def _listed(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise TypeError
    return tuple(value)


Words = Mapping[str, Callable[[Any], Any]]
_TASK_WORDS: Words = {
    "type": TaskType,
    "misfire_policy": MisfirePolicy,
    "overlap_policy": OverlapPolicy,
    "dependency_mode": DependencyMode,
    "upstream_failure_policy": UpstreamFailurePolicy,
    "retry_backoff": RetryBackoff,
    "executor_loss_policy": ExecutorLossPolicy,
    "tags": _listed,
    "dependency_ids": _listed,
}
_INSTANCE_WORDS: Words = {
    "status": Status,
    "triggered_by": TriggeredBy,
    "blocked_by": BlockedBy,
    "skip_reason": SkipReason,
}
_OPTIONAL_WORDS = ("blocked_by", "skip_reason")
_DEFINITION_FIELDS = tuple(field.name for field in fields(TaskDefinition))
_TASK_COLUMNS = tuple(field.name for field in fields(Task) if field.name not in ("group", "dependency_ids"))
_INSTANCE_FIELDS = tuple(field.name for field in fields(Instance))


def _kinds(noun: type) -> dict[str, tuple[type, ...]]:
    """What each field of a noun may hold, as far as a row can get it wrong."""
    kinds = {}
    for name, hint in get_type_hints(noun).items():
        options = [get_origin(one) or one for one in (get_args(hint) if isinstance(hint, UnionType) else (hint,))]
        kinds[name] = (*options, float) if int in options else tuple(options)
    return kinds


_TASK_KINDS = _kinds(Task)


@lru_cache(maxsize=10_000)
def say_once(message: str) -> None:
    """Log it, unless it has been: what cannot be read is met again at every turn."""
    logger.warning("%s", message)


def readable(rows: Iterable[Row], read: Callable[[Row], T]) -> list[T]:
    """Guarantee 10: one bad row never blocks the rest. It is left out, and the log says so."""
    found = []
    for row in rows:
        try:
            found.append(read(row))
        except Unreadable as error:
            say_once(f"left out: {error}")
    return found


def _read_words(what: str, values: dict[str, Any], words: Words) -> None:
    for name, word in words.items():
        if name not in values or (values[name] is None and name in _OPTIONAL_WORDS):
            continue
        try:
            values[name] = word(values[name])
        except (ValueError, TypeError):
            known = ", ".join(word) if isinstance(word, type) and issubclass(word, StrEnum) else "a list"
            raise _unreadable(what, name, values[name], known) from None


def _check_kinds(what: str, values: Mapping[str, Any], kinds: Mapping[str, tuple[type, ...]]) -> None:
    for name, value in values.items():
        if not isinstance(value, kinds[name]):
            raise _unreadable(what, name, value, " or ".join(kind.__name__ for kind in kinds[name]))


def _unreadable(what: str, name: str, value: object, known: str) -> Unreadable:
    return Unreadable(
        f"{what} cannot be read: its {name} is {shown(value)}, and this release knows only {known}; "
        "use the release that wrote it, or mend the row"
    )


def task_of(row: Row, dependency_ids: Sequence[int]) -> Task:
    """A task from its row (with the group's name as `group`) and its dependencies."""
    what = f"task {row['id']} ({shown(row['name'])})"
    values = {name: row[name] for name in _TASK_COLUMNS}
    values |= {"group": row["group"], "dependency_ids": tuple(dependency_ids)}
    _read_words(what, values, _TASK_WORDS)
    _check_kinds(what, values, _TASK_KINDS)
    return Task(**values)


def definition_of(row: Row) -> TaskDefinition:
    """A definition from its version's row; a field younger than the version has its default."""
    what = f"version {row['version']} of task {row['task_id']}"
    stored = row["definition"]
    if not isinstance(stored, Mapping) or not {"name", "type"} <= stored.keys():
        raise _unreadable(what, "definition", stored, "an object with at least a name and a type")
    values = {name: stored[name] for name in _DEFINITION_FIELDS if name in stored}
    _read_words(what, values, _TASK_WORDS)
    _check_kinds(what, values, _TASK_KINDS)
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
    _read_words(f"instance {row['id']}", values, _INSTANCE_WORDS)
    return Instance(**values)


def group_of(row: Row) -> Group:
    """A group from its row."""
    words = {"address_type": row["address_type"]}
    _read_words(f"group {row['id']} ({shown(row['name'])})", words, {"address_type": AddressType})
    return Group(
        id=row["id"],
        name=row["name"],
        title=row["title"],
        address_type=words["address_type"],
        address_list=tuple(row["address_list"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def executor_of(row: Row) -> Executor:
    """An executor from its row (with the group's name as `group`)."""
    words = {"kind": row["kind"]}
    _read_words(f"executor {row['id']}", words, {"kind": ExecutorKind})
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
        kind=words["kind"],
        started_at=row["started_at"],
        last_heartbeat=row["last_heartbeat"],
    )


def latest(*times: datetime | None) -> datetime | None:
    """The latest of those that are set."""
    return max((time for time in times if time is not None), default=None)
