"""How much at once: slots of an executor, and concurrency keys across all of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from engine.engines import engine_on
from hourhand.model.words import Status

if TYPE_CHECKING:
    from pathlib import Path

    from engine.engines import Engine


def most_at_once(file: Path) -> int:
    """The largest number of attempts that overlapped, by what they themselves wrote down."""
    events = sorted((float(line.split()[3]), line.split()[0]) for line in file.read_text().splitlines())
    running = most = 0
    for _, word in events:
        running += {"start": 1, "end": -1, "stopped": -1}.get(word, 0)
        most = max(most, running)
    return most


async def test_an_executor_starts_no_more_than_it_has_slots(store_url: str, tmp_path: Path) -> None:
    async with engine_on(store_url, tmp_path, concurrency=3) as engine:
        engine.start()
        task = await engine.task("slow")
        file = tmp_path / "marks"
        ids = [await engine.submit(task, seconds=0.2, file=str(file)) for _ in range(20)]
        assert {(await engine.until(one)).status for one in ids} == {Status.SUCCESS}
    assert most_at_once(file) == 3


async def test_a_concurrency_key_is_exact_across_executors(engine: Engine, tmp_path: Path) -> None:
    engine.start(executors=3)
    task = await engine.task("slow", concurrency_key="printer", concurrency_limit=2)
    file = tmp_path / "marks"
    ids = [await engine.submit(task, seconds=0.1, file=str(file)) for _ in range(30)]
    assert {(await engine.until(one)).status for one in ids} == {Status.SUCCESS}
    assert most_at_once(file) == 2


async def test_a_broadcast_goes_to_every_executor_once(engine: Engine) -> None:
    engine.start(executors=3)
    async with asyncio.timeout(30):
        while len(await engine.store.list_executors()) < 3:
            await asyncio.sleep(0.02)
    task = await engine.task("answer", broadcast=True)
    first = await engine.submit(task)
    done = [await engine.until(first + number) for number in range(3)]
    assert Counter(one.shard_index for one in done) == {0: 1, 1: 1, 2: 1}
    assert len({one.executor_id for one in done}) == 3
    assert all(one.executor_id == one.target_executor_id for one in done)


async def test_higher_priority_goes_first(store_url: str, tmp_path: Path) -> None:
    async with engine_on(store_url, tmp_path, concurrency=1) as engine:
        tasks = [await engine.task("answer", name=f"p{priority}", priority=priority) for priority in (9, 5, 0)]
        file = tmp_path / "marks"
        ids = [await engine.submit(task, file=str(file)) for task in tasks]
        engine.start()
        for one in ids:
            await engine.until(one)
        started = [int(line.split()[1]) for line in file.read_text().splitlines()]
        assert started == ids[::-1]
