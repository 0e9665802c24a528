"""Operations: chunks of a table by its key: each begins where the one before ended, however large the table is.

A chunk is the range `lo < key ≤ hi`. Ranges that follow each other leave no gap and do not overlap, so every row that
stays where it is belongs to exactly one of them, whatever the chunk size becomes and wherever an attempt ends.

    keys = Keyset(table.dialect, table.sql, choose_key(table, config.key_columns), condition="…")
    await check_key(look.source, table, keys)                       # at inspect
    Step(sql=(f"DELETE … WHERE {keys.where(lo=False)}", f"DELETE … WHERE {keys.where(lo=True)}"), …)
    while (bound := await keys.next_bound(session, lo, pace.rows)) is not None:
        … keys.params(lo, bound.hi) … ; lo = bound.hi; await work.save({"lo": to_json(lo)})
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.catalog.table import Table
from hourhand.operations.failures import Refused, StatementFailed
from hourhand.operations.quoting import quoted

Key = tuple[Any, ...]
"""The values of a key's columns, as the driver gives them."""
_PERCENT = (Dialect.MARIADB, Dialect.MYSQL)
_UNORDERED = {
    Dialect.MARIADB: ("float", "enum", "set", "bit", "json"),
    Dialect.MYSQL: ("float", "enum", "set", "bit", "json"),
    Dialect.POSTGRESQL: ("interval",),
}
"""Types whose values, as they are read, do not compare as the database sorts them."""
_FASTEST_GROWTH, _FASTEST_SHRINKING = 2.0, 0.25


def mark(dialect: Dialect, number: int) -> str:
    """The mark of the parameter with that number, counted from 1."""
    if dialect is Dialect.POSTGRESQL:
        return f"${number}"
    return "%s" if dialect in _PERCENT else "?"


def unmarked(dialect: Dialect, sql: str) -> str:
    """Names, and text that somebody wrote, for a statement with parameters: MariaDB's marks begin with `%`."""
    return sql.replace("%", "%%") if dialect in _PERCENT else sql


def choose_key(table: Table, wanted: Sequence[str] = (), *, order: str | None = None) -> tuple[str, ...]:
    """The columns to go by: those that are wanted, else the primary key, else another unique key.

    Args:
        table: The table.
        wanted: What the configuration says (`key_columns`).
        order: A column to go by first, if an index begins with it: the time, so that the oldest rows are found at once.
    """
    keys = table.unique_keys
    there = "; ".join(f"({', '.join(key)})" for key in keys)
    if wanted:
        for name in wanted:
            if table.column(name) is None:
                columns = ", ".join(one.name for one in table.columns)
                raise Refused(f"{table.shown} has no column {name!r}; it has {columns}", field="key_columns")
        if len(set(wanted)) < len(wanted) or not any(set(key) <= set(wanted) for key in keys):
            raise Refused(
                f"({', '.join(wanted)}) does not tell the rows of {table.shown} apart: give the columns of a unique "
                f"index, none of them nullable; {f'there is {there}' if there else 'there is none'}",
                field="key_columns",
            )
        nullable = [name for name in wanted if _required(table, name).nullable]
        if nullable:
            raise Refused(f"{nullable[0]!r} may be NULL, so that no range would hold its rows", field="key_columns")
        return _ordered(table, tuple(wanted))
    if not keys:
        raise Refused(
            f"{table.shown} has no key: it needs a primary key, or a unique index whose columns are all NOT NULL",
            field="key_columns",
        )
    key = keys[0]
    if order is not None and _begins(table, order) and not _required(table, order).nullable:
        key = (order, *(name for name in key if name != order))
    return _ordered(table, key)


def _ordered(table: Table, key: tuple[str, ...]) -> tuple[str, ...]:
    for name in key:
        type_ = _required(table, name).type.lower()
        if type_.split("(")[0].split(" ")[0] in _UNORDERED.get(table.dialect, ()):
            raise Refused(
                f"{table.shown}.{name} is of type {type_}, whose values cannot be read and compared exactly: "
                "give another unique key",
                field="key_columns",
            )
    return key


