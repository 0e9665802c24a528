"""Partitions are added on PostgreSQL: ahead of time, beside others, in gaps, out of the default partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.errors import InvalidInput
from hourhand.operations.partitions import postgresql
from operations.asking import count, execute, fetch, value
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
from operations.running import preview, run

if TYPE_CHECKING:
    from hourhand.model.data_source import Address


async def test_a_partition_is_added_like_the_others_and_only_once(pg_source: Address) -> None:
    await make_rich(pg_source)
    sources = {"source": pg_source}
    await execute(pg_source, 'GRANT SELECT ON shop."Or ders" TO clerk',
                  'ALTER TABLE shop."Or ders" ENABLE ROW LEVEL SECURITY',
                  'CREATE POLICY p ON shop."Or ders" USING (amount < 1000)',
                  "ALTER TABLE shop.three SET (fillfactor = 70)")  # fmt: skip
    config = {"schema": "shop", "table": "Or ders", "boundaries": ["2026-05-01", "2025-12-01", "2026-04-01"]}
    ran = await run("add_boundary", config, sources)
    assert set(ran.summary["partitions"]) == {"Or ders_2025_12", "Or ders_2026_04"}
    assert (await bounds(pg_source))["Or ders_2025_12"] == (
        "FOR VALUES FROM ('2025-12-01 00:00:00+00') TO ('2026-01-01 00:00:00+00')"
    )
    made = await definition(pg_source, 'shop."Or ders_2026_04"')
    assert "clerk=r/postgres" in made[0]
    assert made[1] == "(t,f,d,{fillfactor=70})"
    assert [row[0] for row in made[2]] == ["p"]
    assert made[3:] == (await definition(pg_source, "shop.three"))[3:]
    await execute(
        pg_source, "INSERT INTO shop.\"Or ders\" (\"at\", customer) VALUES ('2026-04-30', 3), ('2025-12-31', 4)"
    )
    assert await count(pg_source, 'shop."Or ders_2026_04"') == 1
    again = await preview("add_boundary", config, sources)
    assert again.plan.steps == ()
    assert "nothing to do" in again.plan.notes[0]
    assert (await run("add_boundary", config, sources)).summary["plan_hash"] == again.plan_hash
    assert await left(pg_source) == []


async def test_partitions_are_made_ahead_of_time_every_night(pg_source: Address) -> None:
    await execute(pg_source, "CREATE TABLE log (at timestamptz NOT NULL, x int) PARTITION BY RANGE (at)")
    sources = {"source": pg_source}
    config = {"table": "log", "interval": "1 day", "premake_count": 3}
    ran = await run("add_boundary", config, sources)
    assert len(ran.summary["partitions"]) == 4
    await execute(pg_source, "INSERT INTO log VALUES (now(), 1), (now() + interval '3 days', 2)")
    assert (await preview("add_boundary", config, sources)).plan.steps == ()
    more = await run("add_boundary", config | {"premake_count": 5}, sources)
    assert len(more.summary["partitions"]) == 2


async def test_of_numbers_what_lies_ahead_is_counted_from_the_greatest(pg_source: Address) -> None:
    await make_events(pg_source)
    config = {"table": "events", "interval": "100", "premake_count": 1}
    sources = {"source": pg_source}
    assert (await run("add_boundary", config, sources)).summary["partitions"] == {"events_200": "200 … 300"}
    assert (await preview("add_boundary", config, sources)).plan.steps == ()
    await execute(pg_source, "INSERT INTO events VALUES (200, 'the next one')")
    assert (await run("add_boundary", config, sources)).summary["partitions"] == {"events_300": "300 … 400"}


TYPES: tuple[tuple[str, list[Any], str], ...] = (
    ("smallint", [-5, 5, 10], "7"),
    ("bigint", [10**15, 2 * 10**15], "1000000000000001"),
    ("numeric(10,2)", ["1.50", "2.5"], "2.49"),
    ("date", ["2026-01-01", "2026-02-01"], "2026-01-31"),
    ("timestamp(0)", ["2026-01-01", "2026-01-01 12:00"], "2026-01-01 11:59:59"),
    ("timestamptz", ["2026-01-01 00:00+08", "2026-01-02 00:00+08"], "2025-12-31 17:00Z"),
    ("text", ["it's", "ä\\n"], "x"),
    ('varchar(20) COLLATE "C"', ["A", "a"], "Z"),
    ("uuid", ["00000000-0000-4000-8000-000000000000", "80000000-0000-4000-8000-000000000000"],
     "70000000-0000-4000-8000-000000000000"),
)  # fmt: skip


async def test_keys_of_each_type_have_boundaries(pg_source: Address) -> None:
    for type_, boundaries, inside in TYPES:
        await execute(pg_source, "DROP TABLE IF EXISTS t", f"CREATE TABLE t (k {type_}) PARTITION BY RANGE (k)")
        ran = await run("add_boundary", {"table": "t", "boundaries": boundaries[::-1]}, {"source": pg_source})
        assert len(ran.summary["partitions"]) == len(boundaries) - 1, type_
        await execute(pg_source, f"INSERT INTO t VALUES ('{inside}')")
        assert await count(pg_source, "t") == 1


@pytest.mark.parametrize("large", [False, True])
async def test_a_gap_is_filled_past_a_default_partition(
    pg_source: Address,
    monkeypatch: pytest.MonkeyPatch,
    large: bool,  # noqa: FBT001
) -> None:
    if large:
        monkeypatch.setattr(postgresql, "LARGE_DEFAULT", 0)
    await make_events(pg_source)
    await execute(pg_source, "CREATE TABLE far PARTITION OF events FOR VALUES FROM (900) TO (MAXVALUE)",
                  "INSERT INTO events VALUES (-5, 'below')")  # fmt: skip
    shown = await preview("add_boundary", {"table": "events", "boundaries": [500]}, {"source": pg_source})
    assert ("keep events_rest free" in [step.name for step in shown.plan.steps]) is large
    ran = await run("add_boundary", {"table": "events", "boundaries": [500]}, {"source": pg_source})
    assert ran.summary["partitions"] == {"events_200": "200 … 500", "events_500": "500 … 900"}
    assert await left(pg_source) == []
    assert await count(pg_source, "events") == 61


async def test_rows_of_the_default_partition_go_along_if_they_may(pg_source: Address) -> None:
    await make_events(pg_source)
    await execute(pg_source, "INSERT INTO events SELECT n, 'late' FROM generate_series(200, 320) n")
    before = await content(pg_source, "events")
    sources, config = {"source": pg_source}, {"table": "events", "boundaries": [300]}
    shown = await preview("add_boundary", config, sources)
    assert [(one.name, "200 … 300" in one.detail) for one in shown.plan.unmet] == [("default partition", True)]
    assert "set default_policy to move" in (await run("add_boundary", config, sources)).error
    ran = await run("add_boundary", config | {"default_policy": "move"}, sources)
    assert ran.summary["partitions"] == {"events_200": "200 … 300"}
    assert (await count(pg_source, "events_200"), await count(pg_source, "events_rest")) == (100, 21)
    assert await content(pg_source, "events") == before
    await execute(pg_source, "CREATE TABLE items (n int REFERENCES events)")
    shown = await preview("add_boundary", {"table": "events", "boundaries": [350], "default_policy": "move"}, sources)
    assert [one.name for one in shown.plan.unmet] == ["default partition"]
    assert "items" in shown.plan.unmet[0].detail


async def test_what_is_interrupted_anywhere_comes_to_the_same_end(
    pg_source: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "LARGE_DEFAULT", 0)
    config = {"table": "events", "boundaries": [300, 400]}
    stops = await interrupted_everywhere(
        "add_boundary", config, pg_source, Fault(monkeypatch), lambda: make_events(pg_source), every=5
    )
    assert stops > 4


async def test_the_owner_of_the_table_owns_its_new_partitions(pg_source: Address) -> None:
    await make_events(pg_source)
    await execute(
        pg_source,
        'DO $$ BEGIN CREATE ROLE "ow\'ner"; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$',
        'GRANT ALL ON SCHEMA public TO "ow\'ner"',
        *(f'ALTER TABLE {one} OWNER TO "ow\'ner"' for one in ("events", "events_0", "events_100", "events_rest")),
    )
    sources = {"source": pg_source}
    assert (await run("add_boundary", {"table": "events", "boundaries": [300]}, sources)).summary
    split = {"table": "events", "boundary": 50, "keep_old_hours": 0}
    assert (await run("split_boundary", split, sources)).summary
    owners = "SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class WHERE relname ^@ 'events' AND relkind = 'r'"
    assert await fetch(pg_source, owners) == [("ow'ner",)]
    await execute(pg_source, 'DROP OWNED BY "ow\'ner"')


REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"boundaries": [150]}, "150 lies inside the partition events_100 .*: use split_boundary"),
    ({"boundaries": ["x"]}, "'x' is no value of type integer"),
    ({"boundaries": []}, "give either boundaries, or an interval"),
    ({"interval": "1 month"}, "does not fit a key of type integer"),
    ({"interval": "0"}, "'0' is no interval"),
    ({"interval": "1", "start": -5000}, "at most 1000 are made at once"),
    ({"boundaries": [300, 400], "name_template": "{table}"}, "two partitions would both be called events"),
    ({"boundaries": [300], "name_template": "{table}_{year}"}, "has no {year}"),
    ({"boundaries": [300], "name_template": "{table"}, "is no template"),
    ({"boundaries": [300], "name_template": "x" * 64}, "longer than the 63 bytes"),
)  # fmt: skip


async def test_what_cannot_be_planned_is_refused(pg_source: Address) -> None:
    await make_events(pg_source)
    for config, told in REFUSED:
        with pytest.raises(InvalidInput, match=told):
            await preview("add_boundary", {"table": "events"} | config, {"source": pg_source})


async def test_a_name_that_is_taken_is_told(pg_source: Address) -> None:
    await make_events(pg_source)
    await execute(pg_source, "CREATE TABLE events_200 ()")
    shown = await preview("add_boundary", {"table": "events", "boundaries": [300]}, {"source": pg_source})
    assert [(one.name, "events_200" in one.detail) for one in shown.plan.unmet] == [("names", True)]


async def test_who_does_not_own_the_table_is_told_so(pg_source: Address) -> None:
    await make_events(pg_source)
    await execute(
        pg_source,
        "DO $$ BEGIN CREATE ROLE guest LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$",
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest",
    )
    guest = type(pg_source)(**{
        **{name: getattr(pg_source, name) for name in pg_source.__slots__}, "username": "guest"
    })  # fmt: skip
    shown = await preview("add_boundary", {"table": "events", "boundaries": [300]}, {"source": guest})
    assert [(one.name, "sign in as the owner" in one.detail) for one in shown.plan.unmet] == [("ownership", True)]
    assert await value(pg_source, "SELECT to_regclass('events_200') IS NULL")


async def test_sqlite_has_no_partitions(sqlite_source: Address) -> None:
    await execute(sqlite_source, "CREATE TABLE events (n int)")
    for kind, config in (("add_boundary", {"boundaries": [1]}), ("split_boundary", {"boundary": 1}),
                         ("merge_boundary", {"boundary": 1})):  # fmt: skip
        with pytest.raises(InvalidInput, match="SQLite has no partitions"):
            await preview(kind, {"table": "events"} | config, {"source": sqlite_source})
