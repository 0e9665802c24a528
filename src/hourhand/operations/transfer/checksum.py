"""Operations: checksums of rows: one number for a set of them, the same on every engine.

    compared = compared_columns(source, target)                     # Refused names a column that cannot be compared
    mine = await checksum(work.source, table.sql, compared, side=0, where="id <= $1", params=(5,))

Between PostgreSQL servers of one major version, and between MariaDB servers, their own hashes are some three times as
fast; `fast` says whether they will do. `narrowed` finds the keys between which two sets differ.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.catalog.table import Column, Table
from hourhand.operations.failures import Refused
from hourhand.operations.quoting import quoted
from hourhand.operations.transfer.canonical import DIGITS, ESCAPED, Form, form_of, row_digest, text_digest, to_text
from hourhand.operations.transfer.keyset import unmarked

K = TypeVar("K")
_MARIA = (Dialect.MARIADB, Dialect.MYSQL)
_HASHED = re.compile(
    r"(smallint|integer|bigint|oid|boolean|numeric|real|double precision|text|character varying|character|uuid|bytea"
    r"|date|timestamp|time|interval|jsonb|inet|cidr|macaddr8?)\b[^\[]*(\[\])?"
)
"""PostgreSQL's types that have a hash of 64 bits."""
_FAST_SINCE = (14,)
_BATCH = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One column, as it is on either side."""

    name: str
    form: Form
    types: tuple[str, str]
    """Its type in the source, and in the target."""


@dataclass(frozen=True, slots=True)
class Checksum:
    """Of a set of rows."""

    rows: int
    digest: int


def compared_columns(source: Table, target: Table | None = None) -> tuple[Compared, ...]:
    """The columns that a copy writes, with the form in which they are compared; Refused names one that has none."""
    there = {column.name: column for column in (target or source).columns}
    dialect = (target or source).dialect
    return tuple(
        _compared(source.dialect, column, dialect, there[column.name])
        for column in source.writable
        if column.name in there
    )


def _compared(one: Dialect, source: Column, other: Dialect, target: Column) -> Compared:
    form = agreed_form(one, source.type, other, target.type)
    if form is None:
        raise Refused(
            f"column {source.name!r} ({source.type}) cannot be compared with what is written as {target.type}: "
            "verify by count, or leave the column to another table",
            field="verify",
        )
    return Compared(name=source.name, form=form, types=(source.type, target.type))


def agreed_form(one: Dialect, source: str, other: Dialect, target: str) -> Form | None:  # noqa: PLR0911
    """The form in which values are compared that go from one column to the other; None: there is none."""
    mine, theirs = form_of(one, source), form_of(other, target)
    if one is other is Dialect.SQLITE:
        return Form.RAW
    if mine is None or theirs is None:
        return mine if one is other and source == target else None
    if target == "jsonb" and source != "jsonb":
        return Form.DOCUMENT if mine is Form.TEXT else None
    if mine is theirs:
        return mine
    if one is Dialect.SQLITE:
        return theirs  # what it declares says little of what is there
    if other is Dialect.SQLITE:
        return mine
    return Form.UUID if {mine, theirs} == {Form.UUID, Form.TEXT} else None


def fast(source: Session, target: Session, columns: Sequence[Compared]) -> bool:
    """Whether the engine's own hash will do: both sides have the same one, and columns of the same types."""
    if source.dialect is not target.dialect or any(one.types[0] != one.types[1] for one in columns):
        return False
    if source.dialect in _MARIA:
        return all(one.form is not Form.DOCUMENT for one in columns)
    return (
        source.dialect is Dialect.POSTGRESQL
        and source.version[0] == target.version[0]
        and source.version >= _FAST_SINCE
        and all(_HASHED.fullmatch(one.types[0]) for one in columns)
    )


def in_database(dialect: Dialect, columns: Sequence[Compared]) -> bool:
    """Whether the database computes it; else the rows are read, and it is computed here."""
    return dialect is not Dialect.SQLITE and all(one.form is not Form.DOCUMENT for one in columns)


