"""Sessions that a token can open too, failed sign-ins, and the name beside the id of whoever is audited."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from hourhand.store.types import Id, Instant

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Sessions are made anew: before this, no program could open one."""
    op.add_column("audit_logs", sa.Column("user_name", sa.Text(), nullable=False, server_default=""))
    op.drop_table("sessions")
    op.create_table(
        "sessions",
        sa.Column("id", Id, primary_key=True),
        sa.Column("token_hash", sa.Text(), nullable=False, unique=True),
        sa.Column("user_id", Id),
        sa.Column("token_id", Id),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("last_seen_at", Instant(), nullable=False),
        sa.Column("expires_at", Instant(), nullable=False),
        sa.Column("address", sa.Text()),
        sa.CheckConstraint("(user_id IS NULL) <> (token_id IS NULL)", name="holder"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_sessions_user_id", "sessions", ["user_id"])
    op.create_index("ix_sessions_token_id", "sessions", ["token_id"])
    op.create_index("ix_sessions_expires_at", "sessions", ["expires_at"])
    op.create_table(
        "sign_in_failures",
        sa.Column("id", Id, primary_key=True),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("failed_at", Instant(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_sign_in_failures_account", "sign_in_failures", ["account", "failed_at"])
    op.create_index("ix_sign_in_failures_address", "sign_in_failures", ["address", "failed_at"])
    op.create_index("ix_sign_in_failures_failed_at", "sign_in_failures", ["failed_at"])
