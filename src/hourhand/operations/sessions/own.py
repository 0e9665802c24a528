"""Operations: the database of a Hourhand itself is no data source.

It is known by its tables, not by its address: a socket, a link or another name of the host leads to the same database,
and that of another Hourhand is as much worth. Whoever could empty the audit by an operation would leave no trace of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.failures import Refused

TABLES: Final = ("alembic_version", "audit_logs", "task_instances", "task_instants")
"""Together in one schema they are nobody else's."""
_NAMES = ", ".join(f"'{one}'" for one in TABLES)
_FOUND: Mapping[Dialect, str] = {
    Dialect.SQLITE: f"""
SELECT 'main' AS place
WHERE (SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ({_NAMES})) = {len(TABLES)}
""",  # noqa: S608 - names of ours
    # A user who owns nothing of it and may not even read it can do it no harm. Both users count: one may RESET ROLE.
    Dialect.POSTGRESQL: f"""
SELECT n.nspname::text AS place FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     CROSS JOIN (VALUES (current_user), (session_user)) AS u(name)
WHERE c.relname IN ({_NAMES}) AND c.relkind IN ('r', 'p')
GROUP BY n.nspname HAVING count(DISTINCT c.relname) = {len(TABLES)} AND bool_or(
    pg_has_role(u.name, n.nspowner, 'MEMBER') OR pg_has_role(u.name, c.relowner, 'MEMBER')
    OR has_table_privilege(u.name, c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')) LIMIT 1
""",  # noqa: S608
}
_ELSE: Mapping[Dialect, str] = {
    Dialect.POSTGRESQL: (
        "; for other tables of this database give a user who owns neither its tables nor their schema, and has no "
        "right to them"
    ),
}


async def require_not_own(session: Session) -> None:
    """Refuse the database of a Hourhand, whoever asks."""
    query = _FOUND.get(session.dialect)
    if query is None:  # no store can be there
        return
    rows = await session.fetch(query)
    if rows:
        where = f" in its schema {rows[0]['place']}" if session.dialect is Dialect.POSTGRESQL else ""
        raise Refused(
            f"{session.shown} is the database of a Hourhand itself: it holds its tables{where}, which no operation may "
            "touch; to keep it small use the settings retention_days and audit_retention_days"
            + _ELSE.get(session.dialect, ""),
            field="data_source",
        )
