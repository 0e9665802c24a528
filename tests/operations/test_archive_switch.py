"""archive_switch on every dialect: whole partitions leave a table, and not a row is lost."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.errors import InvalidInput
from hourhand.operations.catalogue import Catalogue
from operations.asking import count, execute, fetch, value
from operations.running import Interrupted, Ran, desk, preview, run
from operations.switching import (
    KIND,
    OLDER,
    archive,
    fresh,
    left_over,
    lost_at_every_statement,
    tables,
)
from operations.tables import make_orders

if TYPE_CHECKING:
    from hourhand.model.data_source import Address

TWO = {"table": "orders", "partitions": ["orders_2026_01", "orders_2026_02"]}


@pytest.fixture(params=["postgresql", "mariadb", "exchange"])
def parted(request: pytest.FixtureRequest) -> tuple[Address, tuple[str, ...]]:
    """Return a database that has partitions, and the kinds beside the built-in ones: one that takes it for older."""
    address: Address = request.getfixturevalue("pg_source" if request.param == "postgresql" else "maria_source")
    return address, (OLDER,) if request.param == "exchange" else ()


async def test_partitions_leave_with_every_row(parted: tuple[Address, tuple[str, ...]]) -> None:
    source, extra = parted
    sample = await fresh(source, rows=300)
    before = await fetch(source, "SELECT * FROM orders ORDER BY id")
    config = {**TWO, "target_schema": archive(source), "target_table": "old {partition}"}
    shown = await preview(KIND, config, {"source": source}, extra=extra)
    assert await count(source, "orders") == 300
    assert not shown.plan.unmet
    ran = await run(KIND, config, {"source": source}, args={"plan_hash": shown.plan_hash}, extra=extra)
    mark = '"' if source.dialect == "postgresql" else "`"
    beside = f"{mark}{archive(source)}{mark}.{mark}old "
    archived = await fetch(
        source,
        f"SELECT * FROM {beside}orders_2026_01{mark} UNION ALL SELECT * FROM {beside}orders_2026_02{mark}".replace(
            "SELECT *", "SELECT id, created_at"
        ),
    )
    kept = await fetch(source, "SELECT id, created_at FROM orders")
    assert sorted([*archived, *kept]) == sorted(tuple(row[:2]) for row in before)
    assert ran.summary["rows"] == len(archived) == shown.impact.rows
    assert [one["partition"] for one in ran.summary["partitions"]] == list(sample.partitions[:2])
    assert await left_over(source) == []
    assert ran.phases[-1] == "verify"


async def test_a_plan_is_the_same_twice(parted: tuple[Address, tuple[str, ...]]) -> None:
    source, extra = parted
    await fresh(source)
    first, second = [await preview(KIND, TWO, {"source": source}, extra=extra) for _ in range(2)]
    assert first.plan == second.plan
    await execute(source, "DELETE FROM orders WHERE id = 1")
    assert (await preview(KIND, TWO, {"source": source}, extra=extra)).plan_hash == first.plan_hash


async def test_lost_at_every_statement_it_is_completed(parted: tuple[Address, tuple[str, ...]]) -> None:
    source, extra = parted
    config = {**TWO, "partitions": ["orders_2026_02"], "target_schema": archive(source), "target_table": "old"}

    async def check(ran: Ran) -> None:
        assert ran.summary["rows"] == 13
        assert await left_over(source) == []
        found = await tables(source)
        assert found["archive.old"] == 13
        assert found["orders"] == 27

    times = await lost_at_every_statement(config, source, lambda: fresh(source, rows=40), check, extra=extra)
    assert times >= 4


async def test_what_is_dropped_is_dropped_last_wherever_it_is_lost(parted: tuple[Address, tuple[str, ...]]) -> None:
    source, extra = parted
    config = {**TWO, "partitions": ["orders_2026_01"], "after": "drop"}

    async def check(ran: Ran) -> None:
        assert ran.summary["dropped"] is True
        assert ran.summary["partitions"] == [{"partition": "orders_2026_01", "table": None, "rows": 14}]
        assert "undo" not in ran.summary
        found = await tables(source)
        assert "orders_2026_01" not in found
        assert found["orders"] == 26
        assert await left_over(source) == []

    times = await lost_at_every_statement(config, source, lambda: fresh(source, rows=40), check, extra=extra)
    assert times >= 4
    steps = (await _plan(source, config, extra)).steps
    assert steps[-1].phase == "drop"
    assert [step.phase for step in steps].count("drop") == 1


async def _plan(source: Address, config: dict[str, Any], extra: tuple[str, ...]) -> Any:
    await fresh(source)
    return (await preview(KIND, config, {"source": source}, extra=extra)).plan


async def test_what_is_written_meanwhile_is_not_dropped(parted: tuple[Address, tuple[str, ...]]) -> None:
    source, extra = parted
    await fresh(source)
    config = {**TWO, "partitions": ["orders_2026_01"], "after": "drop"}
    checkpoint: Any = {}
    for stop_at in range(1, 5):
        with pytest.raises(Interrupted) as first:
            await run(KIND, config, {"source": source}, stop_at=stop_at, extra=extra)
        checkpoint = first.value.checkpoint
        if "before" in checkpoint["facts"]:
            break
    await execute(source, "UPDATE orders SET customer = 'someone else' WHERE id = 1")
    ran = await run(KIND, config, {"source": source}, checkpoint=checkpoint, extra=extra)
    assert "somebody wrote to it meanwhile" in ran.error
    found = await tables(source)
    assert sum(rows for name, rows in found.items() if name == "orders_2026_01" or name.startswith("_hh_")) == 14


async def test_by_age_whole_partitions_only(parted: tuple[Address, tuple[str, ...]]) -> None:
    source, extra = parted
    today = dt.datetime.now(dt.UTC).date().replace(day=1)
    months = today.year * 12 + today.month - 1 - 4
    start = dt.date(months // 12, months % 12 + 1, 1)
    sample = await fresh(source, start=start)
    # Three months, four to two ago: three months ago the first has ended, and the second has begun.
    ran = await run(KIND, {"table": "orders", "older_than": "3m"}, {"source": source}, extra=extra)
    assert [one["partition"] for one in ran.summary["partitions"]] == [sample.partitions[0]]
    again = await run(KIND, {"table": "orders", "older_than": "3m"}, {"source": source}, extra=extra)
    assert again.summary["partitions"] == []
    shown = await preview(KIND, {"table": "orders", "older_than": "3m"}, {"source": source}, extra=extra)
    assert shown.plan.steps == ()
    assert f"the oldest is {sample.partitions[1]}" in shown.plan.notes[0]


async def test_a_cancel_leaves_all_rows_in_one_place_each(parted: tuple[Address, tuple[str, ...]]) -> None:
    source, extra = parted
    for reports in (2, 4, 6, 8):
        await fresh(source)
        with pytest.raises(asyncio.CancelledError):
            await run(KIND, TWO, {"source": source}, cancel_after=reports, extra=extra)
        found = await tables(source)
        if source.dialect == "postgresql":  # there a partition is a table, too, and counted twice
            attached = await fetch(
                source, "SELECT inhrelid::regclass::text FROM pg_inherits WHERE NOT inhdetachpending"
            )
            found = {name: rows for name, rows in found.items() if (name,) not in attached}
        assert sum(found.values()) == 40


async def test_verifying_less_is_a_choice(parted: tuple[Address, tuple[str, ...]]) -> None:
    source, extra = parted
    await fresh(source)
    shown = await preview(KIND, {**TWO, "verify": "none"}, {"source": source}, extra=extra)
    assert "count(*)" not in shown.script
    ran = await run(KIND, {**TWO, "verify": "none"}, {"source": source}, extra=extra)
    assert ran.summary["rows"] is None
    await fresh(source)
    ran = await run(KIND, {**TWO, "verify": "count"}, {"source": source}, extra=extra)
    assert ran.summary["rows"] == 27


async def test_hostile_names_and_values(parted: tuple[Address, tuple[str, ...]]) -> None:
    source, extra = parted
    postgres = source.dialect == "postgresql"
    table = 'or"d%s `ers` 表 $1 %(x)s' if postgres else "or\"d%s `ers` 表 'x"
    sample = await make_orders(source, rows=40, months=3, table=table, indexes=False, schema='S " chema')
    config = {"table": table, "partitions": [sample.partitions[0]], "target_table": "select; -- '{partition}\""}
    config |= {"schema": 'S " chema'} if postgres else {}
    ran = await run(KIND, config, {"source": source}, extra=extra)
    assert ran.summary["rows"] == 14
    assert await count(source, sample.named(f"select; -- '{sample.partitions[0]}\"")) == 14
    older = await run(KIND, {**config, "partitions": [], "older_than": "1h"}, {"source": source}, extra=extra)
    assert older.outcome.error_message is None or "one must stay" in older.error


async def test_export_leaves_the_table_and_the_next_configuration(parted: tuple[Address, tuple[str, ...]]) -> None:
    source, extra = parted
    await fresh(source)
    config = {**TWO, "partitions": ["orders_2026_01"], "after": "export"}
    shown = await preview(KIND, config, {"source": source}, extra=extra)
    assert any("archive_bcp" in note for note in shown.plan.notes)
    ran = await run(KIND, config, {"source": source}, extra=extra)
    following = ran.summary["next"][0]
    assert following["kind"] == "archive_bcp"
    assert following["config"]["table"] == "orders_2026_01"
    assert await count(source, "orders_2026_01") == 14
    assert "archive_bcp" in [one.kind for one in Catalogue().all()]
    desk({"source": source}).read("archive_bcp", {**following["config"], "output_dir": "/var/tmp/archive"})  # noqa: S108


async def test_it_is_taken_back(parted: tuple[Address, tuple[str, ...]]) -> None:
    source, extra = parted
    await fresh(source, rest=True)
    before = await fetch(source, "SELECT id, created_at, note FROM orders ORDER BY id")
    config = {**TWO, "target_schema": archive(source), "target_table": "old {partition}"}
    ran = await run(KIND, config, {"source": source}, extra=extra)
    assert await count(source, "orders") == 13
    undo = ran.summary["undo"]
    assert undo["kind"] == "custom"
    for _ in range(2):  # a second time nothing is left to be done
        for step in undo["config"]["steps"]:
            if not await value(source, step["check_sql"]):
                await execute(source, step["sql"])
            assert await value(source, step["check_sql"])
    assert await fetch(source, "SELECT id, created_at, note FROM orders ORDER BY id") == before
    shown = await preview(KIND, config | {"target_table": "again {partition}"}, {"source": source}, extra=extra)
    assert not shown.plan.unmet


async def test_its_undo_runs_as_an_operation(parted: tuple[Address, tuple[str, ...]]) -> None:
    source, extra = parted
    await fresh(source, rest=True)
    before = await fetch(source, "SELECT id, created_at, note FROM orders ORDER BY id")
    config = {**TWO, "target_schema": archive(source), "target_table": "old {partition}"}
    undo = (await run(KIND, config, {"source": source}, extra=extra)).summary["undo"]
    assert await count(source, "orders") == 13
    assert undo["kind"] == "custom"
    shown = await preview(undo["kind"], undo["config"], {"source": source})
    assert not shown.plan.unmet
    back = await run(undo["kind"], undo["config"], {"source": source}, args={"plan_hash": shown.plan_hash})
    assert [one["name"] for one in back.summary["steps"]] == [one["name"] for one in undo["config"]["steps"]]
    assert await fetch(source, "SELECT id, created_at, note FROM orders ORDER BY id") == before
    for number, name in enumerate(TWO["partitions"]):
        place = name if source.dialect == "postgresql" else f"orders PARTITION ({name})"
        assert await count(source, place) == (14, 13)[number]
    assert await left_over(source) == []
    again = await run(undo["kind"], undo["config"], {"source": source})
    assert [one["rows"] for one in again.summary["steps"]] == [None] * len(undo["config"]["steps"])


@pytest.mark.parametrize(
    ("change", "field", "why"),
    [
        ({"table": "ordres"}, "config.table", "did you mean"),
        ({"partitions": ["orders_2026_09"]}, "config.partitions", "has no partition 'orders_2026_09'; there are"),
        ({"partitions": []}, "config", "give either partitions or older_than"),
        ({"older_than": "2y"}, "config", "give either partitions or older_than"),
        ({"partitions": [], "older_than": "0d"}, "older_than", "is no age"),
        ({"partitions": [], "older_than": "next week"}, "config.older_than", "has not the form"),
        ({"target_table": "old"}, "config.target_table", "would be the name of several tables"),
        ({"target_schema": "nowhere"}, "config.target_schema", "there is no (schema|database) 'nowhere': create it"),
        ({"target_table": "{partition}" + "x" * 60}, "config.target_table", "is longer than"),
        ({"after": "drop", "target_schema": "archive"}, "config", "there is no archived table"),
        ({"after": "burn"}, "config.after", "'keep', 'export' or 'drop'"),
        ({"fields": 1}, "config.fields", "is not a field of archive_switch"),
    ],
)
async def test_bad_input(source_of_both: Address, change: dict[str, Any], field: str, why: str) -> None:
    await make_orders(source_of_both, rows=9, months=3, indexes=False)
    with pytest.raises(InvalidInput, match=why) as refused:
        await preview(KIND, {**TWO, **change}, {"source": source_of_both})
    assert refused.value.errors[0].field == field


@pytest.fixture(params=["postgresql", "mariadb"])
def source_of_both(request: pytest.FixtureRequest) -> Address:
    """Return a database that has partitions."""
    address: Address = request.getfixturevalue("pg_source" if request.param == "postgresql" else "maria_source")
    return address


async def test_a_table_without_partitions_is_refused(source_of_both: Address) -> None:
    await make_orders(source_of_both, rows=9, partitioned=False, indexes=False)
    with pytest.raises(InvalidInput, match=r"orders is not partitioned: archive_bulk_copy"):
        await preview(KIND, TWO, {"source": source_of_both})


async def test_a_key_that_is_no_time_has_no_age(source_of_both: Address) -> None:
    parts = "" if source_of_both.dialect == "postgresql" else "(PARTITION a VALUES LESS THAN (5))"
    await execute(source_of_both, f"CREATE TABLE n (id bigint PRIMARY KEY) PARTITION BY RANGE (id) {parts}")
    with pytest.raises(InvalidInput, match="name the partitions"):
        await preview(KIND, {"table": "n", "older_than": "2y"}, {"source": source_of_both})


async def test_a_target_that_is_there_is_no_target(source_of_both: Address) -> None:
    await fresh(source_of_both)
    await execute(source_of_both, "CREATE TABLE old (id bigint)")
    config = {"table": "orders", "partitions": ["orders_2026_01"], "target_table": "old"}
    shown = await preview(KIND, config, {"source": source_of_both})
    assert [one.name for one in shown.plan.unmet] == ["target"]
    ran = await run(KIND, config, {"source": source_of_both})
    assert "already: rename" in ran.error
    assert await value(source_of_both, "SELECT count(*) FROM orders") == 40


async def test_sqlite_has_no_partitions(sqlite_source: Address) -> None:
    with pytest.raises(InvalidInput, match="archive_bulk_copy"):
        await preview(KIND, TWO, {"source": sqlite_source})
