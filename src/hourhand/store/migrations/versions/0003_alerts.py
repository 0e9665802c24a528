"""Alert rules with all they can say, what is remembered of each, and an outbox with one row per notice and target."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from hourhand.store.types import Id, Instant, Json

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Rules and outbox are made anew: before this, no program wrote to them."""
    op.drop_table("alert_outbox")
    op.drop_table("alert_rules")
    op.create_table(
        "alert_rules",
        sa.Column("id", Id, primary_key=True),
        sa.Column("name", sa.Text(), nullable=False, unique=True),
        sa.Column("enabled", sa.Boolean(), nullable=False, server_default=sa.text("true")),
        sa.Column("condition", Json(), nullable=False),
        sa.Column("scope", Json(), nullable=False),
        sa.Column("targets", Json(), nullable=False),
        sa.Column("notify_recovery", sa.Boolean(), nullable=False, server_default=sa.text("true")),
        sa.Column("quiet_hours", Json()),
        sa.Column("group_seconds", sa.Integer(), nullable=False, server_default="60"),
        sa.Column("repeat_seconds", sa.BigInteger()),
        sa.Column("active_since", Instant(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "alert_states",
        sa.Column("rule_id", Id, nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("since", Instant(), nullable=False),
        sa.Column("firing_since", Instant()),
        sa.Column("last_notified_at", Instant()),
        sa.Column("suppressed", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("about", Json(), nullable=False),
        sa.PrimaryKeyConstraint("rule_id", "subject"),
    )
    op.create_index("ix_alert_states_subject", "alert_states", ["subject"])
    op.create_index(
        "ix_alert_states_firing",
        "alert_states",
        ["firing_since"],
        sqlite_where=sa.text("firing_since IS NOT NULL"),
        postgresql_where=sa.text("firing_since IS NOT NULL"),
    )
    op.create_table(
        "alert_seen",
        sa.Column("log_id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("end_time", Instant(), nullable=False),
    )
    op.create_index("ix_alert_seen_end_time", "alert_seen", ["end_time"])
    op.create_table(
        "alert_outbox",
        sa.Column("id", Id, primary_key=True),
        sa.Column("rule_id", Id, nullable=False),
        sa.Column("notice_id", sa.Text(), nullable=False),
        sa.Column("target_id", sa.Text(), nullable=False),
        sa.Column("event", Json(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("next_try_at", Instant(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("sent_at", Instant()),
        sa.Column("given_up_at", Instant()),
        sa.Column("last_error", sa.Text()),
        sa.UniqueConstraint("notice_id", "target_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_alert_outbox_created_at", "alert_outbox", ["created_at"])
    op.create_index(
        "ix_alert_outbox_unsent",
        "alert_outbox",
        ["next_try_at", "id"],
        sqlite_where=sa.text("sent_at IS NULL AND given_up_at IS NULL"),
        postgresql_where=sa.text("sent_at IS NULL AND given_up_at IS NULL"),
    )
    values = sa.table("store_values", sa.column("name", sa.Text()), sa.column("text", sa.Text()))
    op.bulk_insert(values, [{"name": "alert_cursor", "text": "0"}])
