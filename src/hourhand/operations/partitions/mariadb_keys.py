"""Operations: what MariaDB and MySQL partition by, and their bounds as values that can be compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.catalog.table import Column, Table
from hourhand.operations.failures import Refused
from hourhand.operations.quoting import literal, quoted

Point = int | datetime
"""A value of the key; of a date, its midnight."""
FUNCTIONS = ("to_days", "to_seconds", "year", "unix_timestamp")
"""Those that grow with time, so that a boundary in time is one in their numbers."""
_SHAPE = re.compile(r"RANGE( COLUMNS)? \((?:(\w+)\()?`((?:[^`]|``)+)`\)?\)", re.DOTALL | re.IGNORECASE)
_INTEGERS = ("tinyint", "smallint", "mediumint", "int", "bigint")
_TIMES = ("date", "datetime", "timestamp")
_LONG = ("text", "blob", "json", "geometry", "vector")
_ZERO_DAY = 365
"""TO_DAYS of the day before the first that Python knows."""
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - MariaDB's times have no zone; the session's is UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One column, bare or in a function that grows with it."""

    dialect: Dialect
    column: str
    type: str
    """As the database writes it: `datetime(6)`."""
    function: str | None = None
    columns: bool = False
    """Whether the bounds are values of the column (RANGE COLUMNS), not numbers."""

    @property
    def temporal(self) -> bool:
        """Whether it is a date or time."""
        return _base(self.type) in _TIMES

    @property
    def step(self) -> timedelta:
        """The smallest difference that two of its values have."""
        if _base(self.type) == "date":
            return timedelta(days=1)
        digits = re.search(r"\((\d)\)", self.type)
        return timedelta(microseconds=10 ** (6 - int(digits[1]) if digits else 6))

    def point(self, high: str | None) -> Point | None:  # noqa: PLR0911 - one for each function
        """The value of a bound of the catalog; None is open."""
        if high is None:
            return None
        if self.columns and self.temporal:
            return datetime.fromisoformat(high)
        number = int(high)
        match self.function:
            case "to_days":
                return datetime.combine(date.fromordinal(number - _ZERO_DAY), datetime.min.time())
            case "to_seconds":
                days, seconds = divmod(number, 86_400)
                return datetime.combine(date.fromordinal(days - _ZERO_DAY), datetime.min.time()) + timedelta(
                    seconds=seconds
                )
            case "year":
                return datetime(number, 1, 1)  # noqa: DTZ001
            case "unix_timestamp":
                return _EPOCH + timedelta(seconds=number)
        return number

    def point_of(self, text: str) -> Point:
        """The value of a text that is surely one, however fine."""
        return datetime.fromisoformat(text) if self.temporal else int(text)

    def parsed(self, text: str, *, field: str) -> Point:
        """A value as people give it; refused if it is none, or finer than the column."""
        try:
            if not self.temporal:
                return int(text)
            point = datetime.fromisoformat(text.strip())
        except ValueError:
            like = "2026-02-01" if self.temporal else "5000"
            raise Refused(
                f"{text!r} is no value of {self.column} ({self.type}): give one such as {like}", field=field
            ) from None
        if point.tzinfo is not None:
            point = point.astimezone(UTC).replace(tzinfo=None)
        if (point - datetime.min) % self.step:  # noqa: DTZ901
            raise Refused(f"{text!r} is finer than {self.column} ({self.type}): leave the rest out", field=field)
        return point

    def shown(self, point: Point) -> str:
        """As people write it, and as `parsed` reads it."""
        if isinstance(point, int):
            return str(point)
        midnight = point.time() == datetime.min.time()
        return point.date().isoformat() if midnight else point.isoformat(sep=" ")

    def less_than(self, point: Point | None, number: int | None = None) -> str:
        """A bound as `VALUES LESS THAN` takes it; `number`: what the function makes of the point."""
        if point is None:
            return "(MAXVALUE)" if self.columns else "MAXVALUE"
        if self.columns and isinstance(point, datetime):
            return f"({literal(self.dialect, self.shown(point))})"
        return f"({point if number is None else number})"


