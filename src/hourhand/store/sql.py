"""Store: the few SQL constructs that the two dialects write differently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    ARRAY,
    BindParameter,
    ColumnElement,
    Dialect,
    FromClause,
    Text,
    TypeDecorator,
    bindparam,
    literal_column,
    text,
)
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import Boolean, TypeEngine

from hourhand.store.types import Instant, Json

# Both dialects write ON CONFLICT and RETURNING alike; SQLite's compiler takes PostgreSQL's construct as it is.
insert = postgresql_insert


UNAMBIGUOUS = text("1 = 1")
"""The WHERE of an INSERT … SELECT … ON CONFLICT: without one SQLite reads ON as the beginning of a join's condition."""


def constant(value: str | int) -> ColumnElement[Any]:
    """A value of the program's own, written into the statement."""
    return literal_column(f"'{value}'" if isinstance(value, str) else str(value))


class Many(TypeDecorator[list[Any]]):
    """A list parameter: an array on PostgreSQL, a JSON array on SQLite."""

    impl = Text
    cache_ok = True

    def __init__(self, item: TypeEngine[Any]) -> None:
        super().__init__()
        self.item = item

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The type underneath."""
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else ARRAY(self.item))


class ColumnOf(Many):
    """One column of a list of rows, as PostgreSQL's unnest takes it."""

    cache_ok = True

    def __init__(self, rows: str, column: str, item: TypeEngine[Any]) -> None:
        super().__init__(item)
        self.rows = rows
        self.column = column

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The type underneath; JSON goes as text, since the driver takes a list in a list for a second dimension."""
        if isinstance(self.item, Json):
            return dialect.type_descriptor(ARRAY(Text()))
        return super().load_dialect_impl(dialect)


class Rows(TypeDecorator[list[Any]]):
    """A list of rows: one JSON array of arrays on SQLite; PostgreSQL takes it by columns instead."""

    impl = Text
    cache_ok = True

    def __init__(self, columns: Mapping[str, TypeEngine[Any]]) -> None:
        super().__init__()
        self.columns = tuple(columns.items())


class any_of(ColumnElement[bool]):  # noqa: N801 - reads as SQL does
    """`column` is one of the values of the list parameter `name`."""

    inherit_cache = False
    _is_implicitly_boolean = True  # else SQLite's compiler would append "= 1", and hide the index
    type = Boolean()

    def __init__(self, column: ColumnElement[Any], name: str) -> None:
        self.column = column
        self.bind: BindParameter[Any] = bindparam(name, type_=Many(column.type))


@compiles(any_of)
def _any_of(element: any_of, compiler: SQLCompiler, **kw: Any) -> str:
    return f"{compiler.process(element.column, **kw)} = ANY ({compiler.process(element.bind, **kw)})"


@compiles(any_of, "sqlite")
def _any_of_sqlite(element: any_of, compiler: SQLCompiler, **kw: Any) -> str:
    column, bind = compiler.process(element.column, **kw), compiler.process(element.bind, **kw)
    return f"{column} IN (SELECT value FROM json_each({bind}))"


class only_on_sqlite(ColumnElement[bool]):  # noqa: N801 - reads as SQL does
    """A condition that follows from others; PostgreSQL sees that by itself, and would count it twice in estimates."""

    inherit_cache = False
    _is_implicitly_boolean = True
    type = Boolean()

    def __init__(self, condition: ColumnElement[bool]) -> None:
        self.condition = condition


@compiles(only_on_sqlite)
def _only_on_sqlite(_element: only_on_sqlite, _compiler: SQLCompiler, **_kw: Any) -> str:
    return "true"


@compiles(only_on_sqlite, "sqlite")
def _only_on_sqlite_there(element: only_on_sqlite, compiler: SQLCompiler, **kw: Any) -> str:
    return compiler.process(element.condition, **kw)


class has_item(ColumnElement[bool]):  # noqa: N801 - reads as SQL does
    """The JSON list `column` holds the text of the parameter `name`."""

    inherit_cache = False
    _is_implicitly_boolean = True
    type = Boolean()

    def __init__(self, column: ColumnElement[Any], name: str) -> None:
        self.column = column
        self.bind: BindParameter[Any] = bindparam(name, type_=Text())


@compiles(has_item)
def _has_item(element: has_item, compiler: SQLCompiler, **kw: Any) -> str:
    column, bind = compiler.process(element.column, **kw), compiler.process(element.bind, **kw)
    return f"{column} @> jsonb_build_array(CAST({bind} AS text))"


@compiles(has_item, "sqlite")
def _has_item_sqlite(element: has_item, compiler: SQLCompiler, **kw: Any) -> str:
    column, bind = compiler.process(element.column, **kw), compiler.process(element.bind, **kw)
    return f"EXISTS (SELECT 1 FROM json_each({column}) WHERE value = {bind})"


class _RowSource(FunctionElement[Any]):
    inherit_cache = False
    name = "rows"

    def __init__(self, name: str, columns: Mapping[str, TypeEngine[Any]]) -> None:
        self.columns_by_name = dict(columns)
        self.whole: BindParameter[Any] = bindparam(name, type_=Rows(columns))
        self.split = [
            bindparam(f"{name}__{column}", type_=ColumnOf(name, column, item)) for column, item in columns.items()
        ]
        super().__init__()


@compiles(_RowSource)
def _row_source(element: _RowSource, compiler: SQLCompiler, **kw: Any) -> str:
    arrays = ", ".join(compiler.process(bind, **kw) for bind in element.split)
    names = {compiler.preparer.quote(name): item for name, item in element.columns_by_name.items()}
    items = (f"CAST({name} AS jsonb) AS {name}" if isinstance(item, Json) else name for name, item in names.items())
    return f"(SELECT {', '.join(items)} FROM unnest({arrays}) AS u({', '.join(names)}))"


@compiles(_RowSource, "sqlite")
def _row_source_sqlite(element: _RowSource, compiler: SQLCompiler, **kw: Any) -> str:
    items = ", ".join(
        f"json_extract(value, '$[{position}]') AS {compiler.preparer.quote(name)}"
        for position, name in enumerate(element.columns_by_name)
    )
    return f"(SELECT {items} FROM json_each({compiler.process(element.whole, **kw)}))"


def records(name: str, columns: Mapping[str, TypeEngine[Any]]) -> FromClause:
    """The list parameter `name`, a list of mappings, as a table: one statement for any number of rows."""
    from sqlalchemy import column as typed_column  # noqa: PLC0415 - the name is taken above

    source = _RowSource(name, columns)
    return source.table_valued(*[typed_column(key, item) for key, item in columns.items()], name=name)


class lease_clock(FunctionElement[Any]):  # noqa: N801 - reads as SQL does
    """The clock of leases: PostgreSQL's own; on SQLite one that steps of the wall clock do not move."""

    inherit_cache = True
    type = Instant()
    name = "lease_clock"


