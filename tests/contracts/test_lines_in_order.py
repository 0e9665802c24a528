"""Lines become readable in an order that a reader can follow: nothing appears behind where it is."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from hourhand.model.instance import Held, LogLine, Progress
from hourhand.rules.lines import FIRST_OF_CALLBACKS, line_seq
from hourhand.store import attempts
from hourhand.store.postgresql import PostgresqlDatabase, PostgresqlTx

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from contracts.world import World
    from hourhand.model.instance import Assignment

PATIENCE_SECONDS = 20


async def start(world: World) -> Assignment:
    await world.executor()
    await world.submit(await world.task(max_retries=3, retry_delay_seconds=0))
    (claimed,) = await world.claim()
    return claimed


async def line(world: World, claimed: Assignment, counter: int) -> tuple[Held, LogLine]:
    seq = line_seq(claimed.fence, counter)
    held = Held(claimed.instance_id, claimed.fence)
    return held, LogLine(seq=seq, logged_at=await world.store.now(), message=f"line {counter}")


def pool(world: World) -> Any:
    assert isinstance(world.store.database, PostgresqlDatabase)
    return world.store.database.pool


@asynccontextmanager
async def on_its_way(world: World, claimed: Assignment) -> AsyncIterator[None]:
    """A line that is written and not yet committed."""
    lines = [await line(world, claimed, 0)]
    async with pool(world).acquire() as connection, connection.transaction():
        assert await attempts.write_lines(PostgresqlTx(connection), lines) == 1
        yield


async def waiting_for_a_lock(world: World) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (await world.sql("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'")):
            await asyncio.sleep(0.01)


async def test_an_attempt_does_not_end_before_its_lines_that_are_on_their_way(cluster_world: World) -> None:
    claimed = await start(cluster_world)
    async with on_its_way(cluster_world, claimed):
        ending = asyncio.create_task(cluster_world.end([claimed]))
        await waiting_for_a_lock(cluster_world)
        assert not (await cluster_world.store.get_instance(claimed.instance_id)).status.ended
    async with asyncio.timeout(PATIENCE_SECONDS):
        (finished,) = await ending
    assert finished.status == "success"
    assert len(await cluster_world.store.read_lines(claimed.instance_id)) == 1


async def test_an_attempt_is_not_superseded_before_its_lines_that_are_on_their_way(cluster_world: World) -> None:
    claimed = await start(cluster_world)
    await cluster_world.execute("UPDATE task_instances SET lease_until = created_at")
    async with on_its_way(cluster_world, claimed):
        assert (await cluster_world.store.reap()).requeued == 0
    assert (await cluster_world.store.reap()).requeued == 1


async def test_lines_on_their_way_hold_up_neither_heartbeats_nor_progress_nor_other_lines(cluster_world: World) -> None:
    claimed = await start(cluster_world)
    held = Held(claimed.instance_id, claimed.fence)
    before = await cluster_world.store.get_instance(claimed.instance_id)
    async with on_its_way(cluster_world, claimed), asyncio.timeout(PATIENCE_SECONDS):
        assert (await cluster_world.store.beat("e1", [held])).superseded == ()
        progress = Progress(instance_id=held.instance_id, fence=held.fence, progress=0.5)
        assert await cluster_world.store.report_progress([progress]) == []
        assert await cluster_world.store.write_lines([await line(cluster_world, claimed, 1)]) == 1
        assert await cluster_world.store.write_lines([await line(cluster_world, claimed, FIRST_OF_CALLBACKS)]) == 1
    after = await cluster_world.store.get_instance(claimed.instance_id)
    assert before.lease_until is not None
    assert after.lease_until is not None
    assert after.lease_until > before.lease_until


async def test_a_line_of_a_callback_that_was_overtaken_is_not_stored(world: World) -> None:
    claimed = await start(world)
    first, second, third = [await line(world, claimed, FIRST_OF_CALLBACKS + number) for number in (5, 6, 7)]
    assert await world.store.write_lines([second]) == 1
    assert await world.store.write_lines([first]) == 0
    assert await world.store.write_lines([second]) == 0
    assert await world.store.write_lines([third]) == 1
    assert await world.store.write_lines([await line(world, claimed, 0)]) == 1  # the executor's are apart
    assert [one.seq for one in await world.store.read_lines(claimed.instance_id)] == [
        line_seq(claimed.fence, 0),
        second[1].seq,
        third[1].seq,
    ]


async def test_callbacks_at_once_write_one_after_the_other(cluster_world: World) -> None:
    claimed = await start(cluster_world)
    early, late = [await line(cluster_world, claimed, FIRST_OF_CALLBACKS + number) for number in (5, 6)]
    async with pool(cluster_world).acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        assert await attempts.write_lines(PostgresqlTx(connection), [late]) == 1
        overtaken = asyncio.create_task(cluster_world.store.write_lines([early]))
        await waiting_for_a_lock(cluster_world)
        await transaction.commit()
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await overtaken == 0
