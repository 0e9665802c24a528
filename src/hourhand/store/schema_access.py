"""Store: the tables around the engine: who may do what, who did what, and what operations work on."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
)

from hourhand.store.schema import metadata, partial
from hourhand.store.types import Id, Instant, Json

ROLES = "role IN ('viewer', 'operator', 'editor', 'admin')"

users = Table(
    "users",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("password_hash", Text),
    Column("role", Text, nullable=False),
    Column("groups", Json),
    Column("created_at", Instant, nullable=False),
    Column("disabled_at", Instant),
    CheckConstraint(ROLES, name="role"),
    sqlite_autoincrement=True,
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Id, primary_key=True),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("user_id", Id),
    Column("token_id", Id),
    Column("created_at", Instant, nullable=False),
    Column("last_seen_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Column("address", Text),
    CheckConstraint("(user_id IS NULL) <> (token_id IS NULL)", name="holder"),
    Index("ix_sessions_user_id", "user_id"),
    Index("ix_sessions_token_id", "token_id"),
    Index("ix_sessions_expires_at", "expires_at"),
    sqlite_autoincrement=True,
)

sign_in_failures = Table(
    "sign_in_failures",
    metadata,
    Column("id", Id, primary_key=True),
    Column("account", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("failed_at", Instant, nullable=False),
    Index("ix_sign_in_failures_account", "account", "failed_at"),
    Index("ix_sign_in_failures_address", "address", "failed_at"),
    Index("ix_sign_in_failures_failed_at", "failed_at"),
    sqlite_autoincrement=True,
)

api_tokens = Table(
    "api_tokens",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False),
    Column("token_hash", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("groups", Json),
    Column("created_by", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
    CheckConstraint(ROLES, name="role"),
    sqlite_autoincrement=True,
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("principal", Text, nullable=False),
    Column("route", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("request_hash", Text, nullable=False),
    Column("created_id", BigInteger),
    Column("created_at", Instant, nullable=False),
    PrimaryKeyConstraint("principal", "route", "key"),
    Index("ix_idempotency_keys_created_at", "created_at"),
)

audit_logs = Table(
    "audit_logs",
    metadata,
    Column("id", Id, primary_key=True),
    Column("action", Text, nullable=False),
    Column("resource_type", Text, nullable=False),
    Column("resource_id", Text),
    Column("user_id", Text, nullable=False),
    Column("user_name", Text, nullable=False, server_default=""),
    Column("occurred_at", Instant, nullable=False),
    Column("summary", Text),
    Column("payload", Json),
    Column("script", Text),
    Column("before", Json),
    Column("after", Json),
    Column("request_id", Text),
    Column("result", Text, nullable=False),
    Column("sealed_no", BigInteger, unique=True),
    Column("hash", Text),
    # Whose entries are found together. It follows from the rest of the entry, so that the chain leaves it out.
    Column("task_id", Id),
    Index("ix_audit_logs_occurred_at", "occurred_at", "id"),
    Index("ix_audit_logs_resource", "resource_type", "resource_id", "occurred_at"),
    Index("ix_audit_logs_task", "task_id", "occurred_at", "id", **partial("task_id IS NOT NULL")),
    Index("ix_audit_logs_unsealed", "id", **partial("sealed_no IS NULL")),
    sqlite_autoincrement=True,
)

data_sources = Table(
    "data_sources",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("dialect", Text, nullable=False),
    Column("host", Text),
    Column("port", Integer),
    Column("database", Text),
    Column("username", Text),
    Column("secret", LargeBinary),
    Column("options", Json),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("created_by", Text, nullable=False),
    sqlite_autoincrement=True,
)

operation_configs = Table(
    "operation_configs",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("data_source_id", Id),
    Column("config", Json, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("updated_by", Text, nullable=False),
    Column("deleted_at", Instant),
    Index("uq_operation_configs_name", "name", unique=True, **partial("deleted_at IS NULL")),
    sqlite_autoincrement=True,
)

pauses = Table(
    "pauses",
    metadata,
    Column("id", Id, primary_key=True),
    Column("scope", Text, nullable=False),
    Column("scope_id", Id),
    Column("reason", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("until", Instant),
    CheckConstraint("scope IN ('all', 'group', 'task')", name="scope"),
    CheckConstraint("(scope = 'all') = (scope_id IS NULL)", name="scope_id"),
    sqlite_autoincrement=True,
)

stats_minutely = Table(
    "stats_minutely",
    metadata,
    Column("minute", Instant, nullable=False),
    Column("writer", Text, nullable=False),
    Column("group_id", Id, nullable=False),
    Column("type", Text, nullable=False),
    Column("kind", Text, nullable=False, server_default=""),
    Column("status", Text, nullable=False),
    Column("fingerprint", Text, nullable=False, server_default=""),
    Column("count", BigInteger, nullable=False),
    Column("duration_ms", Float, nullable=False),
    Column("buckets", Json, nullable=False),
    PrimaryKeyConstraint("minute", "writer", "group_id", "type", "kind", "status", "fingerprint"),
)
