"""Guarantee 8 under contention: the interleavings in which dependents could be lost, and many endings at once."""

from __future__ import annotations

import asyncio
import itertools
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from contracts.elapse import align, elapse, instances, ledger, only, transaction
from contracts.world import endings
from hourhand.model.words import OutcomeKind, OverlapPolicy, Status
from hourhand.store.definitions import Versions
from hourhand.store.finish import finish_batch
from hourhand.store.materialise import materialise
from hourhand.store.postgresql import PostgresqlTx
from hourhand.store.settle import settle

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.instance import Assignment
    from hourhand.model.task import Task

DIAMONDS = 1_000
BROADCASTS = 500


async def every(world: World, *upstreams: Task) -> Task:
    ids = tuple(one.id for one in upstreams)
    return await world.task(schedule="@every 60s", overlap_policy=OverlapPolicy.PARALLEL, dependency_ids=ids)


async def two_upstreams(world: World) -> tuple[list[Assignment], Task]:
    """Two running upstreams of one dependent that waits for both."""
    await world.executor()
    left, right = await every(world), await every(world)
    dependent = await every(world, left, right)
    await align(world, left, right, dependent)
    await elapse(world, 65)
    await world.store.materialise()
    claimed = await world.claim()
    assert len(claimed) == 2
    return claimed, dependent


async def one_upstream(world: World) -> tuple[list[Assignment], Task]:
    """A running upstream whose dependent has not been made yet."""
    await world.executor()
    upstream = await every(world)
    dependent = await every(world, upstream)
    await align(world, upstream, dependent)
    await elapse(world, 65)
    await world.execute("UPDATE tasks SET wake_at = created_at WHERE id = :id", id=upstream.id)
    assert (await world.store.materialise(limit=1)).instants == 1
    return await world.claim(), dependent


@pytest.mark.parametrize("order", list(itertools.permutations(range(2))))
async def test_two_upstreams_ending_in_two_batches_do_not_leave_the_release_to_each_other(
    world: World, order: tuple[int, ...]
) -> None:
    claimed, dependent = await two_upstreams(world)
    flushed = [await world.store.flush(endings([one])) for one in claimed]
    for number in order:
        await world.store.follow(flushed[number].aftermath)
    assert (await only(world, dependent)).status is Status.PENDING


async def test_two_upstreams_ending_in_two_open_transactions_release_their_dependent(cluster_world: World) -> None:
    world = cluster_world
    claimed, dependent = await two_upstreams(world)
    async with transaction(world) as second:
        async with transaction(world) as first:
            one = await finish_batch(PostgresqlTx(first), endings(claimed[:1]), Versions())
            other = await finish_batch(PostgresqlTx(second), endings(claimed[1:]), Versions())
        await world.store.follow(one.aftermath)
        assert (await only(world, dependent)).status is Status.PLANNED, "the other end is not committed"
    await world.store.follow(other.aftermath)
    assert (await only(world, dependent)).status is Status.PENDING


async def test_two_settlers_at_the_same_time_release_their_dependent_once(cluster_world: World) -> None:
    world = cluster_world
    claimed, dependent = await two_upstreams(world)
    one = await world.store.flush(endings(claimed[:1]))
    other = await world.store.flush(endings(claimed[1:]))
    async with transaction(world) as connection:
        await settle(
            PostgresqlTx(connection),
            one.aftermath.unsettled,
            limit=10,
            look_ahead=world.store.look_ahead,
            lease_seconds=15,
        )
        following = asyncio.create_task(world.store.follow(other.aftermath))
        await asyncio.sleep(0.1)
        assert not following.done(), "it waits for the dependent's row"
    await following
    assert (await only(world, dependent)).status is Status.PENDING
    (again,) = await world.claim()
    assert again.fence == 1


