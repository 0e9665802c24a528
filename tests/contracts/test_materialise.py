"""Materialise: every due instant becomes an instance or a recorded skip, once."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from contracts.elapse import elapse, instances, ledger, moment, only, report, silence, skips, transaction
from hourhand.model.errors import Conflict
from hourhand.model.words import MisfirePolicy, OutcomeKind, OverlapPolicy, SkipReason, Status, TriggeredBy

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.task import Task

EVERY = "@every 60s"
LOOK_AHEAD = timedelta(seconds=10)


async def again(world: World, task: Task) -> Task:
    return await world.store.get_task(task.id)


def minutes(task: Task, *numbers: int) -> list[datetime]:
    """The instants of an `@every 60s` task, counted from 1."""
    return [task.anchored_at + timedelta(seconds=60 * number) for number in numbers]


async def fired(world: World, task: Task) -> list[datetime]:
    return [one.scheduled_time for one in await instances(world, task)]


# Looking ahead


async def test_an_instant_is_made_before_it_comes_and_cannot_be_claimed_before(world: World) -> None:
    await world.executor()
    task = await world.task(schedule=EVERY)
    await elapse(world, 51)
    task = await again(world, task)
    made = await world.store.materialise()
    assert (made.tasks, made.instants, made.skipped) == (1, 1, 0)
    one = await only(world, task)
    assert (one.status, one.triggered_by, one.in_ledger) == (Status.PENDING, TriggeredBy.SCHEDULER, True)
    assert one.scheduled_time == one.available_at == minutes(task, 1)[0] > await world.store.now()
    assert await world.claim() == []
    await elapse(world, 10)
    assert [claimed.instance_id for claimed in await world.claim()] == [one.id]


async def test_nothing_is_looked_at_before_its_wake_time(world: World) -> None:
    task = await world.task(schedule=EVERY)
    await elapse(world, 45)
    assert (await world.store.materialise()).tasks == 0
    assert await world.store.next_wake() == (await again(world, task)).wake_at


@pytest.mark.parametrize("late", [51, 65, 100])
async def test_the_next_instant_follows_from_the_previous_one_not_from_the_clock(world: World, late: int) -> None:
    task = await world.task(schedule=EVERY)
    await elapse(world, late)
    await world.store.materialise()
    task = await again(world, task)
    assert task.next_fire_at == minutes(task, 2)[0]
    assert task.wake_at == minutes(task, 2)[0] - LOOK_AHEAD
    assert await fired(world, task) == minutes(task, 1)


async def test_a_cron_is_due_on_the_second_of_its_zone(world: World) -> None:
    task = await world.task(schedule="0 0 2 * * ?", timezone="Asia/Kolkata")
    assert task.next_fire_at is not None
    assert (task.next_fire_at + timedelta(hours=5, minutes=30)).strftime("%H:%M:%S") == "02:00:00"
    assert task.wake_at == task.next_fire_at - LOOK_AHEAD


async def test_materialising_twice_makes_nothing_twice(world: World) -> None:
    task = await world.task(schedule=EVERY)
    await elapse(world, 65)
    assert (await world.store.materialise()).instants == 1
    assert (await world.store.materialise()).tasks == 0
    await world.execute("UPDATE tasks SET next_fire_at = :at, wake_at = :at", at=moment(world, task.anchored_at))
    await world.store.materialise()
    assert len(await instances(world, task)) == len(await ledger(world, task))


async def test_a_batch_takes_the_longest_due_first_and_leaves_the_rest(world: World) -> None:
    tasks = [await world.task(schedule=f"@every {number + 60}s") for number in range(3)]
    await elapse(world, 70)
    assert (await world.store.materialise(limit=2)).tasks == 2
    assert [len(await instances(world, task)) for task in tasks] == [1, 1, 0]
    assert (await world.store.materialise(limit=2)).tasks == 1


# Misfires


@pytest.mark.parametrize(
    ("policy", "limit", "fires", "skipped"),
    [
        (MisfirePolicy.FIRE_ONCE, 100, [4, 5], (1, 3, 3)),
        (MisfirePolicy.SKIP, 100, [5], (1, 4, 4)),
        (MisfirePolicy.CATCH_UP, 2, [1, 2, 5], (3, 4, 2)),
        (MisfirePolicy.CATCH_UP, 100, [1, 2, 3, 4, 5], None),
    ],
)
async def test_after_downtime_the_misfire_policy_decides(
    world: World, policy: MisfirePolicy, limit: int, fires: list[int], skipped: tuple[int, int, int] | None
) -> None:
    task = await world.task(
        schedule=EVERY, misfire_policy=policy, catch_up_limit=limit, overlap_policy=OverlapPolicy.PARALLEL
    )
    await elapse(world, 330)
    await world.store.materialise()
    task = await again(world, task)
    assert await fired(world, task) == minutes(task, *fires)
    assert task.next_fire_at == minutes(task, 6)[0]
    recorded = [
        (one.scheduled_time, one.summary, one.skip_reason)
        for one in await skips(world, task)
        if one.summary is not None
    ]
    if skipped is None:
        assert recorded == []
    else:
        first, last = minutes(task, *skipped[:2])
        assert recorded == [(first, {"count": skipped[2], "last": last.isoformat()}, SkipReason.MISFIRE)]


async def test_what_is_younger_than_the_grace_simply_fires(world: World) -> None:
    task = await world.task(
        schedule=EVERY,
        misfire_policy=MisfirePolicy.SKIP,
        misfire_grace_seconds=300,
        overlap_policy=OverlapPolicy.PARALLEL,
    )
    await elapse(world, 330)
    await world.store.materialise()
    assert await fired(world, task) == minutes(await again(world, task), 1, 2, 3, 4, 5)
    assert await skips(world, task) == []


async def test_a_very_long_run_of_skips_is_counted_up_to_a_bound(world: World) -> None:
    task = await world.task(schedule="* * * * * *", misfire_policy=MisfirePolicy.SKIP, misfire_grace_seconds=1)
    await elapse(world, 3_000)
    await world.store.materialise()
    (one,) = [skip for skip in await skips(world, task) if skip.skip_reason is SkipReason.MISFIRE]
    assert one.summary is not None
    assert (one.summary["count"], one.summary["more"]) == (1_000, True)
    assert datetime.fromisoformat(one.summary["last"]) > await world.store.now() - timedelta(seconds=30)


async def test_a_record_of_skips_never_ran_and_cannot_be_retried(world: World) -> None:
    task = await world.task(schedule=EVERY, misfire_policy=MisfirePolicy.SKIP)
    await elapse(world, 150)
    await world.store.materialise()
    (one,) = await skips(world, task)
    assert (one.status, one.start_time, one.duration_ms) == (Status.CANCELLED, None, 0)
    assert one.scheduled_time not in await ledger(world, task)
    assert one.error_message is not None
    assert "misfire_grace_seconds" in one.error_message
    assert one.id not in {instance.id for instance in await instances(world, task)}
    with pytest.raises(Conflict, match="backfill"):
        await world.store.retry(one.id)


async def test_skips_for_different_reasons_are_recorded_apart_and_in_order(world: World) -> None:
    task = await world.task(schedule=EVERY, misfire_policy=MisfirePolicy.CATCH_UP, catch_up_limit=2)
    await elapse(world, 330)
    await world.store.materialise()
    task = await again(world, task)
    assert await fired(world, task) == minutes(task, 1, 2)
    recorded = [(one.skip_reason, one.scheduled_time, dict(one.summary or {})) for one in await skips(world, task)]
    third, fourth, fifth = minutes(task, 3, 4, 5)
    assert recorded == [
        (SkipReason.MISFIRE, third, {"count": 2, "last": fourth.isoformat()}),
        (SkipReason.OVERLAP, fifth, {"count": 1, "last": fifth.isoformat()}),
    ]


# Overlap


async def one_lives(world: World, policy: OverlapPolicy, *, claimed: bool = True) -> Task:
    """A task whose first instance lives, at 5 s before its second instant."""
    await world.executor()
    task = await world.task(schedule=EVERY, overlap_policy=policy)
    await elapse(world, 61)
    await world.store.materialise()
    if claimed:
        assert len(await world.claim()) == 1
    await elapse(world, 54)
    return await again(world, task)


EXCLUSIVE = [OverlapPolicy.SKIP, OverlapPolicy.SERIAL, OverlapPolicy.REPLACE]


@pytest.mark.parametrize("policy", EXCLUSIVE)
async def test_while_one_lives_nothing_is_made_early(world: World, policy: OverlapPolicy) -> None:
    task = await one_lives(world, policy)
    made = await world.store.materialise()
    assert (made.tasks, made.instants, made.skipped) == (1, 0, 0)
    task = await again(world, task)
    assert task.wake_at == task.next_fire_at == minutes(task, 2)[0]


@pytest.mark.parametrize("policy", EXCLUSIVE)
async def test_one_that_ended_before_the_instant_does_not_count(world: World, policy: OverlapPolicy) -> None:
    task = await one_lives(world, policy, claimed=False)
    await world.store.materialise()
    await world.run_all()
    await elapse(world, 6)
    assert (await world.store.materialise()).instants == 1
    assert (await instances(world, task))[-1].status is Status.PENDING


async def test_skip_records_the_instant(world: World) -> None:
    task = await one_lives(world, OverlapPolicy.SKIP)
    await elapse(world, 6)
    await world.store.materialise()
    task = await again(world, task)
    (skip,) = await skips(world, task)
    assert (skip.skip_reason, skip.scheduled_time) == (SkipReason.OVERLAP, minutes(task, 2)[0])
    assert await fired(world, task) == minutes(task, 1)


async def test_serial_waits_for_the_newest_earlier_one(world: World) -> None:
    task = await one_lives(world, OverlapPolicy.SERIAL)
    await elapse(world, 65)
    await world.store.materialise()
    assert [one.status for one in await instances(world, task)] == [Status.RUNNING, Status.PLANNED, Status.PLANNED]
    await report(world, (await instances(world, task))[0], OutcomeKind.FAILED)
    assert [one.status for one in await instances(world, task)] == [Status.FAILED, Status.PENDING, Status.PLANNED]
    await world.run_all()
    assert [one.status for one in await instances(world, task)] == [Status.FAILED, Status.SUCCESS, Status.SUCCESS]


async def test_replace_asks_the_running_one_to_stop_and_waits_for_its_end(world: World) -> None:
    task = await one_lives(world, OverlapPolicy.REPLACE)
    await elapse(world, 6)
    await world.store.materialise()
    first, second = await instances(world, task)
    assert (first.status, first.cancel_requested, second.status) == (Status.RUNNING, True, Status.PLANNED)
    await report(world, first, OutcomeKind.CANCELLED)
    assert [one.status for one in await instances(world, task)] == [Status.CANCELLED, Status.PENDING]


async def test_replace_cancels_one_that_has_not_started_at_once(world: World) -> None:
    task = await one_lives(world, OverlapPolicy.REPLACE, claimed=False)
    await elapse(world, 6)
    await world.store.materialise()
    assert [one.status for one in await instances(world, task)] == [Status.CANCELLED, Status.PENDING]


async def test_parallel_is_made_ahead_whatever_lives(world: World) -> None:
    task = await one_lives(world, OverlapPolicy.PARALLEL)
    await world.store.materialise()
    assert [one.status for one in await instances(world, task)] == [Status.RUNNING, Status.PENDING]


@pytest.mark.parametrize("other", ["manual", "retried", "backfilled"])
@pytest.mark.parametrize("policy", EXCLUSIVE)
async def test_what_the_scheduler_did_not_make_neither_counts_nor_obeys(
    world: World, policy: OverlapPolicy, other: str
) -> None:
    task = await one_lives(world, policy)
    (first,) = await instances(world, task)
    if other == "manual":
        await world.submit(task, triggered_by=TriggeredBy.MANUAL)
    elif other == "backfilled":
        before = task.anchored_at - timedelta(seconds=61)
        await world.execute("UPDATE tasks SET anchored_at = :at", at=moment(world, before + timedelta(seconds=1)))
        task = await again(world, task)
        assert await world.store.backfill(task.id, before, minutes(task, 1)[0], by="test") == 1
    await report(world, first, OutcomeKind.FAILED)
    if other == "retried":
        await world.store.retry(first.id)
    living = [one for one in await instances(world, task) if not one.status.ended]
    assert [one.status for one in living] == [Status.PENDING]
    assert (await world.store.materialise()).instants == 1
    assert len([one for one in await instances(world, task) if one.status is Status.PENDING]) == 2


# Broadcast


async def test_a_broadcast_makes_one_instance_per_executor_alive_at_the_instant(world: World) -> None:
    for name in ("e1", "e2", "dead"):
        await world.executor(name)
    await world.executor("elsewhere", group="other")
    task = await world.task(schedule=EVERY, broadcast=True)
    await elapse(world, 55)
    assert (await world.store.materialise()).instants == 0
    await elapse(world, 6)
    await silence(world, "dead")
    assert (await world.store.materialise()).instants == 1
    found = await instances(world, task)
    assert sorted((one.target_executor_id, one.shard_index, one.shard_total) for one in found) == [
        ("e1", 0, 2),
        ("e2", 1, 2),
    ]
    assert [row["shards_left"] for row in (await ledger(world, task)).values()] == [2]
    assert [claimed.shard_index for claimed in await world.claim("e2")] == [1]


async def test_a_broadcast_to_nobody_is_a_recorded_skip(world: World) -> None:
    task = await world.task(schedule=EVERY, broadcast=True)
    await elapse(world, 61)
    await world.store.materialise()
    (skip,) = await skips(world, task)
    assert (skip.skip_reason, await ledger(world, task)) == (SkipReason.NO_EXECUTOR, {})


# Other schedules


async def test_at_fires_once(world: World) -> None:
    when = (await world.store.now() + timedelta(seconds=5)).replace(microsecond=0)
    task = await world.task(schedule=f"@at {when.isoformat()}")
    await world.store.materialise()
    task = await again(world, task)
    assert (task.next_fire_at, task.wake_at) == (None, None)
    assert await fired(world, task) == [when]
    await elapse(world, 100_000)
    assert (await world.store.materialise()).tasks == 0


@pytest.mark.parametrize("kind", [OutcomeKind.SUCCESS, OutcomeKind.FAILED, OutcomeKind.CANCELLED])
async def test_after_is_armed_again_by_the_end_of_its_last_instance(world: World, kind: OutcomeKind) -> None:
    await world.executor()
    task = await world.task(schedule="@after 30s")
    assert task.next_fire_at == task.created_at
    await world.store.materialise()
    assert (await again(world, task)).next_fire_at is None
    await world.end(await world.claim(), kind)
    ended = (await only(world, task)).end_time
    assert ended is not None
    task = await again(world, task)
    assert task.next_fire_at == ended + timedelta(seconds=30)
    assert task.wake_at == task.next_fire_at - LOOK_AHEAD


async def test_after_is_armed_again_by_a_skip(world: World) -> None:
    task = await world.task(schedule="@after 30s", misfire_policy=MisfirePolicy.SKIP)
    await elapse(world, 3_600)
    await world.store.materialise()
    assert [one.skip_reason for one in await skips(world, task)] == [SkipReason.MISFIRE]
    following = (await again(world, task)).next_fire_at
    assert following is not None
    assert timedelta(seconds=20) < following - await world.store.now() <= timedelta(seconds=30)


async def test_a_disabled_or_manual_task_is_never_due(world: World) -> None:
    for changes in ({"schedule": EVERY, "enabled": False}, {"schedule": "@manual"}):
        assert (await world.task(**changes)).wake_at is None
    await elapse(world, 1_000_000)
    assert (await world.store.materialise()).tasks == 0
    assert await world.store.next_wake() is None


async def test_a_task_that_another_transaction_holds_is_left_to_it(cluster_world: World) -> None:
    world = cluster_world
    held, free = [await world.task(schedule=EVERY) for _ in range(2)]
    await elapse(world, 65)
    async with transaction(world) as connection:
        await connection.execute("SELECT 1 FROM tasks WHERE id = $1 FOR UPDATE", held.id)
        assert (await world.store.materialise()).tasks == 1
        assert [len(await instances(world, task)) for task in (held, free)] == [0, 1]
    assert (await world.store.materialise()).tasks == 1
