"""Operations: the table that rows are copied to: what is wrong with it, or how it is made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.catalog.table import Column, Table, TableIndex
from hourhand.operations.failures import Refused
from hourhand.operations.quoting import qualified, quoted
from hourhand.operations.transfer.canonical import Form, form_of
from hourhand.operations.transfer.target_types import translated

MARIA = (Dialect.MARIADB, Dialect.MYSQL)
_WIDTHS = ("tinyint", "smallint", "mediumint", "int", "bigint")
_PG_WIDTHS = {"smallint": "smallint", "integer": "int", "bigint": "bigint"}
_BITS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}
_PG_COLLATIONS = """
SELECT a.attname AS name, CASE WHEN c.collname = 'default' THEN d.datcollate ELSE c.collname END AS collation,
       c.collname <> 'default' AS own
FROM pg_attribute a JOIN pg_collation c ON c.oid = a.attcollation JOIN pg_database d ON d.datname = current_database()
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0
"""
_MARIA_COLLATIONS = """
SELECT COLUMN_NAME AS name, COLLATION_NAME AS collation, 1 AS own FROM information_schema.COLUMNS
WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND COLLATION_NAME IS NOT NULL
"""
_MARIA_SERVER = "SELECT CONCAT_WS(':', @@hostname, @@port, @@datadir) AS server"
_PG_SERVER = """
SELECT pg_postmaster_start_time()::text || ':' || current_database() || ':' || coalesce(inet_server_port(), 0) AS server
"""


@dataclass(frozen=True, slots=True)
class Collation:
    """How a column's text is sorted."""

    name: str
    own: bool
    """Whether the column names it; else it is the database's."""


async def collations(session: Session, table: Table) -> dict[str, Collation]:
    """Of each column of text; SQLite compares bytes."""
    if session.dialect is Dialect.POSTGRESQL:
        rows = await session.fetch(_PG_COLLATIONS, table.sql)
    elif session.dialect in MARIA:
        rows = await session.fetch(_MARIA_COLLATIONS, table.schema, table.name)
    else:
        return {}
    return {row["name"]: Collation(str(row["collation"]), bool(row["own"])) for row in rows}


async def server(session: Session) -> str:
    """The same for two sessions of one server (of PostgreSQL: of one database; of SQLite: of one file)."""
    if session.dialect is Dialect.POSTGRESQL:
        return str((await session.fetch(_PG_SERVER))[0]["server"])
    if session.dialect in MARIA:
        return str((await session.fetch(_MARIA_SERVER))[0]["server"])
    return str((await session.fetch("SELECT file FROM pragma_database_list WHERE name = 'main'"))[0]["file"])


def require_same_definition(source: Table, target: Table) -> None:
    """Refuse a target that does not take the source's rows as they are, naming the column."""
    for column in source.writable:
        there = target.column(column.name)
        if there is None:
            raise Refused(
                f"{target.shown} has no column {column.name!r}, which {source.shown} has: add it, "
                "or give another table",
                field="target_table",
            )
        if there.generated:
            raise Refused(f"{target.shown}.{column.name} is computed, and cannot be written", field="target_table")
        why = _narrower(source.dialect, column, target.dialect, there)
        if why:
            raise Refused(
                f"{target.shown}.{column.name} is {there.type}, "
                f"and {source.shown}.{column.name} is {column.type}: {why}",
                field="target_table",
            )
        if column.nullable and not there.nullable:
            raise Refused(
                f"{target.shown}.{column.name} must not be NULL, and {source.shown}.{column.name} may be: "
                "let the target take NULL too",
                field="target_table",
            )
    known = {column.name for column in source.writable}
    for column in target.writable:
        if column.name not in known and not column.nullable and column.default is None and not column.identity:
            raise Refused(
                f"{target.shown}.{column.name} must not be NULL, has no default, and {source.shown} has no such column",
                field="target_table",
            )


def _narrower(one: Dialect, source: Column, other: Dialect, target: Column) -> str | None:
    """Why values would not fit, if they would not."""
    if one is Dialect.SQLITE or (one is other and source.type == target.type):  # it keeps anything anywhere
        return None
    mine, theirs = form_of(one, source.type), form_of(other, target.type)
    if Dialect.SQLITE not in (one, other) and mine is not theirs and {mine, theirs} != {Form.UUID, Form.TEXT}:
        return "values of the one are none of the other"
    return _narrower_text(one, source.type, other, target.type) or _narrower_number(source.type, other, target.type)


def _narrower_text(one: Dialect, source: str, other: Dialect, target: str) -> str | None:
    room = _length(target)
    if form_of(other, target) not in (Form.TEXT, Form.BYTES) or room is None or other is Dialect.SQLITE:
        return None
    need = 36 if form_of(one, source) is Form.UUID else _length(source)
    if need is None or need > room:
        return f"it has room for {room} characters, and the source may have {need or 'more'}"
    return None


def _length(type_: str) -> int | None:
    """How long a text may be; None: as long as it is."""
    given = re.match(r"(?:national )?(?:var)?(?:char(?:acter)?(?: varying)?|binary)\s*\((\d+)\)", type_.lower())
    if given:
        return int(given[1])
    return {"tinytext": 255, "tinyblob": 255, "text": None, "blob": None}.get(type_.lower())


