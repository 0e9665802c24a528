"""temp_table_cleanup: left-over tables are seen, put in quarantine, and dropped, each only when it is time."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sqlglot
from sqlglot import exp

from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import InvalidInput
from hourhand.operations import looking
from hourhand.operations.cleaning_tables import quarantine_name
from operations.asking import count, execute, fetch, quoted, value
from operations.killing import run_and_kill
from operations.running import Interrupted, desk, preview, run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from operations.running import Ran

GOLDEN = Path(__file__).parent / "golden"
TOLD: Mapping[str, Any] = {"name_pattern": "tmp_*", "min_age": "14d", "quarantine_hours": 48}


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a way to let days pass: the data source's clock is the one that is asked."""

    def let_pass(days: int) -> None:
        class Later(dt.datetime):
            @classmethod
            def now(cls, tz: dt.tzinfo | None = None) -> Any:
                return dt.datetime.now(tz) + dt.timedelta(days=days)

        monkeypatch.setattr(looking, "datetime", Later)
        clocks = looking._CLOCKS  # noqa: SLF001 - nothing else knows them
        monkeypatch.setitem(clocks, Dialect.POSTGRESQL, f"SELECT now() + interval '{days} days' AS now")
        clock = f"SELECT UTC_TIMESTAMP(6) + INTERVAL {days} DAY AS now"
        monkeypatch.setitem(clocks, Dialect.MARIADB, clock)

    return let_pass


async def make(source: Address, *names: str) -> None:
    for name in names:
        table = quoted(source.dialect, name)
        await execute(source, f"CREATE TABLE {table} (id integer PRIMARY KEY)", f"INSERT INTO {table} VALUES (7)")


async def names(source: Address) -> set[str]:
    query = {
        Dialect.POSTGRESQL: "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
        Dialect.MARIADB: "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()",
        Dialect.SQLITE: "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'hourhand_stamps'",
    }[source.dialect]
    return {row[0] for row in await fetch(source, query)}


async def ran(source: Address, **more: Any) -> Ran:
    return await run("temp_table_cleanup", {**TOLD, **more}, {"source": source})


async def see(source: Address, later: Any, *tables: str) -> None:
    """Make tables, let them be seen, and be old enough."""
    await make(source, *tables)
    first = await ran(source)
    assert first.summary["stamped"] == (sorted(tables) if source.dialect is not Dialect.MARIADB else [])
    assert await names(source) == set(tables)
    later(20)


async def test_a_table_is_seen_then_renamed_then_dropped(source: Address, later: Any) -> None:
    await make(source, "orders", "tmp_keep_me", "tmp_a", "tmp_b")
    first = await ran(source, exclude=["*keep*"])
    assert not first.summary["quarantined"]
    assert not first.summary["dropped"]
    assert await names(source) == {"orders", "tmp_keep_me", "tmp_a", "tmp_b"}

    later(13)
    assert not (await ran(source, exclude=["*keep*"])).summary["quarantined"]
    later(16)
    shown = await preview("temp_table_cleanup", {**TOLD, "exclude": ["*keep*"]}, {"source": source})
    assert "RENAME TO" in shown.script
    second = await ran(source, exclude=["*keep*"])
    moved = second.summary["quarantined"]
    assert set(moved) == {"tmp_a", "tmp_b"}
    assert all(to.startswith("_hh_q_2") and to.endswith(name) for name, to in moved.items())
    assert await names(source) == {"orders", "tmp_keep_me", *moved.values()}
    assert await count(source, quoted(source.dialect, moved["tmp_a"])) == 1

    later(17)
    assert not (await ran(source, exclude=["*keep*"])).summary["dropped"]
    later(19)
    other = await ran(source, name_pattern="other_*")
    assert not other.summary["dropped"]
    third = await ran(source, exclude=["*keep*"])
    assert sorted(third.summary["dropped"]) == sorted(moved.values())
    assert await names(source) == {"orders", "tmp_keep_me"}
    if source.dialect is Dialect.SQLITE:
        assert await count(source, "hourhand_stamps") == 0


