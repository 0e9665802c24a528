"""Fixtures every suite may ask for: a PostgreSQL server, and a fresh, migrated, empty store of each kind."""

from __future__ import annotations

import asyncio
import shutil
import signal
from typing import TYPE_CHECKING

import pytest

from postgres import Cluster
from recycling import Recycled

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from hourhand.store import Store


# What runs in the background of a shell, or under nohup, ignores these, and so would every program that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def migrate(url: str) -> None:
    """Bring the schema of `url` to the newest revision, from synchronous code."""
    from hourhand.store import upgrade  # noqa: PLC0415  # suites that ask for no store must not need one to import

    # A loop of its own, never made the thread's current one: pytest-asyncio keeps its own there.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        runner.run(upgrade(url))


@pytest.fixture(scope="session")
def cluster_settings() -> dict[str, str]:
    """Return what the server is not to do as in production.

    Nobody cuts its power, and what only the system has yet to write survives the server's own death; but whoever drops
    a database makes a checkpoint, and one that waits for the disk takes half a second.
    """
    return {"fsync": "off"}


@pytest.fixture(scope="session")
def cluster(cluster_settings: dict[str, str]) -> Iterator[Cluster]:
    """Start a real PostgreSQL server, at the first test that asks for it."""
    server = Cluster(cluster_settings)
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def postgresql_template(cluster: Cluster) -> str:
    """Return the name of a migrated database to clone; it is never connected to again."""
    name = "hourhand_template"
    migrate(cluster.create_database(name=name))
    return name


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a migrated SQLite file to copy."""
    path = tmp_path_factory.mktemp("sqlite-template") / "template.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """Return the URL of a fresh, migrated, empty SQLite store."""
    path = tmp_path / "hourhand.db"
    shutil.copyfile(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def recycled(cluster: Cluster, postgresql_template: str) -> Iterator[Recycled]:
    """Return the databases that tests hand on to each other."""
    databases = Recycled(cluster, postgresql_template)
    yield databases
    databases.close()


@pytest.fixture
def postgresql_url(recycled: Recycled) -> Iterator[str]:
    """Return the URL of a migrated, empty PostgreSQL store; to the test it is as good as a fresh one."""
    url = recycled.take()
    yield url
    recycled.give_back(url)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> str:
    """Return the URL of a fresh, migrated, empty store, once for each kind."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    """Open the fresh store, and close it afterwards."""
    from hourhand.store import open_store  # noqa: PLC0415  # see migrate

    opened = await open_store(store_url)
    try:
        yield opened
    finally:
        await opened.close()
