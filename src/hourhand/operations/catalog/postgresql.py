"""Operations: PostgreSQL's catalog."""

from __future__ import annotations

import re

from hourhand.contracts.operation import Row, Session
from hourhand.model.data_source import Dialect
from hourhand.operations.catalog.table import Column, ForeignKey, Partition, Table, TableIndex

_TABLE = """
SELECT c.oid, n.nspname AS schema, c.relname AS name, c.relkind, pg_get_userbyid(c.relowner) AS owner,
       pg_has_role(c.relowner, 'USAGE') AS owned, c.relrowsecurity AS row_security,
       greatest(c.reltuples, 0)::bigint AS rows, pg_total_relation_size(c.oid) AS bytes,
       CASE p.partstrat WHEN 'r' THEN 'range' WHEN 'l' THEN 'list' WHEN 'h' THEN 'hash' END AS strategy,
       pg_get_partkeydef(c.oid) AS expression, p.partattrs::int2[] AS keys
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_partitioned_table p ON p.partrelid = c.oid
WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p')
"""
_COLUMNS = """
SELECT a.attnum, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS nullable,
       pg_get_expr(d.adbin, d.adrelid) AS default, a.attgenerated <> '' AS generated, a.attidentity <> '' AS identity
FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_INDEXES = """
SELECT c.relname AS name, i.indisunique AS unique, i.indisprimary AS primary, i.indisvalid AS valid,
       i.indpred IS NOT NULL AS partial, pg_get_indexdef(i.indexrelid) AS definition,
       pg_relation_size(i.indexrelid) AS bytes,
       ARRAY(SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY k(n, o)
             LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.n
             WHERE k.o <= i.indnkeyatts ORDER BY k.o) AS columns
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = $1 ORDER BY c.relname
"""
_PARTITIONS = """
SELECT n.nspname AS schema, c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound, c.relkind <> 'p' AS leaf,
       greatest(c.reltuples, 0)::bigint AS rows, pg_total_relation_size(c.oid) AS bytes,
       coalesce((to_jsonb(i) ->> 'inhdetachpending')::boolean, false) AS pending
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE i.inhparent = $1
"""
_FOREIGN_KEYS = """
SELECT k.conname AS name, pg_get_constraintdef(k.oid) AS definition, k.conrelid = $1 AS outward,
       CASE WHEN k.conrelid = $1 THEN k.confrelid::regclass::text ELSE k.conrelid::regclass::text END AS other
FROM pg_constraint k WHERE k.contype = 'f' AND k.conparentid = 0 AND (k.conrelid = $1 OR k.confrelid = $1)
"""
_TRIGGERS = "SELECT tgname FROM pg_trigger WHERE tgrelid = $1 AND NOT tgisinternal ORDER BY tgname"
_NAMES = """
SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^(pg_|information_schema)'
ORDER BY 1 LIMIT 1000
"""
_BOUND = re.compile(r"FOR VALUES FROM \((.*)\) TO \((.*)\)", re.DOTALL)


async def find_table(session: Session, schema: str, name: str) -> Table | None:
    """Everything the catalog tells of a table."""
    rows = await session.fetch(_TABLE, schema, name)
    if not rows:
        return None
    found, oid = rows[0], rows[0]["oid"]
    columns = await session.fetch(_COLUMNS, oid)
    keys = await session.fetch(_FOREIGN_KEYS, oid)
    numbered = {row["attnum"]: row for row in columns}
    # An expression has the number 0.
    key = [numbered[number] for number in found["keys"] or () if number in numbered]
    return Table(
        dialect=Dialect.POSTGRESQL,
        schema=found["schema"],
        name=found["name"],
        columns=tuple(
            Column(**{one: row[one] for one in ("name", "type", "nullable", "default", "generated", "identity")})
            for row in columns
        ),
        indexes=tuple(
            TableIndex(**{**row, "columns": tuple(row["columns"]) if None not in row["columns"] else ()})
            for row in await session.fetch(_INDEXES, oid)
        ),
        strategy=found["strategy"],
        partition_key=tuple(row["name"] for row in key) if len(key) == len(found["keys"] or ()) else (),
        partition_key_type=key[0]["type"] if key else None,
        partition_expression=found["expression"],
        partitions=await _partitions(session, oid, key[0]["type"] if key else None) if found["strategy"] else (),
        foreign_keys=tuple(_foreign_key(row) for row in keys if row["outward"]),
        referenced_by=tuple(_foreign_key(row) for row in keys if not row["outward"]),
        owner=found["owner"],
        owned=found["owned"],
        triggers=tuple(row["tgname"] for row in await session.fetch(_TRIGGERS, oid)),
        row_security=found["row_security"],
        rows=found["rows"],
        bytes=found["bytes"],
    )


async def _partitions(session: Session, oid: int, type_: str | None) -> tuple[Partition, ...]:
    found = [_partition(row) for row in await session.fetch(_PARTITIONS, oid)]
    ordered = await sort_values(session, type_, [one.low for one in found if one.low is not None])
    places = {value: place for place, value in enumerate(ordered)}
    return tuple(
        sorted(found, key=lambda one: (one.default, one.low is not None and places.get(one.low, 0) + 1, one.name))
    )


async def sort_values(session: Session, type_: str | None, values: list[str]) -> list[str]:
    """Values of a type, written as text, in their order."""
    if type_ is None or len(values) < 2:  # noqa: PLR2004
        return values
    rows = await session.fetch(f"SELECT v FROM unnest($1::text[]) AS t(v) ORDER BY v::{type_}", values)  # noqa: S608
    return [row["v"] for row in rows]


def _partition(row: Row) -> Partition:
    bound = row["bound"] or ""
    given = _BOUND.fullmatch(bound)
    low, high = (_value(given[1]), _value(given[2])) if given else (None, None)
    return Partition(
        name=row["name"],
        schema=row["schema"],
        low=low,
        high=high,
        default=bound == "DEFAULT",
        pending_detach=row["pending"],
        leaf=row["leaf"],
        rows=row["rows"],
        bytes=row["bytes"],
    )


def _value(text: str) -> str | None:
    """The first value of a bound, without its quotes; None if it is open."""
    if text.startswith(("MINVALUE", "MAXVALUE")):
        return None
    if text.startswith("'"):
        end = re.match(r"'((?:[^']|'')*)'", text)
        return end[1].replace("''", "'") if end else text
    return text.split(",", maxsplit=1)[0].strip()


def _foreign_key(row: Row) -> ForeignKey:
    return ForeignKey(name=row["name"], table=row["other"], definition=row["definition"])


async def table_names(session: Session) -> list[str]:
    """Tables that are no partitions."""
    return [row["name"] for row in await session.fetch(_NAMES)]
