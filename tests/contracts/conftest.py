"""Fixtures of the contract suite: every test runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contracts.world import World
from hourhand.store import materialise, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hourhand.store import Store


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give planning all the time it wants: a machine that pauses must not leave a task for the next materialise."""
    monkeypatch.setattr(materialise, "PLANNING_SECONDS", 60.0)


@pytest.fixture
def world(store: Store) -> World:
    """Return shorthand for the fresh store."""
    return World(store)


@pytest.fixture
async def cluster_world(postgresql_url: str) -> AsyncIterator[World]:
    """Return shorthand for a fresh store on PostgreSQL, for what only that can show."""
    opened = await open_store(postgresql_url)
    yield World(opened)
    await opened.close()


@pytest.fixture
async def sqlite_world(sqlite_url: str) -> AsyncIterator[World]:
    """Return shorthand for a fresh store on SQLite, for what only that does."""
    opened = await open_store(sqlite_url)
    yield World(opened)
    await opened.close()
