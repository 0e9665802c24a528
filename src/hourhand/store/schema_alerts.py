"""Store: the tables of alerts: the rules, what is remembered of each, and the outbox of what is to be said to whom."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    true,
)

from hourhand.store.schema import metadata, partial
from hourhand.store.types import Id, Instant, Json

alert_rules = Table(
    "alert_rules",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("enabled", Boolean, nullable=False, server_default=true()),
    Column("condition", Json, nullable=False),
    Column("scope", Json, nullable=False),
    Column("targets", Json, nullable=False),  # each with its secret sealed
    Column("notify_recovery", Boolean, nullable=False, server_default=true()),
    Column("quiet_hours", Json),
    Column("group_seconds", Integer, nullable=False, server_default="60"),
    Column("repeat_seconds", BigInteger),
    Column("active_since", Instant, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("updated_by", Text, nullable=False),
    sqlite_autoincrement=True,
)

# What a rule remembers of each subject; under the empty subject, what of it waits to be told.
alert_states = Table(
    "alert_states",
    metadata,
    Column("rule_id", Id, nullable=False),
    Column("subject", Text, nullable=False),
    Column("since", Instant, nullable=False),
    Column("firing_since", Instant),
    Column("last_notified_at", Instant),
    Column("suppressed", Integer, nullable=False, server_default="0"),
    Column("about", Json, nullable=False),
    PrimaryKeyConstraint("rule_id", "subject"),
    Index("ix_alert_states_subject", "subject"),
    Index("ix_alert_states_firing", "firing_since", **partial("firing_since IS NOT NULL")),
)

# The failures of the last minutes that the rules have looked at: the same ones are read again for a while, since a
# transaction may commit later than its end_time says.
alert_seen = Table(
    "alert_seen",
    metadata,
    Column("log_id", BigInteger, primary_key=True, autoincrement=False),
    Column("end_time", Instant, nullable=False),
    Index("ix_alert_seen_end_time", "end_time"),
)

alert_outbox = Table(
    "alert_outbox",
    metadata,
    Column("id", Id, primary_key=True),
    Column("rule_id", Id, nullable=False),
    Column("notice_id", Text, nullable=False),
    Column("target_id", Text, nullable=False),
    Column("event", Json, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("next_try_at", Instant, nullable=False),
    Column("tries", Integer, nullable=False, server_default="0"),
    Column("sent_at", Instant),
    Column("given_up_at", Instant),
    Column("last_error", Text),
    UniqueConstraint("notice_id", "target_id"),
    Index("ix_alert_outbox_unsent", "next_try_at", "id", **partial("sent_at IS NULL AND given_up_at IS NULL")),
    Index("ix_alert_outbox_created_at", "created_at"),
    sqlite_autoincrement=True,
)
