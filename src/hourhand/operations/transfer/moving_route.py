"""Operations: where rows go from and to, and every statement that takes part; plain values, kept in the plan.

The statements are made from the route alone, so that whoever takes over makes the same ones as were approved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any
from uuid import UUID

from hourhand.model.data_source import Dialect
from hourhand.operations.quoting import literal, qualified, quoted
from hourhand.operations.transfer.canonical import Form, to_text
from hourhand.operations.transfer.checksum import Compared, text_sql
from hourhand.operations.transfer.keyset import Key, Keyset, mark, range_condition, unmarked
from hourhand.operations.transfer.mysql_load import load_sql
from hourhand.operations.transfer.pg_copy import copy_in_sql, copy_out_sql

MARIA = (Dialect.MARIADB, Dialect.MYSQL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One side."""

    dialect: Dialect
    schema: str | None
    table: str
    notes: str
    """The table in which the operation notes how far it has come: in the target the chunk that was written last, in
    the source the one that was deleted last."""

    @property
    def sql(self) -> str:
        """The table, as it is written in statements."""
        return qualified(self.dialect, self.schema, self.table)

    @property
    def notes_sql(self) -> str:
        """The other table, as it is written in statements."""
        return qualified(self.dialect, self.schema, self.notes)


@dataclass(frozen=True, kw_only=True)
class Route:
    """Rows from one table to another."""

    source: Place
    target: Place
    columns: tuple[Compared, ...]
    key: tuple[str, ...]
    where: str
    """A condition on the source; empty: all rows."""
    delete: bool
    """Whether they are moved; else copied."""
    replace: bool
    same: bool
    """Whether both are in one data source, so that one transaction does it all."""
    binary: bool
    """Between PostgreSQL servers whose columns are of the same types."""
    quick: bool
    """Whether the engine's own hash is used."""

    def plain(self) -> dict[str, Any]:
        """As plain JSON."""
        return asdict(self)

    @staticmethod
    def read(value: Mapping[str, Any]) -> Route:
        """The route that was kept."""
        places = {
            side: Place(**{**value[side], "dialect": Dialect(value[side]["dialect"])}) for side in ("source", "target")
        }
        columns = tuple(
            Compared(name=one["name"], form=Form(one["form"]), types=(one["types"][0], one["types"][1]))
            for one in value["columns"]
        )
        return Route(**{**value, **places, "columns": columns, "key": tuple(value["key"])})

    @cached_property
    def keys(self) -> Keyset:
        """The source's rows in the order of the key."""
        return Keyset(self.source.dialect, self.source.sql, self.key, condition=self.where)

    @property
    def key_columns(self) -> tuple[Compared, ...]:
        """The key's columns, in its order."""
        named = {one.name: one for one in self.columns}
        return tuple(named[name] for name in self.key)

    def names(self, dialect: Dialect) -> str:
        """The columns as they are written in statements without parameters."""
        return ", ".join(quoted(dialect, one.name) for one in self.columns)

    def marked(self, dialect: Dialect) -> str:
        """The same in statements with parameters."""
        return unmarked(dialect, self.names(dialect))

    def there(self, *, lo: bool) -> str:
        """A range of the target."""
        return range_condition(self.target.dialect, self.key, lo=lo)

    def adapted(self, key: Key) -> Key:
        """A key of the source, as the target's driver wants it."""
        if self.source.dialect is self.target.dialect:
            return key
        return tuple(
            adapted(self.target.dialect, column, value) for column, value in zip(self.key_columns, key, strict=True)
        )

    # --- the source ---

    def reading(self, *, lo: bool, delete: bool, given: tuple[Key | None, Key] | None = None) -> str:
        """The query that gives a chunk's rows: on PostgreSQL it also deletes them.

        COPY takes no parameters; so the range may be `given`, and is written out.
        """
        dialect = self.source.dialect
        where = self.keys.where(lo=lo) if given is None else self._written_out(*given)
        source = unmarked(dialect, self.source.sql)
        if self.binary:
            names = self.marked(dialect)
        else:
            names = unmarked(dialect, ", ".join(self._wire(one) for one in self.columns))
        if delete and dialect is Dialect.POSTGRESQL:
            return f"DELETE FROM {source} WHERE {where} RETURNING {names}"  # noqa: S608
        lock = " FOR UPDATE" if delete and dialect in MARIA else ""
        return f"SELECT {names} FROM {source} WHERE {where}{lock}"  # noqa: S608

    def _written_out(self, lo: Key | None, hi: Key) -> str:
        parts = [f"({self.where})"] if self.where else []
        for sign, key in ((">", lo), ("<=", hi)):
            if key is not None:
                there = ", ".join(literal(self.source.dialect, value) for value in key)
                parts.append(f"({self.keys.names}) {sign} ({there})")
        return " AND ".join(parts)

    def _wire(self, column: Compared) -> str:
        """A value as text that the target reads; of SQLite as it is."""
        dialect, name = self.source.dialect, quoted(self.source.dialect, column.name)
        if dialect is Dialect.SQLITE:
            return name
        text = text_sql(dialect, name, column.types[0], column.form)
        if column.form is Form.BYTES and self.target.dialect is Dialect.POSTGRESQL:
            # As its input wants it: \x…
            return f"CONCAT(CHAR(92 USING utf8mb4), 'x', {text})" if dialect in MARIA else f"chr(92) || 'x' || {text}"
        return text

    def out(self, *, lo: bool, delete: bool) -> str:
        """The same, as it is shown."""
        reading = self.reading(lo=lo, delete=delete)
        return copy_out_sql(reading, self.format) if self.source.dialect is Dialect.POSTGRESQL else reading

    @property
    def format(self) -> str:
        """COPY's."""
        return "binary" if self.binary else "text"

    def deleting(self, *, lo: bool) -> str | None:
        """What deletes a chunk from the source, where reading it does not."""
        if not self.delete or (self.source.dialect is Dialect.POSTGRESQL):
            return None
        table = unmarked(self.source.dialect, self.source.sql)
        return f"DELETE FROM {table} WHERE {self.keys.where(lo=lo)}"  # noqa: S608

    def noting_source(self) -> str:
        """What notes in the source, in the transaction that deletes, which chunk it is."""
        one, two = (mark(self.source.dialect, number) for number in (1, 2))
        table = unmarked(self.source.dialect, self.source.notes_sql)
        return f"UPDATE {table} SET instance_id = {one}, chunk = {two}"  # noqa: S608

    # --- the target ---

    def writing(self) -> str:
        """What writes a chunk's rows into the target."""
        dialect, table = self.target.dialect, self.target.sql
        if dialect is Dialect.POSTGRESQL:
            return copy_in_sql(table, self.names(dialect), self.format)
        if dialect in MARIA:
            return load_sql(dialect, table, self.columns)
        marks = ", ".join("?" for _ in self.columns)
        return f"INSERT INTO {table} ({self.names(dialect)}) VALUES ({marks})"  # noqa: S608

    def carrying(self, *, lo: bool) -> str:
        """What writes a chunk within one data source."""
        dialect, where = self.source.dialect, self.keys.where(lo=lo)
        source, target = (unmarked(dialect, one.sql) for one in (self.source, self.target))
        names = self.marked(dialect)
        if dialect is not Dialect.POSTGRESQL:
            return f"INSERT INTO {target} ({names}) SELECT {names} FROM {source} WHERE {where}"  # noqa: S608
        into = f"INSERT INTO {target} ({names}) OVERRIDING SYSTEM VALUE SELECT {names} FROM"
        if not self.delete:
            return f"{into} {source} WHERE {where}"
        return f"WITH gone AS (DELETE FROM {source} WHERE {where} RETURNING {names}) {into} gone"  # noqa: S608

    def removing(self, *, lo: bool) -> str:
        """What takes an unfinished chunk out of the target again."""
        return f"DELETE FROM {unmarked(self.target.dialect, self.target.sql)} WHERE {self.there(lo=lo)}"  # noqa: S608

    def removing_one(self) -> str:
        """The same for one row, where other rows lie between."""
        dialect = self.target.dialect
        pairs = " AND ".join(
            f"{unmarked(dialect, quoted(dialect, name))} = {mark(dialect, number)}"
            for number, name in enumerate(self.key, 1)
        )
        return f"DELETE FROM {unmarked(dialect, self.target.sql)} WHERE {pairs}"  # noqa: S608

    def noting(self) -> str:
        """What notes in the target, in the transaction that writes, which chunk it is."""
        dialect = self.target.dialect
        names = ("instance_id", "chunk", "lo", "hi", "written", "top", "round", "moved", "expected")
        pairs = ", ".join(f"{name} = {mark(dialect, number)}" for number, name in enumerate(names, 1))
        return f"UPDATE {unmarked(dialect, self.target.notes_sql)} SET {pairs}"  # noqa: S608

    def statements(self) -> tuple[str, ...]:
        """All that are executed for the chunks."""
        both = (False, True)
        chunk: list[str | None] = []
        if self.same:
            chunk += [self.carrying(lo=lo) for lo in both]
        else:
            chunk += [self.out(lo=lo, delete=self.delete) for lo in both]
            chunk.append(self.writing())
        chunk += [self.deleting(lo=lo) for lo in both]
        chunk.append(self.noting())
        if self.delete and not self.same:
            chunk.append(self.noting_source())
            chunk += [self.removing(lo=lo) for lo in both]
        if self.replace or (self.delete and not self.same):
            chunk.append(self.removing_one())
        return tuple(dict.fromkeys(one for one in chunk if one is not None))


def adapted(dialect: Dialect, column: Compared, value: Any) -> Any:  # noqa: ANN401, PLR0911 - one for each
    """A value of the source as a parameter on the target."""
    type_ = column.types[1].lower()
    match column.form:
        case Form.MOMENT:
            text = to_text(Form.MOMENT, value)
            if dialect is Dialect.SQLITE or text is None:
                return value if isinstance(value, str) else text
            moment = datetime.fromisoformat(text)
            return moment.replace(tzinfo=UTC) if "with time zone" in type_ else moment
        case Form.DATE:
            read = date.fromisoformat(value) if isinstance(value, str) else value
            return read.isoformat() if dialect is Dialect.SQLITE else read
        case Form.NUMBER:
            whole = isinstance(value, int | bool)
            if dialect is Dialect.POSTGRESQL and type_.startswith("numeric"):
                return Decimal(value)
            return value if whole or not isinstance(value, Decimal) or value % 1 else int(value)
        case Form.UUID:
            return UUID(str(value)) if dialect is Dialect.POSTGRESQL and type_ == "uuid" else str(value)
    return value
