"""One number for the same rows, whichever engine computes it."""

from __future__ import annotations

import datetime as dt
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from hourhand.operations.catalog import read_table
from hourhand.operations.failures import Refused
from hourhand.operations.sessions import open_session
from hourhand.operations.transfer.canonical import Form, document, number, row_digest, to_text
from hourhand.operations.transfer.checksum import checksum, compared_columns, digest_of, fast, narrowed
from operations.asking import execute, fetch
from operations.tables import make_orders

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hourhand.contracts.operation import Session
    from hourhand.model.data_source import Address

FLOATS = (
    "0.0", "1.0", "-1.5", "0.1", "0.14285714285714285", "1e15", "1.5e15", "123456789012345680", "1e16", "1e17",
    "1.2345678901234567e20", "1e100", "-2.5e-7", "0.0001", "0.00001", "1e-5", "5e-324", "1.7976931348623157e308",
    "3.0000000000000004", "100000", "1e21", "12345678.9", "-1e-10", "9007199254740993",
)  # fmt: skip


@asynccontextmanager
async def session(address: Address) -> AsyncIterator[Session]:
    opened = await open_session(address)
    try:
        yield opened
    finally:
        await opened.close()


async def test_the_hostile_table_has_the_same_number_everywhere(
    pg_source: Address, maria_source: Address, sqlite_source: Address
) -> None:
    for source in (pg_source, maria_source, sqlite_source):
        await make_orders(source, rows=300)
    async with session(pg_source) as pg, session(maria_source) as maria, session(sqlite_source) as lite:
        tables = [await read_table(one, None, "orders") for one in (pg, maria, lite)]
        columns = compared_columns(tables[0], tables[1])
        first = await checksum(pg, tables[0].sql, columns, side=0)
        assert first.rows == 300
        assert await checksum(maria, tables[1].sql, columns, side=1) == first
        assert await checksum(lite, tables[2].sql, compared_columns(tables[0], tables[2]), side=1) == first
        rows = await fetch(pg_source, "SELECT * FROM orders")
        assert digest_of(rows, [one.form for one in columns]) == first


async def test_floats_have_the_same_text_everywhere(pg_source: Address, maria_source: Address) -> None:
    values = ", ".join(f"({n}, {text}, {text if abs(float(text)) < 1e38 else 0})" for n, text in enumerate(FLOATS))
    await execute(
        pg_source,
        "CREATE TABLE f (id int PRIMARY KEY, d float8, s float4)",
        f"INSERT INTO f SELECT id, d, CASE WHEN abs(d) < 1e-37 THEN 0 ELSE s END FROM (VALUES {values}) v(id, d, s)",
    )
    await execute(maria_source, "CREATE TABLE f (id INT PRIMARY KEY, d DOUBLE, s FLOAT)",
                  f"INSERT INTO f VALUES {values}", "UPDATE f SET s = 0 WHERE abs(d) < 1e-37")  # fmt: skip
    async with session(pg_source) as pg, session(maria_source) as maria:
        columns = compared_columns(await read_table(pg, None, "f"), await read_table(maria, None, "f"))
        for n, text in enumerate(FLOATS):
            mine = await checksum(pg, "f", columns, side=0, where="id = $1", params=(n,))
            assert mine == await checksum(maria, "f", columns, side=1, where="id = %s", params=(n,)), text
            rows = await fetch(pg_source, f"SELECT id, d, s::float8 FROM f WHERE id = {n}")
            assert mine == digest_of(rows, [one.form for one in columns]), text


async def test_any_other_value_changes_the_number(pg_source: Address) -> None:
    await make_orders(pg_source, rows=20)
    async with session(pg_source) as pg:
        table = await read_table(pg, None, "orders")
        columns = compared_columns(table)
        seen = {await checksum(pg, table.sql, columns, side=0)}
        for name, change in {"note": "note || '|'", "group": "'x'", "amount": "amount + 0.000001", "paid": "NOT paid",
                             "picture": r"picture || '\x00'", "ratio": "ratio + 1e-9", "raw": "'{}'", "due": "due + 1",
                             "created_at": "created_at + interval '1 us'"}.items():  # fmt: skip
            await pg.execute(f'UPDATE orders SET "{name}" = {change} WHERE id = 5')
            seen.add(await checksum(pg, table.sql, columns, side=0))
        assert len(seen) == 10


async def test_the_fast_form_is_taken_where_every_type_has_a_hash(pg_source: Address, maria_source: Address) -> None:
    await execute(pg_source, "CREATE TABLE a (id int PRIMARY KEY, t text, j jsonb, n numeric(9,2)[])",
                  "CREATE TABLE b (id int PRIMARY KEY, j json)", "CREATE TABLE c (id int PRIMARY KEY, p point)",
                  "INSERT INTO a SELECT n, 'x' || n, '{}', '{1.5}' FROM generate_series(1, 50) n")  # fmt: skip
    await execute(maria_source, "CREATE TABLE a (id INT PRIMARY KEY, t TEXT)")
    async with session(pg_source) as pg, session(maria_source) as maria:
        a, b, c = [compared_columns(await read_table(pg, None, name)) for name in "abc"]
        assert fast(pg, pg, a)
        assert not fast(pg, pg, b)
        assert not fast(pg, pg, c)
        assert not fast(pg, maria, compared_columns(await read_table(maria, None, "a")))
        first = await checksum(pg, "a", a, side=0, quick=True)
        await pg.execute("UPDATE a SET t = 'y' WHERE id = 7")
        second = await checksum(pg, "a", a, side=0, quick=True)
        assert first.rows == second.rows == 50
        assert first.digest != second.digest


