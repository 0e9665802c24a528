"""A maintenance window as real schedulers and executors keep it: it opens and closes by itself, and nothing is lost."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from engine.engines import PATIENCE
from hourhand.model.filters import InstanceFilter
from hourhand.model.pause import PauseScope
from hourhand.model.window import WindowDefinition
from hourhand.model.words import SkipReason, Status

if TYPE_CHECKING:
    from engine.engines import Engine


async def test_each_instant_is_made_or_skipped_and_all_goes_on_when_the_window_closes(engine: Engine) -> None:
    engine.start()
    task = await engine.task("answer", schedule="* * * * * ?", overlap_policy="parallel")
    begin = (await engine.store.now() + timedelta(seconds=3)).replace(microsecond=0)
    end = begin + timedelta(seconds=4)
    definition = WindowDefinition(
        name="w", scope=PauseScope.ALL, schedule=f"@at {begin.isoformat()}", duration_seconds=4, reason="r"
    )
    await engine.store.create_window(definition, by="ann")
    async with asyncio.timeout(PATIENCE):
        while True:
            found = (await engine.store.list_instances(InstanceFilter(task_id=task.id), limit=200)).items
            if any(one.status is Status.SUCCESS and one.scheduled_time >= end for one in found):
                break
            await asyncio.sleep(0.05)
    skips = [one for one in found if one.skip_reason is not None]
    assert {one.skip_reason for one in skips} == {SkipReason.WINDOW}
    skipped = [
        one.scheduled_time + timedelta(seconds=number)
        for one in skips
        for number in range((one.summary or {})["count"])
    ]
    made = [one.scheduled_time for one in found if one.skip_reason is None]
    assert sorted(skipped) == [begin + timedelta(seconds=number) for number in range(4)]
    assert not set(made) & set(skipped)
    every = sorted(one for one in {*made, *skipped} if one <= max(made))
    assert every == [every[0] + timedelta(seconds=number) for number in range(len(every))], "each is one or the other"