@compiles(lease_clock, "sqlite")
def _lease_clock_sqlite(_element: lease_clock, _compiler: SQLCompiler, **_kw: Any) -> str:
    return "lease_clock()"


@compiles(lease_clock)
def _lease_clock(_element: lease_clock, _compiler: SQLCompiler, **_kw: Any) -> str:
    return "clock_timestamp()"


class store_clock(FunctionElement[Any]):  # noqa: N801 - reads as SQL does
    """The store's time of day, moving within a transaction."""

    inherit_cache = True
    type = Instant()
    name = "clock_timestamp"


@compiles(store_clock)
def _store_clock(_element: store_clock, _compiler: SQLCompiler, **_kw: Any) -> str:
    return "clock_timestamp()"


class plus_seconds(ColumnElement[Any]):  # noqa: N801 - reads as SQL does
    """A time and a number of seconds after it."""

    inherit_cache = False
    type = Instant()

    def __init__(self, time: ColumnElement[Any], seconds: ColumnElement[Any]) -> None:
        self.time = time
        self.seconds = seconds


@compiles(plus_seconds)
def _plus_seconds(element: plus_seconds, compiler: SQLCompiler, **kw: Any) -> str:
    time, seconds = compiler.process(element.time, **kw), compiler.process(element.seconds, **kw)
    return f"({time} + make_interval(secs => {seconds}))"


@compiles(plus_seconds, "sqlite")
def _plus_seconds_sqlite(element: plus_seconds, compiler: SQLCompiler, **kw: Any) -> str:
    time, seconds = compiler.process(element.time, **kw), compiler.process(element.seconds, **kw)
    return f"({time} + CAST({seconds} * 1000000 AS INTEGER))"