async def test_two_settlers_at_the_same_time_fail_their_dependent_once(cluster_world: World) -> None:
    world = cluster_world
    claimed, dependent = await two_upstreams(world)
    await world.execute("UPDATE tasks SET upstream_failure_policy = 'fail' WHERE id = :id", id=dependent.id)
    one = await world.store.flush(endings(claimed[:1], OutcomeKind.FAILED))
    other = await world.store.flush(endings(claimed[1:], OutcomeKind.FAILED))
    async with transaction(world) as connection:
        await settle(
            PostgresqlTx(connection),
            one.aftermath.unsettled,
            limit=10,
            look_ahead=world.store.look_ahead,
            lease_seconds=15,
        )
        following = asyncio.create_task(world.store.follow(other.aftermath))
        await asyncio.sleep(0.1)
    await following
    assert await world.count("execution_logs", f"task_id = {dependent.id}") == 1
    (row,) = (await ledger(world, dependent)).values()
    assert (row["shards_left"], row["outcome"]) == (0, "failed")


async def test_a_wait_made_while_the_finish_is_uncommitted_is_seen(cluster_world: World) -> None:
    world = cluster_world
    claimed, dependent = await one_upstream(world)
    async with transaction(world) as connection:
        flush = await finish_batch(PostgresqlTx(connection), endings(claimed), Versions())
        assert (await world.store.materialise()).instants == 1
        assert (await only(world, dependent)).status is Status.PLANNED
    await world.store.follow(flush.aftermath)
    assert (await only(world, dependent)).status is Status.PENDING


async def test_a_wait_that_is_uncommitted_while_the_finish_is_settled_is_evaluated_afterwards(
    cluster_world: World,
) -> None:
    world = cluster_world
    claimed, dependent = await one_upstream(world)
    async with transaction(world) as connection:
        made = await materialise(
            PostgresqlTx(connection), limit=10, look_ahead=world.store.look_ahead, lease_seconds=15
        )
        assert made.instants == 1
        await world.end(claimed)
        assert await world.count("task_instants", "unsettled IS NOT NULL") == 0, "settled: nobody was seen to wait"
    await world.store.follow(made.aftermath)
    assert (await only(world, dependent)).status is Status.PENDING


async def test_a_wait_made_between_the_end_and_its_settling_is_released(world: World) -> None:
    claimed, dependent = await one_upstream(world)
    flush = await world.store.flush(endings(claimed))
    await world.store.materialise()
    await world.store.follow(flush.aftermath)
    assert (await only(world, dependent)).status is Status.PENDING


async def test_an_end_that_is_retried_while_it_is_settled_is_settled_anew(cluster_world: World) -> None:
    world = cluster_world
    claimed, dependent = await two_upstreams(world)
    failed = await world.store.flush(endings(claimed[:1], OutcomeKind.FAILED))
    await world.end(claimed[1:])
    points = failed.aftermath.unsettled
    async with transaction(world) as connection:
        await settle(PostgresqlTx(connection), points, limit=10, look_ahead=world.store.look_ahead, lease_seconds=15)
        retrying = asyncio.create_task(world.store.retry(claimed[0].instance_id))
        await asyncio.sleep(0.1)
    await retrying
    assert (await only(world, dependent)).status is Status.PLANNED
    await world.run_all()
    assert (await only(world, dependent)).status is Status.SUCCESS


# Many at once


async def finisher(world: World, executor: str, every_third_crashes: itertools.count[int]) -> int:
    """Claim and end in small batches; every third time it dies before anything follows."""
    done = 0
    while claimed := await world.claim(executor, limit=100):
        if next(every_third_crashes) % 3 == 0:
            await world.store.flush(endings(claimed))
        else:
            await world.end(claimed)
        done += len(claimed)
    return done