def _narrower_number(source: str, other: Dialect, target: str) -> str | None:  # noqa: PLR0911 - one for each reason
    mine, theirs = _integer(source), _integer(target)
    if mine is not None and theirs is not None and other is not Dialect.SQLITE:
        (low, high), (least, most) = mine, theirs
        return None if least <= low and high <= most else f"it holds {least} to {most} only"
    digits, room = _decimal(source), _decimal(target)
    if digits is not None and other is Dialect.SQLITE and re.match(r"num|dec|real|doub|floa", target.lower()):
        return None if digits[0] <= _EXACT else f"SQLite keeps {_EXACT} digits of a number: declare the column TEXT"
    if digits is not None and room is not None:
        fits = room[0] - room[1] >= digits[0] - digits[1] and room[1] >= digits[1]
        return None if fits else f"it keeps {room[0] - room[1]} digits before the point and {room[1]} behind it"
    if room is not None and re.match(r"(real|double|float)", source.lower()):
        return "a float has more digits than it keeps"
    if _is_float(target) and not _is_float(source) and (digits is not None or mine is not None):
        return "a float does not keep every digit"
    if (
        re.match(r"(real|float)", target.lower())
        and source.lower().startswith("double")
        and other is not Dialect.SQLITE
    ):
        return "it keeps half of the digits"
    return None


_EXACT = 15


def _is_float(type_: str) -> bool:
    return bool(re.match(r"(real|double|float)", type_.lower()))


def _integer(type_: str) -> tuple[int, int] | None:
    name = type_.lower()
    given = re.match(r"(tinyint|smallint|mediumint|bigint|integer|int)\b", name)
    if given is None:
        return None
    bits = _BITS[_PG_WIDTHS.get(given[1], given[1])]
    return (0, 2**bits - 1) if "unsigned" in name else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _decimal(type_: str) -> tuple[int, int] | None:
    given = re.match(r"(?:numeric|decimal)\s*\((\d+)(?:,\s*(\d+))?\)", type_.lower())
    return (int(given[1]), int(given[2] or 0)) if given else None


def require_sorted_alike(
    source: Table,
    target: Table | None,
    dialect: Dialect,
    key: Sequence[str],
    sorted_by: tuple[dict[str, Collation], dict[str, Collation]],
) -> None:
    """Refuse a key that the two sides sort differently: a range of the one would be other rows than of the other."""
    mine, theirs = sorted_by
    for name in key:
        column = source.column(name)
        form = form_of(source.dialect, column.type) if column else None
        there = target.column(name) if target is not None else None
        if source.dialect is Dialect.SQLITE and there is not None:
            form = form_of(dialect, there.type)  # what SQLite declares says little of what is there
        if form in (Form.TEXT, Form.UUID) and source.dialect is not dialect:
            raise Refused(
                f"the key column {name!r} ({column.type if column else ''}) is sorted otherwise by {dialect.value}: "
                "give key_columns of numbers or times, which have a unique index",
                field="key_columns",
            )
        if target is not None and name in mine and name in theirs and mine[name].name != theirs[name].name:
            raise Refused(
                f"the key column {name!r} is sorted by {mine[name].name} in the source and by {theirs[name].name} in "
                "the target: give key_columns of numbers or times, or the same collation",
                field="key_columns",
            )


def create_sql(
    source: Table, place: tuple[Dialect, str | None, str], key: Sequence[str], sorted_by: dict[str, Collation]
) -> str:
    """The statement that makes a target: the columns that are written, and the key; other indexes come after the rows.

    Args:
        source: What it is like.
        place: The target's dialect, schema and name.
        key: Its primary key.
        sorted_by: The source's collations.
    """
    dialect, schema, name = place
    parts = []
    for column in source.writable:
        type_ = translated(source.dialect, column, dialect, field="create_target")
        if dialect is source.dialect and (found := sorted_by.get(column.name)) is not None and found.own:
            type_ += f" COLLATE {quoted(dialect, found.name)}" if dialect not in MARIA else f" COLLATE {found.name}"
        parts.append(f"{quoted(dialect, column.name)} {type_}{'' if column.nullable else ' NOT NULL'}")
    names = ", ".join(quoted(dialect, one) for one in key)
    engine = " ENGINE = InnoDB" if dialect in MARIA else ""
    return (
        f"CREATE TABLE IF NOT EXISTS {qualified(dialect, schema, name)} "
        f"({', '.join(parts)}, PRIMARY KEY ({names})){engine}"
    )


def index_sql(dialect: Dialect, schema: str | None, name: str, index: TableIndex) -> tuple[str, str]:
    """Its name on a target that is made, and the statement."""
    named = f"{name}_{'_'.join(index.columns)}_idx"[:60]
    unique = "UNIQUE " if index.unique else ""
    maybe = "IF NOT EXISTS " if dialect is not Dialect.MYSQL else ""
    columns = ", ".join(quoted(dialect, one) for one in index.columns)
    where = qualified(dialect, schema, name) if dialect is not Dialect.SQLITE else quoted(dialect, name)
    return named, f"CREATE {unique}INDEX {maybe}{quoted(dialect, named)} ON {where} ({columns})"
