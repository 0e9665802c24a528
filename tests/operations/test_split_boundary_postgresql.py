"""Splits and merges on PostgreSQL: online, by the catalog alone, interrupted, refused."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from hourhand.model.errors import InvalidInput
from operations.asking import count, execute, fetch, postgres_connection, value
from operations.boundaries import (
    Fault,
    bounds,
    content,
    definition,
    interrupted_everywhere,
    left,
    make_events,
    make_rich,
)
from operations.killing import run_and_kill
from operations.running import Interrupted, preview, run

if TYPE_CHECKING:
    from pathlib import Path

    from hourhand.model.data_source import Address
    from postgres import Cluster

ONE = 'shop."it\'s ""one"""'
RICH = {"schema": "shop", "table": "Or ders", "boundary": "2026-02-01 00:00:00+00", "chunk_rows": 90}
SPLIT = {"table": "events", "boundary": 50, "chunk_rows": 10, "keep_old_hours": 0}
MERGE = {"table": "events", "boundary": 100, "chunk_rows": 10, "keep_old_hours": 0}


@pytest.mark.parametrize("rest", [False, True])
async def test_a_partition_with_everything_is_split_online_and_merged_again(pg_source: Address, rest: bool) -> None:  # noqa: FBT001
    await make_rich(pg_source, rest=rest)
    sources = {"source": pg_source}
    before, like, bound = await content(pg_source), await definition(pg_source, ONE), await bounds(pg_source)
    shown = await preview("split_boundary", RICH, sources)
    assert not shown.plan.unmet, shown.plan.unmet
    assert shown.plan_hash == (await preview("split_boundary", RICH, sources)).plan_hash
    ran = await run("split_boundary", RICH, sources, args={"plan_hash": shown.plan_hash})
    assert sum(ran.summary["rows"].values()) == await count(pg_source, ONE) + await count(
        pg_source, 'shop."Or ders_2026_02"'
    )
    assert await content(pg_source) == before
    assert (await bounds(pg_source))["Or ders_2026_02"].startswith("FOR VALUES FROM ('2026-02-01 00:00:00+00')")
    assert await definition(pg_source, ONE) == like
    assert await definition(pg_source, 'shop."Or ders_2026_02"') == like
    (kept,) = ran.summary["kept"]
    assert kept in await left(pg_source)
    assert not [one for one in await left(pg_source) if await _attached(pg_source, one)]
    undone = await run("merge_boundary", ran.summary["undo"]["config"] | {"keep_old_hours": 0}, sources)
    assert undone.summary["undo"]["config"]["boundary"] == "2026-02-01 00:00:00+00"
    assert (await content(pg_source), await bounds(pg_source)) == (before, bound)
    assert await definition(pg_source, ONE) == like
    await execute(pg_source, 'INSERT INTO shop."Or ders" ("at") VALUES (\'2026-02-10\')')
    assert await value(pg_source, 'SELECT max(id) FROM shop."Or ders"') == 401


async def _attached(source: Address, name: str) -> bool:
    asked = f"SELECT count(*) FROM pg_class WHERE relname = '{name.replace(chr(39), chr(39) * 2)}' AND relispartition"
    return bool(await value(source, asked))


async def test_what_was_replaced_is_dropped_when_its_time_is_over(pg_source: Address) -> None:
    await make_events(pg_source)
    sources = {"source": pg_source}
    ran = await run("split_boundary", SPLIT | {"keep_old_hours": 5}, sources)
    (kept,) = ran.summary["kept"]
    assert (await preview("split_boundary", SPLIT | {"boundary": 20}, sources)).plan.notes
    again = await run("merge_boundary", MERGE | {"boundary": 50, "keep_old_hours": 5}, sources)
    assert again.summary["kept"]
    assert await count(pg_source, f'"{kept}"') == 30
    mark = await value(pg_source, f"SELECT obj_description('\"{kept}\"'::regclass)")
    past = mark.rpartition("until ")[0] + "until 2020-01-01 00:00:00+00"
    await execute(pg_source, f"COMMENT ON TABLE \"{kept}\" IS '{past}'")
    assert (await run("add_boundary", {"table": "events", "boundaries": [100]}, sources)).summary
    assert kept not in await left(pg_source)
    assert set(again.summary["kept"]) <= set(await left(pg_source))


