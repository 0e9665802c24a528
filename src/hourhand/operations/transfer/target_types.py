"""Operations: a column's type in another database's words."""

from __future__ import annotations

import re

from hourhand.model.data_source import Dialect
from hourhand.operations.catalog.table import Column
from hourhand.operations.failures import Refused
from hourhand.operations.transfer.canonical import Form, form_of

MARIA = (Dialect.MARIADB, Dialect.MYSQL)
_MOST_CHARACTERS = 16_383
_MOST_DIGITS, _MOST_SCALE = 65, 38
_PG = {
    "smallint": "SMALLINT", "integer": "INT", "bigint": "BIGINT", "boolean": "TINYINT(1)", "real": "DOUBLE",
    "double precision": "DOUBLE", "date": "DATE", "bytea": "LONGBLOB", "json": "LONGTEXT", "jsonb": "LONGTEXT",
    "text": "LONGTEXT",
}  # fmt: skip
_MYSQL = {
    "tinyint": "smallint", "smallint": "smallint", "mediumint": "integer", "int": "integer", "bigint": "bigint",
    "float": "double precision", "double": "double precision", "year": "smallint", "date": "date", "bit": "bigint",
    "text": "text", "tinytext": "text", "mediumtext": "text", "longtext": "text", "enum": "text", "set": "text",
    "uuid": "uuid", "json": "text",
}  # fmt: skip
_WIDER = {
    "tinyint": "smallint",
    "smallint": "integer",
    "mediumint": "integer",
    "int": "bigint",
    "bigint": "numeric(20)",
}


def translated(dialect: Dialect, column: Column, other: Dialect, *, field: str) -> str:
    """The type that a column has on the other side; Refused names the column for which there is none."""
    if dialect is other or {dialect, other} <= set(MARIA):
        return column.type
    name = column.type.lower().strip()
    if other is Dialect.SQLITE:
        found = _to_sqlite(dialect, name)
    elif dialect is Dialect.POSTGRESQL:
        found = _to_mysql(name, other)
    elif dialect in MARIA:
        found = _to_postgresql(name)
    else:
        found = _from_sqlite(name, other)
    if found is None:
        raise Refused(
            f"column {column.name!r} ({column.type}) has no counterpart on {other.value}: make the target table "
            "by hand as you want it, or leave the rows on the same sort of database",
            field=field,
        )
    return found


def _to_mysql(name: str, other: Dialect) -> str | None:  # noqa: PLR0911 - one for each sort
    if name in _PG:
        return _PG[name]
    if name == "uuid":
        return "UUID" if other is Dialect.MARIADB else "CHAR(36)"
    if given := re.fullmatch(r"numeric\((\d+),(\d+)\)", name):
        fits = int(given[1]) <= _MOST_DIGITS and int(given[2]) <= _MOST_SCALE
        return f"DECIMAL({given[1]},{given[2]})" if fits else None
    if given := re.fullmatch(r"timestamp(?:\((\d)\))? with(?:out)? time zone", name):
        return f"DATETIME({given[1] or 6})"
    if given := re.fullmatch(r"time(?:\((\d)\))? without time zone", name):
        return f"TIME({given[1] or 6})"
    if given := re.fullmatch(r"character(?: varying)?\((\d+)\)", name):
        return f"VARCHAR({given[1]})" if int(given[1]) <= _MOST_CHARACTERS else "LONGTEXT"
    return "LONGTEXT" if name == "character varying" else None


def _to_postgresql(name: str) -> str | None:
    word = re.split(r"[( ]", name)[0]
    if form_of(Dialect.MARIADB, name) is Form.BYTES:
        return "bytea"
    if "unsigned" in name and word in _WIDER:
        return _WIDER[word]
    if word in _MYSQL:
        return _MYSQL[word]
    if given := re.match(r"decimal\((\d+),(\d+)\)", name):
        return f"numeric({given[1]},{given[2]})"
    if given := re.fullmatch(r"(datetime|timestamp|time)(?:\((\d)\))?", name):
        zone = {"datetime": "timestamp({}) without time zone", "timestamp": "timestamp({}) with time zone"}
        return zone.get(given[1], "time({}) without time zone").format(given[2] or 0)
    given = re.fullmatch(r"(?:var)?char\((\d+)\)", name)
    return f"character varying({given[1]})" if given else None


def _to_sqlite(dialect: Dialect, name: str) -> str | None:
    match form_of(dialect, name):
        case None:
            return None
        case Form.NUMBER if re.match(r"(real|double|float)", name):
            return "REAL"
        case Form.NUMBER if re.match(r"numeric|decimal|bigint.*unsigned", name):
            return "TEXT"  # a decimal, of which a binary number keeps 15 digits only
        case Form.NUMBER:
            return "INTEGER"
        case Form.BYTES:
            return "BLOB"
    return "TEXT"


def _from_sqlite(name: str, other: Dialect) -> str | None:  # noqa: PLR0911 - one for each sort
    pg = other is Dialect.POSTGRESQL
    if given := re.match(r"(?:numeric|decimal)\s*\((\d+),\s*(\d+)\)", name):
        return f"numeric({given[1]},{given[2]})" if pg else f"DECIMAL({given[1]},{given[2]})"
    match form_of(Dialect.SQLITE, name):
        case Form.NUMBER if re.match(r"(real|double|float)", name):
            return "double precision" if pg else "DOUBLE"
        case Form.NUMBER if re.match(r"numeric|decimal", name):
            return "numeric" if pg else None
        case Form.NUMBER:
            return "bigint" if pg else "BIGINT"
        case Form.BYTES:
            return "bytea" if pg else "LONGBLOB"
        case Form.DATE:
            return "date" if pg else "DATE"
        case Form.MOMENT:
            return "timestamp without time zone" if pg else "DATETIME(6)"
        case Form.UUID:
            return "uuid" if pg else "CHAR(36)"
        case Form.TIME:
            return "time without time zone" if pg else "TIME(6)"
    return "text" if pg else "LONGTEXT"