def checksum_sql(
    dialect: Dialect,
    relation: str,
    columns: Sequence[Compared],
    *,
    side: int,
    where: str = "1 = 1",
    marked: bool = True,
    quick: bool = False,
) -> str:
    """The query for it: `n`, `digest`.

    Args:
        dialect: Of the side that is asked.
        relation: The table, as it is written in statements.
        columns: Those that are compared.
        side: 0: the source, 1: the target.
        where: Which rows; with parameters, written as for them.
        marked: Whether there are parameters.
        quick: Whether the engine's own hash is used.
    """
    if quick and dialect in _MARIA:
        digest = _quick_maria(columns)
    elif quick:
        names = ", ".join(quoted(dialect, one.name) for one in columns)
        return (
            "SELECT count(*) AS n, coalesce(sum(hash_record_extended(x, 0)::numeric), 0) AS digest "  # noqa: S608
            f"FROM (SELECT {names} FROM {relation} WHERE {where}) AS x"
        )
    else:
        digest = _digest(dialect, columns, side)
    if marked:
        digest, relation = unmarked(dialect, digest), unmarked(dialect, relation)
    return f"SELECT count(*) AS n, coalesce(sum({digest}), 0) AS digest FROM {relation} WHERE {where}"  # noqa: S608


def _quick_maria(columns: Sequence[Compared]) -> str:
    """A checksum of 32 bits over the values as MariaDB writes them, in a quarter of the canonical form's time.

    It sees every change of up to 32 bits in a row, and any other but for one in four thousand million.
    """
    parts = []
    for column in columns:
        name, type_ = quoted(Dialect.MARIADB, column.name), column.types[0].lower()
        if column.form is Form.TEXT:
            parts.append(f"QUOTE(CONVERT({name} USING utf8mb4))")
        elif column.form is Form.BYTES or type_.startswith("bit"):
            parts.append(f"COALESCE(HEX({name}), 'N')")
        else:
            exact = f"CAST({name} AS DOUBLE)" if type_.startswith("float") else name
            parts.append(f"COALESCE({exact}, 'N')")
    return f"CRC32(CONCAT_WS(',', {', '.join(parts)}))"


def _digest(dialect: Dialect, columns: Sequence[Compared], side: int) -> str:
    parts = [f"coalesce({_escaped(dialect, one, side)}, '^N')" for one in columns]
    if dialect in _MARIA:
        return f"CAST(CONV(LEFT(MD5(CONCAT_WS('|', {', '.join(parts)})), {DIGITS}), 16, 10) AS UNSIGNED)"
    row = " || '|' || ".join(parts)
    return f"('x' || left(md5(convert_to({row}, 'UTF8')), {DIGITS}))::bit({DIGITS * 4})::bigint"


def _escaped(dialect: Dialect, column: Compared, side: int) -> str:
    text = text_sql(dialect, quoted(dialect, column.name), column.types[side], column.form)
    return f"replace(replace({text}, '^', '^^'), '|', '^|')" if column.form in ESCAPED else text


def text_sql(dialect: Dialect, name: str, type_: str, form: Form) -> str:
    """The canonical text of a column, not escaped, as `canonical.to_text` makes it."""
    return _maria_text(name, type_.lower(), form) if dialect in _MARIA else _pg_text(name, type_.lower(), form)


def _pg_text(name: str, type_: str, form: Form) -> str:  # noqa: PLR0911 - one for each
    match form:
        case Form.NUMBER if type_.startswith("bool"):
            return f"{name}::int::text"
        case Form.NUMBER if type_.startswith("numeric"):
            return f"trim_scale({name})::text"
        case Form.NUMBER if type_ in ("real", "double precision"):
            return f"trim_scale({name}::float8::text::numeric)::text"
        case Form.MOMENT if "with time zone" in type_:
            return f"({name} AT TIME ZONE 'UTC')::text"
        case Form.BYTES:
            return f"encode({name}, 'hex')"
        case Form.UUID if type_ != "uuid":
            return f"lower({name}::text)"
    return f"{name}::text"


def _maria_text(name: str, type_: str, form: Form) -> str:  # noqa: PLR0911 - one for each
    match form:
        case Form.NUMBER if type_.startswith(("float", "double")):
            return _maria_float(name)
        case Form.NUMBER if type_.startswith("decimal") and not re.search(r"decimal\(\d+,0\)|decimal\(\d+\)", type_):
            return _trimmed(f"CAST({name} AS CHAR)")
        case Form.NUMBER if type_.startswith("bit"):
            return f"CAST({name} + 0 AS CHAR)"
        case Form.MOMENT | Form.TIME if "(" in type_:
            return _trimmed(f"CAST({name} AS CHAR)")
        case Form.BYTES:
            return f"LOWER(HEX({name}))"
        case Form.UUID:
            return f"LOWER(CAST({name} AS CHAR))"
        case Form.TEXT | Form.DOCUMENT:
            return f"CONVERT({name} USING utf8mb4)"
    return f"CAST({name} AS CHAR)"


