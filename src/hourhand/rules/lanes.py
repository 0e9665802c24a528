"""Rules: which lane an instance goes into, and which lanes an executor may serve."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache

from hourhand.model.registry import BUILTIN, Executor, Lane
from hourhand.model.task import TaskDefinition
from hourhand.model.words import TaskType


def requires(task: TaskDefinition) -> str:
    """What an executor must provide: everything built in is alike; a handler lives in one app."""
    match task.type:
        case TaskType.PYTHON:
            return handlers_of(task.payload.get("app") or task.group)
        case TaskType.XXL:
            return "xxl"
        case _:
            return BUILTIN


def handlers_of(app: str) -> str:
    """What an executor that serves this app provides."""
    return f"python:{app}"


def lane_of(task: TaskDefinition, group_id: int, target_executor_id: str = "") -> Lane:
    """The lane of an instance of this task."""
    return Lane(group_id, requires(task), labels_text(task.executor_labels), target_executor_id)


def labels_text(labels: Mapping[str, str]) -> str:
    """Canonical, so that equal labels are one lane."""
    return json.dumps(dict(labels), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class Lacks(Enum):
    """What keeps an executor from a lane: the first of these that does."""

    GROUP = "group"
    TARGET = "target"
    """The lane is another executor's own."""
    REQUIRES = "requires"
    LABELS = "labels"


def lacks(executor: Executor, executor_group_id: int, lane: Lane) -> Lacks | None:
    """What keeps the executor from claiming what is in the lane; None if nothing does."""
    if lane.group_id != executor_group_id:
        return Lacks.GROUP
    if lane.target_executor_id not in ("", executor.id):
        return Lacks.TARGET
    if lane.requires not in executor.provides:
        return Lacks.REQUIRES
    if any(executor.labels.get(name) != value for name, value in labels_of(lane.labels)):
        return Lacks.LABELS
    return None


def serves(executor: Executor, executor_group_id: int, lane: Lane) -> bool:
    """Whether the executor may claim what is in the lane."""
    return lacks(executor, executor_group_id, lane) is None


@lru_cache(maxsize=1_000)
def labels_of(text: str) -> tuple[tuple[str, str], ...]:
    """The inverse of `labels_text`; a few texts are asked for again and again, by every lane and executor."""
    return tuple(json.loads(text).items())


def able(executors: Iterable[tuple[Executor, int]], lane: Lane) -> tuple[str, ...]:
    """The executors (each with its group's id) that may serve the lane, in a stable order: a broadcast's targets."""
    return tuple(sorted(executor.id for executor, group_id in executors if serves(executor, group_id, lane)))
