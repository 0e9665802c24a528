"""The first schema: every table and index of the engine and of what surrounds it."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from hourhand.store.types import Id, Instant, Json

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

HOT_TABLES = (
    "task_instances",
    "task_instants",
    "executors",
    "concurrency_permits",
    "leases",
    "instance_waits",
    "tasks",
)


def upgrade() -> None:
    """Create everything."""
    _tables()
    _first_rows()
    if op.get_bind().dialect.name == "postgresql":
        op.execute("CREATE SEQUENCE instance_ids AS bigint")
        op.execute("CREATE SEQUENCE execution_log_ids AS bigint")
        # Room on each page, so that beats and claims update in place (HOT); vacuum early, and never pause while at it.
        op.execute("ALTER TABLE task_instances SET (fillfactor = 50)")
        for table in HOT_TABLES:
            op.execute(
                f"ALTER TABLE {table} SET (autovacuum_vacuum_scale_factor = 0.01, "
                "autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)"
            )
    else:
        # Retention deletes by time here; on PostgreSQL it drops whole days.
        op.create_index("ix_instance_attempts_end_time", "instance_attempts", ["end_time"])
        op.create_index("ix_instance_logs_logged_at", "instance_logs", ["logged_at"])


def _first_rows() -> None:
    """The group that everything belongs to unless told otherwise, and the row that edits of dependencies queue on."""
    now = datetime.now(UTC)
    groups = sa.table(
        "groups",
        sa.column("name", sa.Text()),
        sa.column("created_at", Instant()),
        sa.column("updated_at", Instant()),
    )
    op.bulk_insert(groups, [{"name": "default", "created_at": now, "updated_at": now}])
    op.bulk_insert(sa.table("store_values", sa.column("name", sa.Text())), [{"name": "dependency_edits"}])


def _tables() -> None:
    op.create_table(
        "alert_outbox",
        sa.Column("id", Id, nullable=False),
        sa.Column("rule_id", Id, nullable=False),
        sa.Column("event", Json(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("next_try_at", Instant(), nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("sent_at", Instant(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_outbox")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_alert_outbox_created_at", "alert_outbox", ["created_at"], unique=False)
    op.create_index(
        "ix_alert_outbox_unsent",
        "alert_outbox",
        ["next_try_at", "id"],
        unique=False,
        sqlite_where=sa.text("sent_at IS NULL"),
        postgresql_where=sa.text("sent_at IS NULL"),
    )
    op.create_table(
        "alert_rules",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("condition", Json(), nullable=False),
        sa.Column("scope", Json(), nullable=False),
        sa.Column("targets", Json(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_rules")),
        sa.UniqueConstraint("name", name=op.f("uq_alert_rules_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "api_tokens",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("groups", Json(), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("expires_at", Instant(), nullable=True),
        sa.Column("revoked_at", Instant(), nullable=True),
        sa.CheckConstraint("role IN ('viewer', 'operator', 'editor', 'admin')", name=op.f("ck_api_tokens_role")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_api_tokens_token_hash")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "audit_logs",
        sa.Column("id", Id, nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("resource_type", sa.Text(), nullable=False),
        sa.Column("resource_id", sa.Text(), nullable=True),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("occurred_at", Instant(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("payload", Json(), nullable=True),
        sa.Column("script", sa.Text(), nullable=True),
        sa.Column("before", Json(), nullable=True),
        sa.Column("after", Json(), nullable=True),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("sealed_no", sa.BigInteger(), nullable=True),
        sa.Column("hash", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_logs")),
        sa.UniqueConstraint("sealed_no", name=op.f("uq_audit_logs_sealed_no")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_logs_occurred_at", "audit_logs", ["occurred_at", "id"], unique=False)
    op.create_index(
        "ix_audit_logs_resource", "audit_logs", ["resource_type", "resource_id", "occurred_at"], unique=False
    )
    op.create_index(
        "ix_audit_logs_unsealed",
        "audit_logs",
        ["id"],
        unique=False,
        sqlite_where=sa.text("sealed_no IS NULL"),
        postgresql_where=sa.text("sealed_no IS NULL"),
    )
    op.create_table(
        "calendars",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("definition", Json(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_calendars")),
        sa.UniqueConstraint("name", name=op.f("uq_calendars_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "concurrency_limits",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("max", sa.Integer(), nullable=False),
        sa.CheckConstraint("max > 0", name=op.f("ck_concurrency_limits_max")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_concurrency_limits")),
    )
    op.create_table(
        "concurrency_permits",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("instance_id", Id, nullable=False),
        sa.PrimaryKeyConstraint("key", "slot", name=op.f("pk_concurrency_permits")),
        sa.UniqueConstraint("instance_id", name=op.f("uq_concurrency_permits_instance_id")),
    )
    op.create_table(
        "data_sources",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("dialect", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=True),
        sa.Column("port", sa.Integer(), nullable=True),
        sa.Column("database", sa.Text(), nullable=True),
        sa.Column("username", sa.Text(), nullable=True),
        sa.Column("secret", sa.LargeBinary(), nullable=True),
        sa.Column("options", Json(), nullable=True),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_data_sources")),
        sa.UniqueConstraint("name", name=op.f("uq_data_sources_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "execution_logs",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("instance_id", Id, nullable=False),
        sa.Column("task_name", sa.Text(), nullable=False),
        sa.Column("task_id", Id, nullable=False),
        sa.Column("task_version", sa.Integer(), nullable=False),
        sa.Column("group_id", Id, nullable=False),
        sa.Column("scheduled_time", Instant(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("blocked_by", sa.Text(), nullable=True),
        sa.Column("executor_id", sa.Text(), nullable=True),
        sa.Column("start_time", Instant(), nullable=True),
        sa.Column("retry_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("result", Json(), nullable=True),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("lane_id", Id, nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("available_at", Instant(), nullable=False),
        sa.Column("queued_at", Instant(), nullable=True),
        sa.Column("args", Json(), nullable=True),
        sa.Column("triggered_by", sa.Text(), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=True),
        sa.Column("fence", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("lease_until", Instant(), nullable=True),
        sa.Column("loss_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("manual_retries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("in_ledger", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("progress", sa.Float(), nullable=True),
        sa.Column("phase", sa.Text(), nullable=True),
        sa.Column("checkpoint", Json(), nullable=True),
        sa.Column("last_heartbeat", Instant(), nullable=True),
        sa.Column("shard_index", sa.Integer(), server_default="0", nullable=False),
        sa.Column("shard_total", sa.Integer(), server_default="1", nullable=False),
        sa.Column("target_executor_id", sa.Text(), nullable=True),
        sa.Column("concurrency_key", sa.Text(), nullable=True),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("cancel_requested", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("cancel_reason", sa.Text(), nullable=True),
        sa.Column("data_source_id", Id, nullable=True),
        sa.Column("operation_kind", sa.Text(), nullable=True),
        sa.Column("operation_config_id", Id, nullable=True),
        sa.Column("backup_reference", sa.Text(), nullable=True),
        sa.Column("notes", sa.Text(), nullable=True),
        sa.Column("end_time", Instant(), nullable=False),
        sa.Column("duration_ms", sa.BigInteger(), nullable=False),
        sa.Column("output_summary", sa.Text(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("summary", Json(), nullable=True),
        sa.Column("skip_reason", sa.Text(), nullable=True),
        sa.Column("superseded_at", Instant(), nullable=True),
        sa.CheckConstraint(
            "skip_reason IN ('misfire', 'overlap', 'window', 'paused', 'no_executor')",
            name=op.f("ck_execution_logs_skip_reason"),
        ),
        sa.CheckConstraint("status IN ('success', 'failed', 'cancelled')", name=op.f("ck_execution_logs_status")),
        sa.PrimaryKeyConstraint("end_time", "id", name=op.f("pk_execution_logs")),
        postgresql_partition_by="RANGE (end_time)",
    )
    op.create_index(
        "ix_execution_logs_data_source",
        "execution_logs",
        ["data_source_id", sa.literal_column("end_time DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("data_source_id IS NOT NULL"),
        postgresql_where=sa.text("data_source_id IS NOT NULL"),
    )
    op.create_index(
        "ix_execution_logs_executor",
        "execution_logs",
        ["executor_id", sa.literal_column("end_time DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("executor_id IS NOT NULL"),
        postgresql_where=sa.text("executor_id IS NOT NULL"),
    )
    op.create_index(
        "ix_execution_logs_group",
        "execution_logs",
        ["group_id", sa.literal_column("end_time DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index("ix_execution_logs_instance", "execution_logs", ["instance_id"], unique=False)
    op.create_index(
        "ix_execution_logs_scheduled_time", "execution_logs", ["scheduled_time"], unique=False, postgresql_using="brin"
    )
    op.create_index(
        "ix_execution_logs_status",
        "execution_logs",
        ["status", sa.literal_column("end_time DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("status <> 'success'"),
        postgresql_where=sa.text("status <> 'success'"),
    )
    op.create_index(
        "ix_execution_logs_task",
        "execution_logs",
        ["task_id", sa.literal_column("end_time DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index(
        "ix_execution_logs_triggered_by",
        "execution_logs",
        ["triggered_by", sa.literal_column("end_time DESC"), sa.literal_column("id DESC")],
        unique=False,
        sqlite_where=sa.text("triggered_by <> 'api'"),
        postgresql_where=sa.text("triggered_by <> 'api'"),
    )
    op.create_table(
        "executors",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("group_id", Id, nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("hostname", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("started_at", Instant(), nullable=False),
        sa.Column("last_heartbeat", Instant(), nullable=False),
        sa.Column("capacity", sa.Integer(), nullable=False),
        sa.Column("running", sa.Integer(), nullable=False),
        sa.Column("labels", Json(), nullable=False),
        sa.Column("provides", Json(), nullable=False),
        sa.Column("kind", sa.Text(), server_default="native", nullable=False),
        sa.CheckConstraint("kind IN ('native', 'xxl')", name=op.f("ck_executors_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_executors")),
    )
    op.create_table(
        "groups",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("address_type", sa.Text(), server_default="auto", nullable=False),
        sa.Column("address_list", Json(), server_default="[]", nullable=False),
        sa.Column("access_token_hash", sa.Text(), nullable=True),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.CheckConstraint("address_type IN ('auto', 'manual')", name=op.f("ck_groups_address_type")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_groups")),
        sa.UniqueConstraint("name", name=op.f("uq_groups_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "id_days",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("first_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_id_days")),
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("principal", sa.Text(), nullable=False),
        sa.Column("route", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_hash", sa.Text(), nullable=False),
        sa.Column("created_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("principal", "route", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"], unique=False)
    op.create_table(
        "instance_attempts",
        sa.Column("instance_id", Id, nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("executor_id", sa.Text(), nullable=True),
        sa.Column("start_time", Instant(), nullable=True),
        sa.Column("end_time", Instant(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "outcome IN ('success', 'failed', 'timed_out', 'cancelled', 'lost', 'handed_back')",
            name=op.f("ck_instance_attempts_outcome"),
        ),
        sa.PrimaryKeyConstraint("instance_id", "fence", "end_time", name=op.f("pk_instance_attempts")),
        postgresql_partition_by="RANGE (end_time)",
    )
    op.create_table(
        "instance_logs",
        sa.Column("instance_id", Id, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("logged_at", Instant(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=True),
        sa.Column("stream", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("exception", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("instance_id", "seq", "logged_at", name=op.f("pk_instance_logs")),
        postgresql_partition_by="RANGE (logged_at)",
    )
    op.create_table(
        "instance_waits",
        sa.Column("instance_id", Id, nullable=False),
        sa.Column("upstream_task_id", Id, nullable=False),
        sa.Column("upstream_time", Instant(), nullable=True),
        sa.Column("requires", sa.Text(), nullable=False),
        sa.Column("seen", sa.Text(), nullable=True),
        sa.CheckConstraint("requires IN ('success', 'end')", name=op.f("ck_instance_waits_requires")),
        sa.PrimaryKeyConstraint("instance_id", "upstream_task_id", name=op.f("pk_instance_waits")),
    )
    op.create_index("ix_instance_waits_upstream", "instance_waits", ["upstream_task_id", "upstream_time"], unique=False)
    op.create_table(
        "lanes",
        sa.Column("id", Id, nullable=False),
        sa.Column("group_id", Id, nullable=False),
        sa.Column("requires", sa.Text(), nullable=False),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.Column("target_executor_id", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lanes")),
        sa.UniqueConstraint(
            "group_id",
            "requires",
            "labels",
            "target_executor_id",
            name=op.f("uq_lanes_group_id_requires_labels_target_executor_id"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "leases",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("lease_until", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
    )
    op.create_table(
        "maintenance_windows",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scope", Json(), nullable=False),
        sa.Column("schedule", sa.Text(), nullable=False),
        sa.Column("timezone", sa.Text(), nullable=False),
        sa.Column("duration_seconds", sa.BigInteger(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_maintenance_windows")),
        sa.UniqueConstraint("name", name=op.f("uq_maintenance_windows_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "operation_configs",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("data_source_id", Id, nullable=True),
        sa.Column("config", Json(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.Column("deleted_at", Instant(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_operation_configs")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "uq_operation_configs_name",
        "operation_configs",
        ["name"],
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_table(
        "pauses",
        sa.Column("id", Id, nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("scope_id", Id, nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("until", Instant(), nullable=True),
        sa.CheckConstraint("(scope = 'all') = (scope_id IS NULL)", name=op.f("ck_pauses_scope_id")),
        sa.CheckConstraint("scope IN ('all', 'group', 'task')", name=op.f("ck_pauses_scope")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pauses")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "sessions",
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("user_id", Id, nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("last_seen_at", Instant(), nullable=False),
        sa.Column("expires_at", Instant(), nullable=False),
        sa.Column("address", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_sessions")),
    )
    op.create_index("ix_sessions_expires_at", "sessions", ["expires_at"], unique=False)
    op.create_index("ix_sessions_user_id", "sessions", ["user_id"], unique=False)
    op.create_table(
        "stats_minutely",
        sa.Column("minute", Instant(), nullable=False),
        sa.Column("writer", sa.Text(), nullable=False),
        sa.Column("group_id", Id, nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), server_default="", nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), server_default="", nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("duration_ms", sa.Float(), nullable=False),
        sa.Column("buckets", Json(), nullable=False),
        sa.PrimaryKeyConstraint(
            "minute", "writer", "group_id", "type", "kind", "status", "fingerprint", name=op.f("pk_stats_minutely")
        ),
    )
    op.create_table(
        "store_values",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_store_values")),
    )
    op.create_table(
        "task_dependencies",
        sa.Column("task_id", Id, nullable=False),
        sa.Column("depends_on_id", Id, nullable=False),
        sa.PrimaryKeyConstraint("task_id", "depends_on_id", name=op.f("pk_task_dependencies")),
    )
    op.create_index(op.f("ix_task_dependencies_depends_on_id"), "task_dependencies", ["depends_on_id"], unique=False)
    op.create_table(
        "task_instances",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("task_id", Id, nullable=False),
        sa.Column("task_version", sa.Integer(), nullable=False),
        sa.Column("group_id", Id, nullable=False),
        sa.Column("scheduled_time", Instant(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("blocked_by", sa.Text(), nullable=True),
        sa.Column("executor_id", sa.Text(), nullable=True),
        sa.Column("start_time", Instant(), nullable=True),
        sa.Column("retry_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("result", Json(), nullable=True),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("lane_id", Id, nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("available_at", Instant(), nullable=False),
        sa.Column("queued_at", Instant(), nullable=True),
        sa.Column("args", Json(), nullable=True),
        sa.Column("triggered_by", sa.Text(), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=True),
        sa.Column("fence", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("lease_until", Instant(), nullable=True),
        sa.Column("loss_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("manual_retries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("in_ledger", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("progress", sa.Float(), nullable=True),
        sa.Column("phase", sa.Text(), nullable=True),
        sa.Column("checkpoint", Json(), nullable=True),
        sa.Column("last_heartbeat", Instant(), nullable=True),
        sa.Column("shard_index", sa.Integer(), server_default="0", nullable=False),
        sa.Column("shard_total", sa.Integer(), server_default="1", nullable=False),
        sa.Column("target_executor_id", sa.Text(), nullable=True),
        sa.Column("concurrency_key", sa.Text(), nullable=True),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("cancel_requested", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("cancel_reason", sa.Text(), nullable=True),
        sa.Column("data_source_id", Id, nullable=True),
        sa.Column("operation_kind", sa.Text(), nullable=True),
        sa.Column("operation_config_id", Id, nullable=True),
        sa.Column("backup_reference", sa.Text(), nullable=True),
        sa.Column("notes", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "(status = 'planned') = (blocked_by IS NOT NULL)", name=op.f("ck_task_instances_planned_is_blocked")
        ),
        sa.CheckConstraint(
            "blocked_by IN ('dispatch', 'dependencies', 'permit')", name=op.f("ck_task_instances_blocked_by")
        ),
        sa.CheckConstraint("status IN ('planned', 'pending', 'running')", name=op.f("ck_task_instances_status")),
        sa.CheckConstraint(
            "triggered_by IN ('scheduler', 'manual', 'api', 'dependency', 'backfill')",
            name=op.f("ck_task_instances_triggered_by"),
        ),
        sa.CheckConstraint("priority BETWEEN 0 AND 9", name=op.f("ck_task_instances_priority")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task_instances")),
    )
    op.create_index(
        "ix_task_instances_claim",
        "task_instances",
        ["lane_id", "priority", "available_at", "id"],
        unique=False,
        sqlite_where=sa.text("status = 'pending' AND loss_count < 2"),
        postgresql_where=sa.text("status = 'pending' AND loss_count < 2"),
    )
    op.create_index(
        "ix_task_instances_claim_lost",
        "task_instances",
        ["lane_id", "priority", "available_at", "id"],
        unique=False,
        sqlite_where=sa.text("status = 'pending' AND loss_count > 1"),
        postgresql_where=sa.text("status = 'pending' AND loss_count > 1"),
    )
    op.create_index(
        "ix_task_instances_data_source",
        "task_instances",
        ["data_source_id", "status"],
        unique=False,
        sqlite_where=sa.text("data_source_id IS NOT NULL"),
        postgresql_where=sa.text("data_source_id IS NOT NULL"),
    )
    op.create_index(
        "ix_task_instances_permit",
        "task_instances",
        ["concurrency_key", "priority", "available_at", "id"],
        unique=False,
        sqlite_where=sa.text("blocked_by = 'permit'"),
        postgresql_where=sa.text("blocked_by = 'permit'"),
    )
    op.create_index(
        "ix_task_instances_permit_due",
        "task_instances",
        ["available_at"],
        unique=False,
        sqlite_where=sa.text("blocked_by = 'permit'"),
        postgresql_where=sa.text("blocked_by = 'permit'"),
    )
    op.create_index(
        "ix_task_instances_planned",
        "task_instances",
        ["blocked_by", "id"],
        unique=False,
        sqlite_where=sa.text("status = 'planned'"),
        postgresql_where=sa.text("status = 'planned'"),
    )
    op.create_index(
        "ix_task_instances_running",
        "task_instances",
        ["executor_id"],
        unique=False,
        sqlite_where=sa.text("status = 'running'"),
        postgresql_where=sa.text("status = 'running'"),
    )
    op.create_index(
        "ix_task_instances_scheduled",
        "task_instances",
        ["task_id", "scheduled_time"],
        unique=False,
        sqlite_where=sa.text("triggered_by = 'scheduler' AND manual_retries = 0"),
        postgresql_where=sa.text("triggered_by = 'scheduler' AND manual_retries = 0"),
    )
    op.create_index(
        "ix_task_instances_task", "task_instances", ["task_id", sa.literal_column("scheduled_time DESC")], unique=False
    )
    op.create_index(
        "uq_task_instances_key",
        "task_instances",
        ["task_id", "key"],
        unique=True,
        sqlite_where=sa.text("key IS NOT NULL"),
        postgresql_where=sa.text("key IS NOT NULL"),
    )
    op.create_table(
        "task_instants",
        sa.Column("task_id", Id, nullable=False),
        sa.Column("scheduled_time", Instant(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("shards_left", sa.Integer(), server_default="1", nullable=False),
        sa.Column("shards_failed", sa.Integer(), server_default="0", nullable=False),
        sa.Column("ended_at", Instant(), nullable=True),
        sa.Column("unsettled", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("outcome IN ('success', 'failed', 'cancelled')", name=op.f("ck_task_instants_outcome")),
        sa.PrimaryKeyConstraint("task_id", "scheduled_time", name=op.f("pk_task_instants")),
    )
    op.create_index(
        "ix_task_instants_unsettled",
        "task_instants",
        ["unsettled"],
        unique=False,
        sqlite_where=sa.text("unsettled IS NOT NULL"),
        postgresql_where=sa.text("unsettled IS NOT NULL"),
    )
    op.create_table(
        "task_versions",
        sa.Column("task_id", Id, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("definition", Json(), nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.Column("changed_at", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("task_id", "version", name=op.f("pk_task_versions")),
    )
    op.create_table(
        "tasks",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("schedule", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("payload", Json(), nullable=False),
        sa.Column("timeout_seconds", sa.BigInteger(), nullable=True),
        sa.Column("max_retries", sa.Integer(), nullable=True),
        sa.Column("group_id", Id, nullable=False),
        sa.Column("timezone", sa.Text(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("misfire_policy", sa.Text(), nullable=False),
        sa.Column("misfire_grace_seconds", sa.BigInteger(), nullable=False),
        sa.Column("catch_up_limit", sa.Integer(), nullable=False),
        sa.Column("overlap_policy", sa.Text(), nullable=False),
        sa.Column("dependency_mode", sa.Text(), nullable=False),
        sa.Column("upstream_failure_policy", sa.Text(), nullable=False),
        sa.Column("dependency_timeout_seconds", sa.BigInteger(), nullable=False),
        sa.Column("retry_delay_seconds", sa.BigInteger(), nullable=False),
        sa.Column("retry_backoff", sa.Text(), nullable=False),
        sa.Column("executor_loss_policy", sa.Text(), nullable=False),
        sa.Column("broadcast", sa.Boolean(), nullable=False),
        sa.Column("concurrency_key", sa.Text(), nullable=True),
        sa.Column("concurrency_limit", sa.Integer(), nullable=False),
        sa.Column("executor_labels", Json(), nullable=False),
        sa.Column("args_schema", Json(), nullable=True),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("tags", Json(), nullable=False),
        sa.Column("managed_by", sa.Text(), nullable=True),
        sa.Column("declared_hash", sa.Text(), nullable=True),
        sa.Column("anchored_at", Instant(), nullable=False),
        sa.Column("next_fire_at", Instant(), nullable=True),
        sa.Column("wake_at", Instant(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.Column("deleted_at", Instant(), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.CheckConstraint("dependency_mode IN ('all', 'any')", name=op.f("ck_tasks_dependency_mode")),
        sa.CheckConstraint("executor_loss_policy IN ('requeue', 'fail')", name=op.f("ck_tasks_executor_loss_policy")),
        sa.CheckConstraint("misfire_policy IN ('fire_once', 'skip', 'catch_up')", name=op.f("ck_tasks_misfire_policy")),
        sa.CheckConstraint(
            "overlap_policy IN ('skip', 'serial', 'replace', 'parallel')", name=op.f("ck_tasks_overlap_policy")
        ),
        sa.CheckConstraint("retry_backoff IN ('fixed', 'exponential')", name=op.f("ck_tasks_retry_backoff")),
        sa.CheckConstraint("type IN ('command', 'http', 'python', 'operation', 'xxl')", name=op.f("ck_tasks_type")),
        sa.CheckConstraint(
            "upstream_failure_policy IN ('wait', 'fail', 'run')", name=op.f("ck_tasks_upstream_failure_policy")
        ),
        sa.CheckConstraint("priority BETWEEN 0 AND 9", name=op.f("ck_tasks_priority")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_tasks_deleted_at", "tasks", ["deleted_at"], unique=False)
    op.create_index(
        "ix_tasks_due",
        "tasks",
        ["wake_at"],
        unique=False,
        sqlite_where=sa.text("wake_at IS NOT NULL"),
        postgresql_where=sa.text("wake_at IS NOT NULL"),
    )
    op.create_index(
        "ix_tasks_enabled",
        "tasks",
        ["enabled"],
        unique=False,
        sqlite_where=sa.text("enabled = 1 AND deleted_at IS NULL"),
        postgresql_where=sa.text("enabled AND deleted_at IS NULL"),
    )
    op.create_index(
        "uq_tasks_name",
        "tasks",
        ["name"],
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_table(
        "users",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("groups", Json(), nullable=True),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("disabled_at", Instant(), nullable=True),
        sa.CheckConstraint("role IN ('viewer', 'operator', 'editor', 'admin')", name=op.f("ck_users_role")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("name", name=op.f("uq_users_name")),
        sqlite_autoincrement=True,
    )
