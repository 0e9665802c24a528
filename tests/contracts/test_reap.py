"""Reap: attempts whose lease ran out are lost; their instances go round again, or end if that is wiser."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from contracts.rows import ended, expire, living, shift
from hourhand.model.answers import Reaped
from hourhand.model.instance import Held, Submission
from hourhand.model.words import BlockedBy, ExecutorLossPolicy, OutcomeKind, Status

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.instance import Assignment


async def start(world: World, count: int = 1, executor: str = "e1", **changes: Any) -> list[Assignment]:
    """Instances of one task that run on one executor."""
    await world.executor(executor)
    task = await world.task(**changes)
    await world.store.submit([Submission(task_id=task.id) for _ in range(count)])
    claimed = await world.claim(executor)
    assert len(claimed) == count
    return claimed


async def test_an_expired_attempt_is_requeued_and_its_loss_counted(world: World) -> None:
    (claimed,) = await start(world, max_retries=0)
    await expire(world)
    before = await world.store.now()

    assert await world.store.reap() == Reaped(requeued=1)

    instance = await world.store.get_instance(claimed.instance_id)
    assert (instance.status, instance.loss_count, instance.retry_count) == (Status.PENDING, 1, 0)
    assert (instance.executor_id, instance.lease_until, instance.start_time) == (None, None, None)
    assert instance.fence > claimed.fence
    assert instance.available_at is not None
    assert instance.available_at >= before
    (attempt,) = await world.store.list_attempts(claimed.instance_id)
    assert (attempt.fence, attempt.executor_id, attempt.outcome) == (claimed.fence, "e1", OutcomeKind.LOST)
    assert attempt.error_message == "executor e1 was lost: no heartbeat for a whole lease"


async def test_live_leases_are_left_alone(world: World) -> None:
    claimed = await start(world, 3)
    await shift(world, "lease_until", -5)  # of fifteen
    rows = [await living(world, one.instance_id) for one in claimed]
    await expire(world, f"id = {claimed[1].instance_id}")

    assert await world.store.reap() == Reaped(requeued=1)

    assert await living(world, claimed[0].instance_id) == rows[0]
    assert await living(world, claimed[2].instance_id) == rows[2]
    assert await world.store.reap() == Reaped()


async def test_no_more_than_the_limit_is_reaped_at_once(world: World) -> None:
    await start(world, 5)
    await expire(world)

    assert [await world.store.reap(limit=2) for _ in range(4)] == [
        Reaped(requeued=2),
        Reaped(requeued=2),
        Reaped(requeued=1),
        Reaped(),
    ]


async def test_the_third_loss_fails_it_as_poisonous(world: World) -> None:
    (claimed,) = await start(world, max_retries=9)
    reaped = []
    for _ in range(3):
        await expire(world)
        reaped.append(await world.store.reap())
        await world.claim()

    assert reaped == [Reaped(requeued=1), Reaped(requeued=1), Reaped(ended=1)]
    instance = await world.store.get_instance(claimed.instance_id)
    assert (instance.status, instance.loss_count, instance.retry_count) == (Status.FAILED, 3, 0)
    assert instance.error_message is not None
    assert "poisonous after 3 lost executors" in instance.error_message
    assert len(await world.store.list_attempts(claimed.instance_id)) == 2
    assert instance.duration_ms is not None
    assert instance.duration_ms >= 0


async def test_losses_do_not_use_up_retries_nor_retries_losses(world: World) -> None:
    (claimed,) = await start(world, max_retries=1, retry_delay_seconds=0)
    for _ in range(2):
        await expire(world)
        await world.store.reap()
        (claimed,) = await world.claim()

    await world.end([claimed], OutcomeKind.FAILED)

    (again,) = await world.claim()
    assert (again.loss_count, again.retry_count) == (2, 1)
    assert [one.status for one in await world.end([again], OutcomeKind.FAILED)] == [Status.FAILED]


async def test_what_must_not_run_twice_fails_with_its_first_executor(world: World) -> None:
    (claimed,) = await start(world, executor_loss_policy=ExecutorLossPolicy.FAIL, max_retries=5)
    await expire(world)

    assert await world.store.reap() == Reaped(ended=1)

    instance = await world.store.get_instance(claimed.instance_id)
    assert (instance.status, instance.loss_count) == (Status.FAILED, 1)
    assert instance.error_message is not None
    assert "executor_loss_policy is fail" in instance.error_message


async def test_what_was_to_be_cancelled_is_cancelled_with_its_executor(world: World) -> None:
    (claimed,) = await start(world)
    await world.store.cancel(claimed.instance_id, reason="test")
    await expire(world)

    assert await world.store.reap() == Reaped(ended=1)

    assert (await world.store.get_instance(claimed.instance_id)).status is Status.CANCELLED


async def test_the_version_it_runs_decides_not_the_newest(world: World) -> None:
    (claimed,) = await start(world, executor_loss_policy=ExecutorLossPolicy.FAIL)
    await world.store.edit_task(claimed.task_id, {"executor_loss_policy": "requeue"}, by="test")
    await expire(world)

    assert await world.store.reap() == Reaped(ended=1)


async def test_one_with_a_concurrency_key_gives_its_permit_to_the_next(world: World) -> None:
    await world.executor()
    task = await world.task(concurrency_key="k")
    first, second = await world.submit(task), await world.submit(task, priority=0)
    assert [one.instance_id for one in await world.claim()] == [first]
    await expire(world)

    await world.store.reap()

    lost = await world.store.get_instance(first)
    assert (lost.status, lost.blocked_by, lost.loss_count) == (Status.PLANNED, BlockedBy.PERMIT, 1)
    assert [one.instance_id for one in await world.claim()] == [second]


async def test_a_poisonous_instance_releases_nobody_but_ends_its_instant(world: World) -> None:
    upstream = await world.task(executor_loss_policy=ExecutorLossPolicy.FAIL)
    waiting = await world.task(dependency_ids=(upstream.id,))
    await world.executor()
    await world.submit(upstream)
    waiter = await world.submit(waiting, wait=True)
    await world.claim()
    await expire(world)

    await world.store.reap()

    assert await world.count("task_instants", "outcome = 'failed' AND unsettled IS NULL") == 1
    assert (await world.store.get_instance(waiter)).blocked_by is BlockedBy.DEPENDENCIES


# Broadcast


async def test_the_shard_of_a_lost_executor_goes_to_one_alive(world: World) -> None:
    await world.executor("e1")
    await world.executor("e2")
    await world.submit(await world.task(broadcast=True))
    (lost,) = await world.claim("e2")
    await expire(world)
    await shift(world, "last_heartbeat", -60, "id = 'e2'", table="executors")

    await world.store.reap()

    first = await world.claim("e1")
    taken = first + await world.claim("e1")
    assert lost.instance_id in {one.instance_id for one in taken}
    assert sorted(one.shard_index for one in taken) == [0, 1]
    assert (await world.store.get_instance(lost.instance_id)).target_executor_id == "e1"


async def test_a_shard_stays_with_its_executor_if_that_came_back(world: World) -> None:
    await world.executor("e1")
    await world.executor("e2")
    await world.submit(await world.task(broadcast=True))
    (lost,) = await world.claim("e2")
    await expire(world)

    await world.store.reap()

    assert [one.instance_id for one in await world.claim("e2")] == [lost.instance_id]


@pytest.mark.parametrize("handed_back", [False, True], ids=["never claimed", "handed back"])
async def test_a_shard_whose_executor_is_gone_before_it_started_goes_to_one_alive(
    world: World, *, handed_back: bool
) -> None:
    await world.executor("e1")
    await world.executor("e2")
    await world.submit(await world.task(broadcast=True))
    if handed_back:
        await world.end(await world.claim("e2"), OutcomeKind.HANDED_BACK)
    await world.store.deregister("e2")

    await world.store.reap()

    assert sorted(one.shard_index for one in await world.claim("e1")) == [0, 1]
    assert await world.count("task_instances", "loss_count > 0") == 0


async def test_a_shard_with_a_concurrency_key_whose_executor_is_gone_goes_to_one_alive(world: World) -> None:
    await world.executor("e1")
    await world.executor("e2")
    await world.submit(await world.task(broadcast=True, concurrency_key="k"))
    await world.store.deregister("e2")

    await world.store.reap()

    assert [one.shard_index for one in await world.run_all("e1")] == [0, 1]


async def test_shards_that_nobody_can_take_do_not_keep_those_waiting_that_somebody_can(world: World) -> None:
    for name, group in (("a1", "a"), ("b1", "b"), ("b2", "b")):
        await world.executor(name, group=group)
    stuck = await world.task(group="a", broadcast=True)
    for _ in range(3):
        await world.submit(stuck)
    await world.submit(await world.task(group="b", broadcast=True))
    await world.store.deregister("a1")
    await world.store.deregister("b1")

    await world.store.reap(limit=3)

    assert sorted(one.shard_index for one in await world.claim("b2")) == [0, 1]
    assert await world.count("task_instances", "target_executor_id = 'a1'") == 3


async def test_a_shard_goes_to_one_that_has_what_its_version_asks_for(world: World) -> None:
    await world.executor("e1", labels={"gpu": "yes"})
    task = await world.task(broadcast=True, executor_labels={"gpu": "yes"})
    await world.submit(task)
    await world.store.edit_task(task.id, {"executor_labels": {}}, by="test")
    await world.store.deregister("e1")

    await world.executor("e2")
    await world.store.reap()
    assert await world.claim("e2") == []

    await world.executor("e3", labels={"gpu": "yes"})
    await world.store.reap()
    assert len(await world.claim("e3")) == 1


async def test_a_shard_whose_executor_is_gone_waits_while_nobody_is_alive(world: World) -> None:
    await world.executor("e1")
    await world.submit(await world.task(broadcast=True))
    await world.store.deregister("e1")

    await world.store.reap()
    await world.executor("e2")
    await world.store.reap()

    assert len(await world.claim("e2")) == 1


# Hand-back of what is not held


async def test_what_runs_under_ones_name_but_is_not_held_is_handed_back(world: World) -> None:
    held, unheld, cancelled = await start(world, 3, max_retries=0)
    (other,) = await start(world, 1, "e2")
    await world.store.cancel(cancelled.instance_id, reason="test")

    await world.store.hand_back_unheld("e1", [held.instance_id])

    stand = {one: (await world.store.get_instance(one.instance_id)) for one in (held, unheld, cancelled, other)}
    assert [stand[one].status for one in (held, unheld, cancelled, other)] == [
        Status.RUNNING,
        Status.PENDING,
        Status.CANCELLED,
        Status.RUNNING,
    ]
    assert (stand[unheld].loss_count, stand[unheld].retry_count) == (0, 0)
    assert stand[unheld].fence > unheld.fence
    assert [one.fenced for one in await world.end([unheld])] == [True]


async def test_who_holds_everything_hands_nothing_back(world: World) -> None:
    claimed = await start(world, 2)

    await world.store.hand_back_unheld("e1", [one.instance_id for one in claimed])
    await world.store.hand_back_unheld("e2", [])

    assert await world.count("task_instances", "status = 'running'") == 2


# Races


async def test_of_many_reapers_each_loss_is_counted_once(world: World) -> None:
    claimed = await start(world, 300)
    await expire(world)

    reaped = await asyncio.gather(*[world.store.reap(limit=100) for _ in range(8)])

    left = await world.store.reap()
    assert sum(one.requeued for one in reaped) + left.requeued == 300
    assert await world.count("task_instances", "loss_count = 1 AND status = 'pending'") == 300
    assert await world.count("instance_attempts") == len(claimed)


async def test_of_a_reaper_and_a_late_finish_exactly_one_wins(world: World) -> None:
    won = {"finish": 0, "reap": 0}
    for turn in range(40):
        (claimed,) = await start(world)
        await expire(world)
        acts: list[Any] = [world.store.reap(), world.end([claimed])]

        answers = await asyncio.gather(*(acts if turn % 2 else acts[::-1]))

        (reaped, (finished,)) = answers if turn % 2 else answers[::-1]
        assert reaped.requeued + (not finished.fenced) == 1
        won["reap" if finished.fenced else "finish"] += 1
        logs = await ended(world, claimed.instance_id)
        assert len(logs) == (not finished.fenced)
        await world.run_all()
    assert sum(won.values()) == 40
    assert await world.count("execution_logs") == 40


async def test_of_a_reaper_and_a_late_beat_the_lease_is_either_lost_or_kept(world: World) -> None:
    claimed = await start(world, 40)
    await expire(world)

    reaping = asyncio.create_task(world.store.reap(limit=20))
    beats = await asyncio.gather(*[world.store.beat("e1", [Held(one.instance_id, one.fence)]) for one in claimed])
    await reaping

    superseded = {one for beat in beats for one in beat.superseded}
    rows = {one.instance_id: await living(world, one.instance_id) for one in claimed}
    for one in claimed:
        row = rows[one.instance_id]
        assert row is not None
        if row["status"] == "running":
            assert row["fence"] == one.fence
            assert one.instance_id not in superseded
    await world.store.reap()
    running = await world.count("task_instances", "status = 'running'")
    assert running == sum((row or {})["status"] == "running" for row in rows.values())