async def test_rows_stay_right_while_others_write(pg_source: Address) -> None:
    await make_events(pg_source, rows=200)
    await execute(pg_source, "CREATE TABLE journal AS SELECT * FROM events", "ALTER TABLE journal ADD PRIMARY KEY (n)")
    ended = asyncio.Event()
    written = 0

    async def write() -> None:
        nonlocal written
        async with postgres_connection(pg_source) as connection:
            while not ended.is_set():
                step, number = written % 4, written * 37 % 200
                statements = [
                    "DELETE FROM {} WHERE n = $1",
                    "INSERT INTO {} VALUES ($1, 'new') ON CONFLICT DO NOTHING",
                    "UPDATE {} SET n = 199 - n WHERE n = $1 AND NOT EXISTS (SELECT FROM {} AS t WHERE t.n = 199 - $1)",
                    "UPDATE {} SET said = said || '.' WHERE n BETWEEN $1 AND $1 + 5",
                ]
                async with connection.transaction():
                    for table in ("events", "journal"):
                        await connection.execute(statements[step].format(table, table), number)
                written += 1

    writing = asyncio.ensure_future(write())
    try:
        for kind, config in (
            ("split_boundary", SPLIT),
            ("merge_boundary", MERGE),
            ("merge_boundary", MERGE | {"boundary": 50}),
        ):
            ran = await run(kind, config | {"chunk_rows": 7}, {"source": pg_source})
            assert ran.summary["verified"] == "hash"
    finally:
        ended.set()
        await writing
    assert written > 50
    assert await content(pg_source, "events") == await content(pg_source, "journal")
    assert list(await bounds(pg_source, "events")) == ["events_rest", "events_0"]
    assert await left(pg_source) == []


@pytest.mark.parametrize(("kind", "config", "every"), [
    ("split_boundary", SPLIT, 23),
    ("merge_boundary", MERGE, 23),
    ("split_boundary", SPLIT | {"boundary": 150, "strategy": "metadata"}, 7),
    ("merge_boundary", MERGE | {"strategy": "metadata"}, 7),
    *(pytest.param(*one, 1, marks=pytest.mark.chaos) for one in (
        ("split_boundary", SPLIT),
        ("merge_boundary", MERGE),
        ("split_boundary", SPLIT | {"boundary": 150, "strategy": "metadata"}),
        ("merge_boundary", MERGE | {"strategy": "metadata"}),
    )),
])  # fmt: skip
async def test_what_is_interrupted_anywhere_comes_to_the_same_end(
    pg_source: Address, monkeypatch: pytest.MonkeyPatch, kind: str, config: dict[str, Any], every: int
) -> None:
    async def again() -> None:
        await make_events(pg_source)
        if config.get("strategy") == "metadata":
            await execute(pg_source, "DELETE FROM events WHERE n >= 100 AND n " + (
                "< 150" if kind == "split_boundary" else "> 0"))  # fmt: skip

    assert await interrupted_everywhere(kind, config, pg_source, Fault(monkeypatch), again, every=every) > 4


@pytest.mark.parametrize("checkpoints", [1, 5])
async def test_what_is_killed_is_gone_on_with(pg_source: Address, tmp_path: Path, checkpoints: int) -> None:
    await make_events(pg_source, rows=200)
    before = await content(pg_source, "events")
    dead = await run_and_kill(
        "split_boundary", SPLIT, {"source": pg_source}, tmp_path, when=lambda told: told.checkpoints >= checkpoints
    )
    assert dead.killed
    ran = await run("split_boundary", SPLIT, {"source": pg_source}, checkpoint=dead.checkpoint)
    assert ran.summary["rows"] == {"events_0": 50, "events_50": 50}
    assert await content(pg_source, "events") == before
    assert await left(pg_source) == []


@pytest.mark.parametrize("report", [4, 9, 14])
async def test_what_is_cancelled_leaves_nothing(pg_source: Address, report: int) -> None:
    await make_events(pg_source)
    before = await content(pg_source, "events"), await bounds(pg_source, "events")
    with pytest.raises(asyncio.CancelledError):
        await run("split_boundary", SPLIT, {"source": pg_source}, cancel_after=report)
    assert (await content(pg_source, "events"), await bounds(pg_source, "events")) == before
    assert await left(pg_source) == []


