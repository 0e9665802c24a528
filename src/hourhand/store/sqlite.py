"""Store: SQLite, embedded: one process owns the file, one thread writes it.

Transactions of many callers are committed together (group commit): while one batch is being synced, the next
gathers. A body is an ordinary coroutine that never has to wait, so the thread drives it with a single `send`.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from sqlalchemy import BigInteger, Text, bindparam, text

from hourhand.model.diagnosis import DatabaseFacts
from hourhand.model.errors import StoreError, StoreOwned, StoreUnavailable
from hourhand.rules.fingerprint import fingerprint
from hourhand.store.clock import Clock
from hourhand.store.database import Body, DataRefused, Row
from hourhand.store.schema import DAILY_TABLES, DAYS_AHEAD
from hourhand.store.server_facts import sqlite_facts
from hourhand.store.statements import Statement
from hourhand.store.types import from_micros, to_micros

T = TypeVar("T")
_BATCH = 256
_STOP = None
_CLOSED = "the SQLite store has been closed"
_Entry = tuple[Body[Any], Future[Any]]

_ALLOCATE = Statement(
    text(
        "INSERT INTO store_values (name, number) VALUES (:name, :count) "
        "ON CONFLICT (name) DO UPDATE SET number = number + :count RETURNING number"
    )
    .bindparams(bindparam("name", type_=Text), bindparam("count", type_=BigInteger))
    .columns(number=BigInteger)
)


class FileLock:
    """The OS lock by which one process owns a SQLite file; it goes with the process, however that ends."""

    def __init__(self, path: Path, owner: str) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.fdopen(os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8")
        except OSError as error:
            raise StoreError(f"cannot use {path}: {error}; choose a folder that this user may write") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.seek(0)
            holder = self._file.read().strip() or "another process"
            self._file.close()
            raise StoreOwned(
                f"{path} is in use by {holder}: stop it first, use it through its URL, "
                "or run a cluster on PostgreSQL (--store postgresql://…)"
            ) from None
        self._file.truncate(0)
        self._file.write(f"{owner or 'hourhand'} (pid {os.getpid()})")
        self._file.flush()

    def release(self) -> None:
        """Let the next process have the file."""
        if not self._file.closed:
            self._file.truncate(0)
            self._file.close()


class SqliteTx:
    """One body's view of the thread's connection."""

    dialect = "sqlite"

    def __init__(self, connection: sqlite3.Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock

    async def fetch(self, statement: Statement, **params: Any) -> Sequence[Row]:
        """Run it and read what it returns."""
        compiled = statement.compiled("sqlite")
        return compiled.rows(self._connection.execute(compiled.sql, compiled.arguments(params)))

    async def run(self, statement: Statement, **params: Any) -> int:
        """Run it and tell how many rows it touched."""
        compiled = statement.compiled("sqlite")
        return self._connection.execute(compiled.sql, compiled.arguments(params)).rowcount

    async def allocate(self, sequence: str, count: int) -> Sequence[int]:
        """Fresh ids from a counter in the same file."""
        (row,) = await self.fetch(_ALLOCATE, name=sequence, count=count)
        return range(row["number"] - count + 1, row["number"] + 1)

    async def now(self) -> datetime:
        """The time of day."""
        return from_micros(self._clock.wall_micros())


class SqliteDatabase:
    """The embedded store's database."""

    dialect = "sqlite"
    shared = False

    def __init__(self, path: Path, *, owner: str = "") -> None:
        self._lock = FileLock(path, owner)
        self.clock = Clock()
        try:
            self._writer = _Thread(_connect(path, self.clock), self.clock, "hourhand-sqlite-writer", grouping=True)
            self._reader = _Thread(
                _connect(path, self.clock, read_only=True), self.clock, "hourhand-sqlite-reader", grouping=False
            )
        except sqlite3.Error as error:
            self._lock.release()
            raise StoreError(f"cannot open {path}: {error}; is it a SQLite file that this user may write?") from error

    async def write(self, body: Body[T], *, durable: bool = True, alone: bool = False) -> T:
        """Run the body in the writer's next transaction."""
        del durable, alone  # one file, one sync for the whole batch
        return await self._writer.call(body)

    async def read(self, body: Body[T]) -> T:
        """Run a body that only reads, beside the writer."""
        return await self._reader.call(body)

    async def ensure_partitions(self) -> int:
        """SQLite has no partitions to run out of."""
        return DAYS_AHEAD

    async def days_ahead(self) -> None:
        """SQLite has no partitions."""

    async def facts(self) -> DatabaseFacts:
        """Ask the file."""
        return await self.read(sqlite_facts)

    async def drop_days(self, table: str, before: datetime, *, batch: int = 5_000) -> int:
        """Delete in batches, so that other writers get their turn between them."""
        column = DAILY_TABLES[table]
        statement = Statement(
            text(
                f"DELETE FROM {table} WHERE rowid IN "
                f"(SELECT rowid FROM {table} WHERE {column} < :before ORDER BY {column} LIMIT :batch)"
            ).bindparams(bindparam("before", type_=BigInteger), bindparam("batch", type_=BigInteger))
        )
        removed = 0
        while True:
            count = await self.write(lambda tx: tx.run(statement, before=to_micros(before), batch=batch))
            removed += count
            if count < batch:
                return removed

    async def notify(self, message: str) -> None:
        """Nobody else is there."""

    async def hear(self, heard: Callable[[str], None]) -> None:
        """Nobody else ever says anything."""

    async def ping(self) -> None:
        """An embedded file answers as long as its thread lives."""
        await self.read(lambda tx: tx.now())

    async def close(self) -> None:
        """Do what was asked so far, stop both threads, then give the file free; may be called again."""
        # Waited for without a thread of the loop's executor: at the exit of a program there is none any more.
        await asyncio.wrap_future(self._reader.stop())
        await asyncio.wrap_future(self._writer.stop())
        self._lock.release()


