"""Opening a store: what its URL may say, what an earlier process left behind, and what a failed opening leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncpg
import pytest

import hourhand.store
from contracts.world import World
from hourhand.model.errors import StoreError, StoreUnavailable
from hourhand.model.words import Status
from hourhand.store import open_store, revision, upgrade
from hourhand.store.postgresql import PostgresqlDatabase
from recycling import EMPTYING

if TYPE_CHECKING:
    from hourhand.store.database import Tx


@pytest.mark.parametrize(
    "parameters", ["sslmode=disable", "sslmode=prefer&application_name=me", "target_session_attrs=any"]
)
async def test_a_url_may_carry_the_parameters_that_postgresql_knows(postgresql_url: str, parameters: str) -> None:
    url = f"{postgresql_url}?{parameters}"
    before, after = await upgrade(url)
    assert before == after
    assert await revision(url) == (after, after)
    store = await open_store(url)
    await store.ping()
    await store.close()


@pytest.mark.parametrize("parameters", ["sslmode=sometimes", "no_such_setting=1"])
async def test_parameters_that_are_wrong_are_refused_and_not_worth_a_retry(
    postgresql_url: str, parameters: str
) -> None:
    for opening in (upgrade, revision, open_store, PostgresqlDatabase.open):
        with pytest.raises(StoreError, match="PostgreSQL") as refused:
            await opening(f"{postgresql_url}?{parameters}")
        assert not isinstance(refused.value, StoreUnavailable)


async def test_an_opening_that_fails_lets_the_next_one_have_the_file(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_tx: Tx) -> None:
        raise StoreUnavailable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(hourhand.store, "bury_the_dead", fail)
        with pytest.raises(StoreUnavailable, match="full"):
            await open_store(sqlite_url)
    await (await open_store(sqlite_url)).close()


async def test_an_opening_that_fails_gives_its_connections_back(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_database: PostgresqlDatabase) -> int:
        raise StoreUnavailable("no room for a day")

    with monkeypatch.context() as patch:
        patch.setattr(PostgresqlDatabase, "ensure_partitions", fail)
        with pytest.raises(StoreUnavailable, match="room"):
            await open_store(postgresql_url)
    connection = await asyncpg.connect(postgresql_url)
    try:
        others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ours = f"{others} AND backend_type = 'client backend' AND application_name <> '{EMPTYING}'"
        assert await connection.fetchval(ours) == 0
    finally:
        await connection.close()


async def test_whoever_used_the_file_before_is_dead(sqlite_url: str) -> None:
    world = World(await open_store(sqlite_url))
    await world.executor()
    lost = await world.submit(await world.task())
    await world.claim()
    assert await world.store.take_lease("sweep", "old", 3_600)
    await world.store.close()

    world = World(await open_store(sqlite_url))
    assert await world.store.list_executors() == []
    assert await world.store.take_lease("sweep", "new", 60)
    assert (await world.store.reap()).requeued == 1
    assert (await world.store.get_instance(lost)).status is Status.PENDING
    await world.store.close()


async def test_on_a_cluster_the_others_live_on(postgresql_url: str) -> None:
    world = World(await open_store(postgresql_url))
    await world.executor()
    assert await world.store.take_lease("sweep", "old", 3_600)
    another = await open_store(postgresql_url)
    assert [one.id for one in await another.list_executors()] == ["e1"]
    assert not await another.take_lease("sweep", "new", 60)
    await another.close()
    await world.store.close()
