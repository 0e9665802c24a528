"""Chunks by key: every row belongs to exactly one, whatever its key holds and however the chunks are cut."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.data_source import Address, Dialect
from hourhand.operations.catalog import read_table
from hourhand.operations.failures import Refused
from hourhand.operations.sessions import open_session
from hourhand.operations.transfer.keyset import (
    Keyset,
    Pace,
    check_key,
    choose_key,
    from_json,
    mark,
    range_condition,
    range_params,
    to_json,
)
from operations.asking import execute

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from hourhand.contracts.operation import Session

HOSTILE = [
    "", " ", "a", "A", "b", "ä", "Z", "zz", "it's", 'say "so"', "back\\slash", "100%", "%s", "$1", "?", "line\nbreak",
    "tab\t", "中文", "🕰", "--", ";", "NULL", "\\N", "a%sb", "_", "0", "10", "9", "e\u0301", "é", "\x1a", "ß", "ss",
]  # fmt: skip
TIMES = [
    dt.datetime(1970, 1, 1, tzinfo=dt.UTC),
    dt.datetime(2026, 3, 29, 1, 59, 59, 999999, tzinfo=dt.UTC),
    dt.datetime(2026, 3, 29, 2, 0, tzinfo=dt.UTC),
    dt.datetime(2026, 3, 29, 2, 0, 0, 1, tzinfo=dt.UTC),
    dt.datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=dt.UTC),
]


@asynccontextmanager
async def opened(source: Address) -> AsyncIterator[Session]:
    session = await open_session(source)
    try:
        yield session
    finally:
        await session.close()


async def fill(session: Session, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    marks = ", ".join(mark(session.dialect, place + 1) for place in range(len(rows[0])))
    async with session.transaction():
        for row in rows:
            await session.execute(f"INSERT INTO {table} VALUES ({marks})", *row)


async def chunks(session: Session, keys: Keyset, rows: int) -> list[list[tuple[Any, ...]]]:
    """Walk through, each position by way of JSON, as a checkpoint keeps it."""
    found, lo = [], None
    while (bound := await keys.next_bound(session, lo, rows)) is not None:
        where = keys.where(lo=lo is not None)
        got = await session.fetch(f"SELECT {keys.names} FROM {keys.table} WHERE {where}", *keys.params(lo, bound.hi))
        found.append([tuple(row[name] for name in keys.columns) for row in got])
        assert len(got) == bound.rows
        lo = from_json(json.loads(json.dumps(to_json(bound.hi))))
    return found


async def assert_covered(session: Session, keys: Keyset, expected: int) -> None:
    for rows in (1, 2, 7, 1000):
        walked = await chunks(session, keys, rows)
        assert all(len(one) <= rows for one in walked)
        flat = [key for one in walked for key in one]
        assert len(flat) == len(set(flat)) == expected


COMPOSITES = {
    Dialect.POSTGRESQL: "a integer NOT NULL, b text NOT NULL, c integer NOT NULL, PRIMARY KEY (a, b, c)",
    Dialect.MARIADB: "a INT NOT NULL, b VARCHAR(30) COLLATE utf8mb4_bin NOT NULL, c INT NOT NULL, PRIMARY KEY (a,b,c)",
    Dialect.SQLITE: "a INTEGER NOT NULL, b TEXT NOT NULL, c INTEGER NOT NULL, PRIMARY KEY (a, b, c)",
}


async def test_chunks_of_a_composite_key_hold_every_row_once(source: Address) -> None:
    await execute(source, f"CREATE TABLE t ({COMPOSITES[source.dialect]})")
    async with opened(source) as session:
        rows = [(a, b, c) for a in (-1, 0, 2**31 - 1) for b in ("", "%s", "it's") for c in (1, 2, 3)]
        await fill(session, "t", rows)
        table = await read_table(session, None, "t")
        keys = Keyset(source.dialect, table.sql, choose_key(table))
        assert keys.columns == ("a", "b", "c")
        await check_key(session, table, keys)
        await assert_covered(session, keys, 27)
        within = Keyset(source.dialect, table.sql, ("c", "a", "b"), condition="b LIKE '%s' AND a % 2 = 0 OR c = 3")
        await assert_covered(session, within, 13)


COLLATIONS = {
    'COLLATE "C"': "pg_source",
    'COLLATE "en-x-icu"': "pg_source",
    "COLLATE utf8mb4_bin": "maria_source",
    "COLLATE utf8mb4_unicode_ci": "maria_source",
    "COLLATE utf8mb4_nopad_bin": "maria_source",
    "CHARACTER SET latin1": "maria_source",
    "COLLATE BINARY": "sqlite_source",
    "COLLATE NOCASE": "sqlite_source",
}


@pytest.mark.parametrize("collation", COLLATIONS)
async def test_chunks_of_texts_hold_every_row_once(request: pytest.FixtureRequest, collation: str) -> None:
    source: Address = request.getfixturevalue(COLLATIONS[collation])
    await execute(source, f"CREATE TABLE t (k varchar(50) {collation} NOT NULL PRIMARY KEY)")
    async with opened(source) as session:
        # What a collation takes for the same is there once.
        ignore = {Dialect.MARIADB: "IGNORE", Dialect.SQLITE: "OR IGNORE"}.get(source.dialect, "")
        texts = ["", "a", "ä", "z", "ß", "it's", "%s"] if "latin1" in collation else HOSTILE
        sql = f"INSERT {ignore} INTO t VALUES ({mark(session.dialect, 1)})"
        added = sum([await session.execute(sql, one) for one in texts])
        assert added > len(texts) * 0.7
        table = await read_table(session, None, "t")
        await assert_covered(session, Keyset(source.dialect, table.sql, choose_key(table)), added)


KEYS: dict[str, tuple[str, str | None, str | None, list[Any]]] = {
    "moment": ("timestamptz", "DATETIME(6)", None, TIMES),
    "uuid": ("uuid", "UUID", None, [uuid.UUID(int=n * 2**125 + n) for n in range(8)]),
    "day": ("date", "DATE", None, [dt.date(1999, 12, 31) + dt.timedelta(days=n) for n in range(9)]),
    "time": ("time", "TIME(6)", None, [dt.time(n, n, n, n) for n in range(9)]),
    "decimal": ("numeric(30,10)", "DECIMAL(30,10)", None, [Decimal(n) / 7 for n in range(-5, 5)]),
    "double": ("double precision", "DOUBLE", "REAL", [n / 7 for n in range(-9, 9)] + [1e300, 5e-324]),
    "single": ("real", None, None, [n / 7 for n in range(-9, 9)]),
    "bytes": ("bytea", "VARBINARY(20)", "BLOB", [b"", b"\x00", b"\x00\xff", b"'", b"%s", b"\\", b"\xff" * 20]),
    "flag": ("boolean", "BOOLEAN", "BOOLEAN", [True, False]),
    "large": ("bigint", "BIGINT", "INTEGER", [-(2**63), -1, 0, 2**53 + 1, 2**53 + 2, 2**63 - 1]),
    "unsigned": ("numeric(20)", "BIGINT UNSIGNED", None, [0, 2**63, 2**64 - 1]),
    "mixed": ("text", None, "", [1, 2.5, "1", "a", b"a", b"", 2**62]),
}


@pytest.mark.parametrize("type_", KEYS)
async def test_chunks_of_any_sort_of_key_hold_every_row_once(source: Address, type_: str) -> None:
    types = KEYS[type_]
    declared = types[[Dialect.POSTGRESQL, Dialect.MARIADB, Dialect.SQLITE].index(source.dialect)]
    values: list[Any] = types[3]
    if declared is None:
        declared, values = "varchar(60)", [str(one) for one in values]
    elif type_ == "mixed" and source.dialect is Dialect.POSTGRESQL:
        values = [str(one) for one in values]
    values = list(dict.fromkeys(values))
    await execute(source, f"CREATE TABLE t (k {declared} NOT NULL PRIMARY KEY)")
    async with opened(source) as session:
        if source.dialect is Dialect.MARIADB:
            values = [str(one) if isinstance(one, uuid.UUID) else one for one in values]
        await fill(session, "t", [(one,) for one in values])
        table = await read_table(session, None, "t")
        keys = Keyset(source.dialect, table.sql, choose_key(table))
        await check_key(session, table, keys)
        await assert_covered(session, keys, len(values))


async def test_names_that_need_quoting(source: Address) -> None:
    name = {Dialect.MARIADB: "`%s`", Dialect.SQLITE: '"%s"', Dialect.POSTGRESQL: '"%s"'}[source.dialect]
    table, first, second = (name % one for one in ("group 100% \"'", "select", "sp ace %s $1 ?"))
    if source.dialect is not Dialect.MARIADB:
        table = '"group 100% ""\'"'
    await execute(source, f"CREATE TABLE {table} ({first} integer, {second} integer, PRIMARY KEY ({first}, {second}))")
    async with opened(source) as session:
        found = await read_table(session, None, "group 100% \"'")
        for n in range(20):
            await session.execute(f"INSERT INTO {table} VALUES ({n % 3}, {n})")
        keys = Keyset(source.dialect, found.sql, choose_key(found))
        lo = None
        counted = 0
        while (bound := await keys.next_bound(session, lo, 3)) is not None:
            counted, lo = counted + bound.rows, bound.hi
        assert counted == 20


async def test_rows_between_chunks_of_a_changed_size(source: Address) -> None:
    await execute(source, "CREATE TABLE t (k integer NOT NULL PRIMARY KEY)")
    async with opened(source) as session:
        await fill(session, "t", [(n,) for n in range(100)])
        keys = Keyset(source.dialect, "t", ("k",))
        seen, lo = 0, None
        for rows in (3, 50, 1, 30, 30, 30):
            bound = await keys.next_bound(session, lo, rows)
            seen, lo = (seen + bound.rows, bound.hi) if bound else (seen, lo)
        assert seen == 100
        assert await keys.next_bound(session, lo, 1) is None


@pytest.mark.parametrize("columns", [("a",), ("a", "b"), ("a", "b", "c", "d")])
@pytest.mark.parametrize("dialect", [Dialect.POSTGRESQL, Dialect.MARIADB, Dialect.SQLITE])
def test_marks_and_parameters_agree(dialect: Dialect, columns: tuple[str, ...]) -> None:
    key = tuple(range(len(columns)))
    for lo, hi in ((True, True), (True, False), (False, True)):
        text = range_condition(dialect, columns, lo=lo, hi=hi, start=5)
        params = range_params(dialect, key if lo else None, key if hi else None)
        assert sum(text.count(one) for one in ("$", "%s", "?")) == len(params)
        if dialect is Dialect.POSTGRESQL:
            assert all(f"${5 + place}" in text for place in range(len(params)))


async def test_maria_reads_only_the_chunk(maria_source: Address) -> None:
    await execute(
        maria_source,
        "CREATE TABLE t (a INT NOT NULL, b INT NOT NULL, PRIMARY KEY (a, b))",
        "INSERT INTO t SELECT seq DIV 10, seq % 10 FROM seq_1_to_5000",
        "ANALYZE TABLE t",
    )
    async with opened(maria_source) as session:
        keys = Keyset(maria_source.dialect, "t", ("a", "b"))
        plan = await session.fetch(f"EXPLAIN DELETE FROM t WHERE {keys.where(lo=True)}", *keys.params((30, 5), (40, 5)))
        assert plan[0]["type"] == "range"
        assert int(plan[0]["rows"]) < 500


async def test_a_table_without_a_key_is_refused(source: Address) -> None:
    await execute(
        source,
        "CREATE TABLE t (a integer NOT NULL, b integer, c integer NOT NULL)",
        "CREATE UNIQUE INDEX t_b ON t (b)",
    )
    async with opened(source) as session:
        table = await read_table(session, None, "t")
        with pytest.raises(Refused, match="has no key: it needs a primary key"):
            choose_key(table)
        with pytest.raises(Refused, match=r"\(b\) does not tell the rows of .*t apart"):
            choose_key(table, ["b"])
        with pytest.raises(Refused, match="no column 'd'; it has a, b, c"):
            choose_key(table, ["d"])
        await execute(source, "CREATE UNIQUE INDEX t_ac ON t (a, c)", "CREATE INDEX t_c ON t (c)")
        table = await read_table(session, None, "t")
        assert choose_key(table) == ("a", "c")
        assert choose_key(table, ["c", "a"]) == ("c", "a")
        assert choose_key(table, order="c") == ("c", "a")
        assert choose_key(table, order="b") == ("a", "c")
        with pytest.raises(Refused, match=r"\(a\) does not tell .* there is \(a, c\)"):
            choose_key(table, ["a"])
        with pytest.raises(Refused, match="'b' may be NULL"):
            choose_key(table, ["a", "c", "b"])


async def test_keys_that_do_not_compare_as_they_are_read_are_refused(
    maria_source: Address, sqlite_source: Address, pg_source: Address
) -> None:
    await execute(maria_source, "CREATE TABLE t (k FLOAT NOT NULL PRIMARY KEY)")
    async with opened(maria_source) as session:
        with pytest.raises(Refused, match="is of type float, whose values cannot be read and compared exactly"):
            choose_key(await read_table(session, None, "t"))
    await execute(sqlite_source, "CREATE TABLE t (k TEXT PRIMARY KEY)", "INSERT INTO t VALUES (NULL), ('a')")
    async with opened(sqlite_source) as session:
        table = await read_table(session, None, "t")
        with pytest.raises(Refused, match=r"has rows whose key \(k\) is NULL"):
            await check_key(session, table, Keyset(table.dialect, table.sql, choose_key(table)))
    await execute(pg_source, "CREATE TABLE t (k int[] PRIMARY KEY)", "INSERT INTO t VALUES ('{1}')")
    async with opened(pg_source) as session:
        table = await read_table(session, None, "t")
        with pytest.raises(Refused, match="a key of type list cannot be gone by"):
            await check_key(session, table, Keyset(table.dialect, table.sql, choose_key(table)))


def test_a_key_survives_json() -> None:
    zone = dt.timezone(dt.timedelta(hours=5, minutes=30))
    key = (
        1, True, "x", 0.1, float("inf"), Decimal("1.10"), dt.datetime(2026, 1, 1, 2, 3, 4, 5, tzinfo=zone),
        dt.datetime(2026, 1, 1, tzinfo=zone).replace(tzinfo=None), dt.date(2026, 1, 1),
        dt.time(1, 2, 3, 4), dt.timedelta(days=-1, microseconds=3),
        uuid.UUID(int=7), b"\x00\xff",
    )  # fmt: skip
    back = from_json(json.loads(json.dumps(to_json(key), allow_nan=False)))
    assert back == key
    assert [type(one) for one in back or ()] == [type(one) for one in key]
    assert to_json(None) is None
    assert from_json(None) is None


def test_the_pace_goes_towards_the_time_that_is_wanted() -> None:
    pace = Pace(1000, target_ms=100, most=3000)
    pace.took(1000, 10)
    assert pace.rows == 2000
    pace.took(2000, 10)
    assert pace.rows == 3000
    pace.took(3000, 200)
    assert pace.rows == 1500
    pace.took(1500, 1e9)
    assert pace.rows == 375
    pace.took(0, 5)
    assert pace.rows == 375
    for _ in range(9):
        pace.took(pace.rows, 1e9)
    assert pace.rows == 10
    fixed = Pace(5)
    fixed.took(5, 1e9)
    assert fixed.rows == 5
