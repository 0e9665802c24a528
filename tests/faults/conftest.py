"""Fixtures of the fault suite: a scenario on each kind of store, and a PostgreSQL server that may be crashed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from conftest import migrate
from faults.cluster import Processes
from faults.scenario import Scenario
from postgres import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def cluster_settings() -> dict[str, str]:
    """Return none: faults are to be met as in production."""
    return {}


@pytest.fixture
def postgresql_url(cluster: Cluster, postgresql_template: str) -> Iterator[str]:
    """Return the URL of a database that nobody else gets: the journal's triggers stay in it."""
    url = cluster.create_database(template=postgresql_template)
    yield url
    cluster.drop_database(url)


@pytest.fixture
def on_postgresql(postgresql_url: str, tmp_path: Path) -> Iterator[Scenario]:
    """Return a scenario on an empty PostgreSQL store; its processes are gone before its database is."""
    with Processes(postgresql_url, tmp_path) as processes:
        yield Scenario(processes)


@pytest.fixture
def on_sqlite(sqlite_url: str, tmp_path: Path) -> Iterator[Scenario]:
    """Return a scenario on an empty SQLite store."""
    with Processes(sqlite_url, tmp_path) as processes:
        yield Scenario(processes)


@pytest.fixture
def server() -> Iterator[Cluster]:
    """Start a server of our own, which may be crashed."""
    started = Cluster()
    try:
        started.start()
        yield started
    finally:
        started.stop()


@pytest.fixture
def on_server(server: Cluster, tmp_path: Path) -> Iterator[Scenario]:
    """Return a scenario on an empty store of that server."""
    url = server.create_database()
    migrate(url)
    with Processes(url, tmp_path) as processes:
        yield Scenario(processes)


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Leave the store's complaints about its server's absence out of the report."""
    caplog.set_level(logging.ERROR, "hourhand")
