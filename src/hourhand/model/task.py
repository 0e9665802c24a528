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
    type: TaskType
    schedule: str = "@manual"
    payload: Mapping[str, Any] = field(default_factory=dict)
    description: str | None = None
    enabled: bool = True
    group: str = DEFAULT_GROUP
    timezone: str = "UTC"
    priority: int = 5
    timeout_seconds: int | None = None
    max_retries: int | None = None
    retry_delay_seconds: int = 10
    retry_backoff: RetryBackoff = RetryBackoff.EXPONENTIAL
    misfire_policy: MisfirePolicy = MisfirePolicy.FIRE_ONCE
    misfire_grace_seconds: int = 60
    catch_up_limit: int = 100
    overlap_policy: OverlapPolicy = OverlapPolicy.SKIP
    dependency_ids: tuple[int, ...] = ()
    dependency_mode: DependencyMode = DependencyMode.ALL
    upstream_failure_policy: UpstreamFailurePolicy = UpstreamFailurePolicy.WAIT
    dependency_timeout_seconds: int = 86_400
    executor_loss_policy: ExecutorLossPolicy = ExecutorLossPolicy.REQUEUE
    broadcast: bool = False
    concurrency_key: str | None = None
    concurrency_limit: int = 1
    executor_labels: Mapping[str, str] = field(default_factory=dict)
    args_schema: Mapping[str, Any] | None = None
    owner: str | None = None
    tags: tuple[str, ...] = ()
    managed_by: str | None = None
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