async def test_undo_gives_the_names_back(source: Address, later: Any) -> None:
    await see(source, later, "tmp_a")
    if source.dialect is Dialect.POSTGRESQL:
        await execute(source, "COMMENT ON TABLE tmp_a IS 'it''s mine\n[hourhand: first seen 2001-01-01T00Z]'")
    elif source.dialect is Dialect.MARIADB:
        await execute(source, "ALTER TABLE tmp_a COMMENT = 'it''s mine'")
    moved = await ran(source)
    assert "tmp_a" not in await names(source)
    undo = moved.summary["undo"]
    assert undo["kind"] == "custom"
    await run(undo["kind"], undo["config"], {"source": source})
    assert await names(source) == {"tmp_a"}
    if source.dialect is Dialect.POSTGRESQL:
        assert await value(source, "SELECT obj_description('tmp_a'::regclass)") == "it's mine"
    elif source.dialect is Dialect.MARIADB:
        query = "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
        assert await value(source, query) == "it's mine"
    else:
        assert await count(source, "hourhand_stamps") == 0


async def test_a_table_that_is_made_anew_is_young_again(source: Address, later: Any) -> None:
    await see(source, later, "tmp_a", "tmp_b")
    await execute(source, "DROP TABLE tmp_a")
    if source.dialect is Dialect.SQLITE:
        # Its stamps are by name, so that somebody must have seen that the table was gone.
        assert "DELETE FROM hourhand_stamps" in (await preview("temp_table_cleanup", TOLD, {"source": source})).script
        assert set((await ran(source)).summary["quarantined"]) == {"tmp_b"}
    elif source.dialect is Dialect.MARIADB:
        later(0)
    await make(source, "tmp_a")
    assert "tmp_a" not in (await ran(source)).summary["quarantined"]
    assert "tmp_a" in await names(source)


async def test_names_that_need_quoting(source: Address, later: Any) -> None:
    hostile = ["tmp_it's", 'tmp_"q"', "tmp_`b`", "tmp_100% 中文", "tmp_ select;--", "tmp_\\"]
    await see(source, later, *hostile)
    moved = (await ran(source)).summary["quarantined"]
    assert set(moved) == set(hostile)
    assert await names(source) == set(moved.values())
    later(30)
    assert sorted((await ran(source)).summary["dropped"]) == sorted(moved.values())
    assert await names(source) == set()


async def test_every_end_is_gone_on_from(source: Address, later: Any) -> None:
    await see(source, later, "tmp_a", "tmp_b")
    checkpoint, stops = None, 0
    for stop_at in range(1, 6):
        for lose_last in (False, True):
            stops += 1
            try:
                done = await run(
                    "temp_table_cleanup", TOLD, {"source": source},
                    checkpoint=checkpoint, stop_at=min(stop_at, 1), lose_last=lose_last,
                )  # fmt: skip
            except Interrupted as end:
                checkpoint = end.checkpoint
                continue
            break
    done = await run("temp_table_cleanup", TOLD, {"source": source}, checkpoint=checkpoint)
    assert stops > 2
    assert set(done.summary["quarantined"]) == {"tmp_a", "tmp_b"}
    assert await names(source) == set(done.summary["quarantined"].values())


async def test_a_table_of_the_same_name_survives_going_on(pg_source: Address, later: Any) -> None:
    await see(pg_source, later, "tmp_a")
    with pytest.raises(Interrupted) as first:
        await run("temp_table_cleanup", TOLD, {"source": pg_source}, stop_at=2, lose_last=True)
    assert "tmp_a" not in await names(pg_source)
    await make(pg_source, "tmp_a")  # by the application, after the rename that no checkpoint knows of
    done = await run("temp_table_cleanup", TOLD, {"source": pg_source}, checkpoint=first.value.checkpoint)
    assert await names(pg_source) == {"tmp_a", *done.summary["quarantined"].values()}
    assert await count(pg_source, "tmp_a") == 1


async def test_a_killed_process_is_gone_on_with(sqlite_source: Address, tmp_path: Path) -> None:
    await make(sqlite_source, "tmp_a", "tmp_b", "tmp_c")
    await ran(sqlite_source)
    await execute(sqlite_source, "UPDATE hourhand_stamps SET stamp = '[hourhand: first seen 2001-01-01T00Z]'")
    dead = await run_and_kill(
        "temp_table_cleanup", TOLD, {"source": sqlite_source}, tmp_path, when=lambda told: told.checkpoints >= 1
    )
    assert dead.killed
    done = await run("temp_table_cleanup", TOLD, {"source": sqlite_source}, checkpoint=dead.checkpoint)
    assert set(done.summary["quarantined"]) == {"tmp_a", "tmp_b", "tmp_c"}
    assert await names(sqlite_source) == set(done.summary["quarantined"].values())


