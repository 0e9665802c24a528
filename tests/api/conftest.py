"""One served process for the tests that only ask it questions, and the API in-process for those that execute."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from api.in_process import serving
from contracts.world import World
from serving import Served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    import httpx

    from hourhand.store import Store


@pytest.fixture(scope="session")
def cluster_settings() -> dict[str, str]:
    """Return none: `hourhand doctor` looks at them."""
    return {}


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("served")) as process:
        yield process


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    with served.client() as opened:
        yield opened


@pytest.fixture
def visitor(served: Served) -> Iterator[httpx.Client]:
    with served.visitor() as opened:
        yield opened


@pytest.fixture
def world(store: Store) -> World:
    """Return shorthand for the fresh store that `rest` serves."""
    return World(store)


@pytest.fixture
async def rest(store: Store) -> AsyncIterator[httpx.AsyncClient]:
    """Serve a fresh store of each kind in this process; nothing is claimed but by the test."""
    async with serving(store) as client:
        yield client


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Make a database for a data source."""
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
    return path
