"""Operations: the rows that are archived, and every statement by which they are read, compared and deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.catalog.table import Column
from hourhand.operations.failures import Refused, StatementFailed
from hourhand.operations.quoting import quoted
from hourhand.operations.transfer import canonical
from hourhand.operations.transfer.arrow import Form, form_of, from_rows
from hourhand.operations.transfer.arrow_digest import digest_batch
from hourhand.operations.transfer.checksum import Checksum, Compared, checksum_sql
from hourhand.operations.transfer.keyset import Key, Keyset, mark, unmarked

_MARIA = (Dialect.MARIADB, Dialect.MYSQL)
_ROWS = 20_000
GONE = "gone"


@dataclass(frozen=True, slots=True)
class Chunk:
    """The range of one file."""

    lo: Key | None
    hi: Key | None
    last: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveSource:
    """What is archived; made of the plan's values, so that every attempt has the same."""

    dialect: Dialect
    relation: str
    """As it is written in statements: a table, or one partition of it."""
    columns: tuple[tuple[str, str], ...]
    """Names and types."""
    key: tuple[str, ...]
    """Empty: all rows are one chunk."""
    condition: str

    @classmethod
    def read(cls, dialect: Dialect, values: Mapping[str, Any]) -> ArchiveSource:
        """From a step's values."""
        return cls(
            dialect=dialect,
            relation=values["relation"],
            columns=tuple((name, type_) for name, type_ in values["columns"]),
            key=tuple(values["key"]),
            condition=values["condition"],
        )

    def values(self) -> dict[str, Any]:
        """For a step."""
        return {
            "relation": self.relation,
            "columns": [list(one) for one in self.columns],
            "key": list(self.key),
            "condition": self.condition,
        }

    @property
    def forms(self) -> tuple[Form, ...]:
        """How the values are kept."""
        return tuple(form_of(self.dialect, name, type_) for name, type_ in self.columns)

    @property
    def compared(self) -> tuple[Compared, ...]:
        """How the values are compared; Refused names a column that cannot be."""
        return tuple(Compared(name=name, form=self._form(name, one), types=(one, one)) for name, one in self.columns)

    def _form(self, name: str, type_: str) -> canonical.Form:
        form = canonical.form_of(self.dialect, type_)
        if form is None:
            raise Refused(f"column {name!r} ({type_}) cannot be compared: use verify=count", field="verify")
        return form

    @property
    def keys(self) -> Keyset:
        """The ranges."""
        return Keyset(self.dialect, self.relation, self.key, self.condition)

    # Statements: without a lower bound, and with one

    def _where(self, *, lo: bool, hi: bool = True) -> str:
        return self.keys.where(lo=lo, hi=hi and bool(self.key))

    def bound_sql(self, *, lo: bool) -> str:
        """The key that ends the next chunk; its last parameter is how many rows come before it."""
        names = unmarked(self.dialect, self.keys.names)
        place = len(self.keys.params((None,) * len(self.key))) if lo else 0
        return (
            f"SELECT {names} FROM {unmarked(self.dialect, self.relation)} WHERE {self._where(lo=lo, hi=False)} "  # noqa: S608
            f"ORDER BY {names} LIMIT 1 OFFSET {mark(self.dialect, place + 1)}"
        )

    def last_sql(self, *, lo: bool) -> str:
        """The last key of all."""
        names = unmarked(self.dialect, self.keys.names)
        last = ", ".join(f"{unmarked(self.dialect, quoted(self.dialect, one))} DESC" for one in self.key)
        return self._plain(
            f"SELECT {names} FROM {unmarked(self.dialect, self.relation)} WHERE {self._where(lo=lo, hi=False)} "  # noqa: S608
            f"ORDER BY {last} LIMIT 1",
            marked=lo,
        )

    def rows_sql(self, *, lo: bool) -> str:
        """The rows of a chunk."""
        names = unmarked(self.dialect, ", ".join(self._selected(*one) for one in self.columns))
        relation = unmarked(self.dialect, self.relation)
        return self._plain(f"SELECT {names} FROM {relation} WHERE {self._where(lo=lo)}", marked=bool(self.key))  # noqa: S608

    def _selected(self, name: str, type_: str) -> str:
        """As the checksum sees it.

        MariaDB tells only six digits of a FLOAT, and the bits of a BIT as bytes; PostgreSQL writes a few types in
        another way than their text (`char` filled up, `inet` without its mask).
        """
        plain = quoted(self.dialect, name)
        if self.dialect is Dialect.POSTGRESQL and (
            type_.startswith("character(") or form_of(self.dialect, name, type_).form == "other"
        ):
            return f"{plain}::text AS {plain}"
        if self.dialect in _MARIA and type_.lower().startswith("float"):
            return f"CAST({plain} AS DOUBLE) AS {plain}"
        if self.dialect in _MARIA and type_.lower().startswith("bit"):
            return f"{plain} + 0 AS {plain}"
        return plain

    def digest_sql(self, *, lo: bool) -> str:
        """Count and checksum of a chunk; of SQLite the rows, which are summed here."""
        if self.dialect is Dialect.SQLITE:
            return self.rows_sql(lo=lo)
        told = checksum_sql(self.dialect, self.relation, self.compared, side=0, where=self._where(lo=lo))
        return self._plain(told, marked=bool(self.key))

    def count_sql(self, *, lo: bool) -> str:
        """How many rows a chunk has."""
        relation = unmarked(self.dialect, self.relation)
        return self._plain(
            f"SELECT count(*) AS n FROM {relation} WHERE {self._where(lo=lo)}",  # noqa: S608
            marked=bool(self.key),
        )

    def after_sql(self) -> str:
        """How many rows come after a key."""
        relation = unmarked(self.dialect, self.relation)
        return f"SELECT count(*) AS n FROM {relation} WHERE {self._where(lo=True, hi=False)}"  # noqa: S608

    def delete_sql(self, *, lo: bool) -> tuple[str, ...]:
        """What deletes a chunk, told what it deletes: count and checksum come from the rows that go.

        PostgreSQL does both in one statement. MariaDB locks the range first, gaps included, and SQLite the file.
        """
        where, relation = self._where(lo=lo), unmarked(self.dialect, self.relation)
        delete = self._plain(f"DELETE FROM {relation} WHERE {where}", marked=bool(self.key))  # noqa: S608
        if self.dialect is Dialect.POSTGRESQL:
            names = ", ".join(quoted(self.dialect, name) for name, _ in self.columns)
            told = checksum_sql(self.dialect, GONE, self.compared, side=0)
            return (f"WITH {GONE} AS ({delete} RETURNING {names}) {told}",)
        locked = "" if self.dialect is Dialect.SQLITE else " FOR UPDATE"
        return (self.digest_sql(lo=lo) + locked, delete)

    def _plain(self, sql: str, *, marked: bool) -> str:
        """Without marks nothing is put in, so that MariaDB's `%` stands for itself."""
        return sql % () if self.dialect in _MARIA and not marked else sql

    # Reading

    async def chunk(self, session: Session, lo: Key | None, rows: int) -> Chunk | None:
        """The next one of so many rows; None: there are no more."""
        if not self.key:
            return None if lo is not None else Chunk(None, None, last=True)
        given, low = self.keys.params(lo), lo is not None
        found, last = await session.fetch(self.bound_sql(lo=low), *given, rows - 1), False
        if not found:
            found, last = await session.fetch(self.last_sql(lo=low), *given), True
        if not found:
            return None
        hi = tuple(found[0][name] for name in self.key)
        if hi == lo:
            raise StatementFailed(f"the key {hi!r} of {self.relation} comes after itself: give other key_columns")
        return Chunk(lo, hi, last)

    def params(self, lo: Key | None, hi: Key | None) -> tuple[object, ...]:
        """Of a statement about a chunk."""
        return self.keys.params(lo, hi) if self.key else ()

    async def digest(self, session: Session, lo: Key | None, hi: Key | None) -> Checksum:
        """Count and checksum of a chunk, as it is now."""
        return await self.told(session, self.digest_sql(lo=lo is not None), self.params(lo, hi))

    async def told(self, session: Session, sql: str, params: Sequence[object]) -> Checksum:
        """What a statement tells of rows."""
        if self.dialect is Dialect.SQLITE:
            return await self._summed(session, sql, params)
        row = (await session.fetch(sql, *params))[0]
        return Checksum(int(row["n"]), int(row["digest"]))

    async def _summed(self, session: Session, sql: str, params: Sequence[object]) -> Checksum:
        forms, kept = [one.form for one in self.compared], self.forms
        threaded = session.threaded  # type: ignore[attr-defined]  # of an SqliteSession

        def summed() -> Checksum:
            cursor, rows, total = session.driver.execute(sql, tuple(params)), 0, 0
            while found := cursor.fetchmany(_ROWS):
                rows += len(found)
                total += digest_batch(from_rows([tuple(one) for one in found], kept), forms)
            return Checksum(rows, total)

        result: Checksum = await threaded(summed)
        return result

    async def count(self, session: Session, lo: Key | None, hi: Key | None) -> int:
        """How many rows a chunk has now."""
        return int((await session.fetch(self.count_sql(lo=lo is not None), *self.params(lo, hi)))[0]["n"])

    async def after(self, session: Session, hi: Key) -> int:
        """How many rows have come after the last chunk."""
        return int((await session.fetch(self.after_sql(), *self.keys.params(hi)))[0]["n"])


def archived(columns: Sequence[Column]) -> tuple[tuple[str, str], ...]:
    """The columns, for an ArchiveSource."""
    return tuple((column.name, column.type) for column in columns)
