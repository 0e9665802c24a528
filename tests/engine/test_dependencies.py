"""Dependencies with a scheduler and executors at work; `tests/contracts/test_settle*.py` has every case by itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.filters import InstanceFilter
from hourhand.model.words import Status

if TYPE_CHECKING:
    from engine.engines import Engine
    from hourhand.model.instance import Instance
    from hourhand.model.task import Task


async def following(engine: Engine, name: str, *upstreams: Task, handler: str = "answer", **fields: Any) -> Task:
    ids = [one.id for one in upstreams]
    return await engine.task(handler, name=name, schedule="@upstream", dependency_ids=ids, **fields)


async def first_of(engine: Engine, task: Task, *states: Status) -> Instance:
    async with asyncio.timeout(60):
        while True:
            found = (await engine.store.list_instances(InstanceFilter(task_id=task.id))).items
            if found and (found[0].status in states or (not states and found[0].status.ended)):
                return found[0]
            await asyncio.sleep(0.02)


async def test_a_diamond_runs_from_top_to_bottom(engine: Engine) -> None:
    engine.start(executors=2)
    top = await engine.task("answer", name="top")
    left, right = await following(engine, "left", top), await following(engine, "right", top)
    bottom = await following(engine, "bottom", left, right)
    await engine.submit(top)
    last = await first_of(engine, bottom)
    ended = [await first_of(engine, one) for one in (top, left, right)]
    assert {one.status for one in (*ended, last)} == {Status.SUCCESS}
    assert all(one.end_time <= last.queued_at for one in ended if one.end_time and last.queued_at)
    assert len((await engine.store.list_instances(InstanceFilter(task_id=bottom.id))).items) == 1


@pytest.mark.parametrize(
    ("policy", "becomes"), [("run", Status.SUCCESS), ("fail", Status.FAILED), ("wait", Status.PLANNED)]
)
async def test_a_failed_upstream_leaves_it_to_the_policy(engine: Engine, policy: str, becomes: Status) -> None:
    engine.start()
    upstream = await engine.task("broken", name="upstream")
    dependent = await following(engine, "dependent", upstream, upstream_failure_policy=policy)
    await engine.submit(upstream)
    assert (await first_of(engine, dependent, becomes)).status is becomes


async def test_a_retried_upstream_releases_who_waited(engine: Engine) -> None:
    engine.start()
    upstream = await engine.task("broken", name="upstream")
    dependent = await following(engine, "dependent", upstream)
    failed = await engine.result(upstream)
    await first_of(engine, dependent, Status.PLANNED)
    await engine.store.retry(failed.id, args={"times": 0})
    assert (await first_of(engine, dependent)).status is Status.SUCCESS


async def test_mode_any_needs_one(engine: Engine) -> None:
    engine.start()
    top = await engine.task("answer", name="top")
    good = await following(engine, "good", top)
    bad = await following(engine, "bad", top, handler="broken")
    either = await following(engine, "either", good, bad, dependency_mode="any")
    await engine.submit(top)
    assert (await first_of(engine, either)).status is Status.SUCCESS


async def test_tasks_due_in_the_same_second_run_in_the_order_of_their_dependencies(engine: Engine) -> None:
    fields: dict[str, Any] = {"schedule": "* * * * * ?", "overlap_policy": "parallel"}
    upstream = await engine.task(
        "slow", name="upstream", payload={"handler": "slow", "app": "engine", "args": {"seconds": 0.2}}, **fields
    )
    dependent = await engine.task("answer", name="dependent", dependency_ids=[upstream.id], **fields)
    engine.start()
    async with asyncio.timeout(60):
        while True:
            done = (await engine.store.list_logs(InstanceFilter(task_id=dependent.id))).items
            if len(done) >= 3:
                break
            await asyncio.sleep(0.1)
    before = {
        one.scheduled_time: one for one in (await engine.store.list_logs(InstanceFilter(task_id=upstream.id))).items
    }
    assert {one.status for one in done} == {Status.SUCCESS}
    for one in done:
        ended = before[one.scheduled_time].end_time
        assert ended is not None
        assert one.start_time is not None
        assert ended <= one.start_time
