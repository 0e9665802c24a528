"""A day of PostgreSQL's history that is missing is made by whoever needs it; if it cannot be, nothing is lost."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from contracts.rows import counts, difference, living
from contracts.world import endings
from hourhand.model.errors import StoreUnavailable
from hourhand.model.instance import Held, LogLine, Submission
from hourhand.model.words import OutcomeKind, Status
from hourhand.rules.lines import line_seq
from hourhand.store.partitions import partition_name

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from contracts.world import World
    from hourhand.model.instance import Assignment


async def define(world: World, command: str) -> None:
    """Change the schema."""
    async with world.store.database.pool.acquire() as connection:  # type: ignore[attr-defined]  # PostgreSQL only
        await connection.execute(command)


async def drop_today(world: World, *tables: str) -> None:
    today = (await world.store.now()).date()
    for table in tables:
        await define(world, f"DROP TABLE {partition_name(table, today)}")


async def start(world: World, count: int = 1) -> list[Assignment]:
    await world.executor()
    task = await world.task(max_retries=1)
    await world.store.submit([Submission(task_id=task.id) for _ in range(count)])
    return await world.claim()


async def test_a_missing_day_is_made_and_the_finish_succeeds(cluster_world: World) -> None:
    (claimed,) = await start(cluster_world)
    await drop_today(cluster_world, "execution_logs")

    (finished,) = await cluster_world.end([claimed])

    assert finished.status is Status.SUCCESS
    assert (await cluster_world.store.get_instance(claimed.instance_id)).status is Status.SUCCESS


async def test_a_missing_day_is_made_for_attempts_and_lines(cluster_world: World) -> None:
    (claimed,) = await start(cluster_world)
    await drop_today(cluster_world, "instance_attempts", "instance_logs")
    line = LogLine(seq=line_seq(claimed.fence, 0), logged_at=await cluster_world.store.now(), message="hello")

    assert await cluster_world.store.write_lines([(Held(claimed.instance_id, claimed.fence), line)]) == 1
    assert [one.status for one in await cluster_world.end([claimed], OutcomeKind.FAILED)] == [Status.PENDING]

    assert [one.message for one in await cluster_world.store.read_lines(claimed.instance_id)] == ["hello"]
    assert len(await cluster_world.store.list_attempts(claimed.instance_id)) == 1


async def test_many_who_miss_the_same_day_all_succeed(cluster_world: World) -> None:
    claimed = await start(cluster_world, 40)
    await drop_today(cluster_world, "execution_logs")

    answers = await asyncio.gather(*[cluster_world.end(claimed[place::8]) for place in range(8)])

    assert {one.status for batch in answers for one in batch} == {Status.SUCCESS}
    assert await cluster_world.count("execution_logs") == 40


@asynccontextmanager
async def taken_name(world: World) -> AsyncIterator[None]:
    """A table that is no partition stands where the day would be."""
    name = partition_name("execution_logs", (await world.store.now()).date())
    await define(world, f"CREATE TABLE {name} (nothing integer)")
    try:
        yield
    finally:
        await define(world, f"DROP TABLE {name}")


@asynccontextmanager
async def no_right_to_create(world: World) -> AsyncIterator[None]:
    """The store's user may not create tables."""
    await define(
        world,
        "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE insufficient_privilege USING MESSAGE = 'permission denied for schema public'; END $$",
    )
    await define(
        world, "CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION refuse()"
    )
    try:
        yield
    finally:
        await define(world, "DROP EVENT TRIGGER refuse; DROP FUNCTION refuse")


@pytest.mark.parametrize("obstacle", [taken_name, no_right_to_create])
async def test_a_day_that_cannot_be_made_leaves_everything_as_it_was_to_be_finished_later(
    cluster_world: World, obstacle: Callable[[World], AbstractAsyncContextManager[None]]
) -> None:
    claimed = await start(cluster_world, 3)
    await drop_today(cluster_world, "execution_logs")
    async with obstacle(cluster_world):
        before = await counts(cluster_world)
        row = await living(cluster_world, claimed[0].instance_id)

        with pytest.raises(StoreUnavailable, match="execution_logs"):
            await cluster_world.store.finish(endings(claimed))

        assert difference(before, await counts(cluster_world)) == {}
        assert await living(cluster_world, claimed[0].instance_id) == row

    assert [one.status for one in await cluster_world.end(claimed)] == [Status.SUCCESS] * 3
