"""A PostgreSQL server that is away, starting, read-only or busy: every verb says so in the store's own words."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest
from sqlalchemy import text

from hourhand.model.errors import HourhandError, StoreError, StoreUnavailable
from hourhand.store import open_store
from hourhand.store.postgresql import translate
from hourhand.store.schema import DAILY_TABLES
from hourhand.store.statements import Statement

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from contracts.world import World
    from hourhand.store import Store
    from postgres import Cluster

NOW = datetime.now(UTC)
VERBS: dict[str, Callable[[Store], Awaitable[Any]]] = {
    "ping": lambda store: store.ping(),
    "read": lambda store: store.list_groups(),
    "write": lambda store: store.ensure_group("g"),
    "beat": lambda store: store.beat("e1"),
    "ensure_partitions": lambda store: store.ensure_partitions(),
    "drop_days": lambda store: store.database.drop_days("execution_logs", NOW),
    "retain": lambda store: store.retain(days=30),
}


@pytest.mark.parametrize("verb", VERBS)
async def test_a_server_that_accepts_no_connections_is_unavailable(
    cluster: Cluster, postgresql_template: str, verb: str
) -> None:
    url = cluster.create_database(template=postgresql_template)
    name = url.rpartition("/")[2]
    store = await open_store(url)
    try:
        cluster.sql(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        cluster.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")  # noqa: S608
        for _ in range(3):
            with pytest.raises(StoreUnavailable, match="PostgreSQL"):
                await VERBS[verb](store)
    finally:
        await store.close()
        cluster.drop_database(url)


async def test_the_driver_does_not_complain_beside_the_store(
    cluster: Cluster, postgresql_template: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = cluster.create_database(template=postgresql_template)
    name = url.rpartition("/")[2]
    store = await open_store(url)
    try:
        cluster.sql(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        cluster.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")  # noqa: S608
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                await store.ping()
            await asyncio.sleep(0.3)  # the driver would try by itself, and say so
    finally:
        await store.close()
        cluster.drop_database(url)
    assert [record.getMessage() for record in caplog.records if record.name.startswith("asyncpg")] == []


async def test_a_read_only_server_is_unavailable_for_writing_alone(cluster: Cluster, postgresql_template: str) -> None:
    """As after a failover, until the other server is found."""
    url = cluster.create_database(template=postgresql_template)
    store = await open_store(url)
    try:
        cluster.sql(f'ALTER DATABASE "{url.rpartition("/")[2]}" SET default_transaction_read_only = on')
        await store.close()
        with pytest.raises(StoreUnavailable, match="read-only"):
            await open_store(url)
    finally:
        cluster.drop_database(url)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (asyncpg.ObjectInUseError("in use"), StoreUnavailable),
        (asyncpg.LockNotAvailableError("timeout"), StoreUnavailable),
        (asyncpg.ObjectNotInPrerequisiteStateError("not accepting connections"), StoreUnavailable),
        (asyncpg.ReadOnlySQLTransactionError("read-only"), StoreUnavailable),
        (asyncpg.CannotConnectNowError("starting up"), StoreUnavailable),
        (asyncpg.DeadlockDetectedError("deadlock"), StoreUnavailable),
        (asyncpg.InvalidCachedStatementError("the schema has changed"), StoreUnavailable),
        (asyncpg.InsufficientPrivilegeError("permission denied"), StoreError),
        (asyncpg.ClientConfigurationError("sslmode"), StoreError),
    ],
    ids=lambda one: getattr(one, "__name__", None) or type(one).__name__,
)
def test_every_error_of_the_driver_is_told_as_one_of_the_store(error: Exception, told: type[HourhandError]) -> None:
    assert type(translate(error)) is told


def test_what_is_no_error_of_the_driver_stays_as_it_is() -> None:
    error = KeyError("a bug")
    assert translate(error) is error


@pytest.mark.parametrize("table", DAILY_TABLES)
async def test_a_day_that_cannot_be_made_is_told_in_the_store_s_words(cluster_world: World, table: str) -> None:
    world = cluster_world
    async with world.store.database.pool.acquire() as connection:  # type: ignore[attr-defined]  # PostgreSQL
        await connection.execute(f"ALTER TABLE {table} RENAME TO hidden")
    try:
        for verb in (world.store.ensure_partitions, lambda: world.store.database.drop_days(table, NOW)):
            with pytest.raises(StoreError, match=table):
                await verb()
    finally:
        async with world.store.database.pool.acquire() as connection:  # type: ignore[attr-defined]  # PostgreSQL
            await connection.execute(f"ALTER TABLE hidden RENAME TO {table}")


async def test_a_heartbeat_does_not_wait_behind_slow_reads(cluster_world: World) -> None:
    await cluster_world.executor()
    slow = Statement(text("SELECT pg_sleep(2)"))
    reads = [asyncio.create_task(cluster_world.store.database.read(lambda tx: tx.fetch(slow))) for _ in range(12)]
    await asyncio.sleep(0.3)
    async with asyncio.timeout(1):
        assert (await cluster_world.store.beat("e1")).registered
    for read in reads:
        read.cancel()
    await asyncio.gather(*reads, return_exceptions=True)
