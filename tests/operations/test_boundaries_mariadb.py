"""Boundaries on MariaDB: partitions are added, split and merged by the database itself, and every row is counted."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.errors import InvalidInput
from operations.asking import count, execute, fetch, maria_connection
from operations.killing import run_and_kill
from operations.running import Interrupted, preview, run
from operations.tables import Sample, make_orders

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hourhand.model.data_source import Address

BOUNDS = """
SELECT PARTITION_NAME, PARTITION_DESCRIPTION FROM information_schema.PARTITIONS
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{}' ORDER BY PARTITION_ORDINAL_POSITION
"""
SPLIT = {"table": "orders", "boundary": "2026-01-16"}
MERGE = {"table": "orders", "partitions": ["orders_2026_01", "orders_2026_02"]}


async def fresh(source: Address, *, rest: bool = False, by_days: bool = False) -> Sample:
    await execute(source, "DROP TABLE IF EXISTS orders")
    return await make_orders(source, rows=60, months=3, rest=rest, by_days=by_days, indexes=False)


async def bounds(source: Address, table: str = "orders") -> dict[str, str]:
    return {name: str(high).strip("'") for name, high in await fetch(source, BOUNDS.format(table))}


async def content(source: Address) -> list[tuple[Any, ...]]:
    return await fetch(source, "SELECT * FROM orders ORDER BY id")


async def test_partitions_are_added_beyond_the_last(maria_source: Address) -> None:
    await fresh(maria_source)
    config = {"table": "orders", "boundaries": ["2026-06-01", "2026-05-01", "2026-04-01"]}
    ran = await run("add_boundary", config, {"source": maria_source})
    assert ran.summary["partitions"] == ["orders_2026_04", "orders_2026_05"]
    assert list((await bounds(maria_source)).items())[-2:] == [
        ("orders_2026_04", "2026-05-01"),
        ("orders_2026_05", "2026-06-01"),
    ]
    again = await preview("add_boundary", config, {"source": maria_source})
    assert again.plan.steps == ()
    assert (await run("add_boundary", config, {"source": maria_source})).summary


async def test_rows_of_the_last_partition_go_where_they_belong(maria_source: Address) -> None:
    await fresh(maria_source, rest=True)
    await execute(maria_source, "UPDATE orders SET created_at = created_at + INTERVAL 4 MONTH WHERE id > 50")
    before = await content(maria_source)
    config = {"table": "orders", "boundaries": ["2026-07-15", "2026-08-01"], "name_template": "p_{high}"}
    shown = await preview("add_boundary", config, {"source": maria_source})
    assert "REORGANIZE PARTITION `orders_rest` INTO" in shown.script
    await run("add_boundary", config, {"source": maria_source})
    assert await content(maria_source) == before
    assert (await bounds(maria_source))["p_2026_07_15"] == "2026-07-15"
    assert await count(maria_source, "orders PARTITION (p_2026_08_01)") > 0


async def test_partitions_are_made_ahead_of_time(maria_source: Address) -> None:
    month = dt.datetime.now(dt.UTC).date().replace(day=1)
    await make_orders(maria_source, rows=9, months=1, start=month, indexes=False)
    config = {"table": "orders", "interval": "1 month", "premake_count": 3}
    ran = await run("add_boundary", config, {"source": maria_source})
    assert len(ran.summary["partitions"]) == 3
    assert len(await bounds(maria_source)) == 4
    assert (await preview("add_boundary", config, {"source": maria_source})).plan.steps == ()
    await execute(
        maria_source,
        "CREATE TABLE n (id INT PRIMARY KEY) PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (100))",
        "INSERT INTO n VALUES (55)",
    )
    ran = await run("add_boundary", {"table": "n", "interval": "100", "premake_count": 2}, {"source": maria_source})
    assert list((await bounds(maria_source, "n")).values())[:3] == ["100", "200", "300"]


async def test_a_partition_is_split_and_merged_again(maria_source: Address) -> None:
    await fresh(maria_source)
    before, layout = await content(maria_source), await bounds(maria_source)
    shown = await preview("split_boundary", SPLIT, {"source": maria_source})
    assert shown.impact.rows
    assert shown.impact.disk_bytes
    assert (await preview("split_boundary", SPLIT, {"source": maria_source})).plan == shown.plan
    ran = await run("split_boundary", SPLIT, {"source": maria_source}, args={"plan_hash": shown.plan_hash})
    assert ran.summary["rows"] == 21
    assert list((await bounds(maria_source)).items())[:2] == [
        ("orders_2026_01", "2026-01-16"),
        ("orders_2026_01_16", "2026-02-01"),
    ]
    assert await content(maria_source) == before
    undo = ran.summary["undo"]
    back = await run(undo["kind"], undo["config"], {"source": maria_source})
    assert await bounds(maria_source) == layout
    assert await content(maria_source) == before
    assert back.summary["undo"]["config"]["boundary"] == "2026-01-16"


async def test_partitions_are_merged_by_name(maria_source: Address) -> None:
    await fresh(maria_source, rest=True)
    before = await content(maria_source)
    whole = MERGE | {"partitions": ["orders_2026_02", "orders_rest", "orders_2026_03"], "name": "later"}
    ran = await run("merge_boundary", whole, {"source": maria_source})
    assert await bounds(maria_source) == {"orders_2026_01": "2026-02-01", "later": "MAXVALUE"}
    assert await content(maria_source) == before
    assert "undo" not in ran.summary


@pytest.mark.parametrize(
    ("by", "ends", "boundary", "unaligned"),
    [
        (("TO_DAYS(at)", "DATETIME"), ("740013", "740041"), "2026-01-10", "2026-01-10 12:00"),
        (("TO_DAYS(at)", "DATE"), ("740013", "740041"), "2026-01-10", None),
        (("TO_SECONDS(at)", "DATETIME(3)"), ("63937123200", "63939542400"), "2025-06-01 10:01", "20250501T000000.5"),
        (("YEAR(at)", "DATETIME"), ("2026", "2027"), "2025-01-01", "2025-02-01"),
        (("UNIX_TIMESTAMP(at)", "TIMESTAMP"), ("1769904000", "1772323200"), "2026-01-10 00:00:07", None),
    ],
)  # fmt: skip
async def test_a_boundary_is_put_through_the_expression(
    maria_source: Address, by: tuple[str, str], ends: tuple[str, str], boundary: str, unaligned: str | None
) -> None:
    (expression, type_), (first, second) = by, ends
    await execute(
        maria_source,
        f"CREATE TABLE t (id INT, at {type_} NOT NULL, PRIMARY KEY (id, at)) PARTITION BY RANGE ({expression}) "
        f"(PARTITION a VALUES LESS THAN ({first}), PARTITION b VALUES LESS THAN ({second}))",
        "INSERT INTO t VALUES (1, '2024-01-03'), (2, '2025-06-01 10:00:59'), (3, '2026-01-12'), (4, '2026-02-05')"
        if type_ != "DATE" else "INSERT INTO t VALUES (1, '2024-01-03'), (3, '2026-01-12'), (4, '2026-02-05')",
    )  # fmt: skip
    ran = await run("split_boundary", {"table": "t", "boundary": boundary, "name": "m"}, {"source": maria_source})
    below = await count(maria_source, "t PARTITION (a)")
    assert below == await count(maria_source, "t", f"at < '{boundary}'")
    assert 0 < below < ran.summary["rows"]
    assert ran.summary["undo_boundary"].startswith(boundary)
    if unaligned is not None:
        with pytest.raises(InvalidInput, match="is no boundary of") as refused:
            await preview("split_boundary", {"table": "t", "boundary": unaligned}, {"source": maria_source})
        assert refused.value.errors[0].field == "config.boundary"
    await run("merge_boundary", {"table": "t", "boundary": boundary}, {"source": maria_source})
    assert list(await bounds(maria_source, "t")) == ["a", "b"]


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("split_boundary", SPLIT),
        ("merge_boundary", MERGE),
        ("add_boundary", {"table": "orders", "boundaries": ["2026-06-01"]}),
        ("split_boundary", SPLIT | {"verify": "none"}),
    ],
    ids=["split", "merge", "add", "unverified"],
)
async def test_lost_at_every_statement_it_is_completed(
    maria_source: Address, kind: str, config: Mapping[str, Any]
) -> None:
    await fresh(maria_source)
    before = await content(maria_source)
    whole = await run(kind, config, {"source": maria_source})
    layout = await bounds(maria_source)
    times = 0
    for how in ("stop_after", "lose_last"):
        for number in range(1, 30):
            await fresh(maria_source)
            given: dict[str, Any] = {how: number} if how == "stop_after" else {"stop_at": number, "lose_last": True}
            try:
                await run(kind, config, {"source": maria_source}, **given)
            except Interrupted as first:
                times += 1
                ran = await run(kind, config, {"source": maria_source}, checkpoint=first.checkpoint)
                assert ran.summary["partitions"]
                assert ran.summary.get("verified") == whole.summary.get("verified")
                assert ran.summary.get("rows") == whole.summary.get("rows")
                assert "before" not in ran.summary
                assert await bounds(maria_source) == layout
                assert await content(maria_source) == before
            else:
                break
    assert times >= 3


@pytest.mark.parametrize(
    ("verify", "written", "verified", "rows"),
    [
        ("hash", None, "hash", 21),
        ("count", "UPDATE orders SET note = 'later' WHERE id = 1", "count", 21),
        ("hash", "UPDATE orders SET note = 'later' WHERE id = 1", "count", 21),
        ("hash", "DELETE FROM orders WHERE id = 1", "not verified after a lost attempt", 20),
        ("count", "DELETE FROM orders WHERE id = 1", "not verified after a lost attempt", 20),
    ],
    ids=["unwritten", "updated-count", "updated-hash", "deleted-hash", "deleted-count"],
)
async def test_lost_after_the_alter_it_says_what_it_can_prove(
    maria_source: Address, verify: str, written: str | None, verified: str, rows: int
) -> None:
    await fresh(maria_source)
    config = SPLIT | {"verify": verify}
    with pytest.raises(Interrupted) as first:
        await run("split_boundary", config, {"source": maria_source}, stop_at=3, lose_last=True)
    assert first.value.checkpoint["facts"]["before"]["n"] == 21
    assert len(await bounds(maria_source)) == 4
    if written is not None:
        await execute(maria_source, written)
    ran = await run("split_boundary", config, {"source": maria_source}, checkpoint=first.value.checkpoint)
    assert (ran.summary["verified"], ran.summary["rows"]) == (verified, rows)
    warned = [line.message for line in ran.attempt.lines if line.level == "warning"]
    assert len(warned) == (verified != verify)
    assert all("orders_2026_01 had 21 rows" in one and "others may have written since" in one for one in warned)


async def test_what_was_measured_by_an_attempt_before_the_alter_is_measured_again(maria_source: Address) -> None:
    await fresh(maria_source)
    with pytest.raises(Interrupted) as first:
        await run("split_boundary", SPLIT, {"source": maria_source}, stop_at=2)
    assert first.value.checkpoint["facts"]["before"]["n"] == 21
    assert len(await bounds(maria_source)) == 3
    await execute(maria_source, "DELETE FROM orders WHERE id = 1")
    ran = await run("split_boundary", SPLIT, {"source": maria_source}, checkpoint=first.value.checkpoint)
    assert (ran.summary["verified"], ran.summary["rows"]) == ("hash", 20)


async def test_killed_in_the_middle_it_is_completed(maria_source: Address, tmp_path: Path) -> None:
    await make_orders(maria_source, rows=8_000, months=2, indexes=False)
    before = await content(maria_source)
    dead = await run_and_kill(
        "split_boundary", SPLIT, {"source": maria_source}, tmp_path,
        when=lambda told: told.line is not None and told.line.startswith("reorganize"), after_seconds=0.05,
    )  # fmt: skip
    assert dead.killed
    ran = await run("split_boundary", SPLIT, {"source": maria_source}, checkpoint=dead.checkpoint)
    assert ran.summary["undo_boundary"] == "2026-01-16"
    assert await content(maria_source) == before
    assert len(await bounds(maria_source)) == 3


async def test_whoever_holds_it_up_is_named(maria_source: Address) -> None:
    await fresh(maria_source)
    async with maria_connection(maria_source) as holder, holder.cursor() as cursor:
        await cursor.execute("START TRANSACTION")
        await cursor.execute("SELECT count(*) FROM orders")
        config = SPLIT | {"lock_timeout_ms": 1_000, "lock_retries": 0}
        ran = await run("split_boundary", config, {"source": maria_source})
        assert "held up by connection" in ran.error
        assert ran.outcome.retryable
        await cursor.execute("ROLLBACK")
    assert len(await bounds(maria_source)) == 3
    assert (await run("split_boundary", SPLIT, {"source": maria_source})).summary["rows"] == 21


async def test_others_may_write_while_it_waits_and_after(maria_source: Address) -> None:
    """A writer beside it loses nothing, though the same partition is split and merged meanwhile."""
    await fresh(maria_source)
    written: list[int] = []
    stop = asyncio.Event()

    async def write() -> None:
        async with maria_connection(maria_source) as writer, writer.cursor() as cursor:
            number = 1_000
            while not stop.is_set():
                number += 1
                await cursor.execute(
                    f"INSERT INTO orders (id, created_at, customer, `group`, quantity, token) "
                    f"VALUES ({number}, '2026-01-{number % 28 + 1:02}', 'x', 'y', 1, UUID())"
                )
                written.append(number)

    writing = asyncio.ensure_future(write())
    while not written:
        await asyncio.sleep(0.01)
    await run("split_boundary", SPLIT, {"source": maria_source})
    await run("merge_boundary", {"table": "orders", "boundary": "2026-01-16"}, {"source": maria_source})
    stop.set()
    await writing
    found = await fetch(maria_source, "SELECT id FROM orders WHERE id > 1000 ORDER BY id")
    assert [row[0] for row in found] == written
    assert await count(maria_source, "orders") == 60 + len(written)


@pytest.mark.parametrize(
    ("kind", "config", "field", "why"),
    [
        ("add_boundary", {"boundaries": ["2026-01-10"]}, "boundaries", "lies inside the partition orders_2026_01"),
        ("add_boundary", {"boundaries": ["soon"]}, "boundaries", "'soon' is no value of created_at"),
        ("add_boundary", {"boundaries": ["2026-09-01"], "tablespace": "fast"}, "tablespace", "leave it out"),
        ("add_boundary", {"boundaries": ["2026-09-01"], "name_template": "orders_2026_01"}, "name", "already"),
        ("add_boundary", {"interval": "100"}, "interval", "does not fit"),
        ("split_boundary", {"boundary": "2026-09-01"}, "boundary", "beyond the last partition"),
        ("split_boundary", {"boundary": "2026-01-10", "strategy": "online"}, "strategy", "use auto or native"),
        ("split_boundary", {"boundary": "2026-01-10", "name": "ORDERS_2026_02"}, "name", "already"),
        ("merge_boundary", {"boundary": "2026-01-10"}, "boundary", "there are 2026-02-01, 2026-03-01"),
        ("merge_boundary", {"partitions": ["orders_2026_01", "orders_2026_03"]}, "partitions", "is between them"),
        ("merge_boundary", {"partitions": ["orders_2026_01", "p9"]}, "partitions", "has no partition 'p9'"),
        ("merge_boundary", {"partitions": ["a", "b"], "strategy": "metadata"}, "strategy", "use auto or native"),
    ],
)  # fmt: skip
async def test_bad_input(maria_source: Address, kind: str, config: dict[str, Any], field: str, why: str) -> None:
    await fresh(maria_source)
    with pytest.raises(InvalidInput, match=why) as refused:
        await preview(kind, {"table": "orders"} | config, {"source": maria_source})
    assert refused.value.errors[0].field == f"config.{field}"


@pytest.mark.parametrize(
    ("by", "first", "why"),
    [
        ("RANGE (MONTH(at))", "3", "month need not grow"),
        ("RANGE (YEAR(at) * 100)", "202600", "only one column"),
        ("RANGE COLUMNS (at, id)", "'2026-01-01', 5", "only one column"),
        ("RANGE COLUMNS (word)", "'m'", "order of their own"),
        ("RANGE COLUMNS (word)", "'it''s \\\\ x'", "order of their own"),
    ],
)
async def test_other_keys_are_refused_with_the_reason(maria_source: Address, by: str, first: str, why: str) -> None:
    await execute(
        maria_source,
        f"CREATE TABLE t (id INT, at DATETIME, word VARCHAR(20), PRIMARY KEY (id, at, word)) PARTITION BY {by} "
        f"(PARTITION a VALUES LESS THAN ({first}))",
    )
    with pytest.raises(InvalidInput, match=why):
        await preview("split_boundary", {"table": "t", "boundary": "2025-01-01"}, {"source": maria_source})


async def test_hostile_names(maria_source: Address) -> None:
    await execute(
        maria_source,
        "CREATE TABLE `t``'%s, x` (id INT, `a``t, %s'` DATETIME NOT NULL, PRIMARY KEY (id, `a``t, %s'`)) "
        "PARTITION BY RANGE (TO_DAYS(`a``t, %s'`)) (PARTITION `p``'1` VALUES LESS THAN (TO_DAYS('2026-02-01')))",
        "INSERT INTO `t``'%s, x` VALUES (1, '2025-01-03'), (2, '2026-01-20')",
    )
    table = "t`'%s, x"
    config = {"table": table, "boundary": "2026-01-10", "name": "select '`%s\""}
    ran = await run("split_boundary", config, {"source": maria_source})
    assert ran.summary["rows"] == 2
    assert await count(maria_source, "`t``'%s, x` PARTITION (`select '``%s\"`)") == 1
    await run("merge_boundary", {"table": table, "boundary": "2026-01-10"}, {"source": maria_source})
    await run("add_boundary", {"table": table, "boundaries": ["2026-03-01"]}, {"source": maria_source})
    assert await count(maria_source, "`t``'%s, x`") == 2
