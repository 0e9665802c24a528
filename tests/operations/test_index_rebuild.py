"""index_rebuild: indexes are built anew and smaller; what an interrupted rebuild leaves is cleared away."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import InvalidInput
from operations.asking import execute, fetch, postgres_connection, value
from operations.killing import run_and_kill
from operations.running import Interrupted, preview, run
from operations.tables import make_orders

GOLDEN = Path(__file__).parent / "golden" / "index_rebuild.sql"
SQL_SERVER = Address(dialect=Dialect.SQLSERVER, host="db.example.com", database="shop")
HOSTILE = 'index "by" `%s` 中\'x'
INVALID = "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE NOT i.indisvalid ORDER BY 1"


async def bloated(source: Address) -> None:
    """A table of which nine rows in ten are gone; `full` is made afterwards, so that it holds nothing in vain."""
    await execute(
        source,
        "CREATE TABLE worn (id bigint PRIMARY KEY, n bigint NOT NULL, note text)",
        "INSERT INTO worn SELECT i, i * 7919 % 20011, 'row ' || i FROM generate_series(1, 20000) i",
        "CREATE INDEX thin ON worn (n)",
        "DELETE FROM worn WHERE id % 10 <> 0",
        "VACUUM ANALYZE worn",
        'CREATE INDEX "full" ON worn (n)',
        "CREATE INDEX odd ON worn USING hash (n)",
        "ANALYZE worn",
    )


async def filenode(source: Address, index: str) -> int:
    return int(await value(source, f"SELECT pg_relation_filenode('{index}'::regclass)"))


async def test_only_what_is_bloated_is_rebuilt(pg_source: Address) -> None:
    await bloated(pg_source)
    config = {"table": "worn", "min_bloat_pct": 50}
    shown = await preview("index_rebuild", config, {"source": pg_source})
    assert [step.name for step in shown.plan.steps][:-1] == ["rebuild public.thin", "rebuild public.worn_pkey"]
    assert shown.impact.disk_bytes == await value(
        pg_source, "SELECT pg_relation_size('thin') + pg_relation_size('worn_pkey')"
    )
    assert any("cannot be told: odd" in note for note in shown.plan.notes)
    assert (await preview("index_rebuild", config, {"source": pg_source})).plan == shown.plan
    kept = await filenode(pg_source, '"full"')
    ran = await run("index_rebuild", config, {"source": pg_source}, args={"plan_hash": shown.plan_hash})
    for one in ran.summary["indexes"]:
        assert one["bytes_after"] < one["bytes_before"] / 4
    assert await filenode(pg_source, '"full"') == kept
    again = await run("index_rebuild", config, {"source": pg_source})
    assert again.summary == {"indexes": [], "bytes_freed": None, "left": [], "plan_hash": again.summary["plan_hash"]}


async def test_each_partition_has_its_own_step(pg_source: Address) -> None:
    await make_orders(pg_source, rows=400, months=3)
    config = {"table": "orders", "indexes": ["orders_pkey"]}
    ran = await run("index_rebuild", config, {"source": pg_source})
    assert len(ran.summary["indexes"]) == 3
    assert await fetch(pg_source, INVALID) == []
    assert await value(pg_source, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'orders_pkey'::regclass")


@pytest.mark.parametrize("concurrently", [True, False])
async def test_every_index_by_any_name(source: Address, *, concurrently: bool) -> None:
    mark = "`" if source.dialect is Dialect.MARIADB else '"'
    name = f"{mark}{HOSTILE.replace(mark, mark * 2)}{mark}"
    await execute(
        source,
        f"CREATE TABLE {name} (id integer PRIMARY KEY, n integer)",
        f"INSERT INTO {name} VALUES (1, 2), (2, 3)",
        f"CREATE INDEX {name[:-1]}2{mark} ON {name} (n)",
    )
    config = {"table": HOSTILE, "indexes": [f"{HOSTILE}2"], "concurrently": concurrently}
    ran = await run("index_rebuild", config, {"source": source})
    assert len(ran.summary["indexes"]) == 1
    whole = {"table": HOSTILE, "min_bloat_pct": 0, "concurrently": concurrently}
    assert (await run("index_rebuild", whole, {"source": source})).summary["left"] == []


async def test_what_is_lost_after_any_statement_is_gone_on_with(source: Address) -> None:
    await execute(source, "CREATE TABLE worn (id integer PRIMARY KEY, n integer)", "CREATE INDEX one ON worn (n)")
    interrupted = 0
    for stop_after in range(1, 5):
        try:
            await run("index_rebuild", {"table": "worn", "min_bloat_pct": 0}, {"source": source}, stop_after=stop_after)
        except Interrupted as lost:
            interrupted += 1
            again = {"table": "worn", "min_bloat_pct": 0}
            await run("index_rebuild", again, {"source": source}, checkpoint=lost.checkpoint)
    assert interrupted == (2 if source.dialect is Dialect.POSTGRESQL else 1)


async def test_a_killed_rebuild_leaves_nothing_once_it_is_gone_on_with(pg_source: Address, tmp_path: Path) -> None:
    await bloated(pg_source)
    config = {"table": "worn", "indexes": ["thin"]}
    before = await filenode(pg_source, "thin")
    async with postgres_connection(pg_source) as other, other.transaction(isolation="repeatable_read"):
        await other.fetch("SELECT count(*) FROM worn")
        await other.execute("UPDATE worn SET n = n WHERE id = 10")  # a rebuild waits for writers to end
        dead = await run_and_kill(
            "index_rebuild", config, {"source": pg_source}, tmp_path,
            when=lambda told: "waiting for writers" in (told.line or ""),
        )  # fmt: skip
        assert dead.killed
        assert any("held up by pid" in line for line in dead.lines)
        await _until_nobody_rebuilds(pg_source)
        assert await fetch(pg_source, INVALID) == [("thin_ccnew",)]
    await execute(pg_source, "CREATE INDEX strange ON worn (note)")
    await execute(pg_source, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'strange'::regclass")
    ran = await run("index_rebuild", config, {"source": pg_source}, checkpoint=dead.checkpoint)
    assert any("drops thin_ccnew" in line for line in ran.lines)
    assert await fetch(pg_source, INVALID) == [("strange",)]  # somebody else's
    assert await filenode(pg_source, "thin") != before


async def _until_nobody_rebuilds(source: Address) -> None:
    """The server notices within seconds that nobody waits for its statement any more."""
    while await value(source, "SELECT count(*) FROM pg_stat_progress_create_index"):
        await asyncio.sleep(0.1)


async def test_leftovers_from_before_are_shown_in_the_plan(pg_source: Address) -> None:
    await bloated(pg_source)
    await execute(
        pg_source,
        "CREATE INDEX thin_ccnew1 ON worn (n)",
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'thin_ccnew1'::regclass",
    )
    shown = await preview("index_rebuild", {"table": "worn", "indexes": ["thin"]}, {"source": pg_source})
    assert 'DROP INDEX CONCURRENTLY IF EXISTS "public"."thin_ccnew1"' in shown.script
    await run("index_rebuild", {"table": "worn", "indexes": ["thin"]}, {"source": pg_source})
    assert await fetch(pg_source, INVALID) == []


async def test_a_cancelled_rebuild_leaves_the_index_as_it_was(pg_source: Address) -> None:
    await bloated(pg_source)
    before = await filenode(pg_source, "thin")
    config = {"table": "worn", "indexes": ["thin"]}
    async with postgres_connection(pg_source) as other, other.transaction():
        await other.execute("UPDATE worn SET n = n WHERE id = 10")
        running = asyncio.ensure_future(run("index_rebuild", config, {"source": pg_source}))
        while not await value(pg_source, "SELECT count(*) FROM pg_stat_progress_create_index"):
            await asyncio.sleep(0.05)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    await _until_nobody_rebuilds(pg_source)
    assert await filenode(pg_source, "thin") == before
    assert await value(pg_source, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'thin'::regclass")
    await run("index_rebuild", config, {"source": pg_source})
    assert await fetch(pg_source, INVALID) == []


async def test_no_other_index_is_begun_when_the_time_is_over(
    pg_source: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bloated(pg_source)
    hours = iter(range(0, 360_000, 3_600))
    monkeypatch.setattr("hourhand.operations.kinds.index_rebuild.time.time", lambda: float(next(hours)))
    config = {"table": "worn", "indexes": ["thin", "worn_pkey", "full"], "max_duration_minutes": 90}
    ran = await run("index_rebuild", config, {"source": pg_source})
    assert [one["index"] for one in ran.summary["indexes"]] == ["public.full"]
    assert ran.summary["left"] == ["public.thin", "public.worn_pkey"]


async def test_what_postgresql_does_not_do_concurrently_is_refused(pg_source: Address) -> None:
    await execute(pg_source, "CREATE TABLE rooms (during int4range, EXCLUDE USING gist (during WITH &&))")
    named: dict[str, Any] = {"table": "rooms", "indexes": ["rooms_during_excl"]}
    with pytest.raises(InvalidInput, match=r"config.indexes: rooms_during_excl belongs to an exclusion constraint"):
        await preview("index_rebuild", named, {"source": pg_source})
    shown = await preview("index_rebuild", {"table": "rooms", "min_bloat_pct": 0}, {"source": pg_source})
    assert any("exclusion constraints: rooms_during_excl" in note for note in shown.plan.notes)
    ran = await run("index_rebuild", {**named, "concurrently": False}, {"source": pg_source})
    assert len(ran.summary["indexes"]) == 1
    system = {"schema": "pg_catalog", "table": "pg_class", "min_bloat_pct": 0}
    with pytest.raises(InvalidInput, match=r"config.concurrently: pg_catalog.pg_class is a system table"):
        await preview("index_rebuild", system, {"source": pg_source})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "config.indexes: give the names of indexes, or min_bloat_pct"),
        ({"indexes": ["nope"]}, "config.indexes: .*has no index 'nope'; there are .*one"),
        ({"indexes": ["one"], "min_bloat_pct": 5}, "config.min_bloat_pct: give either"),
        ({"indexes": ["one"], "table": "wron"}, "config.table: there is no table .*did you mean"),
    ],
)
async def test_bad_input(source: Address, more: dict[str, Any], said: str) -> None:
    await execute(source, "CREATE TABLE worn (id integer PRIMARY KEY, n integer)", "CREATE INDEX one ON worn (n)")
    with pytest.raises(InvalidInput, match=said):
        await preview("index_rebuild", {"table": "worn", **more}, {"source": source})


async def test_sqlite_does_not_tell_how_full_an_index_is(sqlite_source: Address) -> None:
    await execute(sqlite_source, "CREATE TABLE worn (id integer PRIMARY KEY, n integer)")
    with pytest.raises(InvalidInput, match=r"config.min_bloat_pct: SQLite does not tell"):
        await preview("index_rebuild", {"table": "worn", "min_bloat_pct": 5}, {"source": sqlite_source})


async def test_mariadb_rebuilds_the_whole_table_and_says_so(maria_source: Address) -> None:
    await execute(maria_source, "CREATE TABLE worn (id int PRIMARY KEY, note text, FULLTEXT KEY words (note))")
    shown = await preview("index_rebuild", {"table": "worn", "indexes": ["PRIMARY"]}, {"source": maria_source})
    assert "LOCK=SHARED" in shown.script
    assert any("nobody can write meanwhile, for the sake of words" in note for note in shown.plan.notes)
    assert any("rows and all indexes" in note for note in shown.plan.notes)
    await run("index_rebuild", {"table": "worn", "indexes": ["PRIMARY"]}, {"source": maria_source})
    await execute(maria_source, "CREATE TABLE old (id int PRIMARY KEY) ENGINE=MyISAM")
    with pytest.raises(InvalidInput, match=r"config.table: .*old is a table of MyISAM"):
        await preview("index_rebuild", {"table": "old", "min_bloat_pct": 0}, {"source": maria_source})
    little = await preview("index_rebuild", {"table": "worn", "min_bloat_pct": 99}, {"source": maria_source})
    assert little.plan.steps == ()


async def test_the_scripts_for_sql_server() -> None:
    named = {"table": "order]s", "indexes": ["by 'day'", "x]y"], "max_duration_minutes": 60}
    several = [named, {"table": "order]s", "min_bloat_pct": 30}, {**named, "concurrently": False}]
    scripts = [(await preview("index_rebuild", one, {"source": SQL_SERVER})).script for one in several]
    assert "\n".join(scripts) == GOLDEN.read_text()
    for script in scripts:
        parsed = [one for one in sqlglot.parse(script, read="tsql") if one is not None]
        assert parsed
        # ALTER INDEX is taken as it is.
        assert {one.this for one in parsed if isinstance(one, exp.Command)} <= {"ALTER"}
