"""Store: the engine's tables, the one source for queries and migrations alike.

No foreign keys on the hot tables: they cost a lock and a lookup per row, and every writer already holds the parent's
lock where it matters. Small enums are text with a CHECK.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    Date,
    Float,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Sequence,
    Table,
    Text,
    UniqueConstraint,
    false,
    literal_column,
    text,
)

from hourhand.model.words import (
    AddressType,
    BlockedBy,
    DependencyMode,
    ExecutorKind,
    ExecutorLossPolicy,
    MisfirePolicy,
    OutcomeKind,
    OverlapPolicy,
    Requires,
    RetryBackoff,
    SkipReason,
    TaskType,
    TriggeredBy,
    UpstreamFailurePolicy,
)
from hourhand.store.types import Id, Instant, Json

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "pk": "pk_%(table_name)s",
    },
)

instance_ids = Sequence("instance_ids", data_type=BigInteger, metadata=metadata)
execution_log_ids = Sequence("execution_log_ids", data_type=BigInteger, metadata=metadata)


def one_of(column: str, words: Iterable[StrEnum]) -> CheckConstraint:
    """The column holds one of the words, or NULL."""
    return CheckConstraint(f"{column} IN ({', '.join(repr(word.value) for word in words)})", name=column)


def partial(condition: str) -> dict[str, Any]:
    """The WHERE of a partial index, for both dialects."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


groups = Table(
    "groups",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("title", Text),
    Column("address_type", Text, nullable=False, server_default=AddressType.AUTO.value),
    Column("address_list", Json, nullable=False, server_default="[]"),
    Column("access_token_hash", Text),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    one_of("address_type", AddressType),
    sqlite_autoincrement=True,
)