def _connect(path: Path, clock: Clock, *, read_only: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=512)
    connection.create_function("clock_timestamp", 0, clock.wall_micros)
    connection.create_function("lease_clock", 0, clock.lease_micros)
    connection.create_function("greatest", 2, max, deterministic=True)
    connection.create_function("fingerprint", 1, fingerprint, deterministic=True)
    for pragma in (
        "busy_timeout = 5000",
        "journal_mode = WAL",
        "synchronous = FULL",  # Guarantee 3: acknowledged means on disk
        "temp_store = MEMORY",
        "cache_size = -65536",
        f"query_only = {int(read_only)}",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


class _Thread:
    """A thread that owns a connection and runs the bodies handed to it."""

    def __init__(self, connection: sqlite3.Connection, clock: Clock, name: str, *, grouping: bool) -> None:
        self._connection = connection
        self._tx = SqliteTx(connection, clock)
        self._queue: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._grouping = grouping
        self._gate = threading.Lock()
        self._closing = False
        self._ended: Future[None] = Future()
        self._ended.set_running_or_notify_cancel()  # so that whoever waits for it cannot cancel it
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def call(self, body: Body[T]) -> T:
        future: Future[T] = Future()
        with self._gate:  # so that nothing is queued behind the stop mark, where nobody would ever look
            if self._closing:
                raise StoreUnavailable(_CLOSED)
            self._queue.put((body, future))
        return await asyncio.wrap_future(future)

    def stop(self) -> Future[None]:
        with self._gate:
            if not self._closing:
                self._closing = True
                self._queue.put(_STOP)
        return self._ended

    def _run(self) -> None:
        try:
            self._serve()
        finally:
            # However it ends, nobody is left waiting.
            with self._gate:
                self._closing = True
            while not self._queue.empty():
                if (entry := self._queue.get()) is not None and entry[1].set_running_or_notify_cancel():
                    _refuse([entry], StoreUnavailable(_CLOSED))
            self._connection.close()
            self._ended.set_result(None)

    def _serve(self) -> None:
        while (first := self._queue.get()) is not None:
            batch = [first]
            stopping = False
            while len(batch) < _BATCH and not self._queue.empty():
                if (following := self._queue.get()) is None:
                    stopping = True
                    break
                batch.append(following)
            asked = [entry for entry in batch if entry[1].set_running_or_notify_cancel()]
            try:
                self._commit(asked)
            finally:
                _refuse(asked, StoreUnavailable(_CLOSED))  # those that were not answered, as the thread dies
            if stopping:
                return

    def _commit(self, batch: list[_Entry]) -> None:
        """Run the batch in one transaction, each body in a savepoint, and answer only after the commit."""
        done: list[tuple[Future[Any], Any]] = []
        try:
            self._connection.execute("BEGIN IMMEDIATE" if self._grouping else "BEGIN")
            for body, future in batch:
                self._connection.execute("SAVEPOINT body")
                try:
                    done.append((future, _drive(body(self._tx))))
                except BaseException as error:
                    if not self._connection.in_transaction:
                        raise  # the disk is full or gone: SQLite has rolled everything back
                    self._connection.execute("ROLLBACK TO body")
                    future.set_exception(translate(error))
                self._connection.execute("RELEASE body")
            self._connection.execute("COMMIT")
        except BaseException as error:  # noqa: BLE001 - every caller must hear of it
            with suppress(sqlite3.Error):  # refused as well: the next batch cannot begin and rolls back in its turn
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            _refuse(batch, error)
            return
        for future, value in done:
            future.set_result(value)


def _refuse(batch: Iterable[_Entry], error: BaseException) -> None:
    """Tell those that have not been answered yet."""
    for _body, future in batch:
        if not future.done():
            future.set_exception(translate(error))


def _drive(coroutine: Any) -> Any:
    """Run a coroutine that never waits."""
    running = cast("Coroutine[Any, Any, Any]", coroutine)
    try:
        running.send(None)
    except StopIteration as stop:
        return stop.value
    running.close()
    raise RuntimeError("a transaction body may await nothing but its own transaction")


def translate(error: BaseException) -> BaseException:
    """The driver's errors in the store's words."""
    match error:
        case sqlite3.IntegrityError() | sqlite3.DataError() | OverflowError() | UnicodeError():
            return DataRefused(str(error))
        case sqlite3.OperationalError():
            return StoreUnavailable(f"SQLite: {error}")
        case sqlite3.Error():
            return StoreError(f"SQLite: {error}")
        case _:
            return error
