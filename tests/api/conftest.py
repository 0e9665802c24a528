"""One served process for the tests that only ask it questions, and the API in-process for those that execute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from api.in_process import serving
from contracts.recycling import Recycled
from contracts.world import World
from serving import Served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    import httpx

    from hourhand.store import Store
    from postgres import Cluster


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


@pytest.fixture(scope="session")
def recycled(cluster: Cluster, postgresql_template: str) -> Recycled:
    """Return the databases that these tests hand on to each other, which is faster than making each anew."""
    return Recycled(cluster, postgresql_template)


@pytest.fixture
def recycled_url(recycled: Recycled) -> Iterator[str]:
    url = recycled.take()
    yield url
    recycled.give_back(url)


@pytest.fixture(params=["sqlite_url", "recycled_url"], ids=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue(request.param)
    return url


@pytest.fixture
def world(store: Store) -> World:
    """Return shorthand for the fresh store that `rest` serves."""
    return World(store)


@pytest.fixture
async def rest(store: Store) -> AsyncIterator[httpx.AsyncClient]:
    """Serve a fresh store of each kind in this process; nothing is claimed but by the test."""
    async with serving(store) as client:
        yield client
