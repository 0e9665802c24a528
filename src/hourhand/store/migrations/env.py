"""Store: how Alembic runs our migrations: always on a connection that the caller opened."""

from __future__ import annotations

from alembic import context

import hourhand.store.schema_access
import hourhand.store.schema_alerts
import hourhand.store.schema_windows  # noqa: F401 - all complete the metadata
from hourhand.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=False,
    transaction_per_migration=True,
    transactional_ddl=True,  # SQLite too: Alembic takes it for one that is not
)
with context.begin_transaction():
    context.run_migrations()
