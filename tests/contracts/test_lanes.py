"""Lanes come with those that need them and go with their executors, and no instance is ever left in one that went."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from contracts.world import World
from hourhand.model.registry import BUILTIN, Lane
from hourhand.model.words import Status
from hourhand.store import open_store, retry
from hourhand.store.registry import lane_ids

if TYPE_CHECKING:
    import pytest


async def lanes(world: World) -> set[str]:
    """The executors that have lanes of their own."""
    rows = await world.sql("SELECT target_executor_id AS target FROM lanes WHERE target_executor_id <> ''")
    return {row["target"] for row in rows}


async def broadcast(world: World, *names: str) -> int:
    """A shard, and so a lane, for each of these executors; the first one's id."""
    for name in names:
        await world.executor(name)
    return await world.submit(await world.task(broadcast=True))


async def test_the_lane_of_an_executor_that_is_gone_stays_while_somebody_is_in_it(world: World) -> None:
    await broadcast(world, "pending", "running", "lost", "planned", "done")
    await world.claim("running")
    await world.run_all("done")
    await world.execute("UPDATE task_instances SET loss_count = 2 WHERE target_executor_id = 'lost'")
    await world.execute(
        "UPDATE task_instances SET status = 'planned', blocked_by = 'dispatch' WHERE target_executor_id = 'planned'"
    )
    for one in await world.store.list_executors():
        await world.store.deregister(one.id)

    await world.store.retain(days=30)
    assert await lanes(world) == {"pending", "running", "lost", "planned"}

    await world.execute("DELETE FROM task_instances")
    await world.store.retain(days=30)
    assert await lanes(world) == set()


async def test_the_lane_of_an_executor_that_lives_stays(world: World) -> None:
    await broadcast(world, "e1")
    await world.run_all("e1")
    await world.store.retain(days=30)
    assert await lanes(world) == {"e1"}


async def test_a_retry_beside_retention_lands_in_a_lane_that_is_there(
    cluster_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = cluster_world
    shard = await broadcast(world, "e1")
    await world.store.cancel(shard, reason="test")
    await world.store.deregister("e1")
    placed, go_on = asyncio.Event(), asyncio.Event()
    place = retry._place  # noqa: SLF001 - to stop in the middle

    async def stop_after(*arguments: Any) -> Any:
        found = await place(*arguments)
        placed.set()
        await go_on.wait()
        return found

    monkeypatch.setattr(retry, "_place", stop_after)
    retrying = asyncio.create_task(world.store.retry(shard))
    await placed.wait()
    retaining = asyncio.create_task(world.store.retain(days=30))
    await asyncio.sleep(0.3)
    go_on.set()
    retried = await retrying
    await retaining

    assert retried.status is Status.PENDING
    assert await world.count("lanes", f"id = {retried.lane_id}") == 1
    await world.executor("e1")
    assert [one.instance_id for one in await world.claim("e1")] == [shard]


async def test_many_who_need_the_same_new_lanes_beside_retention_all_get_them(store_url: str) -> None:
    """Each submits to an executor that is gone, whose lane may go at any moment."""
    stores = [await open_store(store_url)]
    stores += [await open_store(store_url) for _ in range(2)] if "postgresql" in store_url else []
    worlds = [World(store) for store in stores]
    await broadcast(worlds[0], "e1", "e2")
    await worlds[0].execute("DELETE FROM task_instances")
    for name in ("e1", "e2"):
        await worlds[0].store.deregister(name)
    wanted = [Lane(1, BUILTIN, "{}", name) for name in ("e1", "e2")]

    async def find(world: World) -> None:
        for _ in range(30):
            found = await world.store.database.write(lambda tx: lane_ids(tx, wanted))
            assert found.keys() == set(wanted)

    async def prune(world: World) -> None:
        for _ in range(10):
            await world.store.retain(days=30)

    await asyncio.gather(*[work(world) for world in worlds for work in (find, prune)])
    for store in stores:
        await store.close()
