"""Operations: rows of an archive's files back into a table, each file exactly once.

A file is loaded in one transaction with a line in a ledger beside the table. What it added to the table, count and
checksum, is told by the table itself: the difference between after and before. Since checksums are sums, it does not
matter which other rows are there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.failures import FilesFailed, NotVerified, Refused
from hourhand.operations.quoting import qualified, quoted
from hourhand.operations.transfer.arrow import Form, form_of, to_rows
from hourhand.operations.transfer.arrow_digest import canonical_text, digest_batch
from hourhand.operations.transfer.canonical import Form as Canonical
from hourhand.operations.transfer.canonical import form_of as canonical_form
from hourhand.operations.transfer.canonical import row_digest, to_text
from hourhand.operations.transfer.checksum import Checksum, Compared, checksum, difference, text_columns
from hourhand.operations.transfer.files import read_part
from hourhand.operations.transfer.keyset import Key, Keyset, from_json, mark, unmarked
from hourhand.operations.transfer.manifest import Header, Manifest, Part
from hourhand.operations.transfer.moving_route import adapted
from hourhand.operations.transfer.mysql_load import load, load_sql
from hourhand.operations.transfer.pg_copy import copy_in, copy_in_sql

_MARIA = (Dialect.MARIADB, Dialect.MYSQL)
_ROWS = 20_000
_SORTED_ALIKE = (Canonical.NUMBER, Canonical.DATE, Canonical.MOMENT)
"""Keys that every database sorts alike, so that a range of the archive is the same range of the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The table that rows come back to; made of the plan's values."""

    dialect: Dialect
    archived: Dialect
    """Of the table that the rows come from."""
    schema: str | None
    table: str
    ledger: str
    columns: tuple[Compared, ...]
    key: tuple[str, ...]
    verify: str

    @classmethod
    def read(cls, dialect: Dialect, values: Mapping[str, Any]) -> Target:
        """From a step's values."""
        columns = tuple(
            Compared(name=name, form=Canonical(form), types=(source, target))
            for name, form, source, target in values["columns"]
        )
        plain = {name: values[name] for name in ("schema", "table", "ledger", "verify")}
        archived = Dialect(values["archived"])
        return cls(dialect=dialect, archived=archived, columns=columns, key=tuple(values["key"]), **plain)

    def values(self) -> dict[str, Any]:
        """For a step."""
        return {
            "archived": self.archived.value,
            "schema": self.schema,
            "table": self.table,
            "ledger": self.ledger,
            "verify": self.verify,
            "columns": [[one.name, one.form.value, *one.types] for one in self.columns],
            "key": list(self.key),
        }

    @property
    def sql(self) -> str:
        """The table, as it is written in statements."""
        return qualified(self.dialect, self.schema, self.table)

    @property
    def ledger_sql(self) -> str:
        """The ledger, as it is written in statements."""
        return qualified(self.dialect, self.schema, self.ledger)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(one.name for one in self.columns)

    @property
    def ranged(self) -> bool:
        """Whether the files' ranges are ranges of the table too; else all of it is looked at for each file."""
        named = {one.name: one for one in self.columns}
        key = [named[name] for name in self.key]
        if self.archived is self.dialect is Dialect.SQLITE:
            return bool(key)  # the same values, sorted the same way
        if Dialect.SQLITE in (self.archived, self.dialect):
            return bool(key) and all(
                "int" in one.types[0].lower() for one in key
            )  # it sorts times and decimals as text
        return bool(key) and all(one.form in _SORTED_ALIKE for one in key)

    def create_ledger_sql(self) -> str:
        """What makes the ledger."""
        return f"CREATE TABLE IF NOT EXISTS {self.ledger_sql} (file VARCHAR(100) PRIMARY KEY, loaded BIGINT NOT NULL)"

    def write_sql(self) -> str:
        """What writes rows."""
        columns = ", ".join(quoted(self.dialect, name) for name in self.names)
        if self.dialect is Dialect.POSTGRESQL:
            return copy_in_sql(self.sql, columns, "text")
        if self.dialect in _MARIA:
            return load_sql(self.dialect, self.sql, self.columns)
        return f"INSERT INTO {self.sql} ({columns}) VALUES ({', '.join('?' for _ in self.columns)})"  # noqa: S608

    def note_sql(self) -> str:
        """What notes in the ledger that a file is loaded."""
        one, two = mark(self.dialect, 1), mark(self.dialect, 2)
        return f"INSERT INTO {unmarked(self.dialect, self.ledger_sql)} (file, loaded) VALUES ({one}, {two})"  # noqa: S608

    def noted_sql(self) -> str:
        """Whether it is."""
        return f"SELECT loaded FROM {unmarked(self.dialect, self.ledger_sql)} WHERE file = {mark(self.dialect, 1)}"  # noqa: S608

    def total_sql(self) -> str:
        """How many rows were loaded."""
        return f"SELECT count(*) AS files, coalesce(sum(loaded), 0) AS loaded FROM {self.ledger_sql}"  # noqa: S608

    def reach(self, part: Part) -> tuple[str, tuple[object, ...]]:
        """Where the rows of a file would be: a condition and its parameters."""
        lo, hi = self._key(part.lo), self._key(part.hi)
        if not self.ranged or hi is None:
            return "1 = 1", ()
        keys = Keyset(self.dialect, self.sql, self.key)
        return keys.where(lo=lo is not None), keys.params(lo, hi)

    def _key(self, value: Sequence[Any] | None) -> Key | None:
        key, named = from_json(value), {one.name: one for one in self.columns}
        if key is None:
            return None
        return tuple(adapted(self.dialect, named[name], one) for name, one in zip(self.key, key, strict=True))

    async def digest(self, session: Session, part: Part) -> Checksum:
        """Count and checksum of what is where a file's rows would be."""
        where, params = self.reach(part)
        if self.verify != "hash":
            return Checksum(await self.count(session, part), 0)
        if self.dialect is Dialect.SQLITE:
            return await self._summed(session, where, params)
        return await checksum(session, self.sql, self.columns, side=1, where=where, params=params)

    async def count(self, session: Session, part: Part) -> int:
        """How many rows there are."""
        where, params = self.reach(part)
        table = unmarked(self.dialect, self.sql) if params else self.sql
        return int((await session.fetch(f"SELECT count(*) AS n FROM {table} WHERE {where}", *params))[0]["n"])  # noqa: S608

    async def _summed(self, session: Session, where: str, params: Sequence[object]) -> Checksum:
        names, forms = text_columns(self.dialect, self.columns, 1), [one.form for one in self.columns]
        sql = f"SELECT {names} FROM {self.sql} WHERE {where}"  # noqa: S608

        def summed() -> Checksum:
            cursor, rows, total = session.driver.execute(sql, tuple(params)), 0, 0
            while found := cursor.fetchmany(_ROWS):
                rows += len(found)
                total += sum(row_digest(tuple(one), forms) for one in found)
            return Checksum(rows, total)

        result: Checksum = await session.threaded(summed)  # type: ignore[attr-defined]  # of an SqliteSession
        return result


