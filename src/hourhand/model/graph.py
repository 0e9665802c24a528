"""Model: which task depends on which."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hourhand.model.words import Status, TaskType, UpstreamFailurePolicy


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
    instance_id: int | None
    """The newest one that runs, else that of the last outcome; None when there is none any more."""
    waiting: int
    """How many instances are planned or pending, counted up to 100."""
    paused: bool
    """Whether its schedule rests at this moment: it, its group or everything is paused, or a window is open."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """A task that a failure of another would keep from running."""

    task_id: int
    name: str
    group: str
    depth: int
    """How many dependencies lie between: 1 for one that depends on it directly."""
    next_fire_at: datetime | None
    policy: UpstreamFailurePolicy
    """What it does then: it waits until its time for waiting is over, or fails at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """What a failure of one task would block, the nearest first."""

    blocked: tuple[Blocked, ...]
    hidden: int
    """How many of those blocked are out of the caller's reach."""
    truncated: bool
    """Whether more would be blocked than is told."""
