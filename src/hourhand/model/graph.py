"""Model: which task depends on which."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hourhand.model.words import Status, TaskType


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """A task, and how its newest instant that has ended went."""

    id: int
    name: str
    group: str
    type: TaskType
    schedule: str
    enabled: bool
    running: bool
    last_outcome: Status | None
    last_time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdge:
    """A task that depends on another."""

    task_id: int
    depends_on_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Tasks and what they depend on; `truncated` when there is more than one answer may hold."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    truncated: bool