def forms_of(header: Header) -> tuple[Form, ...]:
    """How the files keep the columns."""
    return tuple(form_of(Dialect(header.dialect), one.name, one.type) for one in header.columns)


async def refuse_keys_there(session: Session, target: Target, manifest: Manifest) -> None:
    """Refuse rows whose keys are in the table already, before anything is written."""
    forms = forms_of(manifest.header)
    columns = [one for one in target.columns if one.name in target.key]
    for part in manifest.parts:
        if not target.key or not await target.count(session, part):
            continue
        where, params = target.reach(part)
        names = text_columns(target.dialect, columns, 1)
        table = target.sql
        if params:
            names, table = unmarked(target.dialect, names), unmarked(target.dialect, table)
        rows = await session.fetch(f"SELECT {names} FROM {table} WHERE {where}", *params)  # noqa: S608
        kinds = [one.form for one in columns]
        there = {tuple(map(to_text, kinds, row.values())) for row in rows}
        path, compression = manifest.folder / part.file, manifest.header.compression
        found = await asyncio.to_thread(_first_of, path, forms, compression, columns, there)
        if found is not None:
            named = ", ".join(f"{one.name} {value}" for one, value in zip(columns, found, strict=True))
            raise Refused(
                f"{target.sql} has a row with the key of one in {part.file} already ({named}): nothing was loaded; "
                "restore into an empty table",
                field="target_table",
            )


