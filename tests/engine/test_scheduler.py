"""A scheduler makes every instant an instance, once and in time, and looks after what others left undone."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from engine.engines import engine_on
from hourhand.model.errors import StoreUnavailable
from hourhand.model.filters import InstanceFilter
from hourhand.model.instance import Ending, Outcome, Submission
from hourhand.model.registry import Executor
from hourhand.model.words import OutcomeKind, SkipReason, Status
from hourhand.scheduler.reaper import Reaper

if TYPE_CHECKING:
    from pathlib import Path

    from engine.engines import Engine
    from hourhand.model.instance import Assignment, Instance
    from hourhand.model.task import Task

LANES_KNOWN = 30.0


async def instances(engine: Engine, task: Task) -> list[Instance]:
    return list((await engine.store.list_instances(InstanceFilter(task_id=task.id), limit=200)).items)


async def claimed_by_a_ghost(engine: Engine, task: Task) -> Assignment:
    """An attempt of an executor that is never heard of again."""
    await engine.submit(task)
    lanes = await engine.store.register(Executor(id="ghost", group="default", provides=("python:engine",)))
    (assignment,) = await engine.store.claim("ghost", lanes, limit=1)
    return assignment


async def test_a_task_fires_at_every_second_once(engine: Engine) -> None:
    engine.start(executors=2)
    task = await engine.task("answer", schedule="* * * * * ?", overlap_policy="parallel")
    async with asyncio.timeout(60):
        while len([one for one in await instances(engine, task) if one.status is Status.SUCCESS]) < 5:
            await asyncio.sleep(0.1)
    ended = sorted(
        (one for one in await instances(engine, task) if one.status.ended), key=lambda one: one.scheduled_time
    )
    assert {one.status for one in ended} == {Status.SUCCESS}
    times = [one.scheduled_time for one in ended]
    assert times == [times[0] + timedelta(seconds=number) for number in range(len(times))]
    assert all(one.start_time is not None and one.start_time >= one.scheduled_time for one in ended), "never early"


async def test_the_first_instance_in_a_new_lane_is_not_left_lying(store_url: str, tmp_path: Path) -> None:
    """A lane comes with its first instance; executors learn of it before their next beat."""
    async with engine_on(store_url, tmp_path, heartbeat_seconds=20, lease_seconds=60) as slow:
        slow.start(scheduling=False)
        await asyncio.sleep(0.5)
        done = await slow.result(await slow.task("answer"))
    assert done.start_time is not None
    assert done.queued_at is not None
    assert (done.start_time - done.queued_at).total_seconds() < 10


async def test_an_instance_is_there_before_its_instant(engine: Engine) -> None:
    engine.start()
    now = await engine.store.now()
    at = (now + timedelta(seconds=8)).replace(microsecond=0)
    task = await engine.task("answer", schedule=f"@at {at.isoformat()}")
    async with asyncio.timeout(30):
        while not (made := await instances(engine, task)):
            await asyncio.sleep(0.05)
    assert (made[0].status, made[0].available_at) == (Status.PENDING, at)
    assert await engine.store.now() < at


@pytest.mark.parametrize("policy", ["fire_once", "catch_up"])
async def test_after_downtime_the_misfire_policy_decides(engine: Engine, policy: str) -> None:
    """Every policy by itself, and exactly, is in `tests/contracts/test_materialise.py`."""
    task = await engine.task(
        "answer", schedule="@every 1s", misfire_policy=policy, misfire_grace_seconds=0, overlap_policy="serial"
    )
    await asyncio.sleep(3.5)
    engine.start()
    missed = [task.anchored_at + timedelta(seconds=number) for number in (1, 2, 3)]
    fired: set[datetime] = set()
    async with asyncio.timeout(60):
        while not fired or max(fired) <= missed[-1]:
            fired = {one.scheduled_time for one in await instances(engine, task) if one.status is Status.SUCCESS}
            await asyncio.sleep(0.05)
    skipped = [one for one in await instances(engine, task) if one.skip_reason is not None]
    if policy == "catch_up":
        assert set(missed) <= fired
        assert not skipped
    else:
        assert missed[-1] in fired
        assert fired.isdisjoint(missed[:-1])
        assert [(one.skip_reason, one.scheduled_time) for one in skipped] == [(SkipReason.MISFIRE, missed[0])]


async def test_an_ending_that_nobody_settled_releases_its_dependents(engine: Engine) -> None:
    upstream = await engine.task("answer", name="upstream")
    dependent = await engine.task("answer", name="dependent", schedule="@upstream", dependency_ids=[upstream.id])
    assignment = await claimed_by_a_ghost(engine, upstream)
    outcome = Outcome(kind=OutcomeKind.SUCCESS)
    await engine.store.flush([Ending(instance_id=assignment.instance_id, fence=1, outcome=outcome)])
    assert await instances(engine, dependent) == []
    engine.start()
    async with asyncio.timeout(60):
        while not [one for one in await instances(engine, dependent) if one.status is Status.SUCCESS]:
            await asyncio.sleep(0.05)


async def test_what_a_dead_executor_held_goes_to_another(engine: Engine) -> None:
    task = await engine.task("answer")
    assignment = await claimed_by_a_ghost(engine, task)
    engine.start()
    done = await engine.until(assignment.instance_id)
    assert (done.status, done.loss_count, done.fence) == (Status.SUCCESS, 1, 3), "claimed, lost, claimed"
    late = await engine.store.finish(
        [Ending(instance_id=assignment.instance_id, fence=1, outcome=Outcome(kind=OutcomeKind.FAILED))]
    )
    assert late[0].fenced
    assert (await engine.store.get_instance(assignment.instance_id)).status is Status.SUCCESS


async def test_an_attempt_that_was_superseded_is_stopped_and_its_outcome_dropped(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    engine.start(scheduling=False)
    instance_id = await engine.submit(await engine.task("slow"))
    running = await engine.until(instance_id, Status.RUNNING)
    # As if its lease had run out while this executor was away: somebody else ends it.
    outcome = Outcome(kind=OutcomeKind.SUCCESS, result={"value": "the other's"})
    await engine.store.finish([Ending(instance_id=instance_id, fence=running.fence, outcome=outcome)])
    async with asyncio.timeout(30):
        while "superseded" not in caplog.text:
            await asyncio.sleep(0.02)
    assert (await engine.store.get_instance(instance_id)).result == {"value": "the other's"}


async def test_what_loses_every_executor_is_given_up(engine: Engine) -> None:
    task = await engine.task("answer")
    assignment = await claimed_by_a_ghost(engine, task)
    stopping = engine.start("another-group")  # a scheduler, and nobody who could execute it
    async with asyncio.timeout(60):
        while not (seen := await engine.store.get_instance(assignment.instance_id)).status.ended:
            if seen.status is Status.PENDING:
                lanes = (await engine.store.beat("ghost")).lanes
                await engine.store.claim("ghost", lanes, limit=1)
            await asyncio.sleep(0.05)
    assert (seen.status, seen.loss_count) == (Status.FAILED, 3)
    assert "poisonous" in (seen.error_message or "")
    await engine.stop(stopping)


async def test_a_keyed_instance_gets_its_permit_when_it_is_due(engine: Engine) -> None:
    engine.start()
    task = await engine.task("answer", concurrency_key="k")
    run_at = await engine.store.now() + timedelta(seconds=3)
    (one,) = await engine.store.submit([Submission(task_id=task.id, run_at=run_at)])
    done = await engine.until(one.instance_id)
    assert done.start_time is not None
    assert done.start_time >= run_at


async def test_the_reaper_gives_executors_the_time_to_beat_after_an_outage(engine: Engine) -> None:
    """They could not beat either while the store was away: their leases have run out through no fault of theirs."""
    task = await engine.task("answer")
    assignment = await claimed_by_a_ghost(engine, task)
    await asyncio.sleep(engine.settings.lease_seconds + 0.5)
    now = 1_000.0
    reaper = Reaper(engine.store, engine.outage, heartbeat_seconds=5, clock=lambda: now)
    for seconds in (0, 1, 1, 1, 1, 1, 1):
        now += seconds
        await reaper.step()
    assert (await engine.store.get_instance(assignment.instance_id)).status is Status.RUNNING
    now += 60  # as if this process itself had been stopped: the count begins anew
    await reaper.step()
    assert (await engine.store.get_instance(assignment.instance_id)).status is Status.RUNNING
    for _ in range(8):
        now += 1
        await reaper.step()
    assert (await engine.store.get_instance(assignment.instance_id)).status is Status.PENDING


async def test_the_reaper_counts_anew_after_a_failure(engine: Engine) -> None:
    now = 1_000.0
    reaper = Reaper(engine.store, engine.outage, heartbeat_seconds=1, clock=lambda: now)
    for _ in range(5):
        await reaper.step()
        now += 1
    await engine.store.close()
    with pytest.raises(StoreUnavailable):
        await reaper.step()
    assert reaper._contact_since is None  # noqa: SLF001 - what the next steps go by
