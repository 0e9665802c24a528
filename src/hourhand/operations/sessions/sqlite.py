"""Operations: a session with an SQLite file: the standard library's driver in a thread of its own."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

from hourhand.contracts.operation import Row
from hourhand.model.data_source import Address, Dialect
from hourhand.model.operation import Blocker
from hourhand.operations.failures import LockNotGained, SourceUnreachable, StatementFailed

T = TypeVar("T")
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_GONE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FULL)


class SqliteSession:
    """One connection; the thread is its own, since a long statement would hold up the loop."""

    dialect = Dialect.SQLITE

    def __init__(self, address: Address, driver: sqlite3.Connection, thread: ThreadPoolExecutor) -> None:
        self._address = address
        self._thread = thread
        self.driver = driver
        self.version: tuple[int, ...] = sqlite3.sqlite_version_info

    @property
    def shown(self) -> str:
        """Where it is connected to."""
        return self._address.shown

    @property
    def database(self) -> str:
        """The database's name."""
        return str(Path(self._address.database or "").resolve())

    async def fetch(self, sql: str, *params: object) -> list[Row]:
        """Read rows."""
        return await self.threaded(lambda: [dict(row) for row in self.driver.execute(sql, params).fetchall()])

    async def execute(self, sql: str, *params: object) -> int:
        """Execute one statement."""
        return await self.threaded(lambda: max(self.driver.execute(sql, params).rowcount, 0))

    @asynccontextmanager
    async def transaction(self, *, isolation: str | None = None) -> AsyncIterator[None]:
        """All or nothing; one that only reads sees one state of the file, which is all the isolation there is."""
        await self.execute("BEGIN" if isolation else "BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with suppress(StatementFailed, LockNotGained, SourceUnreachable):
                if self.driver.in_transaction:
                    await asyncio.shield(self.execute("ROLLBACK"))
            raise
        await self.execute("COMMIT")

    async def blockers(self) -> list[Blocker]:
        """SQLite does not tell who holds its lock."""
        return []

    async def threaded(self, call: Callable[[], T]) -> T:
        """Whatever needs the driver, in its thread; stopped when the caller is cancelled."""
        future = asyncio.get_running_loop().run_in_executor(self._thread, call)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            self.driver.interrupt()
            with suppress(BaseException):
                await future
            raise
        except sqlite3.Error as error:
            code = (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
            if code in _BUSY:
                raise LockNotGained(f"{self.shown} is locked by another connection") from error
            if code in _GONE:
                raise SourceUnreachable(f"{self.shown}: {error}") from error
            raise StatementFailed(f"{error}") from error

    async def close(self) -> None:
        """Give the connection back."""
        with suppress(sqlite3.Error, RuntimeError):
            await asyncio.get_running_loop().run_in_executor(self._thread, self.driver.close)
        self._thread.shutdown(wait=False)


async def connect(address: Address, seconds: float) -> SqliteSession:
    """Open the file, which must be there: a mistyped path must not make an empty database."""
    path = Path(address.database or "")
    _require(path)
    thread = ThreadPoolExecutor(1, thread_name_prefix="hourhand-sqlite")

    def opened() -> sqlite3.Connection:
        driver = sqlite3.connect(path, timeout=seconds, isolation_level=None, check_same_thread=False)
        driver.row_factory = sqlite3.Row
        driver.execute("SELECT count(*) FROM sqlite_master").fetchall()
        return driver

    try:
        return SqliteSession(address, await asyncio.get_running_loop().run_in_executor(thread, opened), thread)
    except sqlite3.Error as error:
        thread.shutdown(wait=False)
        raise SourceUnreachable(f"{address.shown} cannot be opened: {error}") from None


def _require(path: Path) -> None:
    if not path.is_file():
        raise SourceUnreachable(f"there is no file {path} on this machine: give the path of a database")
    if not os.access(path, os.W_OK):
        raise SourceUnreachable(f"{path} cannot be written by this user")
