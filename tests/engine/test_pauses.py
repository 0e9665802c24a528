"""Pauses as real schedulers and executors keep them: nothing is lost, and all goes on by itself."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from engine.engines import PATIENCE
from hourhand.model.filters import InstanceFilter
from hourhand.model.pause import PauseScope
from hourhand.model.words import SkipReason, Status

if TYPE_CHECKING:
    from engine.engines import Engine
    from hourhand.model.instance import Instance
    from hourhand.model.task import Task


async def known(engine: Engine, task: Task) -> list[Instance]:
    found = await engine.store.list_instances(InstanceFilter(task_id=task.id), limit=200)
    return sorted(found.items, key=lambda one: one.scheduled_time)


async def succeeded_after(engine: Engine, task: Task, pause_id: int | None = None) -> list[Instance]:
    """Wait for a success at or after the end of the pause, or for any."""
    async with asyncio.timeout(PATIENCE):
        while True:
            until = None if pause_id is None else (await engine.store.get_pause(pause_id)).until
            found = await known(engine, task)
            if any(one.status is Status.SUCCESS and (until is None or one.scheduled_time >= until) for one in found):
                return found
            await asyncio.sleep(0.05)


async def test_a_pause_that_ends_by_itself_leaves_no_gap(engine: Engine) -> None:
    engine.start()
    task = await engine.task("answer", schedule="* * * * * ?", overlap_policy="parallel")
    await succeeded_after(engine, task)
    until = await engine.store.now() + timedelta(seconds=4)
    pause = await engine.store.pause(PauseScope.ALL, reason="r", until=until, by="ann")
    found = await succeeded_after(engine, task, pause.id)
    skips = [one for one in found if one.skip_reason is not None]
    assert {one.skip_reason for one in skips} == {SkipReason.PAUSED}
    assert len(skips) <= 2, "a scheduler may have been late for the first, but not for each"
    made = [one.scheduled_time for one in found if one.skip_reason is None]
    skipped = [
        one.scheduled_time + timedelta(seconds=number)
        for one in skips
        for number in range((one.summary or {})["count"])
    ]
    assert all(pause.created_at <= one < until for one in skipped)
    assert not any(pause.created_at <= one < until for one in made)
    last = max(made)
    every = sorted(one for one in {*made, *skipped} if one <= last)
    assert every == [every[0] + timedelta(seconds=number) for number in range(len(every))], "each is one or the other"


async def test_what_is_resumed_goes_on_at_once(engine: Engine) -> None:
    engine.start()
    pause = await engine.store.pause(PauseScope.GROUP, (await engine.task("answer")).group_id, reason="r", by="ann")
    task = await engine.task("answer", name="paused")
    async with asyncio.timeout(PATIENCE):
        while not await engine.store.list_executors():
            await asyncio.sleep(0.05)
    await asyncio.sleep(2 * engine.settings.heartbeat_seconds)
    instance_id = await engine.submit(task)
    await asyncio.sleep(1)
    assert (await engine.store.get_instance(instance_id)).status is Status.PENDING
    await engine.store.resume(pause.id)
    assert (await engine.until(instance_id)).status is Status.SUCCESS
