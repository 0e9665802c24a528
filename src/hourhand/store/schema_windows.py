"""Store: the tables of maintenance windows and of the calendars by whose days they may open."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Index, Table, Text, true

from hourhand.store.schema import metadata
from hourhand.store.types import Id, Instant, Json

SCOPE = "scope IN ('all', 'group', 'task')"
SCOPE_ID = "(scope = 'all') = (scope_id IS NULL)"

calendars = Table(
    "calendars",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("definition", Json, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    sqlite_autoincrement=True,
)

maintenance_windows = Table(
    "maintenance_windows",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("scope", Text, nullable=False),
    Column("scope_id", Id),
    Column("schedule", Text),
    Column("duration_seconds", BigInteger),
    Column("calendar_id", Id),
    Column("timezone", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("enabled", Boolean, nullable=False, server_default=true()),
    Column("active_since", Instant, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("updated_by", Text, nullable=False),
    CheckConstraint(SCOPE, name="scope"),
    CheckConstraint(SCOPE_ID, name="scope_id"),
    CheckConstraint("(schedule IS NULL) = (duration_seconds IS NULL)", name="duration"),
    CheckConstraint("(schedule IS NULL) <> (calendar_id IS NULL)", name="recurrence"),
    sqlite_autoincrement=True,
)

# What windows were before they were changed or deleted: an instant is judged by what held at its time, however late
# a scheduler looks at it.
past_windows = Table(
    "past_windows",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("scope_id", Id),
    Column("schedule", Text),
    Column("duration_seconds", BigInteger),
    Column("days", Json),
    Column("timezone", Text, nullable=False),
    Column("active_since", Instant, nullable=False),
    Column("active_until", Instant, nullable=False),
    CheckConstraint(SCOPE, name="scope"),
    CheckConstraint(SCOPE_ID, name="scope_id"),
    Index("ix_past_windows_active_until", "active_until"),
    sqlite_autoincrement=True,
)
