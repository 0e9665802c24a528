"""The witnesses tell the truth: what a store does in plain sight is what is read of it afterwards."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from contracts.world import World
from faults import journal
from faults.checker import check
from faults.history import MarkKind, Verb
from faults.marks import FOLDER, mark
from faults.witness import read_history
from hourhand.model.registry import Executor
from hourhand.store import open_store

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from hourhand.store import Store


async def work(store: Store, lanes: tuple[int, ...]) -> int:
    """Carry out all there is to claim; how much there was."""
    claimed = await store.claim("e1", lanes, limit=100)
    for one in claimed:
        mark(MarkKind.START, one.instance_id, one.fence)
        mark(MarkKind.END, one.instance_id, one.fence)
    await World(store).end(claimed)
    return len(claimed)


async def test_a_store_without_faults_leaves_a_clean_history(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    await journal.install(store_url)
    store = await open_store(store_url)
    try:
        world = World(store)
        source = await world.task("source", schedule="@every 1s")
        middle = await world.task("middle", schedule="@upstream", dependency_ids=(source.id,))
        await world.task("sink", schedule="@upstream", dependency_ids=(middle.id, source.id))
        await world.task("beside", schedule="@every 1s", dependency_ids=(source.id,))
        lanes = await store.register(Executor(id="e1", group="default"))
        until = source.anchored_at
        ended = 0
        async with asyncio.timeout(30):
            while ended < 8:
                until = await store.now()
                await store.materialise()
                lanes = (await store.beat("e1")).lanes or lanes
                ended += await work(store, lanes)
                await asyncio.sleep(0.1)
            while await work(store, lanes):
                pass
    finally:
        await store.close()

    history = await read_history(store_url, tmp_path, until)

    assert check(history) == []
    assert {change.verb for change in history.changes} == set(Verb)
    assert {task.name for task in history.tasks} == {"source", "middle", "sink", "beside"}
    assert len(history.logs) >= 8
    assert len([one for one in history.marks if one.kind is MarkKind.START]) == len(history.logs)
    # And it would have been noticed if any of this had been otherwise.
    assert {one.invariant for one in check(replace(history, marks=()))} >= {"I3", "I5"}
    assert {one.invariant for one in check(replace(history, logs=history.logs[1:]))} >= {"I2"}
