"""Model: a data source is a database that operations work on; its password is sealed, and never shown again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Dialect(StrEnum):
    """What a data source speaks."""

    POSTGRESQL = "postgresql"
    MARIADB = "mariadb"
    MYSQL = "mysql"
    SQLITE = "sqlite"
    SQLSERVER = "sqlserver"
    """For scripts: nothing connects to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a data source is, and how to sign in; what is written of it anywhere leaves the password out."""

    dialect: Dialect
    host: str | None = None
    port: int | None = None
    database: str | None = None
    """Of SQLite: the path of the file."""
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the driver takes beside these, such as `sslmode`."""

    @property
    def shown(self) -> str:
        """For people: without password and options."""
        if self.dialect is Dialect.SQLITE:
            return f"sqlite:///{self.database}"
        user = f"{self.username}@" if self.username else ""
        port = f":{self.port}" if self.port else ""
        return f"{self.dialect.value}://{user}{self.host or 'localhost'}{port}/{self.database or ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSource:
    """A stored data source."""

    id: int
    name: str
    dialect: Dialect
    host: str | None = None
    port: int | None = None
    database: str | None = None
    username: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    secret: bytes | None = field(default=None, repr=False)
    """The sealed password."""
    created_at: datetime
    updated_at: datetime
    created_by: str

    def address(self, password: str | None) -> Address:
        """Where it is, with its password opened."""
        return Address(
            dialect=self.dialect,
            host=self.host,
            port=self.port,
            database=self.database,
            username=self.username,
            password=password,
            options=self.options,
        )
