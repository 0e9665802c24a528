"""The ground that operations are tested on: servers that crash and come back, and tables alike in every dialect."""

from __future__ import annotations

import datetime as dt
import json
import os
import uuid
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.data_source import Address, Dialect
from mariadb import MariaMissing, MariaServer, program
from operations.asking import count, execute, fetch, value
from operations.tables import COLUMNS, NOTES, Sample, make_orders

if TYPE_CHECKING:
    from postgres import Cluster


def expected(sample: Sample, n: int) -> tuple[Any, ...]:
    return (
        n,
        sample.moment(n),
        f"customer {n % 97}",
        NOTES[n % len(NOTES)],
        "odd" if n % 2 else "even",
        n % 1000 - 500,
        9007199254740993 + n if n % 13 else None,
        Decimal(n * 1234567 % 10**12 - 5 * 10**11).scaleb(-6),
        n / 7,
        n % 3 == 0 if n % 11 else None,
        dt.date(2020, 1, 1) + dt.timedelta(days=n % 4000),
        bytes.fromhex(f"00095c0aff{n:08x}"),
        {"n": n, "none": None, "tags": ['a"b', "中文"]},
        {"b": n, "a": 1.5},
        uuid.UUID(f"{n:08x}-0000-4000-8000-{n * 3:012x}"),
    )


def plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """What each driver makes of a row, as the Python values that are meant."""
    made = dict(zip(COLUMNS, row, strict=True))
    moment, due = made["created_at"], made["due"]
    moment = dt.datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    made["created_at"] = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    made["due"] = dt.date.fromisoformat(due) if isinstance(due, str) else due
    made["amount"] = Decimal(str(made["amount"]))
    made["paid"] = None if made["paid"] is None else bool(made["paid"])
    made["detail"], made["raw"] = json.loads(made["detail"]), json.loads(made["raw"])
    made["token"] = uuid.UUID(str(made["token"]))
    return tuple(made.values())


async def test_a_row_has_the_same_values_in_every_dialect(source: Address) -> None:
    sample = await make_orders(source, rows=500)
    rows = await fetch(source, f"SELECT * FROM {sample.name} ORDER BY id")
    assert [plain(row) for row in rows] == [expected(sample, n) for n in range(1, 501)]


async def test_each_month_is_a_partition(pg_source: Address, maria_source: Address) -> None:
    for source in (pg_source, maria_source):
        sample = await make_orders(source, rows=120, rest=True)
        assert sample.partitions == ("orders_2026_01", "orders_2026_02", "orders_2026_03", "orders_2026_04")
        for number, name in enumerate(sample.partitions):
            lower, upper = sample.bounds[number : number + 2]
            held = f"{sample.named(name)}" if source is pg_source else f"{sample.name} PARTITION ({name})"
            within = sum(lower <= sample.moment(n).date() < upper for n in range(1, 121))
            assert await count(source, held) == within > 0


async def test_partitions_by_days(maria_source: Address) -> None:
    sample = await make_orders(maria_source, rows=120, by_days=True, rest=True)
    assert await count(maria_source, f"{sample.name} PARTITION (orders_2026_02)") > 0
    assert await count(maria_source, f"{sample.name} PARTITION (orders_rest)") == 0
    method = "SELECT DISTINCT partition_method FROM information_schema.partitions WHERE table_schema = DATABASE()"
    assert await value(maria_source, method) == "RANGE"


async def test_a_table_may_be_empty_or_plain_or_have_an_awkward_name(source: Address) -> None:
    empty = await make_orders(source, rows=0)
    assert await count(source, empty.name) == 0
    odd = await make_orders(source, rows=10, partitioned=False, table="Odd 'n\" `Orders`", schema="Odd schema")
    assert odd.partitions == ()
    assert await count(source, odd.name) == 10


async def test_the_first_row_lies_on_the_first_bound(source: Address) -> None:
    sample = await make_orders(source, rows=10)
    first = await value(source, f"SELECT min(created_at) FROM {sample.name}")
    assert str(first)[:19] == "2026-01-01 00:00:00"


async def test_mariadb_keeps_what_was_committed_when_it_crashes(
    maria_server: MariaServer, maria_source: Address
) -> None:
    sample = await make_orders(maria_source, rows=100)
    pid = maria_server.pid
    assert pid is not None
    maria_server.crash()
    try:
        assert maria_server.pid is None
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    finally:
        maria_server.start()
    assert await count(maria_source, sample.name) == 100
    maria_server.restart()
    assert await count(maria_source, sample.name) == 100


async def test_postgresql_keeps_what_was_committed_when_it_crashes(
    postgres_server: Cluster, pg_source: Address
) -> None:
    sample = await make_orders(pg_source, rows=100)
    postgres_server.crash()
    postgres_server.start()
    assert await count(pg_source, sample.name) == 100


async def test_mariadb_takes_files_and_a_password(maria_server: MariaServer, maria_source: Address) -> None:
    assert await value(maria_source, "SELECT @@local_infile") == 1
    assert (await value(maria_source, "SELECT CURRENT_USER()")).startswith("hourhand@")
    assert maria_server.sql("SELECT user, host FROM mysql.user WHERE user = 'root'") == "root\tlocalhost"
    assert maria_source.password
    assert maria_source.password not in maria_server.url()


async def test_a_database_is_dropped_with_sessions_in_it(maria_server: MariaServer) -> None:
    url = maria_server.create_database()
    name = url.rpartition("/")[2]
    maria_server.sql("CREATE TABLE t (id INT)", database=name)
    maria_server.drop_database(url)
    assert name not in maria_server.sql("SHOW DATABASES").split()


def test_what_is_missing_is_named_with_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(MariaMissing, match=r"mariadb-of-nobody was not found .* run scripts/system-packages"):
        program("mariadb-of-nobody")


async def test_a_file_is_there_before_it_is_used(sqlite_source: Address, sqlite_target: Address) -> None:
    assert sqlite_source.dialect is Dialect.SQLITE
    await execute(sqlite_source, "CREATE TABLE here (id INTEGER)")
    assert await fetch(sqlite_target, "SELECT name FROM sqlite_master") == []