async def test_diamonds_and_broadcasts_finished_by_eight_at_once_release_every_dependent_once(world: World) -> None:
    executors = ["e1", "e2"]
    for name in executors:
        await world.executor(name)
    top = await _each_second(world, DIAMONDS)
    left, right = await _each_second(world, DIAMONDS, top), await _each_second(world, DIAMONDS, top)
    bottom = await _each_second(world, DIAMONDS, left, right)
    broadcast = await _each_second(world, BROADCASTS, broadcast=True)
    after = await _each_second(world, BROADCASTS, broadcast)
    world.store.look_ahead = timedelta(0)  # all that is made can be claimed
    await world.store.materialise()
    made = {task.id: await world.count("task_instants", f"task_id = {task.id}") for task in (bottom, broadcast, after)}
    assert list(made.values()) == [DIAMONDS, made[after.id], made[after.id]]
    assert made[after.id] >= BROADCASTS
    expected = dict.fromkeys([top.id, left.id, right.id, bottom.id], DIAMONDS)
    expected |= {broadcast.id: len(executors) * made[broadcast.id], after.id: made[after.id]}
    assert await world.count("task_instances") == sum(expected.values())
    crashes: itertools.count[int] = itertools.count()
    done = 0
    for _ in range(20):
        done += sum(await asyncio.gather(*[finisher(world, executors[number % 2], crashes) for number in range(8)]))
        if done == sum(expected.values()):
            break
        while await world.store.settle():
            pass
    assert done == sum(expected.values()), "some are stuck"
    for task_id, count in expected.items():
        assert await world.count("execution_logs", f"task_id = {task_id} AND status = 'success' AND fence = 1") == count
    assert await world.count("instance_waits") + await world.count("task_instances") == 0
    too_early = await world.sql(
        "SELECT count(*) AS n FROM execution_logs down JOIN task_dependencies d ON d.task_id = down.task_id "
        "JOIN execution_logs up ON up.task_id = d.depends_on_id AND up.scheduled_time = down.scheduled_time "
        "WHERE down.queued_at < up.end_time"
    )
    assert too_early[0]["n"] == 0, "a dependent was released before its upstream had ended"


async def _each_second(world: World, count: int, *upstreams: Task, broadcast: bool = False) -> Task:
    """A task with so many instants, one a second, all of which have come."""
    task = await world.task(
        schedule="@every 1s",
        misfire_grace_seconds=86_400,
        overlap_policy=OverlapPolicy.PARALLEL,
        dependency_ids=tuple(one.id for one in upstreams),
        broadcast=broadcast,
    )
    anchor = "created_at"
    (first,) = await world.sql("SELECT min(id) AS id FROM tasks")
    back = f"- {(count + 1) * 1_000_000}" if world.store.database.dialect == "sqlite" else f"- interval '{count + 1} s'"
    second = "+ 1000000" if world.store.database.dialect == "sqlite" else "+ interval '1 s'"
    start = f"(SELECT f.{anchor} {back} FROM tasks f WHERE f.id = {first['id']})"  # noqa: S608 - a test's own words
    await world.execute(
        f"UPDATE tasks SET anchored_at = {start}, next_fire_at = {start} {second}, wake_at = {start} "  # noqa: S608 - the same
        f"WHERE id = {task.id}"
    )
    return task


async def test_nothing_is_left_of_a_dependent_that_was_cancelled_while_it_waited(world: World) -> None:
    claimed, dependent = await two_upstreams(world)
    await asyncio.gather(
        world.end(claimed), world.store.cancel((await only(world, dependent)).id, reason="no longer needed")
    )
    (one,) = await instances(world, dependent)
    assert one.status is Status.CANCELLED
    assert await world.count("instance_waits") == 0


async def test_the_sweep_reaches_everybody_however_many_cannot_be_helped(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hourhand.store.verbs.chores.SWEEP_BATCH", 2)
    await world.executor()
    stuck = await world.task(
        schedule="@every 60s", overlap_policy="serial", dependency_timeout_seconds=30, misfire_grace_seconds=900
    )
    await elapse(world, 65)
    await world.store.materialise()
    assert len(await world.claim()) == 1
    await elapse(world, 300)
    await world.store.materialise()
    assert [one.status for one in await instances(world, stuck)] == [Status.RUNNING] + [Status.PLANNED] * 5
    upstream = await world.task()
    dependent = await world.task(dependency_ids=(upstream.id,), dependency_timeout_seconds=30)
    late = await world.submit(dependent, wait=True)
    await elapse(world, 60)
    await world.store.sweep()
    assert (await world.store.get_instance(late)).status is Status.FAILED
