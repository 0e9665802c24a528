"""Operations: who holds now what a plan would wait for, asked before anything waits."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hourhand.contracts.operation import Row, Session
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Blocker, Plan
from hourhand.operations.failures import OperationFailure

MOST = 10
_MODES = (
    "SHARE UPDATE EXCLUSIVE",
    "SHARE ROW EXCLUSIVE",
    "ACCESS EXCLUSIVE",
    "ROW EXCLUSIVE",
    "ACCESS SHARE",
    "ROW SHARE",
    "EXCLUSIVE",
    "SHARE",
)
"""PostgreSQL's; none is part of one behind it."""
_MODE = re.compile("|".join(_MODES))
_CONFLICTS = {
    "ACCESS SHARE": ("ACCESS EXCLUSIVE",),
    "ROW SHARE": ("EXCLUSIVE", "ACCESS EXCLUSIVE"),
    "ROW EXCLUSIVE": ("SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE"),
    "SHARE UPDATE EXCLUSIVE": (
        "SHARE UPDATE EXCLUSIVE",
        "SHARE",
        "SHARE ROW EXCLUSIVE",
        "EXCLUSIVE",
        "ACCESS EXCLUSIVE",
    ),
    "SHARE": ("ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE"),
    "SHARE ROW EXCLUSIVE": tuple(mode for mode in _MODES if mode not in ("ACCESS SHARE", "ROW SHARE")),
    "EXCLUSIVE": tuple(mode for mode in _MODES if mode != "ACCESS SHARE"),
    "ACCESS EXCLUSIVE": _MODES,
}
"""Which locks of others a lock waits for: PostgreSQL's manual, 13.3.1."""
_POSTGRESQL = """
WITH named AS (
    SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = ANY ($2::text[])
), concerned AS (
    SELECT oid FROM named UNION SELECT p.relid FROM named CROSS JOIN LATERAL pg_partition_tree(named.oid) p
)
SELECT DISTINCT a.pid, a.usename, a.application_name, a.client_addr, a.state, left(a.query, 120) AS query,
       extract(epoch FROM now() - a.xact_start)::int AS seconds
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.relation IN (SELECT oid FROM concerned) AND l.granted AND l.mode = ANY ($3::text[])
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND a.pid <> pg_backend_pid() AND a.xact_start < now() - $4::float * interval '1 millisecond'
ORDER BY seconds DESC LIMIT 10
"""
_MARIADB = """
SELECT p.ID, p.USER, p.HOST, p.COMMAND, p.INFO, TIMESTAMPDIFF(SECOND, t.trx_started, NOW()) AS seconds
FROM information_schema.INNODB_TRX t JOIN information_schema.PROCESSLIST p ON p.ID = t.trx_mysql_thread_id
WHERE p.ID <> CONNECTION_ID() AND p.DB = COALESCE(%s, DATABASE())
    AND TIMESTAMPDIFF(MICROSECOND, t.trx_started, NOW(6)) > %s * 1000
ORDER BY t.trx_started LIMIT 10
"""


async def in_the_way(session: Session, plan: Plan) -> list[Blocker]:
    """Sessions whose transactions have been open for longer than the plan would wait, and hold what it needs.

    MariaDB and MySQL do not tell which tables a transaction has touched: there it is all of the same database. Who may
    not be asked names nobody; that is no reason to refuse a preview.
    """
    tables = _tables(plan)
    modes = _waited_for(plan)
    milliseconds = int(plan.config.get("lock_timeout_ms") or 0)
    schema = plan.config.get("schema")
    if not tables or not any(step.lock for step in plan.steps):
        return []
    try:
        match session.dialect:
            case Dialect.POSTGRESQL:
                rows = await session.fetch(_POSTGRESQL, schema or "public", tables, modes, float(milliseconds))
                return [_of_postgresql(row) for row in rows]
            case Dialect.MARIADB | Dialect.MYSQL:
                return [_of_mariadb(row) for row in await session.fetch(_MARIADB, schema, milliseconds)]
    except OperationFailure:
        pass
    return []


def _tables(plan: Plan) -> list[str]:
    named = [plan.config.get("table"), *(plan.config.get("tables") or ())]
    return [one for one in named if isinstance(one, str)]


def _waited_for(plan: Plan) -> Sequence[str]:
    """The locks of others that some step would wait for, as `pg_locks` writes them."""
    own = {mode for step in plan.steps if step.lock for mode in _MODE.findall(step.lock)}
    found = {other for mode in own for other in _CONFLICTS[mode]}
    return sorted(f"{mode.title().replace(' ', '')}Lock" for mode in found)


def _of_postgresql(row: Row) -> Blocker:
    who = ", ".join(str(one) for one in (row["usename"], row["application_name"], row["client_addr"]) if one)
    doing = f"{row['state']}, its transaction open for {row['seconds']} s: {row['query']}"
    return Blocker(session=f"pid {row['pid']}", who=who, doing=doing)


def _of_mariadb(row: Row) -> Blocker:
    statement = str(row["INFO"] or "")[:120]
    return Blocker(
        session=f"connection {row['ID']}",
        who=f"{row['USER']}, {row['HOST']}",
        doing=f"{row['COMMAND']}, its transaction open for {row['seconds']} s{f': {statement}' if statement else ''}",
    )
