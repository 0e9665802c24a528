"""Operations: which rows a cleaning takes: a condition that somebody wrote, or a time that lies far enough back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.catalog.table import Column, Table
from hourhand.operations.failures import Refused, StatementFailed
from hourhand.operations.quoting import literal, quoted

_MOMENTS = {
    Dialect.POSTGRESQL: ("timestamp with time zone", "timestamp without time zone", "timestamp", "date"),
    Dialect.MARIADB: ("datetime", "timestamp", "date"),
    Dialect.MYSQL: ("datetime", "timestamp", "date"),
}
_NUMBERS = re.compile(r"(small|big|medium|tiny)?int|integer|numeric|decimal|double|real|float|number", re.IGNORECASE)
_ISO = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*"
_DOLLAR = re.compile(r"\$([A-Za-z_]\w*)?\$")
_CLOSING = {"'": "'", '"': '"', "`": "`"}


@dataclass(frozen=True, slots=True)
class Condition:
    """The rows that go."""

    sql: str
    """One expression, without parameters."""
    cutoff: datetime | None = None
    """What is earlier goes; None: only what somebody wrote counts."""
    only_time: bool = False
    """Whether the time alone decides, so that whole partitions may qualify by their bounds."""


async def read_condition(
    session: Session, table: Table, *, where: str | None, time_column: str | None, cutoff: datetime | None
) -> Condition:
    """Put the condition together, and let the database read it."""
    parts = []
    if time_column is not None and cutoff is not None:
        column = require_moment(table, time_column, cutoff)
        if table.dialect is Dialect.SQLITE:
            await _require_iso(session, table, column, cutoff)
        parts.append(before(table.dialect, column, cutoff))
    if where is not None:
        check_expression(table.dialect, where)
        parts.append(f"({where.strip()})" if parts else where.strip())
    condition = Condition(" AND ".join(parts), cutoff, only_time=where is None)
    await _explained(session, table, condition.sql, field="where" if where is not None else "time_column")
    return condition


def require_moment(table: Table, name: str, cutoff: datetime) -> Column:
    """The column, if it is a time; one that is not is refused with what to do in its place."""
    column = table.column(name)
    if column is None:
        there = ", ".join(one.name for one in table.columns)
        raise Refused(f"{table.shown} has no column {name!r}; it has {there}", field="time_column")
    plain = re.sub(r"\(\d+\)", "", column.type.lower())
    if _NUMBERS.match(plain):
        raise Refused(
            f"{table.shown}.{name} is of type {column.type}, a number: give a condition as `where` in place of "
            f"`time_column`, such as {name} < {round(cutoff.timestamp())} if it counts the seconds since 1970",
            field="time_column",
        )
    if table.dialect in _MOMENTS and plain not in _MOMENTS[table.dialect]:
        raise Refused(
            f"{table.shown}.{name} is of type {column.type}, no time: give a condition as `where` in place of "
            f"`time_column`, which says how it is to be read",
            field="time_column",
        )
    return column


def before(dialect: Dialect, column: Column, cutoff: datetime) -> str:
    """The expression for what is earlier; of a day: for days that have ended by then."""
    name = quoted(dialect, column.name)
    if dialect is Dialect.SQLITE:
        # Text of any zone: the first part lets an index narrow it, the second decides.
        late = literal(dialect, (cutoff + timedelta(days=2)).date())
        return f"({name} < {late} AND datetime({name}) < {literal(dialect, f'{cutoff:%Y-%m-%d %H:%M:%S}')})"
    return f"{name} < {moment(dialect, column, cutoff)}"


def moment(dialect: Dialect, column: Column, cutoff: datetime) -> str:
    """The moment as the column's type writes it; a type without a zone is taken to be UTC."""
    if column.type.lower() == "date":
        return literal(dialect, cutoff.date())
    zoned = column.type.lower().endswith("with time zone")
    return literal(dialect, cutoff if zoned else cutoff.replace(tzinfo=None))


async def _require_iso(session: Session, table: Table, column: Column, cutoff: datetime) -> None:
    """SQLite keeps anything anywhere: what is no time, written as text, would be misjudged."""
    name = quoted(table.dialect, column.name)
    rows = await session.fetch(
        f"SELECT typeof({name}) AS type, {name} AS value FROM {table.sql} WHERE {name} IS NOT NULL AND "  # noqa: S608
        f"(typeof({name}) <> 'text' OR {name} NOT GLOB '{_ISO}' OR datetime({name}) IS NULL) LIMIT 1"
    )
    if rows:
        raise Refused(
            f"{table.shown}.{column.name} holds {rows[0]['value']!r} ({rows[0]['type']}), no time of the form "
            f"2026-01-31 23:59:59: give a condition as `where` in place of `time_column`, such as "
            f"{column.name} < {round(cutoff.timestamp())} if it counts the seconds since 1970",
            field="time_column",
        )


async def _explained(session: Session, table: Table, condition: str, *, field: str) -> None:
    try:
        await session.fetch(f"EXPLAIN SELECT 1 FROM {table.sql} WHERE ({condition})")  # noqa: S608
    except StatementFailed as error:
        told = str(error).partition(": EXPLAIN")[0]
        raise Refused(f"{session.shown} does not understand {condition!r}: {told}", field=field) from error


def check_expression(dialect: Dialect, text: str) -> None:
    """Refuse what is not one expression: a second statement, a comment, a parenthesis too many."""
    if not text.strip():
        raise Refused("is empty, and would mean every row: give a condition, or 1 = 1 for all", field="where")
    depth, place = 0, 0
    while place < len(text):
        sign = text[place]
        if sign in _CLOSING or (sign == "$" and dialect is Dialect.POSTGRESQL and _DOLLAR.match(text, place)):
            place = _after_quoted(dialect, text, place)
            continue
        depth += (sign == "(") - (sign == ")")
        if sign == ";" or "\x00" in sign:
            raise Refused(f"{text!r} has a {sign!r}: give one expression, without an end of statement", field="where")
        if text.startswith(("--", "/*"), place) or (sign == "#" and dialect in (Dialect.MARIADB, Dialect.MYSQL)):
            raise Refused(f"{text!r} has a comment: give one expression, without comments", field="where")
        if depth < 0:
            raise Refused(f"{text!r} closes a parenthesis that it did not open", field="where")
        place += 1
    if depth:
        raise Refused(f"{text!r} leaves {depth} parentheses open", field="where")


def _after_quoted(dialect: Dialect, text: str, start: int) -> int:
    """The place behind a quoted text or name."""
    sign = text[start]
    if sign == "$":
        tag = text[start : text.index("$", start + 1) + 1]
        end = text.find(tag, start + len(tag))
        end = end + len(tag) if end >= 0 else -1
    else:
        slashes = sign != "`" and (
            dialect in (Dialect.MARIADB, Dialect.MYSQL)
            or (dialect is Dialect.POSTGRESQL and sign == "'" and text[max(start - 1, 0) : start] in ("e", "E"))
        )
        end = _closing(text, start, escapes=slashes)
    if end < 0:
        raise Refused(f"{text!r} leaves a {sign} open", field="where")
    return end


def _closing(text: str, start: int, *, escapes: bool) -> int:
    sign, place = text[start], start + 1
    while place < len(text):
        if escapes and text[place] == "\\":
            place += 2
        elif text[place] == sign:
            if text[place + 1 : place + 2] != sign:
                return place + 1
            place += 2
        else:
            place += 1
    return -1