async def test_the_fast_form_of_mariadb_sees_what_changes(maria_source: Address, maria_target: Address) -> None:
    for source in (maria_source, maria_target):
        await make_orders(source, rows=50)
    await execute(
        maria_target, "ALTER TABLE orders MODIFY note TEXT CHARACTER SET utf16", "ALTER TABLE orders ADD f FLOAT"
    )
    await execute(maria_source, "ALTER TABLE orders ADD f FLOAT")
    async with session(maria_source) as one, session(maria_target) as other:
        table = await read_table(one, None, "orders")
        columns = compared_columns(table, await read_table(other, None, "orders"))
        assert fast(one, other, columns)
        seen = {await checksum(one, table.sql, columns, side=0, quick=True)}
        assert seen == {await checksum(other, "orders", columns, side=1, quick=True)}
        changes = {"note": "CONCAT(note, ',')", "amount": "amount + 0.000001", "paid": "NULL", "f": "1.0000001",
                   "picture": "NULL", "ratio": "ratio + 1e-9", "detail": "'null'", "due": "NULL",
                   "created_at": "created_at + INTERVAL 1 MICROSECOND", "note ": "NULL"}  # fmt: skip
        for name, change in changes.items():
            await one.execute(f"UPDATE orders SET `{name.strip()}` = {change} WHERE id = 6")
            seen.add(await checksum(one, table.sql, columns, side=0, quick=True))
        assert len(seen) == 11


async def test_what_cannot_be_compared_is_named(pg_source: Address, maria_source: Address) -> None:
    await execute(maria_source, "CREATE TABLE g (id INT PRIMARY KEY, place POINT)")
    await execute(pg_source, "CREATE TABLE g (id int PRIMARY KEY, place text)",
                  "CREATE TABLE h (id int PRIMARY KEY, place date)")  # fmt: skip
    async with session(pg_source) as pg, session(maria_source) as maria:
        with pytest.raises(Refused, match=r"'place' \(point\) cannot be compared"):
            compared_columns(await read_table(maria, None, "g"), await read_table(pg, None, "g"))
        with pytest.raises(Refused, match=r"'place' \(text\) cannot be compared with what is written as date"):
            compared_columns(await read_table(pg, None, "g"), await read_table(pg, None, "h"))


async def test_documents_are_compared_by_what_they_say(pg_source: Address, maria_source: Address) -> None:
    await execute(maria_source, "CREATE TABLE d (id INT PRIMARY KEY, j JSON)",
                  """INSERT INTO d VALUES (1, '{"bb":1.50, "a":[1e2,null]}'), (2, NULL)""")  # fmt: skip
    await execute(pg_source, "CREATE TABLE d (id int PRIMARY KEY, j jsonb)",
                  """INSERT INTO d VALUES (1, '{"a":[100,null],"bb":1.5}'), (2, NULL)""")  # fmt: skip
    async with session(pg_source) as pg, session(maria_source) as maria:
        columns = compared_columns(await read_table(maria, None, "d"), await read_table(pg, None, "d"))
        assert columns[1].form is Form.DOCUMENT
        assert await checksum(maria, "d", columns, side=0) == await checksum(pg, "d", columns, side=1)


def test_separators_and_nulls_in_values_are_told_from_those_between() -> None:
    text = [Form.TEXT, Form.TEXT]
    rows: list[list[Any]] = [
        ["a|b", "c"],
        ["a", "b|c"],
        [None, "c"],
        ["^N", "c"],
        ["^", "|c"],
        ["^|", "c"],
        ["", "c"],
        ["N", "c"],
    ]
    assert len({row_digest(row, text) for row in rows}) == len(rows)


def test_values_have_one_text() -> None:
    assert number(True) == number(1) == number(1.0) == number(Decimal("1.000")) == "1"  # noqa: FBT003
    assert number(-0.0) == number(Decimal("-0.00")) == "0"
    assert number(Decimal("1E+3")) == "1000"
    assert [number(float(one)) for one in ("nan", "inf", "-inf")] == ["NaN", "Infinity", "-Infinity"]
    assert number("no number") == "no number"
    at = dt.datetime(2026, 3, 1, 2, 30, 0, 500_000, dt.timezone(dt.timedelta(hours=2)))
    assert to_text(Form.MOMENT, at) == to_text(Form.MOMENT, "2026-03-01 00:30:00.500000") == "2026-03-01 00:30:00.5"
    assert to_text(Form.MOMENT, "infinity") == "infinity"
    assert (
        to_text(Form.MOMENT, dt.date(2026, 3, 1))
        == to_text(Form.MOMENT, dt.datetime(2026, 3, 1))  # noqa: DTZ001
        == "2026-03-01 00:00:00"
    )
    assert (
        to_text(Form.TIME, dt.time(1, 2, 3, 400_000))
        == to_text(Form.TIME, dt.timedelta(hours=1, minutes=2, seconds=3.4))
        == "01:02:03.4"
    )
    assert to_text(Form.UUID, UUID(int=10).bytes) == to_text(Form.UUID, str(UUID(int=10)).upper()) == str(UUID(int=10))
    assert to_text(Form.BYTES, b"\x00|") == "007c"
    assert len({to_text(Form.RAW, one) for one in (1, 1.0, "1", b"1")}) == 4
    assert document('{"b": 1.0, "a": "中"}') == document({"a": "中", "b": 1}) == '{"a":"中","b":1}'


async def test_the_keys_between_which_sets_differ_are_found() -> None:
    wrong = 4_711

    async def equal(lo: int, hi: int) -> bool:
        return not lo < wrong <= hi

    async def middle(lo: int, hi: int) -> int | None:
        return (lo + hi) // 2 if hi - lo > 1 else None

    assert await narrowed(0, 100_000, equal=equal, middle=middle) == (4_710, 4_711)
