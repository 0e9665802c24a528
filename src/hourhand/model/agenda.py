"""Model: the instants to come of all tasks: one by one, and how many there are step by step."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocked:
    """A task that is to fire by itself: what its instants follow from, and the next that has no instance yet."""

    task_id: int
    task_name: str
    group: str
    group_id: int
    schedule: str
    timezone: str
    anchored_at: datetime
    next_fire_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class UpcomingInstant:
    """One instant to come."""

    task_id: int
    task_name: str
    group: str
    timezone: str
    """Whose clock its schedule follows."""
    at: datetime
    note: str | None
    """That it will be skipped, and for what; None when it fires."""


@dataclass(frozen=True, slots=True)
class Upcoming:
    """Instants to come, the soonest first."""

    items: tuple[UpcomingInstant, ...]
    next_cursor: str | None
    truncated: bool
    """Whether there are more tasks than are looked at: those that fire soonest are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadStep:
    """How many instants lie in one step of a period."""

    at: datetime
    """Its beginning."""
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BusyTask:
    """A task, and how often it is to fire in a period."""

    task_id: int
    task_name: str
    group: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How many instants are to fire, step by step."""

    begin: datetime
    end: datetime
    step_seconds: int
    steps: tuple[LoadStep, ...]
    busiest: tuple[BusyTask, ...]
    """Those that fire most often, the most frequent first."""
    truncated: bool
    """Whether there is more than was counted."""
