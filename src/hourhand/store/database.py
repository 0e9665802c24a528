"""Store: what the verbs need of a database, kept by one module per dialect."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

from hourhand.model.diagnosis import DatabaseFacts
from hourhand.model.errors import StoreError, StoreUnavailable
from hourhand.store.statements import Statement

T = TypeVar("T")
Row = Mapping[str, Any]


class DataRefused(StoreError):
    """The database refused a value (SQLSTATE 22 or 23); retrying the same values is pointless."""


class MissingPartition(StoreUnavailable):
    """There is no partition for the day of a row; it can be made and the write repeated, if not now then later."""


class Tx(Protocol):
    """One transaction."""

    dialect: str

    async def fetch(self, statement: Statement, **params: Any) -> Sequence[Row]:
        """Run it and read what it returns."""

    async def run(self, statement: Statement, **params: Any) -> int:
        """Run it and tell how many rows it touched."""

    async def allocate(self, sequence: str, count: int) -> Sequence[int]:
        """Fresh ids, ascending; never given out twice, not even after a crash."""

    async def now(self) -> datetime:
        """The store's time of day, at this moment rather than at the beginning of the transaction."""


Body = Callable[[Tx], Awaitable[T]]


class Database(Protocol):
    """A database that runs transaction bodies.

    A body awaits nothing but its transaction and may be run again from the start: on PostgreSQL after a deadlock, on
    SQLite it runs in the writer's thread, where nothing else could be awaited.
    """

    dialect: str
    shared: bool
    """Whether other processes work on it too."""

    async def write(self, body: Body[T], *, durable: bool = True, alone: bool = False) -> T:
        """Run the body in one transaction, committed when this returns.

        What is not `durable` may be lost in a crash of the server. Its body is a single statement where statements
        cost a round trip. So is one that runs `alone`: it needs no BEGIN and no COMMIT, and a process that stops
        between the two cannot leave its locks behind.
        """

    async def read(self, body: Body[T]) -> T:
        """Run a body that only reads."""

    async def notify(self, message: str) -> None:
        """Send a message to every process that hears."""

    async def hear(self, heard: Callable[[str], None]) -> None:
        """Hand on every message, until the connection is lost; an empty one first, once none is missed any more."""

    async def ensure_partitions(self) -> int:
        """Make the days ahead; the number of days that are there, counted from today."""

    async def days_ahead(self) -> int | None:
        """For how many days after today every history table has its partition; None where there need be none."""

    async def facts(self) -> DatabaseFacts:
        """What the database tells of itself."""

    async def drop_days(self, table: str, before: datetime, *, batch: int = 5_000) -> int:
        """Remove whole days of history that ended before; the number of days (or rows) removed."""

    async def ping(self) -> None:
        """Raise StoreUnavailable if it does not answer."""

    async def close(self) -> None:
        """Give everything back."""
