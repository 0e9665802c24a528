"""Store: what a database tells of itself: its version, how it is set up, and what its user may do."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy import BigInteger, Text, text

from hourhand.model.diagnosis import DatabaseFacts, Idle
from hourhand.store.database import Tx
from hourhand.store.schema import DAILY_TABLES, metadata
from hourhand.store.statements import Statement

IDLE_SECONDS = 300.0
_SETTINGS = (
    "autovacuum",
    "default_transaction_read_only",
    "fsync",
    "full_page_writes",
    "max_connections",
    "server_version",
    "server_version_num",
    "superuser_reserved_connections",
    "synchronous_commit",
    "TimeZone",
)
_READ_SETTINGS = "SELECT name, setting FROM pg_settings WHERE name = ANY ($1)"
_SESSIONS = """
SELECT count(*) FILTER (WHERE backend_type = 'client backend') AS all_of_them,
    count(*) FILTER (WHERE application_name = 'hourhand') AS ours, pg_is_in_recovery() AS recovering
FROM pg_stat_activity
"""
# Of other users' sessions the state is seen by members of pg_monitor only.
_IDLE = """
SELECT pid, application_name AS application,
    CAST(extract(epoch FROM clock_timestamp() - xact_start) AS float8) AS seconds
FROM pg_stat_activity
WHERE state LIKE 'idle in transaction%' AND xact_start < clock_timestamp() - make_interval(secs => $1)
ORDER BY xact_start LIMIT 5
"""
_OURS = "c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relname = ANY ($1)"
_LACKING = f"""
SELECT c.relname AS name FROM pg_class c WHERE {_OURS} AND NOT (
    has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
    AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))
ORDER BY c.relname
"""
# To attach a day, one must own the table.
_MAY_CREATE = f"""
SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AND NOT EXISTS (
    SELECT FROM pg_class c WHERE {_OURS} AND NOT pg_has_role(c.relowner, 'USAGE'))
"""
_DEFAULTS = f"""
SELECT CAST(CAST(p.partdefid AS regclass) AS text) AS name
FROM pg_partitioned_table p JOIN pg_class c ON c.oid = p.partrelid WHERE {_OURS} AND p.partdefid <> 0 ORDER BY 1
"""
_ROWS = """
SELECT n_live_tup AS live, n_dead_tup AS dead FROM pg_stat_user_tables
WHERE schemaname = current_schema() AND relname = 'task_instances'
"""
_PRAGMAS = {
    name: Statement(text(f"PRAGMA {name}").columns(value=kind))
    for name, kind in (
        ("journal_mode", Text),
        ("synchronous", BigInteger),
        ("page_count", BigInteger),
        ("page_size", BigInteger),
        ("freelist_count", BigInteger),
    )
}


async def postgresql_facts(connection: Any) -> DatabaseFacts:
    """Ask a session that has none of our own settings: what others would get is what is wanted."""
    settings = {row["name"]: row["setting"] for row in await connection.fetch(_READ_SETTINGS, list(_SETTINGS))}
    sessions = await connection.fetchrow(_SESSIONS)
    rows = await connection.fetchrow(_ROWS)
    return DatabaseFacts(
        dialect="postgresql",
        version=settings.pop("server_version").split()[0],
        major=int(settings.pop("server_version_num")) // 10_000,
        settings=settings,
        read_only=sessions["recovering"] or settings["default_transaction_read_only"] == "on",
        connections=sessions["all_of_them"],
        connections_of_ours=sessions["ours"],
        idle=tuple(Idle(**row) for row in await connection.fetch(_IDLE, IDLE_SECONDS)),
        tables_lacking=await _names(connection, _LACKING, list(metadata.tables)),
        may_create=await connection.fetchval(_MAY_CREATE, list(DAILY_TABLES)),
        default_partitions=await _names(connection, _DEFAULTS, list(DAILY_TABLES)),
        live_rows=rows["live"] if rows else 0,
        dead_rows=rows["dead"] if rows else 0,
    )


async def _names(connection: Any, sql: str, tables: list[str]) -> tuple[str, ...]:
    return tuple(row["name"] for row in await connection.fetch(sql, tables))


async def sqlite_facts(tx: Tx) -> DatabaseFacts:
    """Ask the file."""
    settings = {name: str((await tx.fetch(statement))[0]["value"]) for name, statement in _PRAGMAS.items()}
    return DatabaseFacts(
        dialect="sqlite",
        version=sqlite3.sqlite_version,
        major=sqlite3.sqlite_version_info[0],
        settings=settings,
    )
