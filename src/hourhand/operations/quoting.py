"""Operations: names and values as each dialect writes them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

from hourhand.model.data_source import Dialect
from hourhand.operations.failures import Refused

_BACKTICK = (Dialect.MARIADB, Dialect.MYSQL)


def quoted(dialect: Dialect, name: str) -> str:
    """A name as it must be written whatever it holds."""
    if not name or "\x00" in name:
        raise Refused(f"{name!r} is no name of a table or column")
    if dialect in _BACKTICK:
        return "`" + name.replace("`", "``") + "`"
    if dialect is Dialect.SQLSERVER:
        return "[" + name.replace("]", "]]") + "]"
    return '"' + name.replace('"', '""') + '"'


def qualified(dialect: Dialect, schema: str | None, name: str) -> str:
    """A table with its schema, if it has one."""
    return f"{quoted(dialect, schema)}.{quoted(dialect, name)}" if schema else quoted(dialect, name)


def literal(dialect: Dialect, value: object) -> str:  # noqa: PLR0911 - one for each type
    """A value in a statement that takes no parameters (DDL)."""
    match value:
        case None:
            return "NULL"
        case bool():
            return ("TRUE" if value else "FALSE") if dialect is Dialect.POSTGRESQL else str(int(value))
        case int() | Decimal():
            return str(value)
        case float():
            return repr(value)
        case datetime():
            return _text(dialect, _moment(dialect, value))
        case date():
            return _text(dialect, value.isoformat())
        case UUID() | str():
            return _text(dialect, str(value))
        case bytes():
            hexadecimal = value.hex()
            if dialect is Dialect.POSTGRESQL:
                return f"'\\x{hexadecimal}'"
            return f"0x{hexadecimal}" if dialect is Dialect.SQLSERVER else f"x'{hexadecimal}'"
    raise Refused(f"a value of type {type(value).__name__} cannot be written into a statement")


def _moment(dialect: Dialect, value: datetime) -> str:
    """With its offset where the database understands one."""
    if value.tzinfo is not None and dialect is not Dialect.POSTGRESQL:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return value.isoformat(sep=" ")


def _text(dialect: Dialect, text: str) -> str:
    if "\x00" in text:
        raise Refused("a text with the NUL character cannot be written into a statement")
    body = text.replace("'", "''")
    if dialect in _BACKTICK:
        body = body.replace("\\", "\\\\")
    prefix = "N" if dialect is Dialect.SQLSERVER and not text.isascii() else ""
    if dialect is Dialect.POSTGRESQL and "\\" in body:
        return "E'" + body.replace("\\", "\\\\") + "'"
    return f"{prefix}'{body}'"
