"""A preview names the sessions that hold now what its steps would wait for, and nobody else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from hourhand.model.data_source import Dialect
from operations.asking import execute, maria_connection, postgres_connection
from operations.running import preview

if TYPE_CHECKING:
    from hourhand.model.data_source import Address
    from hourhand.model.operation import Blocker

CONFIG = {"tables": ["orders"], "lock_timeout_ms": 10}


async def orders(source: Address) -> None:
    if source.dialect is Dialect.POSTGRESQL:
        await execute(
            source,
            "CREATE TABLE orders (id int, day date) PARTITION BY RANGE (day)",
            "CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')",
            "CREATE TABLE others (id int)",
        )
    else:
        await execute(source, "CREATE TABLE orders (id int, day date)", "INSERT INTO orders VALUES (1, NULL)")


async def blockers(source: Address) -> tuple[Blocker, ...]:
    return (await preview("statistics_update", CONFIG, {"source": source})).impact.blockers


@pytest.mark.parametrize("table", ["orders", "orders_1"])
async def test_who_holds_a_lock_that_conflicts_is_named(pg_source: Address, table: str) -> None:
    await orders(pg_source)
    async with postgres_connection(pg_source) as other:
        begun = other.transaction()
        await begun.start()
        await other.execute(f"LOCK TABLE {table} IN SHARE MODE")
        await asyncio.sleep(0.05)  # longer than what the plan would wait
        (one,) = await blockers(pg_source)
        assert one.session == f"pid {other.get_server_pid()}"
        assert f"LOCK TABLE {table} IN SHARE MODE" in one.doing
        await begun.rollback()
    assert await blockers(pg_source) == ()


async def test_who_is_not_in_the_way_is_not_named(pg_source: Address) -> None:
    """Readers do not hold up ANALYZE, and other tables nobody."""
    await orders(pg_source)
    async with postgres_connection(pg_source) as other, other.transaction():
        await other.execute("LOCK TABLE others IN ACCESS EXCLUSIVE MODE")
        await other.fetch("SELECT * FROM orders")
        await asyncio.sleep(0.05)
        assert await blockers(pg_source) == ()


async def test_mariadb_names_open_transactions_of_the_database(maria_source: Address) -> None:
    await orders(maria_source)
    async with maria_connection(maria_source) as other, other.cursor() as cursor:
        await cursor.execute("START TRANSACTION")
        await cursor.execute("UPDATE orders SET id = 2")
        await asyncio.sleep(0.05)
        (one,) = await blockers(maria_source)
        assert one.session == f"connection {other.thread_id()}"
        await cursor.execute("ROLLBACK")
    assert await blockers(maria_source) == ()
