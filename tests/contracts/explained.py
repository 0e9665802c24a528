"""Examples of every reason there is, each brought about by the verbs that people, schedulers and executors use."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from contracts.elapse import elapse, instances, only, skips
from contracts.windowing import opened
from contracts.world import endings
from hourhand.model.audit import Author
from hourhand.model.instance import Held
from hourhand.model.pause import PauseScope
from hourhand.model.words import (
    ExecutorLossPolicy,
    OutcomeKind,
    OverlapPolicy,
    SkipReason,
    TaskType,
    UpstreamFailurePolicy,
)
from hourhand.rules.endings import timed_out
from hourhand.rules.misfire import SkipRun
from hourhand.store.instants import record_skips

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from contracts.world import World
    from hourhand.model.task import Task

EVERY = "@every 60s"


async def dependent(world: World, **changes: Any) -> tuple[Task, Task]:
    """A task that is run by hand, and another that waits for it."""
    upstream = await world.task()
    return upstream, await world.task(dependency_ids=(upstream.id,), **changes)


async def _claimed(world: World, **changes: Any) -> int:
    await world.executor()
    await world.submit(await world.task(**changes))
    (claimed,) = await world.claim()
    return claimed.instance_id


async def _ended(world: World, kind: OutcomeKind, *, message: str | None = None, **changes: Any) -> int:
    await world.executor()
    await world.submit(await world.task(**changes))
    claimed = await world.claim()
    await world.end(claimed, kind, error_message=message)
    return claimed[0].instance_id


async def _lost(world: World, times: int, **changes: Any) -> int:
    await world.executor()
    instance_id = await world.submit(await world.task(**changes))
    for _ in range(times):
        assert len(await world.claim()) == 1
        await elapse(world, 100)
        await world.store.reap()
    return instance_id


async def held(world: World) -> int:
    return await world.submit(await world.task(), held=True)


async def predecessor(world: World) -> int:
    await world.executor()
    task = await world.task(schedule=EVERY, overlap_policy=OverlapPolicy.SERIAL)
    await elapse(world, 65)
    await world.store.materialise()
    await world.claim()
    await elapse(world, 60)
    await world.store.materialise()
    return (await instances(world, task))[1].id


async def upstream_open(world: World) -> int:
    upstream, task = await dependent(world)
    await world.submit(upstream)
    return await world.submit(task, wait=True)


async def upstream_to_come(world: World) -> int:
    upstream = await world.task(schedule=EVERY)
    task = await world.task(dependency_ids=(upstream.id,))
    return await world.submit(task, wait=True, run_at=await world.store.now() + timedelta(seconds=90))


async def upstream_failed(world: World) -> int:
    upstream, task = await dependent(world)
    await world.executor()
    await world.submit(upstream)
    await world.run_all(kind=OutcomeKind.FAILED)
    return await world.submit(task, wait=True)


async def upstream_missing(world: World) -> int:
    _, task = await dependent(world)
    return await world.submit(task, wait=True)


async def release_due(world: World) -> int:
    upstream, task = await dependent(world)
    await world.executor()
    await world.submit(upstream)
    instance_id = await world.submit(task, wait=True)
    await world.store.flush(endings(await world.claim()))  # and nobody looks after what follows
    return instance_id


async def not_yet_due(world: World) -> int:
    return await world.submit(await world.task(), run_at=await world.store.now() + timedelta(hours=1))


async def retry_backoff(world: World) -> int:
    return await _ended(world, OutcomeKind.FAILED, message="exit code 3", max_retries=3, retry_delay_seconds=600)


async def handed_back(world: World) -> int:
    await world.executor()
    instance_id = await world.submit(await world.task())
    await world.end(await world.claim(), OutcomeKind.HANDED_BACK, delay_seconds=600.0)
    return instance_id


async def concurrency_full(world: World) -> int:
    await world.executor()
    task = await world.task(concurrency_key="ledger")
    await world.submit(task)
    await world.claim()
    return await world.submit(task)


async def permit_due(world: World) -> int:
    instance_id = await world.submit(await world.task(concurrency_key="ledger"))
    await world.executor()  # who came too late for the permit to be given at once
    return instance_id


async def paused(world: World) -> int:
    task = await world.task()
    await world.store.pause(PauseScope.GROUP, task.group_id, reason="the ledger moves", by="ann")
    return await world.submit(task)


async def window(world: World) -> int:
    task = await world.task()
    await opened(world, task, PauseScope.GROUP, seconds=600)
    return await world.submit(task)


async def no_executor(world: World) -> int:
    await world.executor("there", group="other")
    return await world.submit(await world.task())


async def target_gone(world: World) -> int:
    await world.executor("e1")
    instance_id = await world.submit(await world.task(broadcast=True))
    await world.store.deregister("e1")
    await world.executor("e2")
    return instance_id


async def nobody_provides(world: World) -> int:
    await world.executor(provides=("builtin", "python:books"))
    task = await world.task(type=TaskType.PYTHON, payload={"handler": "close", "app": "billing"})
    return await world.submit(task)


async def nobody_labelled(world: World) -> int:
    await world.executor(labels={"zone": "eu"})
    return await world.submit(await world.task(executor_labels={"zone": "us"}))


async def executors_full(world: World) -> int:
    await world.executor(capacity=1)
    task = await world.task()
    await world.submit(task)
    (claimed,) = await world.claim()
    await world.store.beat("e1", [Held(claimed.instance_id, claimed.fence)])
    return await world.submit(task)


async def behind_others(world: World) -> int:
    await world.executor()
    task = await world.task()
    await world.submit(task)
    await world.submit(await world.task(priority=1))
    return await world.submit(task)


async def executor_lost_before(world: World) -> int:
    return await _lost(world, 2)


async def retried(world: World) -> int:
    instance_id = await _ended(world, OutcomeKind.FAILED, message="exit code 3")
    await world.store.retry(instance_id)
    return instance_id


async def claimable(world: World) -> int:
    await world.executor()
    return await world.submit(await world.task())


async def running(world: World) -> int:
    return await _claimed(world)


async def cancel_requested(world: World) -> int:
    instance_id = await _claimed(world)
    await world.store.on_behalf(Author(id="user:1", name="ann")).cancel(instance_id, reason="no need")
    return instance_id


async def lease_expired(world: World) -> int:
    instance_id = await _claimed(world)
    await elapse(world, 100)
    return instance_id


async def succeeded(world: World) -> int:
    return await _ended(world, OutcomeKind.SUCCESS)


async def failed(world: World) -> int:
    return await _ended(world, OutcomeKind.FAILED, message="exit code 3")


async def timed_out_(world: World) -> int:
    return await _ended(world, OutcomeKind.TIMED_OUT, message=timed_out(5), timeout_seconds=5)


async def executor_lost(world: World) -> int:
    return await _lost(world, 1, executor_loss_policy=ExecutorLossPolicy.FAIL)


async def poisonous(world: World) -> int:
    return await _lost(world, 3)


async def failed_upstream(world: World) -> int:
    upstream, task = await dependent(world, upstream_failure_policy=UpstreamFailurePolicy.FAIL)
    await world.submit(upstream)
    instance_id = await world.submit(task, wait=True)
    await world.executor()
    await world.run_all(kind=OutcomeKind.FAILED)
    return instance_id


async def dependency_timeout(world: World) -> int:
    upstream, task = await dependent(world, dependency_timeout_seconds=60)
    await world.submit(upstream)
    instance_id = await world.submit(task, wait=True)
    await elapse(world, 100)
    await world.store.sweep()
    return instance_id


async def cancelled(world: World) -> int:
    instance_id = await world.submit(await world.task())
    await world.store.on_behalf(Author(id="user:1", name="ann")).cancel(instance_id, reason="no need")
    return instance_id


async def replaced(world: World) -> int:
    task = await world.task(schedule=EVERY, overlap_policy=OverlapPolicy.REPLACE)
    await elapse(world, 65)
    await world.store.materialise()
    first = await only(world, task)
    await elapse(world, 60)
    await world.store.materialise()
    return first.id


async def task_deleted(world: World) -> int:
    task = await world.task()
    instance_id = await world.submit(task)
    await world.store.delete_task(task.id, by="ann")
    return instance_id


async def skipped_misfire(world: World) -> int:
    task = await world.task(schedule=EVERY)
    await elapse(world, 300)
    await world.store.materialise()
    return (await skips(world, task))[0].id


async def skipped_overlap(world: World) -> int:
    task = await world.task(schedule=EVERY)
    for seconds in (65, 60):
        await elapse(world, seconds)
        await world.store.materialise()
    return (await skips(world, task))[0].id


async def skipped_window(world: World) -> int:
    task = await world.task(schedule=EVERY)
    now = await world.store.now()
    run = SkipRun(SkipReason.WINDOW, now, now, 1)  # no verb makes these yet
    await world.store.database.write(lambda tx: record_skips(tx, [(task, run)], now))
    return (await skips(world, task))[0].id


async def skipped_paused(world: World) -> int:
    task = await world.task(schedule=EVERY)
    await world.store.pause(PauseScope.TASK, task.id, reason="r", by="ann")
    await elapse(world, 65)
    await world.store.materialise()
    return (await skips(world, task))[0].id


async def skipped_no_executor(world: World) -> int:
    task = await world.task(schedule=EVERY, broadcast=True)
    await elapse(world, 65)
    await world.store.materialise()
    return (await skips(world, task))[0].id


EXAMPLES: dict[str, Callable[[World], Awaitable[int]]] = {
    one.__name__.rstrip("_"): one
    for one in (
        held,
        predecessor,
        upstream_open,
        upstream_to_come,
        upstream_failed,
        upstream_missing,
        release_due,
        not_yet_due,
        retry_backoff,
        handed_back,
        concurrency_full,
        permit_due,
        paused,
        window,
        no_executor,
        target_gone,
        nobody_provides,
        nobody_labelled,
        executors_full,
        behind_others,
        executor_lost_before,
        retried,
        claimable,
        running,
        cancel_requested,
        lease_expired,
        succeeded,
        failed,
        timed_out_,
        executor_lost,
        poisonous,
        failed_upstream,
        dependency_timeout,
        cancelled,
        replaced,
        task_deleted,
        skipped_misfire,
        skipped_overlap,
        skipped_window,
        skipped_paused,
        skipped_no_executor,
    )
}