async def test_what_was_given_up_without_a_word_is_cleared_away_by_the_next(pg_source: Address) -> None:
    await make_events(pg_source)
    with pytest.raises(Interrupted):
        await run("split_boundary", SPLIT, {"source": pg_source}, stop_at=6)
    assert await left(pg_source)
    ran = await run("merge_boundary", MERGE, {"source": pg_source})
    assert ran.summary["rows"] == {"events_0": 60}
    assert await left(pg_source) == []


async def test_a_difference_is_found_and_named(pg_source: Address) -> None:
    await make_events(pg_source)
    with pytest.raises(Interrupted) as first:
        await run("split_boundary", SPLIT, {"source": pg_source}, stop_at=8)
    shadows = [one for one in await left(pg_source) if one.startswith("_hh_events_0_")]
    for one in shadows:
        with suppress(asyncpg.PostgresError):
            await execute(pg_source, f'DELETE FROM "{one}" WHERE n = 20')
    ran = await run("split_boundary", SPLIT, {"source": pg_source}, checkpoint=first.value.checkpoint)
    assert "30 rows were to be copied and 29 are there; they differ at (20)" in ran.error
    assert await left(pg_source) == []


async def test_a_transaction_that_sees_the_past_brings_no_row_back(pg_source: Address) -> None:
    await make_events(pg_source)
    async with postgres_connection(pg_source) as connection:
        past = connection.transaction(isolation="repeatable_read")
        await past.start()
        await connection.execute("SELECT FROM pg_class")
        with pytest.raises(Interrupted) as first:
            await run("split_boundary", SPLIT, {"source": pg_source}, stop_at=8)
        with pytest.raises(asyncpg.SerializationError):
            await connection.execute("DELETE FROM events WHERE n = 20")
        await past.rollback()
        await connection.execute("DELETE FROM events WHERE n = 20")
    ran = await run("split_boundary", SPLIT, {"source": pg_source}, checkpoint=first.value.checkpoint)
    assert sum(ran.summary["rows"].values()) == 29


async def test_neither_truncate_nor_other_triggers_leave_the_shadow_behind(pg_source: Address) -> None:
    await make_events(pg_source)
    await execute(
        pg_source,
        "CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF pg_trigger_depth() < 2 THEN "
        "UPDATE events SET said = 'by trigger' WHERE n IN (NEW.n, NEW.n + 3); END IF; RETURN NULL; END $$",
        'CREATE TRIGGER "A" AFTER UPDATE ON events FOR EACH ROW EXECUTE FUNCTION again()',
    )
    with pytest.raises(Interrupted) as first:
        await run("merge_boundary", MERGE, {"source": pg_source}, stop_at=9)
    await execute(pg_source, "UPDATE events SET said = 'by hand' WHERE n BETWEEN 0 AND 30", "TRUNCATE events_100")
    before = await content(pg_source, "events")
    assert '(3,"by trigger")' in before
    ran = await run("merge_boundary", MERGE, {"source": pg_source}, checkpoint=first.value.checkpoint)
    assert ran.summary["rows"] == {"events_0": 30}
    assert await content(pg_source, "events") == before


async def test_a_split_reads_nothing_while_the_table_is_locked(pg_source: Address, postgres_server: Cluster) -> None:
    await make_events(pg_source)
    pg_source = type(pg_source)(**{
        **{name: getattr(pg_source, name) for name in pg_source.__slots__}, "options": {"log_min_messages": "debug1"}
    })  # fmt: skip
    start = postgres_server.log.stat().st_size
    assert (await run("split_boundary", SPLIT, {"source": pg_source})).summary
    with postgres_server.log.open(errors="replace") as log:
        log.seek(start)
        said = log.read()
    for name in ("events_0", "events_50"):
        assert f'partition constraint for table "{name}" is implied by existing constraints' in said
    assert said.count('default partition "events_rest" is implied by existing constraints') == 2


