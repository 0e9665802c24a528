"""archive_switch on PostgreSQL: detached concurrently or not, half detached and completed, taken over by an archive."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from hourhand.model.errors import InvalidInput
from operations.asking import count, execute, fetch, postgres_connection, value
from operations.killing import run_and_kill
from operations.running import preview, run
from operations.switching import KIND, fresh, left_over

if TYPE_CHECKING:
    from pathlib import Path

    from hourhand.model.data_source import Address

ONE = {"table": "orders", "partitions": ["orders_2026_01"]}
PENDING = "SELECT count(*) FROM pg_inherits WHERE inhdetachpending"


async def test_without_a_default_partition_it_is_detached_concurrently(pg_source: Address) -> None:
    await fresh(pg_source)
    assert "CONCURRENTLY" in (await preview(KIND, ONE, {"source": pg_source})).script
    never = await preview(KIND, ONE | {"concurrently": "never"}, {"source": pg_source})
    assert "CONCURRENTLY" not in never.script
    assert never.impact.strongest_lock is not None
    assert never.impact.strongest_lock.startswith("ACCESS EXCLUSIVE on public.orders")


async def test_with_a_default_partition_it_is_not(pg_source: Address) -> None:
    await fresh(pg_source, rest=True)
    with pytest.raises(InvalidInput, match="has the default partition orders_rest"):
        await preview(KIND, ONE | {"concurrently": "always"}, {"source": pg_source})
    with pytest.raises(InvalidInput, match="orders_rest is the default partition"):
        await preview(KIND, ONE | {"partitions": ["orders_rest"]}, {"source": pg_source})
    shown = await preview(KIND, ONE, {"source": pg_source})
    assert "CONCURRENTLY" not in shown.script
    assert (await run(KIND, ONE, {"source": pg_source})).summary["rows"] == 14
    assert await count(pg_source, "orders") == 26


async def test_what_was_left_half_detached_is_completed(pg_source: Address) -> None:
    await fresh(pg_source)
    quick = ONE | {"lock_timeout_ms": 50, "lock_retries": 1}
    async with postgres_connection(pg_source) as reader:
        begun = reader.transaction()
        await begun.start()
        await reader.fetch("SELECT count(*) FROM orders")
        ran = await run(KIND, quick, {"source": pg_source})
        assert "half detached" in ran.error
        assert "SELECT count(*) FROM orders" in ran.error
        assert ran.outcome.retryable
        assert await value(pg_source, PENDING) == 1
        await begun.rollback()
    done = await run(KIND, quick, {"source": pg_source}, checkpoint=ran.checkpoint)
    assert done.summary["rows"] == 14
    assert await value(pg_source, PENDING) == 0
    assert any("completing it" in line for line in done.lines)


async def test_what_somebody_else_left_half_detached_is_completed_or_named(pg_source: Address) -> None:
    await fresh(pg_source)
    async with postgres_connection(pg_source) as reader, postgres_connection(pg_source) as other:
        begun = reader.transaction()
        await begun.start()
        await reader.fetch("SELECT count(*) FROM orders")
        await other.execute("SET lock_timeout = '50ms'")
        with pytest.raises(Exception, match="lock timeout"):
            await other.execute("ALTER TABLE orders DETACH PARTITION orders_2026_01 CONCURRENTLY")
        await begun.rollback()
    second = await preview(KIND, ONE | {"partitions": ["orders_2026_02"]}, {"source": pg_source})
    assert [one.name for one in second.plan.unmet] == ["pending detach"]
    assert "FINALIZE" in second.plan.unmet[0].detail
    assert (await run(KIND, ONE, {"source": pg_source})).summary["rows"] == 14


async def test_killed_while_it_detaches_it_is_completed(pg_source: Address, tmp_path: Path) -> None:
    await fresh(pg_source)
    config = ONE | {"lock_timeout_ms": 60_000, "target_schema": "archive"}
    ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hourhand operation'"
    async with postgres_connection(pg_source) as reader:
        begun = reader.transaction()
        await begun.start()
        await reader.fetch("SELECT count(*) FROM orders")

        async def waits() -> None:
            while await value(pg_source, PENDING) == 0:
                await asyncio.sleep(0.05)

        half = asyncio.ensure_future(waits())
        dead = await run_and_kill(
            KIND, config, {"source": pg_source}, tmp_path,
            when=lambda told: told.line is not None and told.line.startswith("detach"), after_seconds=0.5,
        )  # fmt: skip
        await half
        assert dead.killed
        # Its statement ends once the server notices that nobody waits for it; then the detach is left half done.
        while await value(pg_source, ours) > 0:
            await asyncio.sleep(0.1)
        assert await value(pg_source, PENDING) == 1
        await begun.rollback()
    ran = await run(KIND, config, {"source": pg_source}, checkpoint=dead.checkpoint)
    assert ran.summary["partitions"] == [{"partition": "orders_2026_01", "table": "archive.orders_2026_01", "rows": 14}]
    assert await count(pg_source, "archive.orders_2026_01") == 14
    assert await value(pg_source, PENDING) == 0


async def test_an_archive_that_is_partitioned_alike_takes_it_over(pg_source: Address) -> None:
    await fresh(pg_source)
    await execute(
        pg_source, "CREATE TABLE archive.old (LIKE orders INCLUDING DEFAULTS) PARTITION BY RANGE (created_at)"
    )
    config = {**ONE, "partitions": ["orders_2026_01", "orders_2026_02"], "target_schema": "archive"}
    config["target_table"] = "old"
    ran = await run(KIND, config, {"source": pg_source})
    assert ran.summary["rows"] == 27
    assert await count(pg_source, "archive.old") == 27
    assert await count(pg_source, "orders") == 13
    assert await left_over(pg_source) == []
    undo = ran.summary["undo"]
    assert 'ALTER TABLE "archive"."old" DETACH PARTITION' in undo["config"]["steps"][0]["sql"]


async def test_an_archive_that_does_not_fit_is_found_before_anything_is_detached(pg_source: Address) -> None:
    await fresh(pg_source)
    config = {**ONE, "target_schema": "archive", "target_table": "old"}
    await execute(pg_source, "CREATE TABLE archive.old (LIKE orders) PARTITION BY LIST (customer)")
    with pytest.raises(InvalidInput, match="only a table that is partitioned alike"):
        await preview(KIND, config, {"source": pg_source})
    await execute(
        pg_source,
        "DROP TABLE archive.old",
        "CREATE TABLE archive.old (LIKE orders) PARTITION BY RANGE (created_at)",
        "ALTER TABLE archive.old DROP COLUMN note, ALTER amount TYPE text",
        "CREATE TABLE archive.rest PARTITION OF archive.old DEFAULT",
    )
    shown = await preview(KIND, config, {"source": pg_source})
    assert [one.name for one in shown.plan.unmet] == ["matching definitions"]
    assert "in amount, note" in shown.plan.unmet[0].detail
    await execute(
        pg_source,
        "DROP TABLE archive.old",
        "CREATE TABLE archive.old (LIKE orders) PARTITION BY RANGE (created_at)",
        "CREATE TABLE archive.rest PARTITION OF archive.old DEFAULT",
        "INSERT INTO archive.old SELECT * FROM orders WHERE id = 1",
    )
    shown = await preview(KIND, config, {"source": pg_source})
    assert "default partition of archive.old has rows" in shown.plan.unmet[0].detail
    await execute(
        pg_source,
        "DELETE FROM archive.old",
        "CREATE TABLE archive.winter PARTITION OF archive.old FOR VALUES FROM ('2025-12-01') TO ('2026-01-02')",
    )
    shown = await preview(KIND, config, {"source": pg_source})
    assert "orders_2026_01 with winter" in shown.plan.unmet[0].detail


async def test_foreign_keys(pg_source: Address) -> None:
    await fresh(pg_source)
    await execute(
        pg_source,
        "DROP TABLE IF EXISTS customers, lines",
        "CREATE TABLE customers (name text PRIMARY KEY)",
        "INSERT INTO customers SELECT DISTINCT customer FROM orders",
        "ALTER TABLE orders ADD CONSTRAINT who FOREIGN KEY (customer) REFERENCES customers",
    )
    ran = await run(KIND, ONE, {"source": pg_source})
    assert ran.summary["rows"] == 14
    keys = "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND conrelid = '{}'::regclass"
    assert await value(pg_source, keys.format("orders_2026_01")) == 1
    ran = await run(KIND, ONE | {"partitions": ["orders_2026_02"], "fk_policy": "drop"}, {"source": pg_source})
    assert await value(pg_source, keys.format("orders_2026_02")) == 0
    await execute(
        pg_source,
        "CREATE TABLE lines (id bigint, at timestamptz, FOREIGN KEY (id, at) REFERENCES orders (id, created_at))",
    )
    shown = await preview(KIND, ONE | {"partitions": ["orders_2026_03"]}, {"source": pg_source})
    assert [one.name for one in shown.plan.unmet] == ["incoming foreign keys"]
    assert "lines (lines_id_at_fkey)" in shown.plan.unmet[0].detail


async def test_bounds_that_are_old_and_rows_that_are_not(pg_source: Address) -> None:
    """The bounds of two columns: a row on the upper bound of the first may still be inside."""
    end = "date_trunc('month', now() - interval '2 months')::date"
    await execute(
        pg_source,
        "CREATE TABLE pairs (day date, id int) PARTITION BY RANGE (day, id)",
        f"CREATE TABLE pairs_a PARTITION OF pairs FOR VALUES FROM ('2000-01-01', 0) TO ({end}, 5)",
        f"CREATE TABLE pairs_b PARTITION OF pairs FOR VALUES FROM ({end}, 5) TO ('2999-01-01', 0)",
        f"INSERT INTO pairs VALUES ({end}, 4)",
    )
    shown = await preview(KIND, {"table": "pairs", "older_than": "2m"}, {"source": pg_source})
    assert shown.plan.steps == ()
    assert "pairs_a stays" in shown.plan.notes[0]
    await execute(pg_source, "DELETE FROM pairs")
    shown = await preview(KIND, {"table": "pairs", "older_than": "2m"}, {"source": pg_source})
    assert shown.plan.steps[0].values["partition"] == "pairs_a"


async def test_a_list_is_switched_by_name(pg_source: Address) -> None:
    await execute(
        pg_source,
        "CREATE TABLE lands (land text, n int) PARTITION BY LIST (land)",
        "CREATE TABLE lands_a PARTITION OF lands FOR VALUES IN ('at', 'ch')",
        "INSERT INTO lands VALUES ('at', 1), ('ch', 2)",
    )
    config = {"table": "lands", "partitions": ["lands_a"], "target_table": "alps"}
    ran = await run(KIND, config, {"source": pg_source})
    assert await count(pg_source, "alps") == 2
    assert "FOR VALUES IN ('at', 'ch')" in ran.summary["undo"]["config"]["steps"][-1]["sql"]
    with pytest.raises(InvalidInput, match="no range of dates"):
        await preview(KIND, {"table": "lands", "older_than": "2m"}, {"source": pg_source})


async def test_whoever_does_not_own_it_is_told(pg_source: Address) -> None:
    from dataclasses import replace  # noqa: PLC0415 - only here

    await fresh(pg_source)
    name = f"guest_{pg_source.database}"
    await execute(pg_source, f"CREATE ROLE {name} LOGIN", f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}")
    try:
        shown = await preview(KIND, ONE, {"source": replace(pg_source, username=name)})
        assert "ownership" in [one.name for one in shown.plan.unmet]
    finally:
        await execute(pg_source, f"DROP OWNED BY {name}", f"DROP ROLE {name}")
    assert await fetch(pg_source, f"SELECT 1 FROM pg_roles WHERE rolname = '{name}'") == []