def _first_of(
    path: Path, forms: Sequence[Form], compression: str, columns: Sequence[Compared], there: set[tuple[str | None, ...]]
) -> tuple[str | None, ...] | None:
    places = [next(n for n, form in enumerate(forms) if form.name == one.name) for one in columns]
    for batch in read_part(path, forms, compression=compression):
        texts = [canonical_text(batch.column(n), one.form).to_pylist() for n, one in zip(places, columns, strict=True)]
        for key in zip(*texts, strict=True):
            if key in there:
                return key
    return None


async def load_part(session: Session, target: Target, manifest: Manifest, part: Part) -> Checksum:
    """Load one file within a transaction; NotVerified, which takes it back, unless the table has gained just that."""
    before = await target.digest(session, part)
    reading = _Reading(target, manifest, part)
    try:
        written = await _written(session, target, reading)
    except OSError as error:
        raise FilesFailed(f"{part.file} cannot be loaded: {error}") from error
    after = await target.digest(session, part)
    gained = Checksum(after.rows - before.rows, after.digest - before.digest)
    file = Checksum(reading.rows, reading.digest)
    if file.rows != part.rows or written != part.rows:
        raise NotVerified(f"{part.file} should have {part.rows} rows, has {file.rows}, and {written} were written")
    if reading.same_forms and part.checksum is not None and file.digest != part.checksum:
        raise NotVerified(f"{part.file} has {file.rows} rows, but not the values that the manifest tells of")
    if target.verify != "none" and gained != Checksum(file.rows, file.digest if target.verify == "hash" else 0):
        raise NotVerified(
            f"{target.sql} did not gain what {part.file} has: {difference(gained, file)} (first the table's, then the "
            "file's); nothing of it was loaded; a trigger, a default or a narrower type may have changed the rows"
        )
    return file


class _Reading:
    """A file as it is read, summed on the way."""

    def __init__(self, target: Target, manifest: Manifest, part: Part) -> None:
        header = manifest.header
        self.forms = forms_of(header)
        self._target = target
        self._batches = read_part(manifest.folder / part.file, self.forms, compression=header.compression)
        self._compared = [one.form for one in target.columns]
        archived = [canonical_form(Dialect(header.dialect), one.type) for one in header.columns]
        self.same_forms = target.verify == "hash" and archived == self._compared
        """Whether the manifest's checksum is of the same form as the target's."""
        self.rows = 0
        self.digest = 0

    def next(self) -> Any:  # noqa: ANN401 - a batch; None: there are no more
        batch = next(self._batches, None)
        if batch is not None:
            self.rows += batch.num_rows
            self.digest += digest_batch(batch, self._compared) if self._target.verify == "hash" else 0
        return batch

    def next_lines(self) -> bytes | None:
        batch = self.next()
        return None if batch is None else to_lines(batch, self._compared, self._target.dialect)

    async def blocks(self) -> AsyncIterator[bytes]:
        while (block := await asyncio.to_thread(self.next_lines)) is not None:
            yield block


async def _written(session: Session, target: Target, reading: _Reading) -> int:
    if target.dialect is Dialect.POSTGRESQL:
        return await copy_in(session, (target.schema, target.table), target.names, "text", reading.blocks())
    if target.dialect in _MARIA:
        return await load(session, target.write_sql(), reading.blocks())
    sql, count = target.write_sql(), 0
    while (batch := await asyncio.to_thread(reading.next)) is not None:
        rows = list(to_rows(batch, reading.forms, target.dialect))
        await session.threaded(lambda rows=rows: session.driver.executemany(sql, rows))  # type: ignore[attr-defined]
        count += len(rows)
    return count


def to_lines(batch: Any, forms: Sequence[Canonical], dialect: Dialect) -> bytes:  # noqa: ANN401
    r"""A batch as the lines of COPY and LOAD DATA: tabs between values, `\N` for NULL."""
    columns = []
    for column, form in zip(batch.columns, forms, strict=True):
        if pa.types.is_floating(column.type):
            text = pc.cast(pc.cast(column, pa.float64()), pa.string())  # with the sign of a zero, and short
        else:
            text = canonical_text(column, Canonical.TEXT if form is Canonical.DOCUMENT else form)
        if form is Canonical.BYTES and dialect is Dialect.POSTGRESQL:
            text = pc.binary_join_element_wise("\\x", text, "")
        for sign, written in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
            text = pc.replace_substring(text, sign, written)
        columns.append(text)
    joined = pc.binary_join_element_wise(*columns, "\t", null_handling="replace", null_replacement="\\N")
    return b"".join(row + b"\n" for row in joined.cast(pa.binary()).to_pylist())