@pytest.mark.parametrize(
    ("empty", "boundary", "name"), [("n >= 50 AND n < 100", 50, "events_0"), ("n < 50", 50, "events_0")]
)
async def test_a_side_without_rows_is_split_off_by_the_catalog_alone(
    pg_source: Address, empty: str, boundary: int, name: str
) -> None:
    await make_events(pg_source)
    await execute(pg_source, f"DELETE FROM events WHERE {empty}")
    before = await content(pg_source, "events")
    oid = await value(pg_source, f"SELECT '{name}'::regclass::oid::int")
    ran = await run("split_boundary", SPLIT | {"boundary": boundary}, {"source": pg_source})
    assert ran.phases[1:] == ["prepare", "swap", "clean", "verify"]
    assert await content(pg_source, "events") == before
    assert await value(pg_source, f"SELECT '{name}'::regclass::oid::int") == oid
    assert set(ran.summary["partitions"].values()) == {"0 … 50", "50 … 100"}
    assert await left(pg_source) == []
    merged = await run("merge_boundary", ran.summary["undo"]["config"], {"source": pg_source})
    assert merged.phases[1:] == ["prepare", "swap", "clean", "verify"]
    assert merged.summary["partitions"] == {name: "0 … 100"}
    assert await value(pg_source, f"SELECT '{name}'::regclass::oid::int") == oid
    assert await content(pg_source, "events") == before


async def test_what_is_no_longer_empty_is_not_dropped(pg_source: Address) -> None:
    await make_events(pg_source)
    await execute(pg_source, "DELETE FROM events WHERE n >= 100")
    with pytest.raises(Interrupted) as first:
        await run("merge_boundary", MERGE, {"source": pg_source}, stop_at=2)
    await execute(pg_source, "INSERT INTO events VALUES (150, 'late')")
    ran = await run("merge_boundary", MERGE, {"source": pg_source}, checkpoint=first.value.checkpoint)
    assert "events_100 has rows by now" in ran.error
    assert await left(pg_source) == []
    ran = await run("merge_boundary", MERGE | {"strategy": "online"}, {"source": pg_source})
    assert ran.summary["rows"] == {"events_0": 31}


async def test_three_are_merged_under_another_name_and_a_boundary_that_is_there_is_left_alone(
    pg_source: Address,
) -> None:
    await make_events(pg_source)
    sources = {"source": pg_source}
    assert (await run("split_boundary", SPLIT, sources)).summary
    assert not (await preview("split_boundary", SPLIT, sources)).plan.steps
    ran = await run(
        "merge_boundary",
        {"table": "events", "partitions": ["events_100", "events_0", "events_50"], "name": "all", "keep_old_hours": 0},
        sources,
    )
    assert ran.summary["partitions"] == {"all": "0 … 200"}
    assert "undo" not in ran.summary
    assert await left(pg_source) == []
    names = await fetch(pg_source, "SELECT indexname FROM pg_indexes WHERE tablename = 'all'")
    assert names == [("all_pkey",)]