tasks = Table(
    "tasks",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False),
    Column("description", Text),
    Column("type", Text, nullable=False),
    Column("schedule", Text, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("payload", Json, nullable=False),
    Column("timeout_seconds", BigInteger),
    Column("max_retries", Integer),
    Column("group_id", Id, nullable=False),
    Column("timezone", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("misfire_policy", Text, nullable=False),
    Column("misfire_grace_seconds", BigInteger, nullable=False),
    Column("catch_up_limit", Integer, nullable=False),
    Column("overlap_policy", Text, nullable=False),
    Column("dependency_mode", Text, nullable=False),
    Column("upstream_failure_policy", Text, nullable=False),
    Column("dependency_timeout_seconds", BigInteger, nullable=False),
    Column("retry_delay_seconds", BigInteger, nullable=False),
    Column("retry_backoff", Text, nullable=False),
    Column("executor_loss_policy", Text, nullable=False),
    Column("broadcast", Boolean, nullable=False),
    Column("concurrency_key", Text),
    Column("concurrency_limit", Integer, nullable=False),
    Column("executor_labels", Json, nullable=False),
    Column("args_schema", Json),
    Column("owner", Text),
    Column("tags", Json, nullable=False),
    Column("managed_by", Text),
    Column("declared_hash", Text),
    Column("anchored_at", Instant, nullable=False),  # what `@every` counts from
    Column("next_fire_at", Instant),
    Column("wake_at", Instant),
    Column("version", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("deleted_at", Instant),
    Column("created_by", Text, nullable=False),
    Column("updated_by", Text, nullable=False),
    CheckConstraint("priority BETWEEN 0 AND 9", name="priority"),
    one_of("type", TaskType),
    one_of("misfire_policy", MisfirePolicy),
    one_of("overlap_policy", OverlapPolicy),
    one_of("dependency_mode", DependencyMode),
    one_of("upstream_failure_policy", UpstreamFailurePolicy),
    one_of("retry_backoff", RetryBackoff),
    one_of("executor_loss_policy", ExecutorLossPolicy),
    sqlite_autoincrement=True,
)
Index("uq_tasks_name", tasks.c.name, unique=True, **partial("deleted_at IS NULL"))
# wake_at is NULL while a task is disabled or deleted, so the due query need not ask for either.
Index("ix_tasks_due", tasks.c.wake_at, **partial("wake_at IS NOT NULL"))
Index(
    "ix_tasks_enabled",
    tasks.c.enabled,
    sqlite_where=text("enabled = 1 AND deleted_at IS NULL"),
    postgresql_where=text("enabled AND deleted_at IS NULL"),
)
Index("ix_tasks_deleted_at", tasks.c.deleted_at)

task_dependencies = Table(
    "task_dependencies",
    metadata,
    Column("task_id", Id, nullable=False),
    Column("depends_on_id", Id, nullable=False),
    PrimaryKeyConstraint("task_id", "depends_on_id"),
    Index(None, "depends_on_id"),
)

task_versions = Table(
    "task_versions",
    metadata,
    Column("task_id", Id, nullable=False),
    Column("version", Integer, nullable=False),
    Column("definition", Json, nullable=False),
    Column("changed_by", Text, nullable=False),
    Column("changed_at", Instant, nullable=False),
    PrimaryKeyConstraint("task_id", "version"),
)

# The ledger: its key *is* guarantee 1.
task_instants = Table(
    "task_instants",
    metadata,
    Column("task_id", Id, nullable=False),
    Column("scheduled_time", Instant, nullable=False),
    Column("outcome", Text),
    Column("shards_left", Integer, nullable=False, server_default="1"),
    Column("shards_failed", Integer, nullable=False, server_default="0"),
    Column("ended_at", Instant),
    Column("unsettled", BigInteger),
    PrimaryKeyConstraint("task_id", "scheduled_time"),
    CheckConstraint("outcome IN ('success', 'failed', 'cancelled')", name="outcome"),
    Index("ix_task_instants_unsettled", "unsettled", **partial("unsettled IS NOT NULL")),
)

lanes = Table(
    "lanes",
    metadata,
    Column("id", Id, primary_key=True),
    Column("group_id", Id, nullable=False),
    Column("requires", Text, nullable=False),
    Column("labels", Text, nullable=False),
    Column("target_executor_id", Text, nullable=False, server_default=""),
    UniqueConstraint("group_id", "requires", "labels", "target_executor_id"),
    sqlite_autoincrement=True,
)


def living_columns() -> tuple[Column[Any], ...]:
    """What a living instance and its log row have in common: a retry restores all of it."""
    return (
        Column("task_id", Id, nullable=False),
        Column("task_version", Integer, nullable=False),
        Column("group_id", Id, nullable=False),
        Column("scheduled_time", Instant, nullable=False),
        Column("status", Text, nullable=False),
        Column("blocked_by", Text),
        Column("executor_id", Text),
        Column("start_time", Instant),
        Column("retry_count", Integer, nullable=False, server_default="0"),
        Column("result", Json),
        Column("created_at", Instant, nullable=False),
        Column("lane_id", Id, nullable=False),
        Column("priority", Integer, nullable=False),
        Column("available_at", Instant, nullable=False),
        Column("queued_at", Instant),
        Column("args", Json),
        Column("triggered_by", Text, nullable=False),
        Column("requested_by", Text),
        Column("fence", BigInteger, nullable=False, server_default="0"),
        Column("lease_until", Instant),
        Column("loss_count", Integer, nullable=False, server_default="0"),
        Column("manual_retries", Integer, nullable=False, server_default="0"),
        Column("in_ledger", Boolean, nullable=False, server_default=false()),
        Column("progress", Float),
        Column("phase", Text),
        Column("checkpoint", Json),
        Column("last_heartbeat", Instant),
        Column("shard_index", Integer, nullable=False, server_default="0"),
        Column("shard_total", Integer, nullable=False, server_default="1"),
        Column("target_executor_id", Text),
        Column("concurrency_key", Text),
        Column("key", Text),
        Column("cancel_requested", Boolean, nullable=False, server_default=false()),
        Column("cancel_reason", Text),
        Column("data_source_id", Id),
        Column("operation_kind", Text),
        Column("operation_config_id", Id),
        Column("backup_reference", Text),
        Column("notes", Text),
    )


LIVING = tuple(column.name for column in living_columns())

task_instances = Table(
    "task_instances",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    *living_columns(),
    CheckConstraint("status IN ('planned', 'pending', 'running')", name="status"),
    CheckConstraint("(status = 'planned') = (blocked_by IS NOT NULL)", name="planned_is_blocked"),
    CheckConstraint("priority BETWEEN 0 AND 9", name="priority"),
    one_of("blocked_by", BlockedBy),
    one_of("triggered_by", TriggeredBy),
)
_CLAIM_ORDER = (
    task_instances.c.lane_id,
    task_instances.c.priority,
    task_instances.c.available_at,
    task_instances.c.id,
)
Index("ix_task_instances_claim", *_CLAIM_ORDER, **partial("status = 'pending' AND loss_count < 2"))
# What lost two executors is claimed one at a time; an index of its own keeps it out of everybody's way.
Index("ix_task_instances_claim_lost", *_CLAIM_ORDER, **partial("status = 'pending' AND loss_count > 1"))
Index("ix_task_instances_task", task_instances.c.task_id, task_instances.c.scheduled_time.desc())
# What the schedule itself made, apart from what people submitted: the overlap rule and edits look at nothing else.
Index(
    "ix_task_instances_scheduled",
    task_instances.c.task_id,
    task_instances.c.scheduled_time,
    **partial("triggered_by = 'scheduler' AND manual_retries = 0"),
)
Index("ix_task_instances_running", task_instances.c.executor_id, **partial("status = 'running'"))
Index("ix_task_instances_planned", task_instances.c.blocked_by, task_instances.c.id, **partial("status = 'planned'"))
Index(
    "ix_task_instances_permit",
    task_instances.c.concurrency_key,
    task_instances.c.priority,
    task_instances.c.available_at,
    task_instances.c.id,
    **partial("blocked_by = 'permit'"),
)
# When the next one of those that a schedule has made ahead wants its permit.
Index("ix_task_instances_permit_due", task_instances.c.available_at, **partial("blocked_by = 'permit'"))
Index(
    "ix_task_instances_data_source",
    task_instances.c.data_source_id,
    task_instances.c.status,
    **partial("data_source_id IS NOT NULL"),
)
Index(
    "uq_task_instances_key", task_instances.c.task_id, task_instances.c.key, unique=True, **partial("key IS NOT NULL")
)

execution_logs = Table(
    "execution_logs",
    metadata,
    Column("id", BigInteger, nullable=False),
    Column("instance_id", Id, nullable=False),
    Column("task_name", Text, nullable=False),
    *living_columns(),
    Column("end_time", Instant, nullable=False),
    Column("duration_ms", BigInteger, nullable=False),
    Column("output_summary", Text),
    Column("error_message", Text),
    Column("summary", Json),
    Column("skip_reason", Text),
    Column("superseded_at", Instant),
    PrimaryKeyConstraint("end_time", "id"),
    CheckConstraint("status IN ('success', 'failed', 'cancelled')", name="status"),
    one_of("skip_reason", SkipReason),
    postgresql_partition_by="RANGE (end_time)",
)
_ENDED = execution_logs.c.end_time.desc()
_LOG_ID = execution_logs.c.id.desc()
# (end_time desc, id desc), the plain list's order, is the primary key read backwards.
Index("ix_execution_logs_task", execution_logs.c.task_id, _ENDED, _LOG_ID)
Index("ix_execution_logs_status", execution_logs.c.status, _ENDED, _LOG_ID, **partial("status <> 'success'"))
Index(
    "ix_execution_logs_triggered_by", execution_logs.c.triggered_by, _ENDED, _LOG_ID, **partial("triggered_by <> 'api'")
)
# Who asks for a group or an executor that has long been silent must not read all that others did since.
Index("ix_execution_logs_group", execution_logs.c.group_id, _ENDED, _LOG_ID)
Index("ix_execution_logs_executor", execution_logs.c.executor_id, _ENDED, _LOG_ID, **partial("executor_id IS NOT NULL"))
Index(
    "ix_execution_logs_data_source",
    execution_logs.c.data_source_id,
    _ENDED,
    _LOG_ID,
    **partial("data_source_id IS NOT NULL"),
)
Index("ix_execution_logs_instance", execution_logs.c.instance_id)
Index("ix_execution_logs_scheduled_time", execution_logs.c.scheduled_time, postgresql_using="brin")

instance_attempts = Table(
    "instance_attempts",
    metadata,
    Column("instance_id", Id, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("executor_id", Text),
    Column("start_time", Instant),
    Column("end_time", Instant, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("error_message", Text),
    PrimaryKeyConstraint("instance_id", "fence", "end_time"),
    one_of("outcome", OutcomeKind),
    Index("ix_instance_attempts_end_time", "end_time").ddl_if(dialect="sqlite"),  # PostgreSQL drops whole days
    postgresql_partition_by="RANGE (end_time)",
)

instance_logs = Table(
    "instance_logs",
    metadata,
    Column("instance_id", Id, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("logged_at", Instant, nullable=False),
    Column("level", Text, nullable=False),
    Column("phase", Text),
    Column("stream", Text),
    Column("message", Text, nullable=False),
    Column("exception", Text),
    PrimaryKeyConstraint("instance_id", "seq", "logged_at"),
    Index("ix_instance_logs_logged_at", "logged_at").ddl_if(dialect="sqlite"),  # PostgreSQL drops whole days
    postgresql_partition_by="RANGE (logged_at)",
)

executors = Table(
    "executors",
    metadata,
    Column("id", Text, primary_key=True),
    Column("group_id", Id, nullable=False),
    Column("address", Text, nullable=False),
    Column("hostname", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("version", Text, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("last_heartbeat", Instant, nullable=False),
    Column("capacity", Integer, nullable=False),
    Column("running", Integer, nullable=False),
    Column("labels", Json, nullable=False),
    Column("provides", Json, nullable=False),
    Column("kind", Text, nullable=False, server_default=ExecutorKind.NATIVE.value),
    one_of("kind", ExecutorKind),
)

instance_waits = Table(
    "instance_waits",
    metadata,
    Column("instance_id", Id, nullable=False),
    Column("upstream_task_id", Id, nullable=False),
    Column("upstream_time", Instant),  # NULL: no instant is left to wait for, which counts as failed
    Column("requires", Text, nullable=False),
    Column("seen", Text),
    PrimaryKeyConstraint("instance_id", "upstream_task_id"),
    one_of("requires", Requires),
    Index("ix_instance_waits_upstream", "upstream_task_id", "upstream_time"),
)

concurrency_limits = Table(
    "concurrency_limits",
    metadata,
    Column("key", Text, primary_key=True),
    Column("max", Integer, nullable=False),
    CheckConstraint("max > 0", name="max"),
)

concurrency_permits = Table(
    "concurrency_permits",
    metadata,
    Column("key", Text, nullable=False),
    Column("slot", Integer, nullable=False),
    Column("instance_id", Id, nullable=False, unique=True),
    PrimaryKeyConstraint("key", "slot"),
)

leases = Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("lease_until", Instant, nullable=False),
)

id_days = Table(
    "id_days",
    metadata,
    Column("day", Date, primary_key=True),
    Column("first_id", BigInteger, nullable=False),
)

# Small facts of the store itself: the ledger's floor, SQLite's id counters, the check value of the secrets key.
store_values = Table(
    "store_values",
    metadata,
    Column("name", Text, primary_key=True),
    Column("number", BigInteger),
    Column("text", Text),
)

PLANNED: ColumnElement[str] = literal_column("'planned'")
PENDING: ColumnElement[str] = literal_column("'pending'")
RUNNING: ColumnElement[str] = literal_column("'running'")
"""Inlined: as parameters they would hide the partial indexes from a generic plan (0.06 ms became 20 ms)."""

SCHEDULED = text("triggered_by = 'scheduler' AND manual_retries = 0")
"""What the overlap rule counts: made by the schedule, and not by a person's retry."""

DAILY_TABLES = {"execution_logs": "end_time", "instance_attempts": "end_time", "instance_logs": "logged_at"}
"""The history, partitioned by day of this column on PostgreSQL."""
DAYS_AHEAD = 14
"""Days of history tables are made this long in advance, so that two weeks of trouble with making them go unnoticed."""
