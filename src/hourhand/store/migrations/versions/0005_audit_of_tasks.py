"""Entries of the audit know the task that they concern, so that its instances' are found with its own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from hourhand.store.types import Id

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# A refusal may name what never was, such as `/tasks/99999999999999999999`: what is no id of ours concerns no task.
FILL = {
    "postgresql": """
        UPDATE audit_logs SET task_id = CAST(found.id AS bigint)
        FROM (
            SELECT id AS entry, CASE
                WHEN resource_type = 'task' THEN resource_id
                WHEN resource_type = 'instance' THEN coalesce("after", "before") ->> 'task_id'
                WHEN coalesce("after", "before") ->> 'scope' = 'task' THEN coalesce("after", "before") ->> 'scope_id'
            END AS id
            FROM audit_logs WHERE resource_type IN ('task', 'instance', 'pause', 'maintenance-window')
        ) AS found
        WHERE audit_logs.id = found.entry AND found.id ~ '^[0-9]{1,18}$'
    """,
    "sqlite": """
        UPDATE audit_logs SET task_id = CAST(found.id AS integer)
        FROM (
            SELECT id AS entry, CASE
                WHEN resource_type = 'task' THEN resource_id
                WHEN resource_type = 'instance' THEN json_extract(coalesce("after", "before"), '$.task_id')
                WHEN json_extract(coalesce("after", "before"), '$.scope') = 'task'
                    THEN json_extract(coalesce("after", "before"), '$.scope_id')
            END AS id
            FROM audit_logs WHERE resource_type IN ('task', 'instance', 'pause', 'maintenance-window')
        ) AS found
        WHERE audit_logs.id = found.entry AND found.id <> '' AND length(found.id) <= 18
            AND found.id NOT GLOB '*[^0-9]*'
    """,
}


def upgrade() -> None:
    """What is kept already is found too; the chain is as it was, for what follows from an entry is no part of it."""
    op.add_column("audit_logs", sa.Column("task_id", Id))
    op.execute(FILL[op.get_context().dialect.name])
    known = sa.text("task_id IS NOT NULL")
    op.create_index(
        "ix_audit_logs_task",
        "audit_logs",
        ["task_id", "occurred_at", "id"],
        postgresql_where=known,
        sqlite_where=known,
    )
