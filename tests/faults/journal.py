"""The journal: triggers that write down every change of a living row, installed by a test into its own database.

It is the database that testifies here, not the code under test: whoever changes a row, by whatever statement, is
journalled in the same transaction. On PostgreSQL a row's changes are in the order of `seq`, since its lock is held
until the commit; on SQLite there is one writer.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import asyncpg

from hourhand.store.migrate import sqlite_path

COLUMNS = (
    "task_id",
    "scheduled_time",
    "status",
    "fence",
    "triggered_by",
    "shard_index",
    "in_ledger",
    "lease_until",
    "executor_id",
)
_NAMES = ", ".join(COLUMNS)

_POSTGRESQL = f"""
CREATE TABLE fault_journal AS
    SELECT 0::bigint AS seq, now() AS at, ''::text AS verb, id AS instance_id, {_NAMES} FROM task_instances WHERE false;
ALTER TABLE fault_journal ALTER seq SET NOT NULL, ALTER seq ADD GENERATED ALWAYS AS IDENTITY;
CREATE FUNCTION fault_journal() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE r task_instances;
BEGIN
    IF TG_OP = 'DELETE' THEN r := OLD; ELSE r := NEW; END IF;
    INSERT INTO fault_journal (at, verb, instance_id, {_NAMES})
        VALUES (clock_timestamp(), lower(TG_OP), r.id, {", ".join(f"r.{name}" for name in COLUMNS)});
    RETURN NULL;
END $$;
CREATE TRIGGER fault_journal AFTER INSERT OR UPDATE OR DELETE ON task_instances
    FOR EACH ROW EXECUTE FUNCTION fault_journal();
"""  # noqa: S608 - the names of columns
# Microseconds since the epoch, as the store itself writes them; SQLite's own clock knows milliseconds.
_NOW = "CAST((julianday('now') - 2440587.5) * 86400000 + 0.5 AS INTEGER) * 1000"


def _sqlite_trigger(verb: str) -> str:
    row = "OLD" if verb == "delete" else "NEW"
    values = ", ".join(f"{row}.{name}" for name in COLUMNS)
    return f"""
CREATE TRIGGER fault_journal_{verb} AFTER {verb} ON task_instances BEGIN
    INSERT INTO fault_journal (at, verb, instance_id, {_NAMES}) VALUES ({_NOW}, '{verb}', {row}.id, {values});
END;
"""  # noqa: S608 - the names of columns


_SQLITE = f"""
CREATE TABLE fault_journal (seq INTEGER PRIMARY KEY, at INTEGER, verb TEXT, instance_id INTEGER, {_NAMES});
{"".join(_sqlite_trigger(verb) for verb in ("insert", "update", "delete"))}
"""


async def install(url: str) -> None:
    """Begin the journal of a migrated store that nobody uses yet."""
    path = sqlite_path(url)
    if path is None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(_POSTGRESQL)
        finally:
            await connection.close()
        return
    with closing(sqlite3.connect(path)) as file:
        file.executescript(_SQLITE)


async def fetch(url: str, query: str) -> list[dict[str, Any]]:
    """Read what is in a store, past its code, as its driver gives it."""
    path = sqlite_path(url)
    if path is None:
        connection = await asyncpg.connect(url)
        try:
            return [dict(row) for row in await connection.fetch(query)]
        finally:
            await connection.close()
    with closing(sqlite3.connect(path)) as file:
        file.row_factory = sqlite3.Row
        return [dict(row) for row in file.execute(query)]
