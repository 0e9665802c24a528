"""Fixtures of the engine's suite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from serving import Served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from engine.engines import Engine
    from postgres import Cluster


@pytest.fixture
async def engine(store_url: str, tmp_path: Path) -> AsyncIterator[Engine]:
    """Return an engine on a fresh store of each kind; nothing of it runs yet."""
    from engine.engines import engine_on  # noqa: PLC0415  # tests of a runner alone need no engine

    async with engine_on(store_url, tmp_path) as one:
        yield one


@pytest.fixture(scope="module")
def shared_url(cluster: Cluster, postgresql_template: str) -> Iterator[str]:
    """Return a PostgreSQL store that the tests of one file share with a served process."""
    url = cluster.create_database(template=postgresql_template)
    yield url
    cluster.drop_database(url)


@pytest.fixture(scope="module")
def served(shared_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve it."""
    with Served(tmp_path_factory.mktemp("served"), "--store", shared_url) as process:
        yield process
