"""SDK: what `@app.task` takes, typed, so that editors know it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from hourhand.model.words import (
    DependencyMode,
    ExecutorLossPolicy,
    MisfirePolicy,
    OverlapPolicy,
    RetryBackoff,
    UpstreamFailurePolicy,
)


class TaskFields(TypedDict, total=False):
    """The fields of a task that its function does not say by itself; docs/reference/python-tasks.md explains each."""

    description: str | None
    enabled: bool
    timezone: str
    priority: int
    timeout_seconds: int | None
    max_retries: int | None
    retry_delay_seconds: int
    retry_backoff: RetryBackoff | Literal["fixed", "exponential"]
    misfire_policy: MisfirePolicy | Literal["fire_once", "skip", "catch_up"]
    misfire_grace_seconds: int
    catch_up_limit: int
    overlap_policy: OverlapPolicy | Literal["skip", "serial", "replace", "parallel"]
    dependency_ids: Sequence[int]
    dependency_mode: DependencyMode | Literal["all", "any"]
    upstream_failure_policy: UpstreamFailurePolicy | Literal["wait", "fail", "run"]
    dependency_timeout_seconds: int
    executor_loss_policy: ExecutorLossPolicy | Literal["requeue", "fail"]
    broadcast: bool
    concurrency_key: str | None
    concurrency_limit: int
    executor_labels: Mapping[str, str]
    owner: str | None
    tags: Sequence[str]


FIELDS = frozenset(TaskFields.__annotations__)
