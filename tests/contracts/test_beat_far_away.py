"""Beats over a network that is slow or has holes: one round trip each, and no connection that went dead is kept."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Text, text

from contracts.plans import statements
from contracts.proxy import between
from contracts.world import World
from hourhand.model.errors import StoreUnavailable
from hourhand.model.instance import Held
from hourhand.store import open_store, postgresql
from hourhand.store.statements import Statement

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from contracts.proxy import Proxy
    from postgres import Cluster


@asynccontextmanager
async def far_away(url: str, lease_seconds: float) -> AsyncIterator[tuple[Proxy, World]]:
    async with between(url) as (proxy, through):
        store = await open_store(through, lease_seconds=lease_seconds)
        try:
            yield proxy, World(store)
        finally:
            await store.close()


async def running(world: World) -> list[Held]:
    """Three attempts held, by an executor that has beaten before: its connection is there, its statement prepared."""
    await world.executor()
    task = await world.task()
    for _ in range(3):
        await world.submit(task)
    held = [Held(one.instance_id, one.fence) for one in await world.claim()]
    assert len(held) == 3
    await world.store.beat("e1", held)
    return held


async def test_a_beat_is_one_round_trip(postgresql_url: str) -> None:
    async with far_away(postgresql_url, 60) as (proxy, world):
        held = await running(world)
        await asyncio.sleep(0.3)  # hints are sent on their own
        asked = proxy.asked

        beat = await world.store.beat("e1", held, extend=held[:2])

        assert (len(beat.lanes), beat.superseded) == (1, ())
        assert proxy.asked - asked == 1


async def test_a_beat_is_one_statement_whatever_is_held(cluster_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    held = await running(cluster_world)
    for some in ([], held[:1], held):
        with statements(monkeypatch) as seen:
            await cluster_world.store.beat("e1", some)
        assert len(seen) == 1


async def test_a_beat_whose_connection_leads_nowhere_finds_another_before_the_lease_has_run_out(
    postgresql_url: str,
) -> None:
    async with far_away(postgresql_url, 5) as (proxy, world):
        held = await running(world)
        proxy.kill()
        opened = proxy.opened

        async with asyncio.timeout(30):  # everything else is given a minute
            assert (await world.store.beat("e1", held)).superseded == ()

        assert proxy.opened > opened


async def test_a_connection_that_leads_nowhere_is_dropped_by_whoever_waited_in_vain(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "_COMMAND_SECONDS", 1.0)
    async with far_away(postgresql_url, 60) as (proxy, world):
        await world.task()
        for ask in (world.store.list_groups, world.task):
            proxy.kill()
            errors: list[str] = []
            async with asyncio.timeout(60):
                while True:
                    try:
                        await ask()
                        break
                    except StoreUnavailable as error:
                        errors.append(str(error))
            assert set(errors) == {"PostgreSQL: TimeoutError"}  # once for each connection that there was


async def test_a_beat_that_the_store_gave_up_does_not_go_on_waiting_in_the_server(
    cluster: Cluster, postgresql_url: str
) -> None:
    store = await open_store(postgresql_url, lease_seconds=5)
    world = World(store)
    blocker = await open_store(postgresql_url)
    name = postgresql_url.rsplit("/", 1)[1]
    waiting = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}' AND wait_event_type = 'Lock'"  # noqa: S608
    try:
        held = await running(world)
        pool = blocker.database.pool  # type: ignore[attr-defined]  # PostgreSQL
        async with pool.acquire() as connection, connection.transaction():
            await connection.execute("SELECT FROM task_instances FOR UPDATE")
            async with asyncio.timeout(30):
                with pytest.raises(StoreUnavailable):
                    await store.beat("e1", held)
                while await asyncio.to_thread(cluster.sql, waiting) != "0":
                    await asyncio.sleep(0.1)
        assert (await store.beat("e1", held)).superseded == ()
    finally:
        await blocker.close()
        await store.close()


async def test_only_beats_may_be_lost_in_a_crash(cluster_world: World) -> None:
    show = Statement(text("SELECT current_setting('synchronous_commit') AS set").columns(set=Text))
    database = cluster_world.store.database
    set_to = [
        (await database.write(lambda tx: tx.fetch(show), durable=durable))[0]["set"] for durable in (True, False, True)
    ]
    assert set_to == ["on", "off", "on"]
