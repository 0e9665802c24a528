"""Hints: whoever listens hears soon of what may be worth a look, in this process and in others."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from hourhand.model.errors import StoreError
from hourhand.model.hints import Hint
from hourhand.store import hints, open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.world import World
    from hourhand.store import Store
    from postgres import Cluster


class Ear:
    """Remembers what it heard."""

    def __init__(self, store: Store, hint: Hint) -> None:
        self.heard: list[frozenset[int]] = []
        self.event = asyncio.Event()
        self.quiet: Callable[[], None] = store.listen(hint, self._hear)

    def _hear(self, ids: frozenset[int]) -> None:
        self.heard.append(ids)
        self.event.set()

    async def wait(self) -> frozenset[int]:
        async with asyncio.timeout(20):
            await self.event.wait()
        self.event.clear()
        return self.heard[-1]


async def test_a_submission_is_heard_in_its_own_process_at_once(world: World) -> None:
    ear = Ear(world.store, Hint.PENDING)
    await world.submit(await world.task())
    assert ear.heard == [frozenset()]


async def test_who_stops_listening_hears_nothing_more(world: World) -> None:
    ear = Ear(world.store, Hint.PENDING)
    ear.quiet()
    await world.submit(await world.task())
    assert ear.heard == []


async def test_a_new_and_an_edited_task_wake_the_schedulers(world: World) -> None:
    ear = Ear(world.store, Hint.WAKE)
    task = await world.task()
    await world.store.edit_task(task.id, {"schedule": "@hourly"}, by="test")
    assert len(ear.heard) == 2


async def test_the_end_of_an_after_task_wakes_the_schedulers(world: World) -> None:
    await world.executor()
    await world.task(schedule="@after 1s")
    await world.store.materialise()
    claimed = await world.claim()
    ear = Ear(world.store, Hint.WAKE)
    await world.end(claimed)
    assert ear.heard


async def test_a_cancel_names_its_instance(world: World) -> None:
    instance_id = await world.submit(await world.task())
    ear = Ear(world.store, Hint.CANCEL)
    await world.store.cancel(instance_id, reason="test")
    assert ear.heard == [frozenset({instance_id})]


async def test_a_retry_after_a_failure_is_heard(world: World) -> None:
    await world.executor()
    await world.submit(await world.task(max_retries=1, retry_delay_seconds=0))
    claimed = await world.claim()
    ear = Ear(world.store, Hint.PENDING)
    await world.end(claimed, "failed")  # type: ignore[arg-type]  # a word of OutcomeKind
    assert ear.heard


async def test_another_process_hears_it_too(cluster_world: World, postgresql_url: str) -> None:
    other = await open_store(postgresql_url)
    try:
        pending, cancel = Ear(other, Hint.PENDING), Ear(other, Hint.CANCEL)
        task = await cluster_world.task()
        async with asyncio.timeout(20):
            while not pending.heard:  # the other begins to listen in its own time
                instance_id = await cluster_world.submit(task)
                await asyncio.sleep(0.1)
        await cluster_world.store.cancel(instance_id, reason="test")
        assert instance_id in await cancel.wait()
    finally:
        await other.close()


async def test_what_is_rung_often_is_sent_seldom_and_all_of_it(
    cluster_world: World, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    notify = cluster_world.store.database.notify

    async def counting(message: str) -> None:
        sent.append(message)
        await notify(message)

    monkeypatch.setattr(cluster_world.store.database, "notify", counting)
    task = await cluster_world.task()
    ids = [await cluster_world.submit(task) for _ in range(50)]
    other = await open_store(postgresql_url)
    try:
        ear = Ear(other, Hint.CANCEL)
        await asyncio.sleep(0.5)
        sent.clear()
        await asyncio.gather(*(cluster_world.store.cancel(one, reason="test") for one in ids))
        async with asyncio.timeout(20):
            while len(frozenset().union(*ear.heard)) < len(ids):
                await ear.wait()
    finally:
        await other.close()
    assert len(sent) < len(ids)


async def test_a_listener_that_lost_its_connection_is_told_to_look_and_hears_again(
    cluster_world: World, cluster: Cluster, postgresql_url: str
) -> None:
    other = await open_store(postgresql_url)
    try:
        ear = Ear(other, Hint.PENDING)
        await asyncio.sleep(0.5)
        name = postgresql_url.rsplit("/", 1)[1]
        listening = f"datname = '{name}' AND query LIKE 'LISTEN%'"
        cluster.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {listening}")  # noqa: S608 - its own
        assert await ear.wait() == frozenset()
        task = await cluster_world.task()
        ear.heard.clear()
        async with asyncio.timeout(20):
            while not ear.heard:
                await cluster_world.submit(task)
                await asyncio.sleep(0.1)
    finally:
        await other.close()


async def test_a_message_that_cannot_be_read_is_passed_over(cluster_world: World, postgresql_url: str) -> None:
    other = await open_store(postgresql_url)
    try:
        ear = Ear(other, Hint.PENDING)
        await asyncio.sleep(0.5)
        for message in ("", "nonsense", "[]", '["x", {"pending": ["y"]}]', '["x", {"unknown": [1]}]'):
            await cluster_world.store.database.notify(message)
        await cluster_world.store.database.notify('["x", {"pending": [7]}]')
        assert await ear.wait() == frozenset({7})
        assert ear.heard == [frozenset({7})]
    finally:
        await other.close()


async def test_a_listener_survives_a_fault_and_hears_again(
    cluster_world: World, postgresql_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    other = await open_store(postgresql_url)
    hear, faults = other.database.hear, [RuntimeError("a fault of our own"), StoreError("a password was changed")]

    async def failing(heard: Callable[[str], None]) -> None:
        if faults:
            raise faults.pop(0)
        await hear(heard)

    monkeypatch.setattr(other.database, "hear", failing)
    monkeypatch.setattr(hints, "RECONNECT_SECONDS", 0.05)
    try:
        ear = Ear(other, Hint.CANCEL)
        async with asyncio.timeout(20):
            while frozenset({7}) not in ear.heard:
                await cluster_world.store.database.notify('["x", {"cancel": [7]}]')
                await asyncio.sleep(0.1)
    finally:
        await other.close()
    assert caplog.text.count("cannot be heard") == 2
    assert "a fault of our own" in caplog.text
