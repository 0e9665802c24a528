"""Maintenance windows with all they can say, and what they were before they were changed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from hourhand.store.types import Id, Instant, Json

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SCOPE = "scope IN ('all', 'group', 'task')"
SCOPE_ID = "(scope = 'all') = (scope_id IS NULL)"


def upgrade() -> None:
    """Windows are made anew: before this, no program wrote to them. Calendars are as they were."""
    op.drop_table("maintenance_windows")
    op.create_table(
        "maintenance_windows",
        sa.Column("id", Id, primary_key=True),
        sa.Column("name", sa.Text(), nullable=False, unique=True),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("scope_id", Id),
        sa.Column("schedule", sa.Text()),
        sa.Column("duration_seconds", sa.BigInteger()),
        sa.Column("calendar_id", Id),
        sa.Column("timezone", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False, server_default=sa.text("true")),
        sa.Column("active_since", Instant(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.CheckConstraint(SCOPE, name="scope"),
        sa.CheckConstraint(SCOPE_ID, name="scope_id"),
        sa.CheckConstraint("(schedule IS NULL) = (duration_seconds IS NULL)", name="duration"),
        sa.CheckConstraint("(schedule IS NULL) <> (calendar_id IS NULL)", name="recurrence"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "past_windows",
        sa.Column("id", Id, primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("scope_id", Id),
        sa.Column("schedule", sa.Text()),
        sa.Column("duration_seconds", sa.BigInteger()),
        sa.Column("days", Json()),
        sa.Column("timezone", sa.Text(), nullable=False),
        sa.Column("active_since", Instant(), nullable=False),
        sa.Column("active_until", Instant(), nullable=False),
        sa.CheckConstraint(SCOPE, name="scope"),
        sa.CheckConstraint(SCOPE_ID, name="scope_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_past_windows_active_until", "past_windows", ["active_until"])
    values = sa.table("store_values", sa.column("name", sa.Text()))
    op.bulk_insert(values, [{"name": "window_edits"}])
