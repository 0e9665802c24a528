"""The store is away for a while: everybody waits, says so once, and goes on; nothing is lost or done twice."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

import pytest

from conftest import migrate
from engine.engines import engine_on
from hourhand.model.errors import StoreUnavailable
from hourhand.model.filters import InstanceFilter
from hourhand.model.words import Status
from postgres import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.engines import Engine
    from hourhand.model.instance import Instance


@pytest.fixture
def own_cluster() -> Iterator[Cluster]:
    """Start a server that this test alone may stop."""
    server = Cluster()
    try:
        server.start()
        yield server
    finally:
        server.stop()


async def patiently(engine: Engine, instance_id: int) -> Instance:
    while True:
        try:
            return await engine.until(instance_id)
        except StoreUnavailable:
            await asyncio.sleep(0.1)


async def test_a_server_that_is_cut_off_and_comes_back(
    own_cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = own_cluster.create_database()
    await asyncio.to_thread(migrate, url)
    file = tmp_path / "marks"
    async with engine_on(url, tmp_path, lease_seconds=4, heartbeat_seconds=1) as engine:
        running = engine.start(executors=2)
        every = await engine.task("answer", schedule="@every 1s", overlap_policy="parallel")
        slow = await engine.submit(await engine.task("slow"), seconds=3, file=str(file))
        await engine.until(slow, Status.RUNNING)
        await asyncio.to_thread(own_cluster.crash)
        await asyncio.sleep(3)
        await asyncio.to_thread(own_cluster.start)
        done = await patiently(engine, slow)
        assert (done.status, done.fence, done.loss_count) == (Status.SUCCESS, 1, 0), "its own executor ended it"
        assert [line.split()[0] for line in file.read_text().splitlines()] == ["start", "end"]
        after = await engine.store.now()
        async with asyncio.timeout(60):
            while True:
                fired = (await engine.store.list_logs(InstanceFilter(task_id=every.id), limit=200)).items
                if sum(one.scheduled_time > after for one in fired) >= 2:
                    break
                await asyncio.sleep(0.1)
        times = sorted(one.scheduled_time for one in fired)
        assert len(times) == len(set(times))
        assert [round((b - a).total_seconds()) for a, b in itertools.pairwise(times)] == [1] * (len(times) - 1)
        await engine.stop(running)
    said = [record.getMessage() for record in caplog.records if record.name == "hourhand"]
    assert sum("cannot be reached" in one for one in said) == sum("is back" in one for one in said) == 1