def _required(table: Table, name: str) -> Any:  # noqa: ANN401 - a Column, which is known to be there
    return next(one for one in table.columns if one.name == name)


def _begins(table: Table, column: str) -> bool:
    return any(index.columns[:1] == (column,) and index.valid and not index.partial for index in table.indexes)


@dataclass(frozen=True, slots=True)
class Bound:
    """The end of a chunk."""

    hi: Key
    rows: int
    """How many rows it had when its end was looked for."""


@dataclass(frozen=True, slots=True)
class Keyset:
    """A table's rows in the order of a key, within a condition."""

    dialect: Dialect
    table: str
    """As it is written in statements; any relation will do."""
    columns: tuple[str, ...]
    condition: str = ""
    """An expression of SQL without parameters; empty: all rows."""

    @property
    def names(self) -> str:
        """The key's columns as they are written in statements; in one with parameters: `unmarked(dialect, names)`."""
        return ", ".join(quoted(self.dialect, name) for name in self.columns)

    def where(self, *, lo: bool, hi: bool = True, start: int = 1, alias: str = "") -> str:
        """The condition and the range, for a statement whose parameters begin with the number `start`."""
        parts = [f"({unmarked(self.dialect, self.condition)})"] if self.condition else []
        if lo or hi:
            parts.append(range_condition(self.dialect, self.columns, lo=lo, hi=hi, start=start, alias=alias))
        return " AND ".join(parts) or "1 = 1"

    def params(self, lo: Key | None, hi: Key | None = None) -> tuple[object, ...]:
        """What belongs to the marks of `where`."""
        return range_params(self.dialect, lo, hi)

    def bound_sql(self, *, lo: bool, start: int = 1) -> str:
        """The query for the last key of the next rows; its parameters are those of `lo`, then how many."""
        names = [unmarked(self.dialect, quoted(self.dialect, name)) for name in self.columns]
        count = len(range_params(self.dialect, (None,) * len(names), None)) * lo
        inner = (
            f"SELECT {', '.join(names)} FROM {unmarked(self.dialect, self.table)} "  # noqa: S608
            f"WHERE {self.where(lo=lo, hi=False, start=start)} "
            f"ORDER BY {', '.join(names)} LIMIT {mark(self.dialect, start + count)}"
        )
        last = ", ".join(f"{name} DESC" for name in names)
        return (
            f"SELECT {', '.join(names)}, count(*) OVER () AS {quoted(self.dialect, _COUNT)} "  # noqa: S608
            f"FROM ({inner}) AS chunk ORDER BY {last} LIMIT 1"
        )

    async def next_bound(self, session: Session, lo: Key | None, rows: int) -> Bound | None:
        """Where the next chunk of about so many rows ends; None: there are no more."""
        found = await session.fetch(self.bound_sql(lo=lo is not None), *self.params(lo), rows)
        if not found:
            return None
        hi = tuple(found[0][name] for name in self.columns)
        if hi == lo:
            # What is read does not compare as it is stored: better no end than no progress.
            raise StatementFailed(f"the key {hi!r} of {self.table} comes after itself: give other key_columns")
        return Bound(hi, int(found[0][_COUNT]))


_COUNT = "_hh_rows"


def range_condition(
    dialect: Dialect, columns: Sequence[str], *, lo: bool, hi: bool = True, start: int = 1, alias: str = ""
) -> str:
    """`lo < key ≤ hi` in a form for which the dialect uses its index; `lo` or `hi` may be left out."""
    names = [unmarked(dialect, f"{alias}.{quoted(dialect, one)}" if alias else quoted(dialect, one)) for one in columns]
    parts = []
    if lo:
        parts.append(_compared(dialect, names, ">", start))
        start += len(range_params(dialect, (None,) * len(names), None))
    if hi:
        parts.append(_compared(dialect, names, "<=", start))
    return " AND ".join(parts)


