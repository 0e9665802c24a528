"""archive_bulk_copy: rows arrive exactly once, whichever engine they come from and go to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from hourhand.model.data_source import Dialect
from hourhand.operations.catalog import read_table
from hourhand.operations.sessions import open_session
from hourhand.operations.transfer.checksum import checksum, compared_columns
from operations.asking import count, execute, fetch, postgres_connection, quoted
from operations.running import preview, run
from operations.tables import columns, make_orders

if TYPE_CHECKING:
    from hourhand.model.data_source import Address

KIND = "archive_bulk_copy"
MOVE = {"table": "orders", "delete_source": True, "create_target": True, "chunk_rows": 70, "chunk_target_ms": 600_000}
WAYS = [f"{one}-{other}" for one in ("pg", "maria", "sqlite") for other in ("pg", "maria", "sqlite")]
_LEFT = {
    Dialect.POSTGRESQL: "SELECT relname FROM pg_class WHERE relname LIKE '\\_hh\\_%'",
    Dialect.MARIADB: "SELECT table_name FROM information_schema.tables "
    "WHERE table_schema = DATABASE() AND table_name LIKE '\\_hh\\_%'",
    Dialect.SQLITE: "SELECT name FROM sqlite_master WHERE name LIKE '\\_hh\\_%' ESCAPE '\\'",
}


async def leftovers(*sources: Address) -> list[str]:
    """Return what begins with `_hh_`."""
    return [row[0] for source in sources for row in await fetch(source, _LEFT[source.dialect])]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> tuple[Address, Address]:
    """Return a source and a target, once for each pair of dialects."""
    one, _, other = request.param.partition("-")
    return request.getfixturevalue(f"{one}_source"), request.getfixturevalue(f"{other}_target")


async def test_rows_are_moved_between_any_two(way: tuple[Address, Address]) -> None:
    source, target = way
    await make_orders(source, rows=200, partitioned=False)
    if source.dialect is Dialect.SQLITE:  # whose text says nothing of times
        made = columns(target.dialect)
        await execute(target, f"CREATE TABLE orders ({made}, PRIMARY KEY (id, created_at))")
    before = await fetch(source, f"SELECT id, note FROM {'orders'} WHERE quantity < -350 ORDER BY id")
    sources = {"source": source, "target": target}
    ran = await run(KIND, {**MOVE, "target_data_source": "target", "where": "quantity < -350"}, sources)
    assert ran.summary["rows"] == 149
    assert ran.summary["left"] == 0
    assert await count(source, "orders") == 51
    assert await fetch(target, "SELECT id, note FROM orders ORDER BY id") == before
    assert await leftovers(source, target) == []


async def test_rows_are_copied_within_one(source: Address) -> None:
    await make_orders(source, rows=200, partitioned=False)
    config = {**MOVE, "delete_source": False, "target_table": 'old "orders" `of` %s [us] 时'}
    ran = await run(KIND, config, {"source": source})
    assert ran.summary["rows"] == 200
    assert await count(source, "orders") == 200
    shown = await preview(KIND, {**config, "delete_source": True}, {"source": source})
    assert [one.name for one in shown.plan.unmet] == ["target rows"]
    ran = await run(KIND, {**config, "delete_source": True, "on_conflict": "replace"}, {"source": source})
    assert ran.summary["rows"] == 200
    assert await count(source, "orders") == 0
    assert await count(source, quoted(source.dialect, str(config["target_table"]))) == 200
    assert await leftovers(source) == []


@pytest.mark.parametrize("way", ["pg-maria", "maria-pg"])
async def test_hostile_names_and_values_arrive_as_they_are(request: pytest.FixtureRequest, way: str) -> None:
    one, _, other = way.partition("-")
    source, target = request.getfixturevalue(f"{one}_source"), request.getfixturevalue(f"{other}_target")
    table, key, text = 'a "b" `c` %s $1', "select %d", "naïve 时 $2"
    for address in (source, target):
        names = [quoted(address.dialect, name) for name in (table, key, text)]
        await execute(address, f"CREATE TABLE {names[0]} ({names[1]} INT NOT NULL PRIMARY KEY, {names[2]} VARCHAR(50))")
    names = [quoted(source.dialect, name) for name in (table, key, text)]
    values = ["tab\tnew\nline\rret", "\\N", "\\", "\\\\t", "", "\f\v\b", "it''s $1 %s", "中文 🕰"]
    rows = ", ".join(f"({n}, {_literal(source, value)})" for n, value in enumerate(values))
    await execute(source, f"INSERT INTO {names[0]} VALUES {rows}, (99, NULL)")
    before = await fetch(source, f"SELECT * FROM {names[0]} ORDER BY 1")
    ran = await run(
        KIND, {"table": table, "target_data_source": "target", "delete_source": True, "chunk_rows": 3,
               "where": f"{names[2]} IS NULL OR {names[2]} <> '%s $1'"},
        {"source": source, "target": target},
    )  # fmt: skip
    assert ran.summary["rows"] == 9
    assert await fetch(target, f"SELECT * FROM {quoted(target.dialect, table)} ORDER BY 1") == before


def _literal(address: Address, value: str) -> str:
    value = value.replace("''", "'").replace("'", "''")
    return "'" + (value.replace("\\", "\\\\") if address.dialect is Dialect.MARIADB else value) + "'"


async def test_a_target_that_is_made_has_the_same_rows_and_indexes(pg_source: Address, pg_target: Address) -> None:
    await make_orders(pg_source, rows=300)
    await run(KIND, {**MOVE, "delete_source": False, "target_data_source": "target"},
              {"source": pg_source, "target": pg_target})  # fmt: skip
    one, other = await open_session(pg_source), await open_session(pg_target)
    try:
        mine, theirs = await read_table(one, None, "orders"), await read_table(other, None, "orders")
        both = compared_columns(mine, theirs)
        assert await checksum(one, mine.sql, both, side=0) == await checksum(other, theirs.sql, both, side=1)
        assert [column.type for column in mine.columns] == [column.type for column in theirs.columns]
        assert {index.columns for index in mine.indexes} == {index.columns for index in theirs.indexes}
    finally:
        await one.close()
        await other.close()


async def test_what_differs_is_named_and_nothing_is_changed(pg_source: Address, pg_target: Address) -> None:
    await execute(pg_source, "CREATE TABLE t (id int PRIMARY KEY, v text)",
                  "INSERT INTO t SELECT n, 'v' || n FROM generate_series(1, 100) n")  # fmt: skip
    await execute(pg_target, "CREATE TABLE t (id int PRIMARY KEY, v text)",
                  "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS "
                  "'BEGIN IF NEW.id = 42 THEN NEW.v := NULL; END IF; RETURN NEW; END'",
                  "CREATE TRIGGER f BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()")  # fmt: skip
    sources = {"source": pg_source, "target": pg_target}
    config = {"table": "t", "target_data_source": "target", "delete_source": True}
    shown = await preview(KIND, config, sources)
    assert "the target has triggers" in shown.script
    ran = await run(KIND, config, sources)
    assert "100 rows on both sides, whose values differ; in the rows with id after 41 up to 42" in ran.error
    assert await count(pg_source, "t") == 100
    assert await count(pg_target, "t") == 0


async def test_values_that_the_target_would_cut_are_refused(maria_source: Address, maria_target: Address) -> None:
    """LOAD DATA LOCAL would only warn, and go on."""
    await execute(
        maria_source, "CREATE TABLE t (id INT PRIMARY KEY, v TEXT)", "INSERT INTO t VALUES (1, REPEAT('x', 50))"
    )
    await execute(maria_target, "CREATE TABLE t (id INT PRIMARY KEY, v TEXT, CHECK (id > 1))")
    ran = await run(KIND, {"table": "t", "target_data_source": "target", "delete_source": True, "verify": "none"},
                    {"source": maria_source, "target": maria_target})  # fmt: skip
    assert "CONSTRAINT" in ran.error
    assert await count(maria_source, "t") == 1


async def test_rows_inserted_behind_the_cursor_are_moved_too(pg_source: Address, pg_target: Address) -> None:
    await execute(pg_source, "CREATE TABLE t (id int PRIMARY KEY, v text)",
                  "INSERT INTO t SELECT n * 2, 'v' FROM generate_series(1, 200) n",
                  # Each chunk that is deleted has a row inserted behind it, as if by another session.
                  "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS "
                  "'BEGIN IF OLD.id % 100 = 0 THEN INSERT INTO t VALUES (OLD.id - 51, ''late''); END IF; "
                  "RETURN OLD; END'",
                  "CREATE TRIGGER f AFTER DELETE ON t FOR EACH ROW EXECUTE FUNCTION f()")  # fmt: skip
    ran = await run(KIND, {"table": "t", "target_data_source": "target", "delete_source": True, "create_target": True,
                           "chunk_rows": 20}, {"source": pg_source, "target": pg_target})  # fmt: skip
    assert ran.summary["rows"] == 204
    assert ran.summary["rounds"] == 3
    assert await count(pg_target, "t") == 204
    assert await count(pg_source, "t") == 0


async def test_rows_that_others_change_meanwhile_are_moved_as_they_then_are(
    pg_source: Address, pg_target: Address
) -> None:
    await execute(pg_source, "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL)",
                  "INSERT INTO t SELECT n, 0 FROM generate_series(1, 300) n")  # fmt: skip
    done = asyncio.Event()

    async def write() -> int:
        added = 0
        async with postgres_connection(pg_source) as connection:
            while not done.is_set():
                for n in range(1, 301, 7):
                    status = await connection.execute("UPDATE t SET v = v + 1 WHERE id = $1", n)
                    added += int(status.rpartition(" ")[2])
                await asyncio.sleep(0)
        return added

    writing = asyncio.create_task(write())
    try:
        ran = await run(KIND, {"table": "t", "target_data_source": "target", "delete_source": True,
                               "create_target": True, "chunk_rows": 10, "chunk_target_ms": 600_000,
                               "lock_retries": 1000},
                        {"source": pg_source, "target": pg_target})  # fmt: skip
    finally:
        done.set()
        added = await writing
    assert ran.summary["rows"] == 300
    assert await fetch(pg_target, "SELECT count(*), sum(v) FROM t") == [(300, added)]


async def test_a_cancel_leaves_each_row_on_one_side(pg_source: Address, pg_target: Address) -> None:
    await execute(pg_source, "CREATE TABLE t (id int PRIMARY KEY, v text)",
                  "INSERT INTO t SELECT n, 'v' FROM generate_series(1, 20000) n")  # fmt: skip
    sources = {"source": pg_source, "target": pg_target}
    config = {"table": "t", "target_data_source": "target", "delete_source": True, "create_target": True,
              "chunk_rows": 20, "chunk_target_ms": 10}  # fmt: skip
    with pytest.raises(asyncio.CancelledError):
        await run(KIND, config, sources, cancel_after=14)
    here = {row[0] for row in await fetch(pg_source, "SELECT id FROM t")}
    there = {row[0] for row in await fetch(pg_target, "SELECT id FROM t")}
    assert here
    assert there
    assert not here & there
    assert here | there == set(range(1, 20_001))
    ran = await run(KIND, config, sources)  # another one, which finds the notes of this one
    assert ran.summary["rows"] == len(here)
    assert await count(pg_target, "t") == 20_000
    assert await leftovers(pg_source, pg_target) == []


async def test_a_move_is_taken_back_by_its_undo(pg_source: Address, maria_target: Address) -> None:
    await execute(
        pg_source, "CREATE TABLE t (id int PRIMARY KEY, v varchar(10))", "INSERT INTO t VALUES (1, 'a'), (2, NULL)"
    )
    sources = {"source": pg_source, "target": maria_target}
    ran = await run(KIND, {"table": "t", "target_data_source": "target", "delete_source": True, "create_target": True},
                    sources)  # fmt: skip
    undo = ran.summary["undo"]
    assert undo["kind"] == KIND
    assert (await run(KIND, undo["config"], sources)).summary["rows"] == 2
    assert await fetch(pg_source, "SELECT id, v FROM t ORDER BY id") == [(1, "a"), (2, None)]
    assert await count(maria_target, "t") == 0
