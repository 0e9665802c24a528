"""Addresses of the test servers' databases, as a data source has them."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from hourhand.model.data_source import Address, Dialect
from mariadb import PASSWORD, USERNAME, MariaServer
from postgres import Cluster


def postgres_address(server: Cluster, url: str) -> Address:
    """Return the address behind a URL of the server; it trusts everybody, so that any password will do."""
    return Address(
        dialect=Dialect.POSTGRESQL,
        host="127.0.0.1",
        port=server.port,
        database=url.rpartition("/")[2],
        username="postgres",
        password=PASSWORD,
    )


def maria_address(server: MariaServer, url: str) -> Address:
    """Return the address behind a URL of the server."""
    return Address(
        dialect=Dialect.MARIADB,
        host="127.0.0.1",
        port=server.port,
        database=url.rpartition("/")[2],
        username=USERNAME,
        password=PASSWORD,
    )


def sqlite_address(path: Path) -> Address:
    """Return the address of a file, which is made: a data source must be there before it is used."""
    with closing(sqlite3.connect(path)) as made:
        made.execute("PRAGMA journal_mode = WAL")
    return Address(dialect=Dialect.SQLITE, database=os.fspath(path))