def _trimmed(text: str) -> str:
    return f"TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM {text}))"


def _maria_float(name: str) -> str:
    """Its text is the shortest that reads back the same, as everywhere; the exponent has to be written out."""
    text = f"CAST(CAST({name} AS DOUBLE) AS CHAR)"
    digits = f"REPLACE(REPLACE(SUBSTRING_INDEX({text}, 'e', 1), '.', ''), '-', '')"
    power = f"CAST(SUBSTRING_INDEX({text}, 'e', -1) AS SIGNED)"
    return (
        f"CASE WHEN {name} = 0 THEN '0' WHEN LOCATE('e', {text}) = 0 THEN {text} "
        f"ELSE CONCAT(IF({name} < 0, '-', ''), CASE "
        f"WHEN {power} < 0 THEN CONCAT('0.', REPEAT('0', -{power} - 1), {digits}) "
        f"WHEN CHAR_LENGTH({digits}) <= {power} + 1 THEN RPAD({digits}, {power} + 1, '0') "
        f"ELSE CONCAT(LEFT({digits}, {power} + 1), '.', SUBSTRING({digits}, {power} + 2)) END) END"
    )


async def checksum(
    session: Session,
    relation: str,
    columns: Sequence[Compared],
    *,
    side: int,
    where: str = "1 = 1",
    params: Sequence[object] = (),
    quick: bool = False,
    suffix: str = "",
) -> Checksum:
    """Count and digest of rows; `suffix` such as `FOR UPDATE` locks them (MariaDB)."""
    if not in_database(session.dialect, columns):
        return await _read(session, relation, columns, side=side, where=where, params=params, suffix=suffix)
    sql = checksum_sql(session.dialect, relation, columns, side=side, where=where, marked=bool(params), quick=quick)
    row = (await session.fetch(f"{sql}{suffix}", *params))[0]
    return Checksum(int(row["n"]), int(row["digest"]))


async def _read(
    session: Session,
    relation: str,
    columns: Sequence[Compared],
    *,
    side: int,
    where: str,
    params: Sequence[object],
    suffix: str,
) -> Checksum:
    names = text_columns(session.dialect, columns, side)
    if params:
        names, relation = unmarked(session.dialect, names), unmarked(session.dialect, relation)
    forms = [one.form for one in columns]
    rows = await session.fetch(f"SELECT {names} FROM {relation} WHERE {where}{suffix}", *params)  # noqa: S608
    # A database gives canonical text already, but for what it cannot make canonical itself.
    ours = [one if session.dialect is Dialect.SQLITE or one is Form.DOCUMENT else Form.TEXT for one in forms]
    total = 0
    for row in rows:
        texts = [to_text(form, row[f"c{number}"]) for number, form in enumerate(ours)]
        total += text_digest(texts, forms)
    return Checksum(len(rows), total)


def text_columns(dialect: Dialect, columns: Sequence[Compared], side: int) -> str:
    """The columns for a SELECT, as canonical text named c0, c1, …; of SQLite as they are."""
    if dialect is Dialect.SQLITE:
        return ", ".join(f"{quoted(dialect, one.name)} AS c{number}" for number, one in enumerate(columns))
    return ", ".join(
        f"{text_sql(dialect, quoted(dialect, one.name), one.types[side], one.form)} AS c{number}"
        for number, one in enumerate(columns)
    )


async def narrowed(
    lo: K,
    hi: K,
    *,
    equal: Callable[[K, K], Awaitable[bool]],
    middle: Callable[[K, K], Awaitable[K | None]],
) -> tuple[K, K]:
    """The smallest part of `(lo, hi]` that differs: halved as long as there is a key in between."""
    while (between := await middle(lo, hi)) is not None:
        if await equal(lo, between):
            lo = between
        else:
            hi = between
    return lo, hi


def difference(mine: Checksum, theirs: Checksum) -> str:
    """In words."""
    if mine.rows != theirs.rows:
        return f"{mine.rows} rows on the one side, {theirs.rows} on the other"
    return f"{mine.rows} rows on both sides, whose values differ"


def digest_of(rows: Sequence[Sequence[Any]], forms: Sequence[Form]) -> Checksum:
    """Of rows that are at hand, such as those of a file."""
    return Checksum(len(rows), sum(row_digest(row, forms) for row in rows))
