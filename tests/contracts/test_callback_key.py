"""The key that callbacks are signed with: one per store, whoever asks first."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hourhand.store import open_store

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.store import Store


async def test_the_key_is_made_once_and_has_256_bits(store: Store) -> None:
    key = await store.callback_key()
    assert len(key) == 32
    assert len(set(key)) > 8
    assert await store.callback_key() == key


async def test_the_key_outlives_the_process(store_url: str) -> None:
    keys = []
    for _ in range(2):
        opened = await open_store(store_url)
        keys.append(await opened.callback_key())
        await opened.close()
    assert keys[0] == keys[1]


async def test_of_many_that_ask_at_once_all_get_the_same_key(store: Store) -> None:
    assert len(set(await asyncio.gather(*[store.callback_key() for _ in range(20)]))) == 1


async def test_of_many_processes_that_ask_at_once_all_get_the_same_key(
    postgresql_url: str, cluster_world: World
) -> None:
    stores = [await open_store(postgresql_url) for _ in range(6)]
    try:
        keys = await asyncio.gather(*[each.callback_key() for each in stores])
    finally:
        for each in stores:
            await each.close()
    assert len(set(keys)) == 1
    assert await cluster_world.count("store_values", "name = 'callback_key'") == 1


async def test_two_stores_have_two_keys(sqlite_world: World, cluster_world: World) -> None:
    assert await sqlite_world.store.callback_key() != await cluster_world.store.callback_key()
