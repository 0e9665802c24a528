from __future__ import annotations

import json
import sqlite3
from datetime import UTC, date, datetime
from typing import Any

import pytest
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    Float,
    MetaData,
    Table,
    Text,
    bindparam,
    column,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.types import TypeEngine

from hourhand.store.sql import any_of, lease_clock, plus_seconds, records, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, Json

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
MICROS = 1_794_744_000_000_000
things = Table(
    "things",
    MetaData(),
    Column("id", Id),
    Column("at", Instant()),
    Column("facts", Json()),
    Column("live", Boolean),
    Column("day", Date),
)


def sql(statement: Statement, dialect: str) -> str:
    return " ".join(statement.compiled(dialect).sql.split())


def arguments(statement: Statement, dialect: str, **params: Any) -> list[Any]:
    return statement.compiled(dialect).arguments(params)


ANY = Statement(select(things.c.id).where(any_of(things.c.id, "ids")))
ROWS: dict[str, TypeEngine[Any]] = {"id": BigInteger(), "at": Instant(), "facts": Json(), "order": Text()}
RECORDS = Statement(select(records("new", ROWS).c.at))


def test_a_list_is_one_parameter_whatever_its_length() -> None:
    assert sql(ANY, "postgresql") == "SELECT things.id FROM things WHERE things.id = ANY ($1::BIGINT[])"
    assert sql(ANY, "sqlite") == "SELECT things.id FROM things WHERE things.id IN (SELECT value FROM json_each(?))"


def test_a_list_goes_as_an_array_or_as_json() -> None:
    assert arguments(ANY, "postgresql", ids=[1, 2]) == [[1, 2]]
    assert arguments(ANY, "sqlite", ids=(1, 2)) == ["[1, 2]"]


def test_a_list_of_times_goes_as_microseconds_into_sqlite() -> None:
    statement = Statement(select(things.c.id).where(any_of(things.c.at, "times")))
    assert arguments(statement, "sqlite", times=[NOON]) == [f"[{MICROS}]"]
    assert arguments(statement, "postgresql", times=[NOON]) == [[NOON]]


def test_rows_are_one_statement_whatever_their_number() -> None:
    assert sql(RECORDS, "postgresql") == (
        'SELECT "new".at FROM (SELECT id, at, CAST(facts AS jsonb) AS facts, "order" '
        "FROM unnest($1::BIGINT[], $2::TIMESTAMP WITH TIME ZONE[], $3::TEXT[], $4::TEXT[]) "
        'AS u(id, at, facts, "order")) AS "new"'
    )
    assert sql(RECORDS, "sqlite") == (
        "SELECT new.at FROM (SELECT json_extract(value, '$[0]') AS id, json_extract(value, '$[1]') AS at, "
        "json_extract(value, '$[2]') AS facts, json_extract(value, '$[3]') AS \"order\" FROM json_each(?)) AS new"
    )


def test_rows_go_by_columns_into_postgresql_and_whole_into_sqlite() -> None:
    rows = [
        {"id": 1, "at": NOON, "facts": {"a": "ü"}, "order": "x"},
        {"id": 2, "at": None, "facts": None, "order": None},
    ]
    assert arguments(RECORDS, "postgresql", new=rows) == [[1, 2], [NOON, None], ['{"a":"ü"}', None], ["x", None]]
    (text,) = arguments(RECORDS, "sqlite", new=rows)
    assert json.loads(text) == [[1, MICROS, '{"a":"ü"}', "x"], [2, None, None, None]]


def test_a_json_list_in_a_row_is_one_value_and_no_second_dimension() -> None:
    row = {"id": 1, "at": None, "facts": [1, [2]], "order": None}
    assert arguments(RECORDS, "postgresql", new=[row])[2] == ["[1,[2]]"]


def test_no_rows_are_fine() -> None:
    assert arguments(RECORDS, "sqlite", new=[]) == ["[]"]
    assert arguments(RECORDS, "postgresql", new=[]) == [[], [], [], []]


