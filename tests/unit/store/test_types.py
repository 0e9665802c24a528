from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Dialect
from sqlalchemy.dialects.postgresql import asyncpg
from sqlalchemy.dialects.sqlite import pysqlite

from hourhand.store.types import Id, Instant, Json, dump_json, from_micros, to_micros
from unit.rules.cron_oracle import examples

SQLITE: Dialect = pysqlite.dialect()
POSTGRESQL: Dialect = asyncpg.dialect()  # type: ignore[no-untyped-call]
NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
moments = st.datetimes(timezones=st.just(UTC))


@given(moments)
@examples(300)
def test_a_time_is_kept_to_the_microsecond(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment


@given(moments, moments)
@examples(300)
def test_times_are_ordered_as_their_microseconds_are(one: datetime, other: datetime) -> None:
    assert (one < other) == (to_micros(one) < to_micros(other))


def test_a_time_is_the_same_in_every_zone() -> None:
    assert to_micros(NOON.astimezone(timezone(timedelta(hours=8)))) == to_micros(NOON)
    assert from_micros(0) == datetime(1970, 1, 1, tzinfo=UTC)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(TypeError, match="offset-naive"):
        to_micros(NOON.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("kind", "sqlite", "postgresql"),
    [
        (Id, "INTEGER", "BIGINT"),
        (Instant(), "BIGINT", "TIMESTAMP WITH TIME ZONE"),
        (Json(), "TEXT", "JSONB"),
    ],
)
def test_each_dialect_gets_the_form_it_handles_best(kind: Any, sqlite: str, postgresql: str) -> None:
    assert kind.compile(dialect=SQLITE) == sqlite
    assert kind.compile(dialect=POSTGRESQL) == postgresql


@pytest.mark.parametrize(
    ("kind", "value", "stored"),
    [(Instant(), NOON, to_micros(NOON)), (Json(), {"a": [1]}, '{"a":[1]}'), (Json(), False, "false")],
)
def test_sqlite_converts_and_postgresql_s_driver_does_it_itself(kind: Any, value: Any, stored: Any) -> None:
    assert kind.process_bind_param(value, SQLITE) == stored
    assert kind.process_result_value(stored, SQLITE) == value
    assert kind.process_bind_param(value, POSTGRESQL) is value
    assert kind.process_result_value(value, POSTGRESQL) is value
    for dialect in (SQLITE, POSTGRESQL):
        assert kind.process_bind_param(None, dialect) is None
        assert kind.process_result_value(None, dialect) is None


def test_json_is_compact_and_readable() -> None:
    assert dump_json({"a": [1, "中文"]}) == '{"a":[1,"中文"]}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [-float("inf")]])
def test_what_postgresql_would_refuse_is_no_json(value: object) -> None:
    with pytest.raises(ValueError, match="Out of range float values"):
        dump_json(value)
