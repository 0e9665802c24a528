"""Guarantee 3: what was acknowledged is on disk, however its process or its server ends."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from contracts.world import World
from hourhand.store import open_store, upgrade
from postgres import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUBMIT = """
import asyncio, sys
from hourhand.model.instance import Submission
from hourhand.model.task import TaskDefinition
from hourhand.model.words import TaskType
from hourhand.store import open_store

async def submit() -> None:
    store = await open_store(sys.argv[1])
    definition = TaskDefinition(name="t", type=TaskType.COMMAND, payload={"command": "true"})
    task = await store.create_task(definition, by="test")

    async def one() -> None:
        while True:
            (submitted,) = await store.submit([Submission(task_id=task.id)])
            print(submitted.instance_id, flush=True)

    await asyncio.gather(*(one() for _ in range(16)))

asyncio.run(submit())
"""


@pytest.fixture
def server() -> Iterator[Cluster]:
    """Start a server of our own, which may be crashed."""
    started = Cluster()
    try:
        started.start()
        yield started
    finally:
        started.stop()


def acknowledged(url: str, *, atleast: int) -> tuple[subprocess.Popen[str], list[int]]:
    """Start a process that submits without end; the ids it was answered with so far."""
    process = subprocess.Popen([sys.executable, "-c", SUBMIT, url], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(atleast)]
    return process, [int(line) for line in lines]


async def living(url: str) -> set[int]:
    store = await open_store(url)
    try:
        return {row["id"] for row in await World(store).sql("SELECT id FROM task_instances")}
    finally:
        await store.close()


async def test_what_was_acknowledged_survives_the_death_of_its_process(store_url: str) -> None:
    process, ids = acknowledged(store_url, atleast=200)
    process.send_signal(signal.SIGKILL)
    rest, _ = await asyncio.to_thread(process.communicate)
    # The last line may have been cut off in the middle.
    ids += [int(line) for line in rest.splitlines(keepends=True) if line.endswith("\n")]
    assert len(set(ids)) == len(ids)
    assert set(ids) <= await living(store_url)


async def test_what_was_acknowledged_survives_a_crash_of_the_server(server: Cluster) -> None:
    url = server.create_database()
    await upgrade(url)
    process, ids = acknowledged(url, atleast=200)
    server.crash()
    process.kill()
    rest, _ = await asyncio.to_thread(process.communicate)
    ids += [int(line) for line in rest.splitlines(keepends=True) if line.endswith("\n")]
    server.start()
    assert set(ids) <= await living(url)


async def test_postgresql_syncs_whatever_its_default_is(cluster: Cluster) -> None:
    url = cluster.create_database()
    cluster.sql(f'ALTER DATABASE "{url.rpartition("/")[2]}" SET synchronous_commit = off')
    store = await open_store(url, migrate=True)
    try:
        (row,) = await World(store).sql("SELECT current_setting('synchronous_commit') AS value")
    finally:
        await store.close()
        cluster.drop_database(url)
    assert row["value"] == "on"


async def test_sqlite_syncs_at_every_commit(sqlite_url: str, tmp_path: Path) -> None:
    store = await open_store(sqlite_url)
    try:
        assert (tmp_path / "hourhand.db-wal").exists()
        (row,) = await World(store).sql("PRAGMA synchronous")
    finally:
        await store.close()
    assert row["synchronous"] == 2, "2 is FULL"