REFUSED: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("", "split_boundary", {"boundary": 500}, "no partition of public.events holds 500: use add_boundary"),
    ("", "split_boundary", {"boundary": "10.5"}, "'10.5' is no value of type integer"),
    ("", "split_boundary", {"boundary": 50, "name": "x" * 64}, "longer than the 63 bytes"),
    ("", "merge_boundary", {"boundary": 50}, "50 is no boundary between two partitions"),
    ("", "merge_boundary", {"partitions": ["events_0", "events_rest"]}, "has no partition 'events_rest' by range"),
    ("", "merge_boundary", {"partitions": ["events_0"]}, "give two partitions or more"),
    ("CREATE TABLE events_300 PARTITION OF events FOR VALUES FROM (300) TO (400)", "merge_boundary",
     {"partitions": ["events_100", "events_300"]}, "do not lie side by side: a gap is there"),
    ("CREATE TABLE events_200 PARTITION OF events FOR VALUES FROM (200) TO (300)", "merge_boundary",
     {"partitions": ["events_0", "events_200"]}, "do not lie side by side: between them is events_100"),
    ("CREATE TABLE events_300 PARTITION OF events FOR VALUES FROM (300) TO (400) PARTITION BY LIST (n)",
     "split_boundary", {"boundary": 350}, "is partitioned itself"),
    ("ALTER TABLE events DROP CONSTRAINT events_pkey", "split_boundary", {"boundary": 50}, "has no key by which"),
    ("CREATE TABLE plain (n int)", "split_boundary", {"table": "plain", "boundary": 50}, "is not partitioned"),
    ("CREATE TABLE l (n int) PARTITION BY LIST (n)", "split_boundary", {"table": "l", "boundary": 5},
     "partitioned by list"),
    ("CREATE TABLE m (a int, b int) PARTITION BY RANGE (a, b)", "split_boundary", {"table": "m", "boundary": 5},
     "only where the key is one column"),
    ("CREATE TABLE x (a int) PARTITION BY RANGE ((a + 1))", "split_boundary", {"table": "x", "boundary": 5},
     "only where the key is one column"),
    ("CREATE TABLE o (a oid) PARTITION BY RANGE (a)", "split_boundary", {"table": "o", "boundary": 5},
     "is of type oid"),
    ("CREATE TABLE d (a date) PARTITION BY RANGE (a)", "split_boundary", {"table": "d", "boundary": "2026-02-01 12:00"},
     "not exactly a value of type date"),
)  # fmt: skip


async def test_what_cannot_be_planned_is_refused(pg_source: Address) -> None:
    for setup, kind, config, told in REFUSED:
        await make_events(pg_source)
        await execute(pg_source, setup or "SELECT")
        with pytest.raises(InvalidInput, match=told.replace(".", r"\.")):
            await preview(kind, {"table": "events"} | config, {"source": pg_source})


UNMET: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("CREATE TABLE items (n int REFERENCES events)", {}, "foreign keys"),
    ("CREATE VIEW only_old AS SELECT * FROM events_0", {}, "views"),
    ("CREATE TRIGGER t BEFORE UPDATE ON events_0 FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
     {}, "triggers"),
    ("CREATE TABLE events_50 ()", {}, "names"),
    ("", {"strategy": "metadata"}, "empty side"),
    ("", {"strategy": "native"}, "strategy"),
    ("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'events_0_pkey'::regclass", {}, "indexes"),
)  # fmt: skip


async def test_what_does_not_hold_is_shown_and_not_executed(pg_source: Address) -> None:
    for setup, config, name in UNMET:
        await make_events(pg_source)
        await execute(pg_source, setup or "SELECT")
        shown = await preview("split_boundary", SPLIT | config, {"source": pg_source})
        assert [one.name for one in shown.plan.unmet] == [name]
        ran = await run("split_boundary", SPLIT | config, {"source": pg_source})
        assert ran.error.startswith(f"{name}: ")
        assert await left(pg_source) == []


async def test_partitions_that_differ_are_not_merged(pg_source: Address) -> None:
    await make_events(pg_source)
    await execute(pg_source, "ALTER TABLE events_0 ADD CHECK (n <> 77)")
    shown = await preview("merge_boundary", MERGE, {"source": pg_source})
    assert [(one.name, "CHECK ((n <> 77))" in one.detail) for one in shown.plan.unmet] == [("definitions", True)]


async def test_a_lock_that_is_not_gained_names_who_holds_it(pg_source: Address) -> None:
    await make_events(pg_source)
    before = await content(pg_source, "events")
    with pytest.raises(Interrupted) as first:
        await run(
            "split_boundary", SPLIT | {"lock_timeout_ms": 200, "lock_retries": 1}, {"source": pg_source}, stop_at=8
        )
    async with postgres_connection(pg_source) as connection, connection.transaction():
        await connection.execute("SELECT count(*) FROM events")
        ran = await run("split_boundary", SPLIT | {"lock_timeout_ms": 200, "lock_retries": 1}, {"source": pg_source},
                        checkpoint=first.value.checkpoint)  # fmt: skip
        assert "SELECT count(*) FROM events" in ran.error
        assert ran.outcome.retryable
    ran = await run("split_boundary", SPLIT, {"source": pg_source}, checkpoint=ran.checkpoint)
    assert ran.summary
    assert await content(pg_source, "events") == before
