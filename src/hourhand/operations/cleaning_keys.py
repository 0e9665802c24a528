"""Operations: the foreign keys that refer to rows which are to go."""

from __future__ import annotations

from dataclasses import dataclass

from hourhand.contracts.operation import Row, Session
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Precondition
from hourhand.operations.catalog.table import Table
from hourhand.operations.quoting import qualified, quoted

_POSTGRESQL = """
SELECT k.conname AS name, n.nspname AS schema, c.relname AS other,
       CASE k.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT'
                          WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END AS rule,
       ca.attname AS theirs, ta.attname AS ours
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN unnest(k.conkey, k.confkey) WITH ORDINALITY AS p(theirs, ours, place)
JOIN pg_attribute ca ON ca.attrelid = k.conrelid AND ca.attnum = p.theirs
JOIN pg_attribute ta ON ta.attrelid = k.confrelid AND ta.attnum = p.ours
WHERE k.contype = 'f' AND k.conparentid = 0
  AND k.confrelid = (SELECT t.oid FROM pg_class t JOIN pg_namespace s ON s.oid = t.relnamespace
                     WHERE s.nspname = $1 AND t.relname = $2)
ORDER BY k.conname, n.nspname, c.relname, p.place
"""
_MARIADB = """
SELECT u.CONSTRAINT_NAME AS name, u.TABLE_SCHEMA AS `schema`, u.TABLE_NAME AS other, r.DELETE_RULE AS rule,
       u.COLUMN_NAME AS theirs, u.REFERENCED_COLUMN_NAME AS ours
FROM information_schema.KEY_COLUMN_USAGE u JOIN information_schema.REFERENTIAL_CONSTRAINTS r
  ON r.CONSTRAINT_SCHEMA = u.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = u.CONSTRAINT_NAME AND r.TABLE_NAME = u.TABLE_NAME
WHERE u.REFERENCED_TABLE_SCHEMA = %s AND u.REFERENCED_TABLE_NAME = %s
ORDER BY u.CONSTRAINT_NAME, u.TABLE_SCHEMA, u.TABLE_NAME, u.ORDINAL_POSITION
"""
_SQLITE = """
SELECT 'foreign key ' || f.id AS name, NULL AS schema, m.name AS other, f.on_delete AS rule,
       f."from" AS theirs, f."to" AS ours, f.seq
FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f
WHERE m.type = 'table' AND lower(f."table") = lower(?) ORDER BY m.name, f.id, f.seq
"""
_KEEPING = ("NO ACTION", "RESTRICT")


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key of another table."""

    name: str
    schema: str | None
    table: str
    rule: str
    """What a delete does to it: `CASCADE`, `SET NULL`, `NO ACTION` …"""
    pairs: tuple[tuple[str, str], ...]
    """Its columns, each with the one it refers to."""
    used: bool = False
    """Whether a row that is to go is referred to, and so could not."""

    @property
    def shown(self) -> str:
        """As people write it."""
        return f"{self.schema}.{self.table}" if self.schema else self.table


async def references(session: Session, table: Table, condition: str) -> tuple[Reference, ...]:
    """The foreign keys that refer to the table; of those that forbid a delete, whether they are in the way."""
    match table.dialect:
        case Dialect.POSTGRESQL:
            rows = await session.fetch(_POSTGRESQL, table.schema, table.name)
        case Dialect.MARIADB | Dialect.MYSQL:
            rows = await session.fetch(_MARIADB, table.schema, table.name)
        case _:
            rows = await session.fetch(_SQLITE, table.name)
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row["name"], row["other"]), []).append(row)
    return tuple([await _judged(session, table, condition, group) for group in found.values()])


async def _judged(session: Session, table: Table, condition: str, rows: list[Row]) -> Reference:
    first, dialect = rows[0], table.dialect
    # SQLite's catalog leaves out the columns of a key that refers to the primary key.
    pairs = tuple((row["theirs"], row["ours"] or table.primary_key[place]) for place, row in enumerate(rows))
    used = False
    if first["rule"] in _KEEPING:
        other = qualified(dialect, first["schema"], first["other"])
        alike = " AND ".join(
            f"{table.sql}.{quoted(dialect, our)} = _hh_other.{quoted(dialect, their)}" for their, our in pairs
        )
        used = bool(
            await session.fetch(
                f"SELECT 1 AS one FROM {other} AS _hh_other "  # noqa: S608
                f"WHERE EXISTS (SELECT 1 FROM {table.sql} WHERE ({condition}) AND {alike}) LIMIT 1"
            )
        )
    return Reference(first["name"], first["schema"], first["other"], first["rule"], pairs, used)


def foreign_keys_precondition(found: tuple[Reference, ...]) -> Precondition:
    """Whether no foreign key is in the way."""
    used = [one for one in found if one.used]
    if not used:
        return Precondition(name="foreign keys", ok=True, detail="no row that is to go is referred to")
    named = "; ".join(f"{one.shown} by {one.name} ({one.rule})" for one in used)
    return Precondition(
        name="foreign keys",
        ok=False,
        detail=f"rows that are to go are referred to from {named}: clean up there first, or make the key "
        "ON DELETE CASCADE or SET NULL",
    )


def cascades(found: tuple[Reference, ...]) -> list[str]:
    """What goes along, for whoever approves."""
    return [
        f"{one.shown} refers to it by {one.name}: ON DELETE {one.rule} is done there too"
        for one in found
        if one.rule not in _KEEPING
    ]
