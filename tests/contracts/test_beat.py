"""Beat: a sign of life that extends exactly the leases held, and tells what was cancelled, superseded or is served."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from contracts.elapse import silence
from contracts.rows import expire, living, shift
from hourhand.model.instance import Held
from hourhand.model.words import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from contracts.world import World
    from hourhand.model.instance import Assignment


def held(claimed: Iterable[Assignment]) -> list[Held]:
    return [Held(one.instance_id, one.fence) for one in claimed]


async def running(world: World, count: int, executor: str = "e1") -> list[Assignment]:
    await world.executor(executor)
    task = await world.task()
    for _ in range(count):
        await world.submit(task)
    claimed = await world.claim(executor)
    assert len(claimed) == count
    return claimed


async def leases(world: World) -> dict[int, object]:
    rows = await world.sql("SELECT id, lease_until FROM task_instances ORDER BY id")
    return {row["id"]: row["lease_until"] for row in rows}


async def test_a_beat_extends_the_leases_held_by_a_whole_lease(world: World) -> None:
    (claimed,) = await running(world, 1)
    await shift(world, "lease_until", -10)
    before = await world.store.now()

    beat = await world.store.beat("e1", held([claimed]))

    instance = await world.store.get_instance(claimed.instance_id)
    assert instance.lease_until is not None
    assert instance.lease_until >= before + timedelta(seconds=world.store.lease_seconds, milliseconds=-50)
    assert instance.last_heartbeat is not None
    assert instance.last_heartbeat >= before
    assert (beat.registered, beat.cancelled, beat.superseded) == (True, (), ())
    assert before <= beat.now <= await world.store.now()


async def test_a_beat_extends_exactly_the_pairs_it_names(world: World) -> None:
    mine, unnamed, stale, early = await running(world, 4)
    (other,) = await running(world, 1, "e2")
    before = await leases(world)
    pairs = [
        Held(mine.instance_id, mine.fence),
        Held(stale.instance_id, stale.fence - 1),
        Held(early.instance_id, early.fence + 1),
    ]

    await world.store.beat("e1", pairs)

    after = await leases(world)
    assert {one for one in before if before[one] != after[one]} == {mine.instance_id}
    assert {unnamed.instance_id, other.instance_id} <= set(after)


async def test_leases_that_are_young_may_be_left_out_of_the_extension(world: World) -> None:
    young, old = await running(world, 2)
    await world.store.cancel(young.instance_id, reason="test")
    before = await leases(world)

    beat = await world.store.beat("e1", held([young, old]), extend=held([old]))

    after = await leases(world)
    assert [one for one in before if before[one] != after[one]] == [old.instance_id]
    assert beat.cancelled == (young.instance_id,)  # all that is held is still looked at


async def test_a_beat_tells_what_is_to_be_cancelled(world: World) -> None:
    claimed = await running(world, 3)
    await world.store.cancel(claimed[1].instance_id, reason="test")

    beat = await world.store.beat("e1", held(claimed))

    assert (beat.cancelled, beat.superseded) == ((claimed[1].instance_id,), ())


async def test_a_beat_tells_what_was_superseded(world: World) -> None:
    ended, reaped, taken, kept = await running(world, 4)
    await world.end([ended])
    await expire(world, f"id IN ({reaped.instance_id}, {taken.instance_id})")
    await world.store.reap()
    await world.executor("e2")
    await world.claim("e2", limit=1)  # the older of the two that lost their executor

    beat = await world.store.beat("e1", held([ended, reaped, taken, kept]))

    assert beat.superseded == tuple(sorted([ended.instance_id, reaped.instance_id, taken.instance_id]))
    assert await world.count("task_instances", "executor_id = 'e2' AND status = 'running'") == 1


async def test_a_superseded_attempt_does_not_hear_of_its_successors_cancel(world: World) -> None:
    (claimed,) = await running(world, 1)
    await expire(world)
    await world.store.reap()
    await world.executor("e2")
    (successor,) = await world.claim("e2")
    await world.store.cancel(successor.instance_id, reason="test")

    beat = await world.store.beat("e1", held([claimed]))

    assert (beat.cancelled, beat.superseded) == ((), (claimed.instance_id,))


async def test_who_is_not_registered_is_told_so_and_served_nothing(world: World) -> None:
    (claimed,) = await running(world, 1)
    await world.store.deregister("e1")
    before = await leases(world)

    beat = await world.store.beat("e1", held([claimed]))

    assert (beat.registered, beat.lanes, beat.superseded) == (False, (), ())
    assert await leases(world) != before  # what it holds it still holds


async def test_who_was_forgotten_registers_again_and_goes_on(world: World) -> None:
    (claimed,) = await running(world, 1)
    await shift(world, "last_heartbeat", -91, table="executors")
    assert await world.store.forget_executors() == ["e1"]

    assert not (await world.store.beat("e1")).registered
    await world.executor()

    assert (await world.store.beat("e1", held([claimed]))).registered
    assert [one.status for one in await world.end([claimed])] == [Status.SUCCESS]


async def test_who_beats_is_not_forgotten(world: World) -> None:
    await world.executor()
    await shift(world, "last_heartbeat", -91, table="executors")
    await world.store.beat("e1")

    assert await world.store.forget_executors() == []


async def test_the_lanes_are_those_of_this_moment(world: World) -> None:
    await world.executor(labels={"zone": "a"})
    first = (await world.store.beat("e1")).lanes
    await world.submit(await world.task())
    second = (await world.store.beat("e1")).lanes
    await world.submit(await world.task(executor_labels={"zone": "a"}))
    third = (await world.store.beat("e1")).lanes
    await world.executor(labels={"zone": "b"})

    assert first == ()
    assert len(second) == 1
    assert set(second) < set(third)
    assert (await world.store.beat("e1")).lanes == second


async def test_the_registry_knows_how_much_is_running(world: World) -> None:
    claimed = await running(world, 2)
    await world.store.beat("e1", held(claimed))

    (executor,) = await world.store.list_executors()

    assert executor.running == 2


async def test_the_registry_knows_who_is_heard_of_within_a_lease(world: World) -> None:
    await world.executor("e1")
    await world.executor("e2")
    await silence(world, "e2")

    assert [(one.id, one.alive) for one in await world.store.list_executors()] == [("e1", True), ("e2", False)]


async def test_a_lease_that_ran_out_but_was_not_reaped_can_be_extended_and_finished(world: World) -> None:
    extended, finished = await running(world, 2)
    await expire(world)

    beat = await world.store.beat("e1", held([extended]))
    (answer,) = await world.end([finished])

    assert beat.superseded == ()
    assert answer.status is Status.SUCCESS
    assert (await world.store.reap()).requeued == 0
    assert [one.status for one in await world.end([extended])] == [Status.SUCCESS]


async def test_a_lease_that_was_reaped_is_not_extended(world: World) -> None:
    (claimed,) = await running(world, 1)
    await expire(world)
    await world.store.reap()

    await world.store.beat("e1", held([claimed]))

    row = await living(world, claimed.instance_id)
    assert row is not None
    assert (row["status"], row["lease_until"]) == ("pending", None)


async def test_beats_of_the_same_instances_in_opposite_order_never_see_a_deadlock(world: World) -> None:
    claimed = await running(world, 200)
    pairs = held(claimed)

    beats = await asyncio.gather(
        *[world.store.beat("e1", order) for _ in range(10) for order in (pairs, pairs[::-1])],
        *[world.store.reap() for _ in range(5)],
    )

    assert all(not getattr(beat, "superseded", ()) for beat in beats)


async def test_an_attempt_that_is_reaped_while_its_beat_waits_is_superseded(cluster_world: World) -> None:
    world = cluster_world
    mine, reaped = await running(world, 2)
    pool = world.store.database.pool  # type: ignore[attr-defined]  # PostgreSQL
    async with pool.acquire() as connection, connection.transaction():
        # As a reaper does: the beat's statement has begun before this is committed.
        await connection.execute(
            "UPDATE task_instances SET status = 'pending', fence = fence + 1, executor_id = NULL, lease_until = NULL "
            "WHERE id = $1",
            reaped.instance_id,
        )
        beating = asyncio.create_task(world.store.beat("e1", held([mine, reaped])))
        async with asyncio.timeout(20):
            while not await pool.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
                await asyncio.sleep(0.01)

    beat = await beating

    assert (beat.superseded, beat.cancelled) == ((reaped.instance_id,), ())
    row = await living(world, reaped.instance_id)
    assert row is not None
    assert row["lease_until"] is None


async def test_a_cancel_that_is_asked_while_the_beat_waits_is_heard(cluster_world: World) -> None:
    world = cluster_world
    (claimed,) = await running(world, 1)
    pool = world.store.database.pool  # type: ignore[attr-defined]  # PostgreSQL
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("UPDATE task_instances SET cancel_requested = true, progress = 0.5")
        before = await leases(world)
        beating = asyncio.create_task(world.store.beat("e1", held([claimed])))
        async with asyncio.timeout(20):
            while not await pool.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
                await asyncio.sleep(0.01)

    assert (await beating).cancelled == (claimed.instance_id,)

    row = await living(world, claimed.instance_id)
    assert row is not None
    assert row["progress"] == 0.5
    assert await leases(world) != before


async def test_a_beat_of_a_paused_group_or_of_all_is_served_nothing(world: World) -> None:
    (claimed,) = await running(world, 1)
    assert (await world.store.beat("e1", held([claimed]))).lanes
    (group,) = [one.id for one in await world.store.list_groups() if one.name == "default"]
    since = "0" if world.store.database.dialect == "sqlite" else "now()"
    pause = "INSERT INTO pauses (scope, scope_id, reason, owner, created_at, until) VALUES ({}, 'r', 'o', {}, {})"
    later = "9000000000000000" if world.store.database.dialect == "sqlite" else "now() + interval '1 day'"
    for scope, until, served in (
        (f"'group', {group + 1}", "NULL", True),
        (f"'group', {group}", since, True),
        (f"'group', {group}", "NULL", False),
        (f"'group', {group}", later, False),
        ("'all', NULL", "NULL", False),
        (f"'task', {group}", "NULL", True),
    ):
        await world.execute(pause.format(scope, since, until))
        beat = await world.store.beat("e1", held([claimed]))
        assert (bool(beat.lanes), beat.superseded) == (served, ()), (scope, until)
        await world.execute("DELETE FROM pauses")
