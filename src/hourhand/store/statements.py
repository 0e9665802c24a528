"""Store: SQLAlchemy Core writes a statement once per dialect; the drivers run it directly.

An engine's cache keys, binding and decoding cost more than twice what the driver costs (docs/adr/0003); here a
statement is compiled at its first use and after that costs what its driver costs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from sqlalchemy import Boolean, Date, Dialect
from sqlalchemy.dialects.postgresql import asyncpg, psycopg
from sqlalchemy.dialects.sqlite import pysqlite
from sqlalchemy.sql.base import Executable
from sqlalchemy.types import TypeEngine

from hourhand.store.sql import ColumnOf, Many, Rows
from hourhand.store.types import Instant, Json, dump_json, from_micros, to_micros

Encoder = Callable[[Any], Any]
_DIALECTS: dict[str, Dialect] = {
    "postgresql": asyncpg.dialect(),  # type: ignore[no-untyped-call]
    "sqlite": pysqlite.dialect(),
    # Callers may bring connections of this driver; it is not imported here.
    "psycopg": psycopg.dialect(paramstyle="format"),  # type: ignore[no-untyped-call]
}


@dataclass(frozen=True, slots=True)
class Bound:
    """One parameter's place: where its value comes from and how the driver wants it."""

    name: str
    required: bool
    """False for a constant that is written into the statement, which is `default`."""
    default: Any
    column: str | None
    """Set when it is one column of the list of rows `name`."""
    encode: Encoder | None

    def value(self, params: Mapping[str, Any]) -> Any:
        """The value to send."""
        given = params[self.name] if self.required else self.default
        if self.column is not None:
            values = [row[self.column] for row in given]
            if self.encode is None:
                return values
            return [None if value is None else self.encode(value) for value in values]
        return given if self.encode is None or given is None else self.encode(given)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A statement in one dialect."""

    sql: str
    binds: tuple[Bound, ...]
    names: tuple[str, ...]
    decoders: tuple[tuple[str, Encoder], ...]

    def arguments(self, params: Mapping[str, Any]) -> list[Any]:
        """The positional arguments."""
        return [bind.value(params) for bind in self.binds]

    def rows(self, tuples: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
        """A driver's tuples as mappings of Python values."""
        rows = [dict(zip(self.names, one, strict=True)) for one in tuples]
        for name, decode in self.decoders:
            for row in rows:
                if row[name] is not None:
                    row[name] = decode(row[name])
        return rows


class Statement:
    """A Core statement with named parameters, compiled at most once per dialect."""

    __slots__ = ("_compiled", "clause")

    def __init__(self, clause: Executable) -> None:
        self.clause = clause
        self._compiled: dict[str | tuple[str, str], Compiled] = {}

    def compiled(self, dialect: str) -> Compiled:
        """In the words of that dialect."""
        found = self._compiled.get(dialect)
        if found is None:
            found = self._compiled[dialect] = _compile(self.clause, dialect)
        return found

    def joined(self, dialect: str, schema: str) -> Compiled:
        """For a connection that is not ours: its search path and its codecs are whatever its owner has set.

        So tables are named with their schema, and JSON leaves the database as text.
        """
        found = self._compiled.get((dialect, schema))
        if found is None:
            found = _compile(self.clause, dialect, schema=schema)
            found = self._compiled[dialect, schema] = _json_as_text(self.clause, found, dialect)
        return found


def _json_as_text(clause: Any, compiled: Compiled, dialect: str) -> Compiled:
    columns = list(clause.exported_columns) if hasattr(clause, "exported_columns") else []
    decoders = tuple((column.key, json.loads) for column in columns if isinstance(column.type, Json))
    if not decoders:
        return replace(compiled, decoders=())
    quote = _DIALECTS[dialect].identifier_preparer.quote
    shown = [
        f"CAST({quote(column.name)} AS text)" if isinstance(column.type, Json) else quote(column.name)
        for column in columns
    ]
    return replace(compiled, sql=f"SELECT {', '.join(shown)} FROM ({compiled.sql}) AS joined", decoders=decoders)


def _compile(clause: Any, dialect: str, *, schema: str | None = None) -> Compiled:
    named = {} if schema is None else {"schema_translate_map": {None: schema}, "render_schema_translate": True}
    compiled = clause.compile(dialect=_DIALECTS[dialect], **named)
    binds = []
    for name in compiled.positiontup or ():
        kind = compiled.binds[name].type
        encode: Encoder | None
        if isinstance(kind, ColumnOf):
            encode = dump_json if isinstance(kind.item, Json) else None
            binds.append(Bound(kind.rows, required=True, default=None, column=kind.column, encode=encode))
        else:
            bind = compiled.binds[name]
            encode = _encoder(kind) if dialect == "sqlite" else None
            binds.append(Bound(name, bind.required, compiled.params.get(name), column=None, encode=encode))
    columns = list(clause.exported_columns) if hasattr(clause, "exported_columns") else []
    decoders = [(column.key, _decoder(column.type)) for column in columns]
    return Compiled(
        sql=compiled.string,
        binds=tuple(binds),
        names=tuple(column.key for column in columns),
        decoders=tuple((key, decode) for key, decode in decoders if decode is not None),
    )


def _encoder(kind: TypeEngine[Any]) -> Encoder | None:
    match kind:
        case Instant():
            return to_micros
        case Json():
            return dump_json
        case Date():
            return date.isoformat
        case Many():
            item = _encoder(kind.item)
            return lambda values: json.dumps(list(values) if item is None else [item(value) for value in values])
        case Rows():
            return _rows_encoder(kind)
        case _:
            return None


def _rows_encoder(kind: Rows) -> Encoder:
    columns = [(name, _encoder(item)) for name, item in kind.columns]

    def encode(rows: Iterable[Mapping[str, Any]]) -> str:
        return json.dumps(
            [
                [row[name] if item is None or row[name] is None else item(row[name]) for name, item in columns]
                for row in rows
            ],
            ensure_ascii=False,
        )

    return encode


def _decoder(kind: TypeEngine[Any]) -> Encoder | None:
    match kind:
        case Instant():
            return from_micros
        case Json():
            return json.loads
        case Boolean():
            return bool
        case Date():
            return date.fromisoformat
        case _:
            return None
