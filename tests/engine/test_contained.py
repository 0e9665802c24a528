"""What one handler does wrong is its own affair: neither its neighbours nor the executor suffer for long."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from engine.engines import engine_on
from hourhand.executor import handler_loop
from hourhand.model.instance import Ending, Outcome, Submission
from hourhand.model.words import OutcomeKind, Status

if TYPE_CHECKING:
    from pathlib import Path

    from engine.engines import Engine


@pytest.fixture
def store_url(sqlite_url: str) -> str:
    """Return one store: this is about the executor's own loops and threads."""
    return sqlite_url


async def test_what_ended_before_a_neighbour_blocked_is_reported_while_it_blocks(engine: Engine) -> None:
    engine.start()
    quick, blocking = await engine.task("slow"), await engine.task("blocks")
    first = await engine.submit(quick, seconds=0.3)
    await engine.until(first, Status.RUNNING)
    await asyncio.sleep(0.25)
    second = await engine.submit(blocking, seconds=3)
    assert (await engine.until(first)).status is Status.SUCCESS
    assert (await engine.until(second)).status is Status.SUCCESS


async def test_what_was_handed_to_a_loop_that_stays_blocked_starts_on_a_fresh_one(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler_loop, "REPLACE_SECONDS", 1.0)
    engine.start()
    blocking = await engine.submit(await engine.task("blocks"), seconds=5)
    await engine.until(blocking, Status.RUNNING)
    await asyncio.sleep(0.3)
    waiting = [await engine.submit(await engine.task("answer")) for _ in range(5)]
    for one in waiting:
        assert (await engine.until(one)).status is Status.SUCCESS
    assert (await engine.store.get_instance(blocking)).status is Status.RUNNING, "it blocks still"
    assert (await engine.until(blocking)).status is Status.SUCCESS


async def test_a_task_left_behind_that_tries_to_end_the_process_ends_nothing(engine: Engine) -> None:
    engine.start()
    for _ in range(3):
        assert (await engine.result(await engine.task("leaves_a_task_that_exits"))).status is Status.SUCCESS
    assert (await engine.result(await engine.task("answer"))).status is Status.SUCCESS


async def test_what_one_handler_says_carelessly_disturbs_no_other(engine: Engine) -> None:
    engine.start()
    careless, good = await engine.task("careless"), await engine.task("steps")
    ids = [await engine.submit(task) for _ in range(5) for task in (careless, good)]
    done = [await engine.until(one) for one in ids]
    assert {one.status for one in done} == {Status.SUCCESS}
    assert done[0].result == {"value": "InvalidInput"}
    lines = await engine.store.read_lines(done[0].id)
    assert [line.level for line in lines] == ["info"] * 3
    assert "half a pair" in lines[2].message
    assert len(await engine.store.read_lines(done[1].id)) == 5


async def test_a_cancel_before_the_first_step_leaves_no_slot_taken(store_url: str, tmp_path: Path) -> None:
    async with engine_on(store_url, tmp_path, concurrency=2) as engine:
        engine.start()
        blocks, answer = await engine.task("blocks"), await engine.task("answer")
        for _ in range(3):
            blocking = await engine.submit(blocks, seconds=1)
            await engine.until(blocking, Status.RUNNING)
            victim = await engine.submit(answer)
            await engine.until(victim, Status.RUNNING)  # handed to the loop that is blocked
            await engine.store.cancel(victim, reason="before it began")
            await engine.until(blocking)
            assert (await engine.until(victim)).status in (Status.CANCELLED, Status.SUCCESS)
        both = [await engine.submit(await engine.task("slow"), seconds=1) for _ in range(2)]
        for one in both:
            assert (await engine.until(one, Status.RUNNING, Status.SUCCESS)).status is not Status.PENDING


async def test_an_instance_that_comes_back_while_its_old_attempt_runs_here_stops_that_one(
    engine: Engine, tmp_path: Path
) -> None:
    engine.start(scheduling=False)
    file = tmp_path / "marks"
    instance_id = await engine.submit(await engine.task("slow", max_retries=1, retry_delay_seconds=0), file=str(file))
    running = await engine.until(instance_id, Status.RUNNING)
    # As a callback would: somebody else reports its failure, and this very executor claims it again.
    outcome = Outcome(kind=OutcomeKind.FAILED, error_message="told by somebody else")
    await engine.store.finish([Ending(instance_id=instance_id, fence=running.fence, outcome=outcome)])
    async with asyncio.timeout(30):
        while file.read_text().count("start") < 2 or "stopped" not in file.read_text():
            await asyncio.sleep(0.02)
    stopped = next(line for line in file.read_text().splitlines() if line.startswith("stopped"))
    assert stopped.split()[2] == "1", "the old attempt, not the new one"
    await engine.store.cancel(instance_id, reason="test")
    await engine.until(instance_id)


async def test_short_work_behind_long_work_is_not_claimed_and_handed_back_for_ever(
    store_url: str, tmp_path: Path
) -> None:
    async with engine_on(store_url, tmp_path, concurrency=4) as engine:
        engine.start()
        answer, slow = await engine.task("answer"), await engine.task("slow")
        warm = await engine.store.submit([Submission(task_id=answer.id)] * 500)
        await engine.until(warm[-1].instance_id)
        long = await engine.store.submit([Submission(task_id=slow.id, args={"seconds": 4})] * 4)
        for one in long:
            await engine.until(one.instance_id, Status.RUNNING)
        short = await engine.store.submit([Submission(task_id=answer.id)] * 200)
        done = [await engine.until(one.instance_id) for one in short]
        assert {one.status for one in done} == {Status.SUCCESS}
        assert max(one.fence for one in done) <= 3, "handed back once at most"
