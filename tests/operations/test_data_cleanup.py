"""data_cleanup: what qualifies goes, all else stays, wherever an attempt ends."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sqlglot
from sqlglot import exp

from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import InvalidInput
from hourhand.operations.cleaning_condition import check_expression
from hourhand.operations.failures import Refused
from hourhand.operations.looking import looking
from operations.asking import count, execute, fetch, postgres_connection, quoted, value
from operations.killing import run_and_kill
from operations.running import Interrupted, desk, preview, run
from operations.tables import Sample, make_orders

if TYPE_CHECKING:
    from collections.abc import Mapping

GOLDEN = Path(__file__).parent / "golden"
NOW = dt.datetime.now(dt.UTC)


def month(back: int) -> dt.date:
    """Return the first day of the month so many months ago."""
    months = NOW.year * 12 + NOW.month - 1 - back
    return dt.date(months // 12, months % 12 + 1, 1)


async def old_orders(source: Address, **more: Any) -> Sample:
    """Four months of orders, the last of them the one before the present."""
    return await make_orders(source, start=month(4), months=4, **{"rows": 400, "indexes": False, **more})


def config(**more: Any) -> dict[str, Any]:
    """Two of the four months."""
    by_age = {} if "where" in more else {"older_than": "2m", "time_column": "created_at"}
    return {"table": "orders", "chunk_rows": 30, "chunk_target_ms": None, **by_age, **more}


def expected(sample: Sample, cut: dt.date | None = None) -> list[int]:
    cutoff = dt.datetime.combine(cut or month(2), dt.time(), dt.UTC)
    return [n for n in range(1, sample.rows + 1) if sample.moment(n) >= cutoff]


async def ids(source: Address, table: str = "orders") -> list[int]:
    return [int(row[0]) for row in await fetch(source, f"SELECT id FROM {table} ORDER BY id")]


async def partitions(source: Address) -> int:
    if source.dialect is Dialect.POSTGRESQL:
        return int(await value(source, "SELECT count(*) FROM pg_inherits WHERE inhparent = 'orders'::regclass"))
    return int(
        await value(source, "SELECT count(*) FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = DATABASE()")
    )


async def test_old_rows_go_in_chunks(source: Address) -> None:
    sample = await old_orders(source, partitioned=False, indexes=True)
    kept = expected(sample)
    shown = await preview("data_cleanup", config(), {"source": source})
    assert shown.plan.steps[0].values["columns"] == ["created_at", "id"]
    assert 0 < (shown.impact.rows or 0) <= sample.rows
    assert not shown.plan.unmet
    ran = await run("data_cleanup", config(), {"source": source}, args={"plan_hash": shown.plan_hash})
    assert ran.summary["rows_deleted"] == sample.rows - len(kept)
    assert ran.summary["rows_left"] == 0
    assert "rows_presumed" not in ran.summary
    assert await ids(source) == kept
    assert ran.phases[-2:] == ["delete", "verify"]
    assert ran.checkpoints > 7
    again = await run("data_cleanup", config(), {"source": source})
    assert again.summary["rows_deleted"] == 0


async def test_rows_go_by_a_condition(source: Address) -> None:
    sample = await old_orders(source, rows=100)
    told = {"where": "customer LIKE '%r 7_' OR (quantity % 5 = 0)", "key_columns": ["created_at", "id"]}
    away = [n for n in range(1, 101) if (n % 97 in range(70, 80)) or (n % 1000 - 500) % 5 == 0]
    ran = await run("data_cleanup", config(**told), {"source": source})
    assert ran.summary["rows_deleted"] == len(away)
    assert await ids(source) == [n for n in range(1, sample.rows + 1) if n not in away]


async def test_both_conditions_must_hold(source: Address) -> None:
    sample = await old_orders(source, rows=100)
    told = config(older_than="2m", time_column="created_at", where="id % 2 = 0 OR id % 3 = 0")
    ran = await run("data_cleanup", told, {"source": source})
    old = set(range(1, 101)) - set(expected(sample))
    assert ran.summary["rows_deleted"] == len([n for n in old if n % 2 == 0 or n % 3 == 0])
    assert "partitions_dropped" not in ran.summary
    assert await ids(source) == [n for n in range(1, 101) if n not in old or (n % 2 and n % 3)]


async def test_no_more_than_the_limit_goes(source: Address) -> None:
    await old_orders(source)
    ran = await run("data_cleanup", config(max_rows=70), {"source": source})
    assert ran.summary["rows_deleted"] == 70
    assert ran.summary["rows_left"] > 0
    assert await count(source, "orders") == 330


async def test_a_dry_run_and_a_preview_change_nothing(source: Address) -> None:
    await old_orders(source)
    await preview("data_cleanup", config(), {"source": source})
    ran = await run("data_cleanup", config(dry_run=True), {"source": source})
    assert ran.summary["dry_run"]
    assert await count(source, "orders") == 400


@pytest.mark.parametrize("by_days", [False, True])
@pytest.mark.parametrize("fixture", ["pg_source", "maria_source"])
async def test_whole_partitions_are_dropped(request: pytest.FixtureRequest, fixture: str, by_days: bool) -> None:  # noqa: FBT001
    source: Address = request.getfixturevalue(fixture)
    sample = await old_orders(source, rest=True, by_days=by_days)
    shown = await preview("data_cleanup", config(), {"source": source})
    dropped = [step for step in shown.plan.steps if step.phase == "drop"]
    assert [step.values["partition"] for step in dropped] == list(sample.partitions[:2])
    assert all(step.rows for step in dropped)  # not as if they were deleted one by one
    assert "DROP" in shown.script
    ran = await run("data_cleanup", config(), {"source": source}, args={"plan_hash": shown.plan_hash})
    assert ran.summary["partitions_dropped"] == list(sample.partitions[:2])
    assert ran.summary["rows_dropped"] == 400 - len(expected(sample))
    assert ran.summary["rows_deleted"] == 0
    assert await ids(source) == expected(sample)
    assert await partitions(source) == 3


@pytest.mark.parametrize("fixture", ["pg_source", "maria_source"])
async def test_a_partition_that_holds_what_must_stay_is_not_dropped(
    request: pytest.FixtureRequest, fixture: str
) -> None:
    source: Address = request.getfixturevalue(fixture)
    sample = await old_orders(source)
    days = (NOW.date() - month(3)).days - 5  # within the second month
    ran = await run("data_cleanup", config(older_than=f"{days}d"), {"source": source})
    cut = NOW.date() - dt.timedelta(days=days)
    assert ran.summary["partitions_dropped"] == [sample.partitions[0]]
    assert ran.summary["rows_deleted"] > 0
    assert await ids(source) == expected(sample, cut)
    assert await partitions(source) == 3


async def test_the_last_partition_of_maria_is_emptied(maria_source: Address) -> None:
    await make_orders(maria_source, start=dt.date(2001, 1, 1), months=2, rows=50)
    ran = await run("data_cleanup", config(), {"source": maria_source})
    assert (ran.summary["rows_dropped"], ran.summary["rows_deleted"]) == (27, 23)
    assert await partitions(maria_source) == 1


async def test_every_end_is_gone_on_from(source: Address) -> None:
    sample = await old_orders(source, rows=80)
    told = config(chunk_rows=15, prefer_partition_drop=False)
    await execute(source, "CREATE TABLE saved AS SELECT * FROM orders")
    whole = await run("data_cleanup", told, {"source": source})
    away = sample.rows - len(expected(sample))
    assert whole.summary["rows_deleted"] == away
    for stop_at in range(1, whole.checkpoints + 1):
        # On a server only the worse of the two: what was done last is not in the checkpoint.
        for lose_last in (False, True) if source.dialect is Dialect.SQLITE else (True,):
            await execute(source, "DELETE FROM orders", "INSERT INTO orders SELECT * FROM saved")
            with pytest.raises(Interrupted) as first:
                await run("data_cleanup", told, {"source": source}, stop_at=stop_at, lose_last=lose_last)
            ran = await run("data_cleanup", told, {"source": source}, checkpoint=first.value.checkpoint)
            assert ran.summary["rows_deleted"] == away
            assert await ids(source) == expected(sample)


@pytest.mark.parametrize("fixture", ["pg_source", "maria_source"])
async def test_dropping_partitions_is_gone_on_with(request: pytest.FixtureRequest, fixture: str) -> None:
    source: Address = request.getfixturevalue(fixture)
    for stop_at in range(2, 7):
        await execute(source, "DROP TABLE IF EXISTS orders")
        sample = await old_orders(source, rows=80)
        with pytest.raises(Interrupted) as first:
            await run("data_cleanup", config(), {"source": source}, stop_at=stop_at, lose_last=True)
        ran = await run("data_cleanup", config(), {"source": source}, checkpoint=first.value.checkpoint)
        assert await ids(source) == expected(sample)
        assert ran.summary["rows_dropped"] == 80 - len(expected(sample))
        assert ran.summary["partitions_dropped"] == list(sample.partitions[:2])


async def test_a_partition_of_the_same_name_survives_going_on(pg_source: Address) -> None:
    sample = await old_orders(pg_source, rows=80)
    with pytest.raises(Interrupted) as first:
        await run("data_cleanup", config(), {"source": pg_source}, stop_at=3, lose_last=True)
    assert await partitions(pg_source) == 3
    name = sample.named(sample.partitions[0])  # made anew by somebody, after the drop that no checkpoint knows of
    await execute(
        pg_source, f"CREATE TABLE {name} PARTITION OF orders FOR VALUES FROM ('2199-01-01') TO ('2199-02-01')"
    )
    await run("data_cleanup", config(), {"source": pg_source}, checkpoint=first.value.checkpoint)
    assert await partitions(pg_source) == 3
    assert await count(pg_source, name) == 0


async def test_what_is_added_behind_the_chunks_goes_too(source: Address) -> None:
    await execute(source, "CREATE TABLE orders (id integer PRIMARY KEY, old integer NOT NULL)")
    await execute(source, *(f"INSERT INTO orders VALUES ({n}, 1)" for n in range(10, 60)))
    told = config(where="old = 1", chunk_rows=10)
    with pytest.raises(Interrupted) as first:
        await run("data_cleanup", told, {"source": source}, stop_at=4)
    await execute(source, "INSERT INTO orders VALUES (1, 1), (2, 0), (3, 1)")
    ran = await run("data_cleanup", told, {"source": source}, checkpoint=first.value.checkpoint)
    assert (ran.summary["rows_deleted"], ran.summary["rows_left"]) == (52, 0)
    assert await ids(source) == [2]


@pytest.mark.parametrize("type_", ["timestamptz", "timestamp", "date", "DATETIME(3)", "TIMESTAMP", "DATE"])
async def test_a_time_of_any_type_is_cut_at_the_same_moment(request: pytest.FixtureRequest, type_: str) -> None:
    source: Address = request.getfixturevalue("pg_source" if type_.islower() else "maria_source")
    cut = dt.datetime.combine(month(2), dt.time(), dt.UTC)
    times = [cut - dt.timedelta(seconds=1), cut, cut + dt.timedelta(seconds=1)]
    rows = ", ".join(f"({n}, '{at:%Y-%m-%d %H:%M:%S}')" for n, at in enumerate(times))
    if type_.lower() == "date":
        rows = ", ".join(f"({n}, '{at:%Y-%m-%d}')" for n, at in enumerate(times))
    await execute(
        source,
        f"CREATE TABLE orders (id integer PRIMARY KEY, created_at {type_} NULL)",
        f"INSERT INTO orders VALUES {rows}, (3, NULL)",
    )
    await run("data_cleanup", config(), {"source": source})
    assert await ids(source) == [1, 2, 3]


async def test_a_killed_process_is_gone_on_with(source: Address, tmp_path: Path) -> None:
    sample = await old_orders(source, partitioned=False)
    told = config(chunk_rows=5, sleep_ms=5)
    dead = await run_and_kill(
        "data_cleanup", told, {"source": source}, tmp_path, when=lambda told: told.checkpoints >= 9, after_seconds=0.004
    )
    assert dead.killed
    ran = await run("data_cleanup", told, {"source": source}, checkpoint=dead.checkpoint)
    assert ran.summary["rows_deleted"] == sample.rows - len(expected(sample))
    assert await ids(source) == expected(sample)


async def test_a_cancel_leaves_whole_chunks(source: Address) -> None:
    sample = await old_orders(source, partitioned=False)
    with pytest.raises(asyncio.CancelledError):
        await run("data_cleanup", config(), {"source": source}, cancel_after=6)
    left = await ids(source)
    gone = sample.rows - len(left)
    assert gone > 0
    assert gone % 30 == 0
    assert left == list(range(gone + 1, sample.rows + 1))


async def test_hostile_names(source: Address) -> None:
    names = ['gr"oup` 100%', "select", "%s $1 ? it's 时间"]
    table, key, time = (quoted(source.dialect, one) for one in names)
    type_ = {Dialect.POSTGRESQL: "timestamptz", Dialect.MARIADB: "DATETIME"}.get(source.dialect, "TEXT")
    await execute(
        source,
        f"CREATE TABLE {table} ({key} integer PRIMARY KEY, {time} {type_})",
        f"INSERT INTO {table} VALUES (1, '2001-01-01 00:00:00'), (2, NULL), (3, '2001-01-02 00:00:00'), "
        f"(4, '2199-01-01 00:00:00')",
    )
    told = {"table": names[0], "older_than": "1d", "time_column": names[2], "chunk_rows": 1}
    shown = await preview("data_cleanup", told, {"source": source})
    assert any("NULL stay" in note for note in shown.plan.notes)
    ran = await run("data_cleanup", told, {"source": source})
    assert ran.summary["rows_deleted"] == 2
    assert [int(row[0]) for row in await fetch(source, f"SELECT {key} FROM {table} ORDER BY 1")] == [2, 4]


async def test_what_is_referred_to_is_told_beforehand(source: Address) -> None:
    await execute(
        source,
        "CREATE TABLE orders (id integer PRIMARY KEY, old integer NOT NULL)",
        "CREATE TABLE invoices (id integer PRIMARY KEY, order_id integer, "
        "CONSTRAINT to_orders FOREIGN KEY (order_id) REFERENCES orders (id))",
        "INSERT INTO orders VALUES (1, 1), (2, 1), (3, 0)",
        "INSERT INTO invoices VALUES (1, 3)",
    )
    told = {"table": "orders", "where": "old = 1"}
    assert not (await preview("data_cleanup", told, {"source": source})).plan.unmet
    await execute(source, "INSERT INTO invoices VALUES (2, 2)")
    (unmet,) = (await preview("data_cleanup", told, {"source": source})).plan.unmet
    assert "rows that are to go are referred to from" in unmet.detail
    assert "invoices by" in unmet.detail
    assert "ON DELETE CASCADE" in unmet.detail
    ran = await run("data_cleanup", told, {"source": source})
    assert "foreign keys: rows that are to go are referred to" in ran.error
    assert await count(source, "orders") == 3


async def test_what_cascades_is_done_and_told(source: Address) -> None:
    await execute(
        source,
        "CREATE TABLE orders (id integer PRIMARY KEY, old integer NOT NULL)",
        "CREATE TABLE invoices (id integer PRIMARY KEY, order_id integer, "
        "CONSTRAINT to_orders FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE)",
        "INSERT INTO orders VALUES (1, 1), (2, 1), (3, 0)",
        "INSERT INTO invoices VALUES (1, 3), (2, 2)",
    )
    told = {"table": "orders", "where": "old = 1"}
    shown = await preview("data_cleanup", told, {"source": source})
    assert any("ON DELETE CASCADE is done there too" in note for note in shown.plan.notes)
    assert (await run("data_cleanup", told, {"source": source})).summary["rows_deleted"] == 2
    assert await ids(source, "invoices") == [1]


async def test_rows_that_a_trigger_keeps_are_noticed(pg_source: Address) -> None:
    await execute(
        pg_source,
        "CREATE TABLE orders (id integer PRIMARY KEY)",
        "INSERT INTO orders SELECT generate_series(1, 20)",
        "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN IF OLD.id % 4 = 0 THEN RETURN NULL; END IF; RETURN OLD; END'",
        "CREATE TRIGGER keeper BEFORE DELETE ON orders FOR EACH ROW EXECUTE FUNCTION keep()",
    )
    ran = await run("data_cleanup", {"table": "orders", "where": "id <= 16"}, {"source": pg_source})
    assert "4 rows are still there that qualify" in ran.error
    shown = await preview("data_cleanup", {"table": "orders", "where": "id <= 16"}, {"source": pg_source})
    assert any("triggers keeper are fired for each row" in note for note in shown.plan.notes)


async def test_whoever_holds_a_row_is_named(pg_source: Address) -> None:
    await old_orders(pg_source, rows=40, partitioned=False)
    async with postgres_connection(pg_source) as holder, holder.transaction():
        await holder.execute("SELECT * FROM orders WHERE id = 1 FOR UPDATE")
        told = config(lock_timeout_ms=50, lock_retries=1)
        pid = holder.get_server_pid()
        ran = await run("data_cleanup", told, {"source": pg_source})
    assert "no lock within 50 ms" in ran.error
    assert f"pid {pid}" in ran.error
    assert ran.outcome.retryable


BAD: list[tuple[Mapping[str, Any], str]] = [
    ({"table": "order", "where": "id = 1"}, "there is no table .*order in .*did you mean .*orders"),
    ({}, "nothing says which rows go"),
    ({"older_than": "2m"}, "older_than and time_column belong together"),
    ({"time_column": "created_at"}, "older_than and time_column belong together"),
    ({"older_than": "0d", "time_column": "created_at"}, "'0d' is no age"),
    ({"older_than": "2x", "time_column": "created_at"}, "has not the form"),
    ({"older_than": "2m", "time_column": "made"}, "has no column 'made'; it has id, created_at"),
    ({"older_than": "2m", "time_column": "id"}, r"a number: give a condition as `where`.*id < \d{10}"),
    ({"where": "id = 1; DROP TABLE orders"}, "has a ';'"),
    ({"where": "id = 1) OR (1 = 1"}, "closes a parenthesis that it did not open"),
    ({"where": "(id = 1"}, "leaves 1 parentheses open"),
    ({"where": "id = 1 -- all"}, "has a comment"),
    ({"where": "id = 1 /* all */"}, "has a comment"),
    ({"where": "customer = 'x"}, "leaves a ' open"),
    ({"where": "  "}, "is empty"),
    ({"where": "nosuch = 1"}, "does not understand 'nosuch = 1'.*nosuch"),
    ({"where": "id = 1", "chunk_rows": 0}, "greater than or equal to 1"),
    ({"where": "id = 1", "key_columns": ["customer"]}, r"\(customer\) does not tell the rows"),
    ({"where": "id = 1", "keys": ["customer"]}, "is not a field of data_cleanup"),
]


async def test_what_cannot_be_planned_is_refused(source: Address) -> None:
    await old_orders(source, rows=10)
    for told, message in BAD:
        with pytest.raises(InvalidInput, match=message):
            await preview("data_cleanup", {"table": "orders", **told}, {"source": source})
    assert await count(source, "orders") == 10


async def test_a_time_that_is_none_is_refused(
    pg_source: Address, maria_source: Address, sqlite_source: Address
) -> None:
    for source in (pg_source, maria_source):
        await old_orders(source, rows=10)
        with pytest.raises(InvalidInput, match=r"customer is of type .*, no time: give a condition as `where`"):
            await preview("data_cleanup", config(time_column="customer"), {"source": source})
    await old_orders(sqlite_source, rows=10)
    with pytest.raises(InvalidInput, match="holds 'customer 1' "):
        await preview("data_cleanup", config(time_column="customer"), {"source": sqlite_source})
    await execute(sqlite_source, "UPDATE orders SET customer = 1700000000.5")
    with pytest.raises(InvalidInput, match=r"holds '1700000000\.5' "):
        await preview("data_cleanup", config(time_column="customer"), {"source": sqlite_source})


async def test_text_of_any_zone_is_read_by_sqlite(sqlite_source: Address) -> None:
    edge = dt.datetime.combine(month(2), dt.time(), dt.UTC)
    texts = {
        1: f"{edge - dt.timedelta(seconds=1):%Y-%m-%dT%H:%M:%SZ}",
        2: f"{edge:%Y-%m-%dT%H:%M:%SZ}",
        3: f"{edge + dt.timedelta(hours=1):%Y-%m-%d %H:%M:%S}+02:00",
        4: f"{edge - dt.timedelta(hours=1):%Y-%m-%d %H:%M:%S}-02:00",
        5: f"{edge - dt.timedelta(days=1):%Y-%m-%d}",
    }
    await execute(
        sqlite_source,
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, created_at TEXT)",
        *(f"INSERT INTO orders VALUES ({n}, '{text}')" for n, text in texts.items()),
    )
    await run("data_cleanup", config(), {"source": sqlite_source})
    assert await ids(sqlite_source) == [2, 4]


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (Dialect.POSTGRESQL, "a = ')' AND b = 'it''s; (' AND \"c)\" = $x$ ;) $x$"),
        (Dialect.POSTGRESQL, r"a = E'\'' AND b = '\' AND (c = 1)"),
        (Dialect.MARIADB, r"a = '\')' AND b = " + '"\\");" AND `c)` = 1'),
        (Dialect.SQLITE, "a IN (1, (2)) AND b = '--'"),
    ],
)
def test_what_is_quoted_is_no_end(dialect: Dialect, text: str) -> None:
    check_expression(dialect, text)
    with pytest.raises(Refused):
        check_expression(dialect, f"{text})")
    with pytest.raises(Refused):
        check_expression(dialect, f"{text};")


async def test_a_plan_is_the_same_each_time(source: Address) -> None:
    await old_orders(source, rows=10)
    kind, read = desk({"source": source}).read("data_cleanup", {"data_source": "source", **config()})

    async def address(_: str) -> Address:
        return source

    async with looking(address, "source") as look:
        state = await kind.inspect(read, look)
        assert kind.plan(read, state) == kind.plan(read, state)
        assert kind.plan(read, state) == kind.plan(read, await kind.inspect(read, look))


async def test_the_script_for_sql_server() -> None:
    server = {"mssql": Address(dialect=Dialect.SQLSERVER, database="shop")}
    told = {
        "table": "log]s", "schema": "app", "older_than": "6w", "time_column": "written at",
        "where": "level <> N'error'", "max_rows": 100_000, "sleep_ms": 1500,
    }  # fmt: skip
    shown = await preview("data_cleanup", told, server)
    assert shown.plan.script_only
    assert shown.script == (GOLDEN / "data_cleanup.sql").read_text()
    # The parser does not know WAITFOR.
    parsed = sqlglot.parse(re.sub(r"\n +WAITFOR DELAY '00:00:01.500';", "", shown.script), read="tsql")
    assert [one.sql("tsql") for one in parsed if isinstance(one, exp.Command)] == []
    with pytest.raises(InvalidInput, match="'0d' is no age"):
        await preview("data_cleanup", {**told, "older_than": "0d"}, server)
