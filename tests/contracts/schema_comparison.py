"""How a database's schema differs from the one the program knows."""

from __future__ import annotations

import re
from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, inspect

import hourhand.store.schema_access
import hourhand.store.schema_alerts
import hourhand.store.schema_windows  # noqa: F401 - all complete the metadata
from hourhand.store.schema import DAILY_TABLES, metadata


def differences(connection: Connection) -> list[Any]:
    """Return how a database's schema differs from the program's, but for the days of the history."""

    def ours(_thing: Any, name: str | None, kind: str, *_: Any) -> bool:
        day = kind == "table" and any(str(name).startswith(f"{table}_2") for table in DAILY_TABLES)
        # SQLite alone has these two: PostgreSQL drops whole days.
        other = connection.dialect.name != "sqlite" and name in (
            "ix_instance_attempts_end_time",
            "ix_instance_logs_logged_at",
        )
        return not day and not other

    def defaults_differ(_context: Any, _there: Any, _here: Any, there: Any, _default: Any, here: Any) -> bool | None:
        # SQLite shows a default as it was written, which Alembic takes for another.
        plain = [re.sub("true$", "1", re.sub("false$", "0", (one or "").strip("()'"))) for one in (there, here)]
        return plain[0] != plain[1] if connection.dialect.name == "sqlite" else None

    options = {"include_object": ours, "compare_type": True, "compare_server_default": defaults_differ}
    found = compare_metadata(MigrationContext.configure(connection, opts=options), metadata)
    connection.commit()
    return list(found)


def checks(connection: Connection) -> dict[str, set[str]]:
    """Return each CHECK of a database with the words and numbers in it, however the dialect writes it."""
    return {
        str(check["name"]): words(check["sqltext"])
        for table in metadata.tables
        for check in inspect(connection).get_check_constraints(table)
    }


def predicates(connection: Connection) -> dict[str, set[str]]:
    """Return each partial index of a database with the words and numbers of its condition."""
    return {
        str(index["name"]): words(str(condition))
        for table in metadata.tables
        for index in inspect(connection).get_indexes(table)
        for option, condition in index.get("dialect_options", {}).items()
        if option.endswith("_where")
    }


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower().replace("::text", ""))) - {"any", "array", "in", "between", "and"}
