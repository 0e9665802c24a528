"""A stop is a drain: gone from the registry at once, nothing new, a grace for what runs, the rest handed back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine.engines import engine_on
from hourhand.model.words import OutcomeKind, Status

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from engine.engines import Engine


async def test_what_ends_within_the_grace_ends_by_itself(store_url: str, tmp_path: Path) -> None:
    async with engine_on(store_url, tmp_path, grace_seconds=30) as engine:
        running = engine.start()
        instance_id = await engine.submit(await engine.task("slow"), seconds=2)
        await engine.until(instance_id, Status.RUNNING)
        running.stop.set()
        async with asyncio.timeout(10):
            while await engine.store.list_executors():
                await asyncio.sleep(0.02)
        late = await engine.submit(await engine.task("answer"))
        await engine.stop(running)
        assert (await engine.store.get_instance(instance_id)).status is Status.SUCCESS
        assert (await engine.store.get_instance(late)).status is Status.PENDING, "nothing is claimed any more"


async def test_what_does_not_is_stopped_and_handed_back_uncounted(engine: Engine, tmp_path: Path) -> None:
    running = engine.start()
    file = tmp_path / "marks"
    instance_id = await engine.submit(await engine.task("slow"), file=str(file))
    await engine.until(instance_id, Status.RUNNING)
    await engine.stop(running)
    left = await engine.store.get_instance(instance_id)
    assert (left.status, left.loss_count, left.retry_count) == (Status.PENDING, 0, 0)
    assert "stopped" in file.read_text()
    (attempt,) = await engine.store.list_attempts(instance_id)
    assert (attempt.outcome, attempt.error_message) == (OutcomeKind.HANDED_BACK, "its executor was stopped")
    engine.start()
    await engine.store.cancel(instance_id, reason="test")
    await engine.until(instance_id)


async def test_what_must_not_run_twice_fails_instead(engine: Engine) -> None:
    running = engine.start()
    instance_id = await engine.submit(await engine.task("slow", executor_loss_policy="fail"))
    await engine.until(instance_id, Status.RUNNING)
    await engine.stop(running)
    left = await engine.store.get_instance(instance_id)
    assert left.status is Status.FAILED
    assert "executor was stopped" in (left.error_message or "")


async def test_a_second_signal_cuts_the_grace_short_as_is_said_at_the_first(
    store_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with engine_on(store_url, tmp_path, grace_seconds=50) as engine:
        running = engine.start()
        instance_id = await engine.submit(await engine.task("slow"))
        await engine.until(instance_id, Status.RUNNING)
        running.told()
        async with asyncio.timeout(20):
            while "stopping: 1 instance has up to 50 s to end, then it is stopped and handed back" not in caplog.text:
                await asyncio.sleep(0.02)
        running.told()
        async with asyncio.timeout(30):
            await engine.stop(running)
        assert (await engine.store.get_instance(instance_id)).status is Status.PENDING


async def test_another_executor_takes_over_what_was_handed_back(engine: Engine) -> None:
    first = engine.start()
    instance_id = await engine.submit(await engine.task("steps"), total=3)
    await engine.until(instance_id)
    slow = await engine.submit(await engine.task("slow"), seconds=3)
    await engine.until(slow, Status.RUNNING)
    await engine.stop(first)
    engine.start()
    done = await engine.until(slow)
    assert (done.status, done.fence) == (Status.SUCCESS, 3), "claimed, handed back, claimed"
    assert (await engine.store.explain(slow)).summary.startswith("It succeeded: at attempt 2, on executor ")
