"""Operations: what the boundary kinds look at in PostgreSQL's catalog beside the table itself."""

# ruff: noqa: S608 - statements are put together from quoted names; values are parameters or literals

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hourhand.contracts.operation import Row, Session
from hourhand.model.data_source import Dialect
from hourhand.operations.catalog.table import Partition, Table
from hourhand.operations.failures import Refused, StatementFailed
from hourhand.operations.partitions.bounds import Cell
from hourhand.operations.quoting import literal, qualified, quoted

PG = Dialect.POSTGRESQL
PLACE = "\x00"
"""Where a table is to be named; what no name may hold."""
_TYPES = ("smallint", "integer", "bigint", "numeric", "date", "timestamp", "text", "character varying", "uuid")
_WIDER = {"date": "timestamp", "numeric": "numeric", "timestamp": "timestamp", "character varying": "text"}
_RELATION = """
SELECT c.oid, pg_get_userbyid(c.relowner) AS owner, pg_has_role(c.relowner, 'USAGE') AS owned, current_user AS me,
       t.spcname AS tablespace, coalesce(c.reloptions, '{}') AS options, c.relreplident::text AS identity,
       (SELECT i.relname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
        WHERE x.indrelid = c.oid AND x.indisreplident) AS identity_index,
       c.relrowsecurity AS secured, c.relforcerowsecurity AS forced,
       (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) AS sees_all,
       ARRAY(SELECT tgname::text FROM pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal
             AND coalesce((to_jsonb(g) ->> 'tgparentid')::bigint, 0) = 0 ORDER BY 1) AS triggers,
       ARRAY(SELECT DISTINCT v.oid::regclass::text FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
             JOIN pg_class v ON v.oid = r.ev_class
             WHERE d.classid = 'pg_rewrite'::regclass AND d.refobjid = c.oid AND v.oid <> c.oid ORDER BY 1) AS views
FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE c.oid = to_regclass($1)
"""
_INDEXES = """
SELECT i.relname AS name, x.indisunique AND x.indimmediate AND x.indpred IS NULL AND x.indexprs IS NULL AS telling,
       x.indisvalid AS valid, pg_get_constraintdef(k.oid) AS constraint, i.relispartition AS inherited,
       pg_get_indexdef(i.oid) AS definition,
       format('CREATE %sINDEX %I ON %s%I.%I ', CASE WHEN x.indisunique THEN 'UNIQUE ' END, i.relname,
              CASE WHEN c.relkind = 'p' THEN 'ONLY ' END, n.nspname, c.relname) AS head,
       CASE WHEN x.indisunique THEN 'UNIQUE ' ELSE '' END AS unique,
       ARRAY(SELECT a.attname::text FROM unnest(x.indkey::int2[]) WITH ORDINALITY u(n, o)
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.n
             WHERE u.o <= x.indnkeyatts ORDER BY u.o) AS columns
FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_constraint k ON k.conindid = i.oid AND k.conrelid = c.oid AND k.contype IN ('p', 'u', 'x')
WHERE c.oid = $1 ORDER BY NOT x.indisprimary, i.relname
"""
_CONSTRAINTS = """
SELECT conname AS name, pg_get_constraintdef(oid) AS definition, contype::text AS type,
       conparentid <> 0 OR coninhcount > 0 AS inherited
FROM pg_constraint WHERE conrelid = $1 AND contype IN ('c', 'f') ORDER BY conname
"""
_GRANTS = """
SELECT NULL AS column, CASE WHEN a.grantee <> 0 THEN pg_get_userbyid(a.grantee) END AS grantee, a.privilege_type,
       a.is_grantable
FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = $1 AND a.grantee <> c.relowner
UNION ALL
SELECT t.attname, CASE WHEN a.grantee <> 0 THEN pg_get_userbyid(a.grantee) END, a.privilege_type, a.is_grantable
FROM pg_attribute t JOIN pg_class c ON c.oid = t.attrelid, aclexplode(t.attacl) a
WHERE t.attrelid = $1 AND NOT t.attisdropped AND a.grantee <> c.relowner ORDER BY 1 NULLS FIRST, 2, 3
"""
_POLICIES = """
SELECT p.polname AS name, p.polpermissive AS permissive, p.polcmd::text AS command,
       ARRAY(SELECT CASE WHEN r = 0 THEN NULL ELSE pg_get_userbyid(r)::text END FROM unnest(p.polroles) r) AS roles,
       pg_get_expr(p.polqual, p.polrelid) AS qual, pg_get_expr(p.polwithcheck, p.polrelid) AS with_check
FROM pg_policy p WHERE p.polrelid = $1 ORDER BY p.polname
"""
_COMMANDS = {"r": "SELECT", "a": "INSERT", "w": "UPDATE", "d": "DELETE", "*": "ALL"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """An index of a partition."""

    name: str
    tail: str
    """Its definition, from USING on."""
    unique: str
    constraint: str | None
    columns: tuple[str, ...]
    telling: bool
    """Whether it tells rows apart at once: unique, whole, not deferrable."""
    valid: bool
    inherited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A CHECK or a foreign key."""

    name: str
    definition: str
    type: str
    inherited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A table, be it the whole or a partition: what `LIKE` leaves out."""

    sql: str
    name: str
    owner: str
    owned: bool
    me: str
    tablespace: str | None
    options: tuple[str, ...]
    identity: str
    identity_index: str | None
    secured: bool
    forced: bool
    sees_all: bool
    triggers: tuple[str, ...]
    views: tuple[str, ...]
    indexes: tuple[Index, ...]
    constraints: tuple[Constraint, ...]
    grants: tuple[str, ...]
    """Statements, with PLACE for the table."""
    policies: tuple[str, ...]

    @property
    def foreign_keys(self) -> tuple[Constraint, ...]:
        """Those to other tables."""
        return tuple(one for one in self.constraints if one.type == "f")

    @property
    def own(self) -> frozenset[str]:
        """What it has that the whole has not, by definition."""
        kept = {one.tail for one in self.indexes if not one.inherited}
        return frozenset(kept | {one.definition for one in self.constraints if not one.inherited})


async def read_relation(session: Session, sql: str, name: str) -> Relation:
    """Look at one."""
    row = (await session.fetch(_RELATION, sql))[0]
    oid = row["oid"]
    plain = ("owner", "owned", "me", "tablespace", "identity", "identity_index", "secured", "forced", "sees_all")
    return Relation(
        sql=sql,
        name=name,
        **{one: row[one] for one in plain},
        options=tuple(row["options"]),
        triggers=tuple(row["triggers"]),
        views=tuple(row["views"]),
        indexes=tuple(_index(one) for one in await session.fetch(_INDEXES, oid)),
        constraints=tuple(Constraint(**one) for one in await session.fetch(_CONSTRAINTS, oid)),
        grants=tuple(_grant(one) for one in await session.fetch(_GRANTS, oid)),
        policies=tuple(_policy(one) for one in await session.fetch(_POLICIES, oid)),
    )


def _index(row: Row) -> Index:
    definition, head = row["definition"], row["head"]
    if not definition.startswith(head):
        raise Refused(f"the index {row['name']} cannot be read: {definition}", field="table")
    plain = ("name", "unique", "constraint", "telling", "valid", "inherited")
    return Index(tail=definition[len(head) :], columns=tuple(row["columns"]), **{one: row[one] for one in plain})


def _grant(row: Row) -> str:
    column = f" ({quoted(PG, row['column'])})" if row["column"] is not None else ""
    grantee = "PUBLIC" if row["grantee"] is None else quoted(PG, row["grantee"])
    option = " WITH GRANT OPTION" if row["is_grantable"] else ""
    return f"GRANT {row['privilege_type']}{column} ON {PLACE} TO {grantee}{option}"


def _policy(row: Row) -> str:
    roles = ", ".join("PUBLIC" if one is None else quoted(PG, one) for one in row["roles"])
    using = f" USING ({row['qual']})" if row["qual"] is not None else ""
    check = f" WITH CHECK ({row['with_check']})" if row["with_check"] is not None else ""
    kind = "PERMISSIVE" if row["permissive"] else "RESTRICTIVE"
    command = _COMMANDS[row["command"]]
    return f"CREATE POLICY {quoted(PG, row['name'])} ON {PLACE} AS {kind} FOR {command} TO {roles}{using}{check}"


def require_key(table: Table) -> tuple[str, str]:
    """The column whose values are the bounds, and its type."""
    if len(table.partition_key) != 1 or table.partition_key_type is None:
        raise Refused(
            f"{table.shown} is partitioned by {table.partition_expression}: boundaries are worked on only where the "
            "key is one column; do this one by hand",
            field="table",
        )
    column, type_ = table.partition_key[0], table.partition_key_type
    if not type_.startswith(_TYPES) or "[" in type_:
        raise Refused(f"the partition key {column} is of type {type_}; known are {', '.join(_TYPES)}", field="table")
    return column, type_


async def normal(session: Session, type_: str, value: str, *, field: str) -> str:
    """A boundary as PostgreSQL writes it; Refused if it is no value of the type, or would be rounded to one."""
    base = type_.split("(", maxsplit=1)[0].strip()
    wider = next((wide for narrow, wide in _WIDER.items() if base.startswith(narrow)), type_)
    wider = "timestamp with time zone" if type_.startswith("timestamp") and "with time zone" in type_ else wider
    try:
        rows = await session.fetch(
            f"SELECT $1::text::{type_}::text AS v, $1::text::{wider} = $1::text::{type_} AS same",
            value,
        )
    except StatementFailed as error:
        raise Refused(
            f"{value!r} is no value of type {type_}: {str(error).split(': SELECT')[0]}", field=field
        ) from None
    if not rows[0]["same"]:
        raise Refused(f"{value!r} is not exactly a value of type {type_}: the nearest is {rows[0]['v']}", field=field)
    found: str = rows[0]["v"]
    return found


async def ranked(session: Session, table: Table, values: Sequence[str]) -> dict[str, int]:
    """Values in the order in which the table's partitions lie."""
    _, type_ = require_key(table)
    rows = await session.fetch(
        "SELECT quote_ident(n.nspname) || '.' || quote_ident(c.collname) AS name FROM pg_partitioned_table p "
        "JOIN pg_collation c ON c.oid = p.partcollation[0] JOIN pg_namespace n ON n.oid = c.collnamespace "
        "WHERE p.partrelid = to_regclass($1)",
        table.sql,
    )
    collation = f" COLLATE {rows[0]['name']}" if rows else ""
    found = await session.fetch(
        f"SELECT v, dense_rank() OVER (ORDER BY v::{type_}{collation}) AS rank FROM unnest($1::text[]) AS t(v)",
        sorted(set(values)),
    )
    return {row["v"]: row["rank"] for row in found}


def within(table: Table, cell: Cell, *, alias: str = "") -> str:
    """The condition that a row lies in a range, as PostgreSQL itself would put it: never NULL."""
    column, type_ = require_key(table)
    name = f"{alias}{quoted(PG, column)}"
    parts = [f"{name} IS NOT NULL"]
    parts += [f"{name} >= {literal(PG, cell.low)}::{type_}"] if cell.low is not None else []
    parts += [f"{name} < {literal(PG, cell.high)}::{type_}"] if cell.high is not None else []
    return " AND ".join(parts)


def for_values(cell: Cell) -> str:
    """The bounds of a partition."""
    low = "MINVALUE" if cell.low is None else literal(PG, cell.low)
    high = "MAXVALUE" if cell.high is None else literal(PG, cell.high)
    return f"FOR VALUES FROM ({low}) TO ({high})"


def is_child(table: Table, schema: str, name: str) -> str:
    """An expression: whether the table has a partition of that name."""
    return (
        "EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_namespace n "
        f"ON n.oid = c.relnamespace WHERE i.inhparent = to_regclass({literal(PG, table.sql)}) "
        f"AND n.nspname = {literal(PG, schema)} AND c.relname = {literal(PG, name)})"
    )


def exists(sql: str) -> str:
    """An expression: whether there is a relation of that name."""
    return f"to_regclass({literal(PG, sql)}) IS NOT NULL"


def has_constraint(sql: str, name: str, *, valid: bool = False) -> str:
    """An expression: whether a table has a constraint of that name."""
    more = " AND convalidated" if valid else ""
    return (
        f"EXISTS (SELECT FROM pg_constraint WHERE conrelid = to_regclass({literal(PG, sql)}) "
        f"AND conname = {literal(PG, name)}{more})"
    )


def beside(table: Table, partition: Partition, name: str) -> str:
    """A relation in the schema of a partition."""
    return qualified(PG, partition.schema or table.schema, name)