async def test_who_depends_on_a_table_keeps_it(source: Address, later: Any) -> None:
    await see(source, later, "tmp_a", "tmp_b")
    await execute(
        source,
        "CREATE VIEW report AS SELECT id FROM tmp_a",
        "CREATE TABLE child (id integer PRIMARY KEY, b integer, FOREIGN KEY (b) REFERENCES tmp_b (id))",
    )
    views, keys = (await preview("temp_table_cleanup", TOLD, {"source": source})).plan.unmet
    assert "use tmp_a (by " in views.detail
    assert "report" in views.detail
    assert "refer to tmp_b (by " in keys.detail
    assert "exclude the tables" in keys.detail
    assert "views: views or triggers use tmp_a" in (await ran(source)).error
    assert {"tmp_a", "tmp_b"} <= await names(source)
    assert not (await ran(source, exclude=["tmp_a", "tmp_b"])).summary["quarantined"]


async def test_partitions_are_somebodys(pg_source: Address) -> None:
    await execute(
        pg_source,
        "CREATE TABLE tmp_parent (n integer) PARTITION BY RANGE (n)",
        "CREATE TABLE tmp_part PARTITION OF tmp_parent FOR VALUES FROM (1) TO (2)",
        "CREATE TABLE tmp_old (n integer)",
        "CREATE TABLE tmp_child () INHERITS (tmp_old)",
        "CREATE TABLE tmp_alone (n integer)",
    )
    assert (await ran(pg_source)).summary["stamped"] == ["tmp_alone"]


async def test_what_others_own_is_told(pg_source: Address) -> None:
    await make(pg_source, "tmp_a")
    await execute(pg_source, "DROP ROLE IF EXISTS cleaner", "CREATE ROLE cleaner LOGIN")
    try:
        cleaner = Address(
            dialect=pg_source.dialect, host=pg_source.host, port=pg_source.port, database=pg_source.database,
            username="cleaner",
        )  # fmt: skip
        (unmet,) = (await preview("temp_table_cleanup", TOLD, {"source": cleaner})).plan.unmet
        assert unmet.detail == "tmp_a belong to another role: sign in as their owner, or exclude them"
    finally:
        await execute(pg_source, "DROP ROLE cleaner")


def test_long_names_stay_apart() -> None:
    at = dt.datetime(2026, 1, 31, 23, tzinfo=dt.UTC)
    made = [quarantine_name(Dialect.POSTGRESQL, f"tmp_{'ä' * 25}{end}", at) for end in "ab"]
    assert len(set(made)) == 2
    assert all(len(one.encode()) <= 63 and one.startswith("_hh_q_2026013123_tmp_ä") for one in made)
    assert quarantine_name(Dialect.SQLITE, "x" * 100, at) == "_hh_q_2026013123_" + "x" * 100


async def test_what_cannot_be_planned_is_refused(sqlite_source: Address) -> None:
    for told, message in (
        ({"name_pattern": "*"}, r"'\*' matches too much: give at least 3 signs"),
        ({"name_pattern": "a?*"}, "matches too much"),
        ({"min_age": "0d"}, "'0d' is no age"),
        ({"min_age": "soon"}, "has not the form"),
        ({"quarantine_hours": 0}, "greater than or equal to 1"),
        ({"table": "x"}, "is not a field of temp_table_cleanup"),
    ):
        with pytest.raises(InvalidInput, match=message):
            await preview("temp_table_cleanup", {**TOLD, **told}, {"source": sqlite_source})


async def test_a_plan_is_the_same_each_time(source: Address) -> None:
    await make(source, "tmp_a")
    kind, read = desk({"source": source}).read("temp_table_cleanup", {"data_source": "source", **TOLD})

    async def address(_: str) -> Address:
        return source

    async with looking.looking(address, "source") as look:
        state = await kind.inspect(read, look)
        assert kind.plan(read, state) == kind.plan(read, state) == kind.plan(read, await kind.inspect(read, look))


async def test_the_script_for_sql_server() -> None:
    server = {"mssql": Address(dialect=Dialect.SQLSERVER, database="shop")}
    told = {**TOLD, "name_pattern": "tmp_[!x]?%*", "exclude": ["tmp_it's[1*"], "schema": "work"}
    shown = await preview("temp_table_cleanup", told, server)
    assert shown.script == (GOLDEN / "temp_table_cleanup.sql").read_text()
    parsed = sqlglot.parse(shown.script, read="tsql")
    commands = [one.sql("tsql").split()[0] for one in parsed if isinstance(one, exp.Command)]
    assert commands == ["PRINT", "PRINT"]