def range_params(dialect: Dialect, lo: Key | None, hi: Key | None) -> tuple[object, ...]:
    """What belongs to the marks of `range_condition`."""
    return tuple(value for key in (lo, hi) if key is not None for value in _repeated(dialect, key))


def _compared(dialect: Dialect, names: Sequence[str], sign: str, start: int) -> str:
    if len(names) == 1:
        return f"{names[0]} {sign} {mark(dialect, start)}"
    if dialect not in _PERCENT:
        marks = ", ".join(mark(dialect, start + place) for place in range(len(names)))
        return f"({', '.join(names)}) {sign} ({marks})"
    # MariaDB reads the whole index for a comparison of rows; the first column on its own is what narrows it.
    strict = sign[0]
    text = f"{names[-1]} {sign} %s"
    for name in reversed(names[:-1]):
        text = f"({name} {strict} %s OR ({name} = %s AND {text}))"
    return f"({names[0]} {strict}= %s AND {text})"


def _repeated(dialect: Dialect, key: Key) -> list[object]:
    if len(key) == 1 or dialect not in _PERCENT:
        return list(key)
    return [key[0], *(value for one in key[:-1] for value in (one, one)), key[-1]]


async def check_key(session: Session, table: Table, keys: Keyset) -> None:
    """Refuse a key that does not do what it should, though the catalog says that it does."""
    if table.dialect is Dialect.SQLITE:
        # Its primary keys may hold NULL, for which no range has a place.
        nulls = " OR ".join(f"{quoted(table.dialect, name)} IS NULL" for name in keys.columns)
        if await session.fetch(f"SELECT 1 AS one FROM {keys.table} WHERE {nulls} LIMIT 1"):  # noqa: S608
            raise Refused(
                f"{table.shown} has rows whose key ({', '.join(keys.columns)}) is NULL: give them a key first",
                field="key_columns",
            )
    found = await session.fetch(f"SELECT {keys.names} FROM {keys.table} LIMIT 1")  # noqa: S608
    if found:
        to_json(tuple(found[0][name] for name in keys.columns))


def to_json(key: Key | None) -> list[Any] | None:
    """A key as plain JSON, from which `from_json` makes the same again."""
    return None if key is None else [_plain(value) for value in key]


def from_json(value: Sequence[Any] | None) -> Key | None:
    """The key that `to_json` was given."""
    return None if value is None else tuple(_READERS[one[0]](one[1]) if isinstance(one, list) else one for one in value)


def _plain(value: object) -> Any:  # noqa: ANN401, PLR0911 - one for each type
    match value:
        case bool() | int() | str():
            return value
        case float():
            return ["float", repr(value)]
        case Decimal():
            return ["decimal", str(value)]
        case datetime() | date() | time():
            return [type(value).__name__, value.isoformat()]
        case timedelta():
            return ["timedelta", [value.days, value.seconds, value.microseconds]]
        case UUID():
            return ["uuid", str(value)]
        case bytes():
            return ["bytes", value.hex()]
    raise Refused(
        f"a key of type {type(value).__name__} cannot be gone by: give columns of numbers, texts or times",
        field="key_columns",
    )


_READERS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "decimal": Decimal,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timedelta": lambda parts: timedelta(*parts),
    "uuid": UUID,
    "bytes": bytes.fromhex,
}


@dataclass(slots=True)
class Pace:
    """How many rows the next chunk should have, so that it takes about the time that is wanted."""

    rows: int
    target_ms: int | None = None
    """None: always as many."""
    most: int = 100_000
    least: int = 10

    def took(self, rows: int, milliseconds: float) -> None:
        """Learn from a chunk: twice as many at the most, a quarter at the least."""
        if self.target_ms is None or rows <= 0:
            return
        factor = self.target_ms / max(milliseconds, 1.0) * rows / self.rows
        factor = min(max(factor, _FASTEST_SHRINKING), _FASTEST_GROWTH)
        self.rows = min(max(round(self.rows * factor), self.least), self.most)