def test_sqlite_reads_back_what_rows_were_sent() -> None:
    kinds: dict[str, TypeEngine[Any]] = {
        "n": BigInteger(), "t": Text(), "f": Float(), "b": Boolean(), "at": Instant(), "j": Json(),
    }  # fmt: skip
    source = records("given", kinds)
    statement = Statement(select(*[source.c[name] for name in kinds]))
    rows = [
        {"n": 2**62, "t": 'quote " and \\ and 中文', "f": 0.1, "b": True, "at": NOON, "j": {"deep": [1, None]}},
        {"n": -1, "t": "", "f": 2.0, "b": False, "at": None, "j": None},
    ]
    compiled = statement.compiled("sqlite")
    connection = sqlite3.connect(":memory:")
    assert compiled.rows(connection.execute(compiled.sql, compiled.arguments({"given": rows}))) == rows
    connection.close()


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("postgresql", [NOON, {"a": 1}, True, date(2026, 11, 15), 7]),
        ("sqlite", [MICROS, '{"a":1}', True, "2026-11-15", 7]),
    ],
)
def test_values_go_in_the_form_the_driver_wants(dialect: str, expected: list[Any]) -> None:
    names = ("at", "facts", "live", "day")
    statement = Statement(
        update(things)
        .values({name: bindparam(f"new_{name}", type_=things.c[name].type) for name in names})
        .where(things.c.id == bindparam("the_id", type_=Id))
    )
    given = {"new_at": NOON, "new_facts": {"a": 1}, "new_live": True, "new_day": date(2026, 11, 15), "the_id": 7}
    assert arguments(statement, dialect, **given) == expected
    assert arguments(statement, dialect, **dict.fromkeys(given)) == [None] * 5


def test_sqlite_s_tuples_become_python_values() -> None:
    compiled = Statement(select(things)).compiled("sqlite")
    (full, empty) = compiled.rows([(1, MICROS, '{"a":1}', 1, "2026-11-15"), (2, None, None, None, None)])
    assert full == {"id": 1, "at": NOON, "facts": {"a": 1}, "live": True, "day": date(2026, 11, 15)}
    assert empty == {"id": 2, "at": None, "facts": None, "live": None, "day": None}
    assert full["live"] is True


def test_a_statement_without_a_result_has_no_names() -> None:
    assert Statement(insert(things).values(id=bindparam("new_id"))).compiled("sqlite").names == ()


def test_a_constant_of_the_statement_is_sent_and_cannot_be_overridden_by_chance() -> None:
    statement = Statement(select(literal(5).label("five")).where(things.c.id == bindparam("wanted", type_=Id)))
    assert sorted(arguments(statement, "sqlite", wanted=7, param_1=9)) == [5, 7]


def test_a_forgotten_parameter_is_an_error() -> None:
    with pytest.raises(KeyError, match="ids"):
        arguments(ANY, "sqlite")


def test_a_statement_is_compiled_once_per_dialect() -> None:
    statement = Statement(select(things))
    assert statement.compiled("sqlite") is statement.compiled("sqlite")
    assert statement.compiled("sqlite") is not statement.compiled("postgresql")


@pytest.mark.parametrize(
    ("clause", "postgresql", "sqlite"),
    [
        (lease_clock(), "clock_timestamp()", "lease_clock()"),
        (store_clock(), "clock_timestamp()", "clock_timestamp()"),
        (
            plus_seconds(column("a"), column("b")),
            "(a + make_interval(secs => b))",
            "(a + CAST(b * 1000000 AS INTEGER))",
        ),
        (func.greatest(column("a"), column("b")), "greatest(a, b)", "greatest(a, b)"),
    ],
)
def test_what_the_dialects_write_differently(clause: Any, postgresql: str, sqlite: str) -> None:
    statement = Statement(select(clause.label("x")))
    assert sql(statement, "postgresql") == f"SELECT {postgresql} AS x"
    assert sql(statement, "sqlite") == f"SELECT {sqlite} AS x"
