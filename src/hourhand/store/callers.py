"""Store: connections that a caller brings along, of whatever driver, all spoken to in one way.

Drivers that the caller need not have are recognised without being imported.
"""

from __future__ import annotations

import asyncio
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import asyncpg
from asyncpg.pool import PoolConnectionProxy
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
from sqlalchemy.orm import Session

from hourhand.model.errors import Conflict, HourhandError, InvalidInput, StoreError, StoreUnavailable
from hourhand.store.database import DataRefused

JOINABLE = "an asyncpg connection, a psycopg AsyncConnection, or a SQLAlchemy AsyncConnection or AsyncSession"
JOINABLE_BLOCKING = "a psycopg Connection, a SQLAlchemy Connection or Session, or Django's connection"
_DRIVERS = {"asyncpg": "postgresql", "psycopg": "psycopg"}
"""SQLAlchemy's name of a driver, and the dialect in which its statements are written."""


class Caller(ABC):
    """A caller's connection; in a blocking one nothing is ever waited for by the loop."""

    dialect = "postgresql"
    blocking = False

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @abstractmethod
    async def fetch(self, sql: str, arguments: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Run a statement and read what it returns."""

    @abstractmethod
    async def run(self, sql: str, arguments: Sequence[Any]) -> int:
        """Run a statement and tell how many rows it touched."""

    @abstractmethod
    def in_transaction(self) -> bool:
        """Whether a transaction is open; asked once something has been run."""


class _Asyncpg(Caller):
    async def fetch(self, sql: str, arguments: Sequence[Any]) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in await self._connection.fetch(sql, *arguments)]

    async def run(self, sql: str, arguments: Sequence[Any]) -> int:
        return int((await self._connection.execute(sql, *arguments)).rpartition(" ")[2])

    def in_transaction(self) -> bool:
        return bool(self._connection.is_in_transaction())


class _Psycopg(Caller):
    dialect = "psycopg"

    def _cursor(self) -> Any:
        # Not connection.cursor(): its kind of cursor and of rows are the owner's choice.
        return _psycopg().AsyncCursor(self._connection, row_factory=_psycopg().rows.tuple_row)

    async def fetch(self, sql: str, arguments: Sequence[Any]) -> list[tuple[Any, ...]]:
        async with self._cursor() as cursor:
            await cursor.execute(sql, _plain(arguments))
            return _in_utc(await cursor.fetchall())

    async def run(self, sql: str, arguments: Sequence[Any]) -> int:
        async with self._cursor() as cursor:
            await cursor.execute(sql, _plain(arguments))
            return int(cursor.rowcount)

    def in_transaction(self) -> bool:
        return _begun(self._connection)


class _BlockingPsycopg(Caller):
    dialect = "psycopg"
    blocking = True

    def _cursor(self) -> Any:
        return _psycopg().Cursor(self._connection, row_factory=_psycopg().rows.tuple_row)

    async def fetch(self, sql: str, arguments: Sequence[Any]) -> list[tuple[Any, ...]]:
        with self._cursor() as cursor:
            cursor.execute(sql, _plain(arguments))
            return _in_utc(cursor.fetchall())

    async def run(self, sql: str, arguments: Sequence[Any]) -> int:
        with self._cursor() as cursor:
            cursor.execute(sql, _plain(arguments))
            return int(cursor.rowcount)

    def in_transaction(self) -> bool:
        return _begun(self._connection)


class _Alchemy(Caller):
    """Through SQLAlchemy and not its driver: it begins the transaction only with the first statement."""

    def __init__(self, connection: AsyncConnection | AsyncSession) -> None:
        super().__init__(connection)
        self.dialect = _dialect_of(connection.sync_session if isinstance(connection, AsyncSession) else connection)

    async def _opened(self) -> AsyncConnection:
        session = self._connection
        return await session.connection() if isinstance(session, AsyncSession) else session

    async def fetch(self, sql: str, arguments: Sequence[Any]) -> list[tuple[Any, ...]]:
        return _in_utc(await (await self._opened()).exec_driver_sql(sql, _plain(arguments)))

    async def run(self, sql: str, arguments: Sequence[Any]) -> int:
        return (await (await self._opened()).exec_driver_sql(sql, _plain(arguments))).rowcount

    def in_transaction(self) -> bool:
        session = self._connection
        sync = session.sync_session.connection() if isinstance(session, AsyncSession) else session.sync_connection
        return _driver_in_transaction(sync)


class _BlockingAlchemy(Caller):
    blocking = True

    def __init__(self, connection: Connection | Session) -> None:
        super().__init__(connection)
        self.dialect = _dialect_of(connection)

    def _opened(self) -> Connection:
        return self._connection.connection() if isinstance(self._connection, Session) else self._connection

    async def fetch(self, sql: str, arguments: Sequence[Any]) -> list[tuple[Any, ...]]:
        return _in_utc(self._opened().exec_driver_sql(sql, _plain(arguments)))

    async def run(self, sql: str, arguments: Sequence[Any]) -> int:
        return self._opened().exec_driver_sql(sql, _plain(arguments)).rowcount

    def in_transaction(self) -> bool:
        return _driver_in_transaction(self._opened())


def caller_of(connection: object, *, blocking: bool) -> Caller:
    """The connection as the store speaks to it, or a refusal that says what would be right."""
    found = _recognised(connection)
    right = JOINABLE_BLOCKING if blocking else JOINABLE
    kind = f"{type(connection).__module__}.{type(connection).__qualname__}"
    if found is None:
        raise InvalidInput.one("conn", kind, f"a {kind} is nothing whose transaction can be joined: give {right}")
    if found.blocking and not blocking:
        raise InvalidInput.one(
            "conn", kind, f"a {kind} blocks, and would stop the whole event loop: use client.sync with it, or {right}"
        )
    if blocking and not found.blocking:
        raise InvalidInput.one(
            "conn", kind, f"a {kind} belongs to an event loop: await the client itself with it, or give {right}"
        )
    return found


def _recognised(connection: object) -> Caller | None:
    match connection:
        case asyncpg.Connection() | PoolConnectionProxy():
            return _Asyncpg(connection)
        case AsyncConnection() | AsyncSession():
            return _Alchemy(connection)
        case Connection() | Session():
            return _BlockingAlchemy(connection)
    connection = _beneath_django(connection)
    driver = sys.modules.get("psycopg")
    if driver is not None and isinstance(connection, driver.AsyncConnection):
        return _Psycopg(connection)
    if driver is not None and isinstance(connection, driver.Connection):
        return _BlockingPsycopg(connection)
    return None


def _beneath_django(connection: object) -> object:
    """The driver's connection of a Django database, be it `connections["name"]` or `connection`, its stand-in."""
    django = sys.modules.get("django.db")
    if django is None:
        return connection
    wrapper: Any = connection
    if isinstance(connection, type(django.connection)):
        wrapper = django.connections[wrapper.alias]
    backends = sys.modules.get("django.db.backends.base.base")  # not before the first connection is made
    if backends is None or not isinstance(wrapper, backends.BaseDatabaseWrapper):
        return connection
    wrapper.ensure_connection()
    found = wrapper.connection
    if "psycopg" not in sys.modules or not isinstance(found, _psycopg().Connection):
        kind = f"{wrapper.vendor} through {type(found).__module__}"
        raise InvalidInput.one(
            "conn", kind, f"Django's database {wrapper.alias!r} is {kind}: joining needs PostgreSQL and psycopg 3"
        )
    return found


def _psycopg() -> Any:
    return sys.modules["psycopg"]


def _dialect_of(connection: Any) -> str:
    dialect = connection.get_bind().dialect if isinstance(connection, Session) else connection.dialect
    written = _DRIVERS.get(dialect.driver) if dialect.name == "postgresql" else None
    if written is None:
        url = f"{dialect.name}+{dialect.driver}"
        raise InvalidInput.one(
            "conn", url, f"a {url} connection cannot be joined: use postgresql+asyncpg or postgresql+psycopg"
        )
    return written


def _driver_in_transaction(connection: Connection | None) -> bool:
    if connection is None:
        return False
    driver = connection.connection.driver_connection
    return bool(driver.is_in_transaction()) if isinstance(driver, asyncpg.Connection) else _begun(driver)


def _begun(connection: Any) -> bool:
    return bool(connection.info.transaction_status == _psycopg().pq.TransactionStatus.INTRANS)


def _in_utc(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Times as everywhere: psycopg tells them in the time zone that the owner of the connection has chosen."""
    return [tuple(one.astimezone(UTC) if isinstance(one, datetime) else one for one in row) for row in rows]


def _plain(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Words as plain texts: psycopg refuses a list in which texts and words of an enum are mixed."""
    return tuple([_word(one) for one in value] if isinstance(value, list) else _word(value) for value in arguments)


def _word(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value


def translate(error: Exception) -> Exception:
    """Any driver's error in the store's words; the transaction is the caller's, so nothing is tried again."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    state = getattr(cause, "sqlstate", None)
    if state is None:
        said = f"the connection given as conn cannot be used: {cause or type(cause).__name__}"
        return StoreUnavailable(said) if isinstance(cause, OSError | asyncio.TimeoutError) else StoreError(said)
    return _by_state(state, cause)


def _by_state(state: str, cause: BaseException) -> HourhandError:
    refused: HourhandError
    match state:
        case "40001" | "40P01":
            said = f"PostgreSQL has given up your transaction ({cause}): roll back and run all of it again"
            refused = Conflict(said)
        case "25P02":
            refused = Conflict("your transaction has failed already: roll it back, then begin again")
        case "25006":
            refused = Conflict("your transaction is read-only: submit in one that may write")
        case "42P01" | "42703" | "3F000":  # no such table, column, schema
            refused = elsewhere(str(cause))
        case "42501":
            refused = StoreError(f"the user of the connection given as conn lacks a right ({cause}): grant it")
        case _ if state[:2] in ("22", "23"):
            refused = DataRefused(str(cause))
        case _ if state[:2] in ("08", "53", "57"):
            refused = StoreUnavailable(f"PostgreSQL: {cause}")
        case _:
            refused = StoreError(f"PostgreSQL: {cause}")
    return refused


def elsewhere(found: str) -> InvalidInput:
    """Refuse a connection to something that is not the store."""
    return InvalidInput.one(
        "conn", None, f"the connection does not lead to the store's database ({found}): give one that does"
    )
