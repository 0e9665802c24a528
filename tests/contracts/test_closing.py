"""Closing the embedded store: whoever still asks for something is answered, whatever the file does."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.errors import StoreUnavailable
from hourhand.store import open_store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from contracts.world import World
    from hourhand.store.database import Tx


def until(event: threading.Event) -> Callable[[Tx], Awaitable[str]]:
    """A body that holds its thread up, as a slow disk does."""

    async def body(_tx: Tx) -> str:
        event.wait(10)
        return "done"

    return body


@pytest.mark.parametrize("kind", ["write", "read"])
async def test_what_was_asked_before_is_done_and_what_is_asked_meanwhile_is_refused(sqlite_url: str, kind: str) -> None:
    store = await open_store(sqlite_url)
    ask = getattr(store.database, kind)
    event = threading.Event()
    before = asyncio.create_task(ask(until(event)))
    await asyncio.sleep(0.05)
    closing = asyncio.create_task(store.close())
    await asyncio.sleep(0.05)
    meanwhile = [asyncio.create_task(ask(until(event))) for ask in (store.database.read, store.database.write)]
    await asyncio.sleep(0.05)
    event.set()
    async with asyncio.timeout(3):
        await closing
        answers = await asyncio.gather(before, *meanwhile, return_exceptions=True)
    assert answers[0] == "done"
    assert isinstance(answers[1], StoreUnavailable) or kind == "write"
    assert all(one == "done" or isinstance(one, StoreUnavailable) for one in answers)


async def test_a_closed_store_refuses_and_may_be_closed_again(sqlite_url: str) -> None:
    store = await open_store(sqlite_url)
    await asyncio.gather(store.close(), store.close())
    await store.close()
    for verb in (store.ping, store.next_wake, lambda: store.ensure_group("g")):
        with pytest.raises(StoreUnavailable, match="closed"):
            await verb()
    await (await open_store(sqlite_url)).close()


class Refusing:
    """A connection that refuses some statements, as one does whose file has gone."""

    def __init__(self, connection: sqlite3.Connection, *refused: str) -> None:
        self._connection = connection
        self.refused = set(refused)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str, *arguments: Any) -> Any:
        if sql in self.refused:
            raise sqlite3.OperationalError(f"disk I/O error at {sql}")
        return self._connection.execute(sql, *arguments)


async def test_a_batch_that_can_neither_be_committed_nor_rolled_back_is_told_so_and_the_next_one_heals(
    sqlite_world: World,
) -> None:
    writer = sqlite_world.store.database._writer  # type: ignore[attr-defined]  # noqa: SLF001 - a fault from inside
    writer._connection = refusing = Refusing(writer._connection, "COMMIT", "ROLLBACK")  # noqa: SLF001
    async with asyncio.timeout(3):
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match=r"disk I/O|transaction"):
                await sqlite_world.store.ensure_group("lost")
        refusing.refused.clear()
        with pytest.raises(StoreUnavailable, match="transaction"):
            await sqlite_world.store.ensure_group("lost too")
        await sqlite_world.store.ensure_group("kept")
    assert {"lost", "lost too", "kept"} & {one.name for one in await sqlite_world.store.list_groups()} == {"kept"}


async def test_whoever_waits_for_a_thread_that_dies_is_told_so(
    sqlite_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = sqlite_world.store.database._writer  # type: ignore[attr-defined]  # noqa: SLF001 - a fault from inside
    monkeypatch.setattr(threading, "excepthook", lambda _arguments: None)
    event = threading.Event()
    first = asyncio.create_task(sqlite_world.store.database.write(until(event)))
    await asyncio.sleep(0.05)
    second = asyncio.create_task(sqlite_world.store.ensure_group("g"))
    await asyncio.sleep(0.05)

    def die(_batch: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(writer, "_commit", die)
    event.set()
    async with asyncio.timeout(3):
        assert await first == "done"
        with pytest.raises(StoreUnavailable):
            await second
        with pytest.raises(StoreUnavailable):
            await sqlite_world.store.ensure_group("g")
