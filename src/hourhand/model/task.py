"""Model: a task is what to run and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from hourhand.model.words import (
    DependencyMode,
    ExecutorLossPolicy,
    MisfirePolicy,
    OverlapPolicy,
    RetryBackoff,
    TaskType,
    UpstreamFailurePolicy,
)

DEFAULT_GROUP = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDefinition:
    """What a person writes; every edit makes a new version of it."""

    name: str
    """Unique among the tasks that are not deleted."""
    type: TaskType
    """Which runner executes it."""
    schedule: str = "@manual"
    """When it fires."""
    payload: Mapping[str, Any] = field(default_factory=dict)
    """What to run, in the form that its type wants."""
    description: str | None = None
    """What it is for."""
    enabled: bool = True
    """Whether it fires; a disabled task can still be run by hand."""
    group: str = DEFAULT_GROUP
    """Whose executors execute it."""
    timezone: str = "UTC"
    """Whose clock the schedule follows: an IANA name, such as `Asia/Shanghai`."""
    priority: int = 5
    """0 is the most urgent, 9 the least."""
    timeout_seconds: int | None = None
    """How long an attempt may take; null: for ever."""
    max_retries: int | None = None
    """How often a failed instance is tried again; null: never."""
    retry_delay_seconds: int = 10
    """How long to wait before the first retry."""
    retry_backoff: RetryBackoff = RetryBackoff.EXPONENTIAL
    """Whether the delay stays as it is, or doubles with each attempt."""
    misfire_policy: MisfirePolicy = MisfirePolicy.FIRE_ONCE
    """What becomes of instants that nobody could make in time."""
    misfire_grace_seconds: int = 60
    """By how much an instant may be late and is not missed."""
    catch_up_limit: int = 100
    """With `catch_up`: how many missed instants fire at most."""
    overlap_policy: OverlapPolicy = OverlapPolicy.SKIP
    """What becomes of an instant while an earlier instance lives."""
    dependency_ids: tuple[int, ...] = ()
    """The tasks that it runs after."""
    dependency_mode: DependencyMode = DependencyMode.ALL
    """Whether all of them are needed, or one."""
    upstream_failure_policy: UpstreamFailurePolicy = UpstreamFailurePolicy.WAIT
    """What it does when what it needs has failed."""
    dependency_timeout_seconds: int = 86_400
    """How long it waits for them; then it fails."""
    executor_loss_policy: ExecutorLossPolicy = ExecutorLossPolicy.REQUEUE
    """What becomes of an instance whose executor dies: `fail` for work that must not run twice."""
    broadcast: bool = False
    """Whether every executor of the group executes it, each its own shard."""
    concurrency_key: str | None = None
    """Instances with the same key take turns, whatever their task."""
    concurrency_limit: int = 1
    """How many instances with its key may run at once."""
    executor_labels: Mapping[str, str] = field(default_factory=dict)
    """The labels that an executor must carry to execute it."""
    args_schema: Mapping[str, Any] | None = None
    """What its arguments look like, for people: a JSON Schema."""
    owner: str | None = None
    """Whom to ask about it."""
    tags: tuple[str, ...] = ()
    """Words to find it by."""
    managed_by: str | None = None
    """Who declares it: `app:…` and `file:…` are written by apps and `hourhand apply` alone; null: people edit it."""
    declared_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(TaskDefinition):
    """A stored task: its newest definition and where its schedule stands."""

    id: int
    group_id: int
    version: int
    created_at: datetime
    updated_at: datetime
    created_by: str
    updated_by: str
    anchored_at: datetime
    next_fire_at: datetime | None = None
    wake_at: datetime | None = None
    deleted_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVersion:
    """One former or present definition of a task."""

    task_id: int
    version: int
    definition: TaskDefinition
    changed_by: str
    changed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A task as a program declares it: its dependencies by name, since it cannot know their ids."""

    definition: TaskDefinition
    depends_on: tuple[str, ...] = ()
    """Names of tasks; they join the definition's own `dependency_ids`."""