def read_key(table: Table, *, field: str = "table") -> Key:
    """What the table is partitioned by; Refused if it is more than one column, or something that need not grow."""
    shape = _SHAPE.fullmatch(table.partition_expression or "")
    by = f"{table.shown} is partitioned by {table.partition_expression}"
    if shape is None:
        raise Refused(f"{by}: only one column, bare or in {', '.join(FUNCTIONS)}, is understood", field=field)
    function = shape[2].lower() if shape[2] else None
    if function is not None and function not in FUNCTIONS:
        raise Refused(
            f"{by}: {function} need not grow with the column, so that a boundary in the one is none in the other; "
            f"understood are {', '.join(FUNCTIONS)}",
            field=field,
        )
    column = table.column(shape[3].replace("``", "`"))
    if column is None:
        raise Refused(f"{by}, a column that is not there", field=field)
    base = _base(column.type)
    if base not in (_TIMES if function else (*_INTEGERS, "date", "datetime")):
        raise Refused(
            f"{by}, of type {column.type}: only whole numbers, dates and times are understood; others have an order "
            "of their own (text that of its collation)",
            field=field,
        )
    return Key(dialect=table.dialect, column=column.name, type=column.type, function=function, columns=bool(shape[1]))


def single_column(table: Table) -> bool:
    """Whether it is partitioned by ranges of one column, whose bounds the catalog tells as one value each."""
    return _SHAPE.fullmatch(table.partition_expression or "") is not None


async def numbers(session: Session, key: Key, points: list[Point], *, field: str) -> dict[Point, int]:
    """What the function makes of each point, asked of the server; refused where it does not begin anew there."""
    found: dict[Point, int] = {}
    if key.function is None:
        return found
    column = escaped(quoted(key.dialect, key.column))
    sql = f"SELECT {key.function}({column}) AS v FROM (SELECT CAST(%s AS DATETIME(6)) AS {column}) AS x"  # noqa: S608
    for point in points:
        assert isinstance(point, datetime)  # noqa: S101 - functions take times
        here, before = [(await session.fetch(sql, one))[0]["v"] for one in (point, point - key.step)]
        if here is None or (before is not None and int(before) == int(here)) or int(here) != here:
            raise Refused(
                f"{key.shown(point)} is no boundary of {key.function}({key.column}), which is {here} there and "
                f"{before} just before: give one at which it changes, such as the beginning of a "
                f"{ {'to_days': 'day', 'year': 'year'}.get(key.function, 'second') }",
                field=field,
            )
        found[point] = int(here)
    return found


def bound_sql(high: str | None, *, columns: bool) -> str:
    """A bound of the catalog, as `VALUES LESS THAN` takes it."""
    if high is None:
        return "(MAXVALUE)" if columns else "MAXVALUE"
    return f"({literal(Dialect.MARIADB, high)})" if columns else f"({int(high)})"


def escaped(sql: str) -> str:
    """Names in a statement that takes parameters, whose mark is a percent sign."""
    return sql.replace("%", "%%")


def measure_sql(table: Table, place: str) -> str:
    """The query that counts rows and sums their hashes; rows that are equal have the same, in any order."""
    parts = ", ".join(_hashed(table.dialect, column) for column in table.columns)
    return (
        "SELECT count(*) AS n, "  # noqa: S608
        f"coalesce(sum(CAST(conv(left(md5(concat_ws(',', {parts})), 15), 16, 10) AS UNSIGNED)), 0) AS hash FROM {place}"
    )


def _hashed(dialect: Dialect, column: Column) -> str:
    """In hexadecimal, so that no value looks like two; what may be long by its own hash."""
    function = "md5" if any(word in column.type.lower() for word in _LONG) else "hex"
    return f"coalesce({function}(CAST({quoted(dialect, column.name)} AS BINARY)), '-')"


def partition_gone(table: Table, name: str) -> str:
    """Whether the table no longer has a partition of that name."""
    return f"SELECT NOT {partition_there(table, name)} AS done"


def partition_there(table: Table, name: str) -> str:
    """The condition that the table has a partition of that name."""
    dialect = table.dialect
    return (
        "EXISTS (SELECT 1 FROM information_schema.PARTITIONS WHERE "  # noqa: S608
        f"TABLE_SCHEMA = {literal(dialect, table.schema)} AND TABLE_NAME = {literal(dialect, table.name)} "
        f"AND PARTITION_NAME = {literal(dialect, name)})"
    )


def _base(type_: str) -> str:
    return type_.lower().split("(")[0].split(" ")[0]
