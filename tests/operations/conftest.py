"""Fixtures of the operations' suite: a data source of each dialect, a fresh database for each test.

The servers are started by the first test of a process that asks for one, and shared by those after it: a test that
stops or crashes one starts it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mariadb import MariaServer
from operations.addresses import maria_address, postgres_address, sqlite_address

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hourhand.model.data_source import Address
    from postgres import Cluster


@pytest.fixture(scope="session")
def postgres_server(cluster: Cluster) -> Cluster:
    """Return the PostgreSQL server."""
    return cluster


@pytest.fixture(scope="session")
def maria_server() -> Iterator[MariaServer]:
    """Start a real MariaDB server, at the first test that asks for it."""
    server = MariaServer()
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def pg_source(postgres_server: Cluster) -> Iterator[Address]:
    """Return the address of a fresh PostgreSQL database."""
    url = postgres_server.create_database()
    yield postgres_address(postgres_server, url)
    postgres_server.drop_database(url)


@pytest.fixture
def pg_target(postgres_server: Cluster) -> Iterator[Address]:
    """Return the address of a second fresh PostgreSQL database, to copy to."""
    url = postgres_server.create_database()
    yield postgres_address(postgres_server, url)
    postgres_server.drop_database(url)


@pytest.fixture
def maria_source(maria_server: MariaServer) -> Iterator[Address]:
    """Return the address of a fresh MariaDB database."""
    url = maria_server.create_database()
    yield maria_address(maria_server, url)
    maria_server.drop_database(url)


@pytest.fixture
def maria_target(maria_server: MariaServer) -> Iterator[Address]:
    """Return the address of a second fresh MariaDB database, to copy to."""
    url = maria_server.create_database()
    yield maria_address(maria_server, url)
    maria_server.drop_database(url)


@pytest.fixture
def sqlite_source(tmp_path: Path) -> Address:
    """Return the address of a fresh SQLite file."""
    return sqlite_address(tmp_path / "source.db")


@pytest.fixture
def sqlite_target(tmp_path: Path) -> Address:
    """Return the address of a second fresh SQLite file, to copy to."""
    return sqlite_address(tmp_path / "target.db")


@pytest.fixture(params=["postgresql", "mariadb", "sqlite"])
def source(request: pytest.FixtureRequest) -> Address:
    """Return the address of a fresh database, once for each dialect."""
    short = {"postgresql": "pg", "mariadb": "maria", "sqlite": "sqlite"}[request.param]
    address: Address = request.getfixturevalue(f"{short}_source")
    return address
