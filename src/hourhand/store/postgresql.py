"""Store: PostgreSQL through asyncpg; any number of processes, no single lock."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, TypeVar, cast

import asyncpg
from sqlalchemy import BigInteger, Text, bindparam, text

from hourhand.model.diagnosis import DatabaseFacts
from hourhand.model.errors import StoreError, StoreUnavailable
from hourhand.store.database import Body, DataRefused, MissingPartition, Row
from hourhand.store.partitions import days_ahead, drop_days, ensure_partitions
from hourhand.store.server_facts import postgresql_facts
from hourhand.store.statements import Statement
from hourhand.store.types import dump_json

T = TypeVar("T")
_DEADLOCK_RETRIES = 20
_CONNECTIONS = 10
_BEAT_CONNECTIONS = 2
_CHANNEL = "hourhand"
_HEARING_CHECK_SECONDS = 30.0
_COMMAND_SECONDS = 60.0
_CONNECT_SECONDS = 10.0
_NOTIFY_SECONDS = 5.0

_ALLOCATE = Statement(
    text("SELECT nextval(CAST(:name AS regclass)) AS id FROM generate_series(1, :count)")
    .bindparams(bindparam("name", type_=Text), bindparam("count", type_=BigInteger))
    .columns(id=BigInteger)
)


class PostgresqlTx:
    """One transaction on one connection."""

    dialect = "postgresql"

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def fetch(self, statement: Statement, **params: Any) -> Sequence[Row]:
        """Run it and read what it returns."""
        compiled = statement.compiled("postgresql")
        return cast("Sequence[Row]", await self._connection.fetch(compiled.sql, *compiled.arguments(params)))

    async def run(self, statement: Statement, **params: Any) -> int:
        """Run it and tell how many rows it touched."""
        compiled = statement.compiled("postgresql")
        status = await self._connection.execute(compiled.sql, *compiled.arguments(params))
        return int(status.rpartition(" ")[2])

    async def allocate(self, sequence: str, count: int) -> Sequence[int]:
        """Fresh ids from a sequence: other transactions never wait for them."""
        return [row["id"] for row in await self.fetch(_ALLOCATE, name=sequence, count=count)]

    async def now(self) -> datetime:
        """The server's clock at this moment."""
        return cast("datetime", await self._connection.fetchval("SELECT clock_timestamp()"))


class PostgresqlDatabase:
    """The cluster's database."""

    dialect = "postgresql"
    shared = True

    def __init__(self, pool: Any, beats: Any, connect: Callable[[], Awaitable[Any]]) -> None:
        self.pool = pool
        self._connect = connect
        self._beats = beats
        """Heartbeats do not queue behind slow reads: who is late with one loses what it runs."""

    @classmethod
    async def open(cls, url: str, *, lease_seconds: float = 15.0) -> PostgresqlDatabase:
        """Connect; the pools make further connections when they are needed."""
        with _in_our_words():
            pool = await _pool(url, _CONNECTIONS, command_seconds=_COMMAND_SECONDS, connect_seconds=_CONNECT_SECONDS)
            try:
                beats = await _beats_pool(url, lease_seconds)
            except BaseException:
                pool.terminate()
                raise
        return cls(pool, beats, lambda: asyncpg.connect(url, timeout=_CONNECT_SECONDS))

    async def write(self, body: Body[T], *, durable: bool = True, alone: bool = False) -> T:
        """Run the body in one transaction; a deadlock's victim, or a row without its day, is run again.

        What need not be durable is one statement, and is given up soon.
        """
        made_partitions = False
        for again in range(_DEADLOCK_RETRIES):
            try:
                return await self._transact(body, durable=durable, alone=alone)
            except (asyncpg.DeadlockDetectedError, asyncpg.SerializationError) as error:
                if again == _DEADLOCK_RETRIES - 1:
                    raise StoreUnavailable(f"PostgreSQL: {error} ({_DEADLOCK_RETRIES} times in a row)") from error
                await asyncio.sleep(random.uniform(0, 0.005 * 2 ** min(again, 5)))  # noqa: S311 - jitter
            except Exception as error:
                translated = translate(error)
                if isinstance(translated, MissingPartition) and not made_partitions:
                    made_partitions = True
                    await self._make_missing(translated)
                    continue
                if translated is error:
                    raise
                raise translated from error
        raise AssertionError("unreachable: the loop returns or raises")

    async def _make_missing(self, missing: MissingPartition) -> None:
        try:
            await self.ensure_partitions()
        except StoreUnavailable:
            raise
        except Exception as error:
            raise MissingPartition(f"{missing}; it could not be made: {error}") from error

    async def _transact(self, body: Body[T], *, durable: bool, alone: bool) -> T:
        if not durable:
            return await self._beat(body)
        if alone:
            async with self.pool.acquire() as connection:
                with _dropping(connection, TimeoutError):
                    return await body(PostgresqlTx(connection))
        async with self.pool.acquire() as connection:
            with _dropping(connection, TimeoutError):
                try:
                    async with connection.transaction():
                        with _dropping(connection, TimeoutError):
                            return await body(PostgresqlTx(connection))
                except asyncpg.InterfaceError as error:
                    if isinstance(error.__context__, TimeoutError):
                        raise error.__context__ from None  # on what was dropped nothing can be rolled back
                    raise

    async def _beat(self, body: Body[T]) -> T:
        """One statement, so it needs no BEGIN and no COMMIT: each would cost a round trip.

        Where a connection has gone dead, it is tried on another at once: the lease does not wait.
        """
        with suppress(TimeoutError):
            return await self._beat_once(body)
        return await self._beat_once(body)

    async def _beat_once(self, body: Body[T]) -> T:
        async with self._beats.acquire() as connection:
            with _dropping(connection, TimeoutError, asyncio.CancelledError):
                return await body(PostgresqlTx(connection))

    async def read(self, body: Body[T]) -> T:
        """Run a body that only reads; each statement sees the newest committed state."""
        with _in_our_words():
            async with self.pool.acquire() as connection:
                with _dropping(connection, TimeoutError):
                    return await body(PostgresqlTx(connection))

    async def notify(self, message: str) -> None:
        """Outside any transaction: it would hold up everybody's commits. One that takes long is of no use."""
        with _in_our_words():
            async with self.pool.acquire() as connection:
                with _dropping(connection, TimeoutError, asyncio.CancelledError):
                    await connection.execute("SELECT pg_notify($1, $2)", _CHANNEL, message, timeout=_NOTIFY_SECONDS)

    async def hear(self, heard: Callable[[str], None]) -> None:
        """On a connection of its own, until that is lost."""
        with _in_our_words():
            connection = await self._connect()
            lost = asyncio.Event()
            connection.add_termination_listener(lambda _: lost.set())
            try:
                await connection.add_listener(_CHANNEL, lambda *told: heard(told[3]))
                heard("")
                while not lost.is_set():
                    # A connection may be dead without anybody having said so.
                    with suppress(TimeoutError):
                        await asyncio.wait_for(lost.wait(), timeout=_HEARING_CHECK_SECONDS)
                    if not lost.is_set():
                        await connection.execute("SELECT 1", timeout=10)
            finally:
                with suppress(Exception):
                    await connection.close(timeout=1)

    async def ensure_partitions(self) -> int:
        """Make the days ahead."""
        with _in_our_words():
            async with self.pool.acquire() as connection:
                return await ensure_partitions(connection, await connection.fetchval("SELECT clock_timestamp()"))

    async def days_ahead(self) -> int:
        """Look, and make nothing."""
        with _in_our_words():
            async with self.pool.acquire() as connection:
                return await days_ahead(connection, await connection.fetchval("SELECT clock_timestamp()")) - 1

    async def facts(self) -> DatabaseFacts:
        """On a connection of its own: those of the pools are set up by us."""
        with _in_our_words():
            connection = await self._connect()
            try:
                return await postgresql_facts(connection)
            finally:
                with suppress(Exception):
                    await connection.close(timeout=1)

    async def drop_days(self, table: str, before: datetime, *, batch: int = 5_000) -> int:
        """Detach and drop every day that ended before."""
        del batch  # a day goes as a whole
        with _in_our_words():
            async with self.pool.acquire() as connection:
                return await drop_days(connection, table, before)

    async def ping(self) -> None:
        """Ask the server for a sign of life."""
        await self.read(lambda tx: tx.now())

    async def close(self) -> None:
        """Give the connections back; one that hangs is cut."""
        for pool in (self.pool, self._beats):
            try:
                await asyncio.wait_for(pool.close(), timeout=5)
            except TimeoutError:
                pool.terminate()


async def _pool(
    url: str,
    most: int,
    *,
    command_seconds: float,
    connect_seconds: float,
    synchronous_commit: str = "on",  # Guarantee 3, whatever the server's default is
    reset: Callable[[Any], Awaitable[None]] | None = None,
) -> Any:
    given_up = str(round(command_seconds * 1_000))
    pool = await asyncpg.create_pool(
        url,
        # None are kept for their own sake: the driver would restore them behind our back, and log each failure with
        # its traceback, as long as the server is away.
        min_size=0,
        max_size=most,
        init=prepare,
        reset=reset,
        statement_cache_size=1_000,
        max_cached_statement_lifetime=0,
        command_timeout=command_seconds,
        timeout=connect_seconds,
        server_settings={
            "application_name": "hourhand",
            "jit": "off",
            "timezone": "UTC",
            "synchronous_commit": synchronous_commit,
            # What is left of a connection that was dropped must not wait there for a lock, or hold one.
            "statement_timeout": given_up,
            "idle_in_transaction_session_timeout": given_up,
        },
    )
    try:
        async with pool.acquire():
            return pool  # what is wrong with the URL is told now
    except BaseException:
        pool.terminate()
        raise


async def _beats_pool(url: str, lease_seconds: float) -> Any:
    """For heartbeats: a late one is of no use, so there must be time for another before the lease has run out.

    They may be lost in a crash of the server, since they are written again anyway. A session has no state that would
    have to be reset after each: that would be another round trip.
    """
    return await _pool(
        url,
        _BEAT_CONNECTIONS,
        command_seconds=max(1.0, lease_seconds / 5),
        connect_seconds=max(1.0, lease_seconds / 3),
        synchronous_commit="off",
        reset=_as_it_is,
    )


async def _as_it_is(_connection: Any) -> None:
    pass


async def prepare(connection: Any) -> None:
    """Let a connection read and write JSON as we do."""
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=dump_json, decoder=json.loads)


@contextmanager
def _dropping(connection: Any, *given_up: type[BaseException]) -> Iterator[None]:
    """Give a connection up together with what is not waited for any longer.

    It may lead nowhere any more, without anybody having said so. The driver would first ask the server to cancel, and
    wait for the answer on this very connection. The server gives up as well, by the settings of its session.
    """
    try:
        yield
    except given_up:
        with suppress(asyncpg.InterfaceError):  # it has been given up already
            connection.terminate()
        raise


@contextmanager
def _in_our_words() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        translated = translate(error)
        if translated is error:
            raise
        raise translated from error


_PASSING = (
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.TransactionRollbackError,
    asyncpg.ObjectNotInPrerequisiteStateError,  # somebody holds what is needed, or the server takes no connections
    asyncpg.ReadOnlySQLTransactionError,  # a standby, before it takes over or after another has
    asyncpg.InvalidCachedStatementError,  # the schema has changed: the statement is prepared anew the next time
    asyncpg.OutdatedSchemaCacheError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # a connection that was cut at the wrong moment: the driver has lost its place
    OSError,
    TimeoutError,
)


def translate(error: BaseException) -> BaseException:
    """The driver's errors in the store's words."""
    match error:
        case asyncpg.CheckViolationError() if "no partition of relation" in str(error):
            return MissingPartition(str(error))
        case asyncpg.DataError() | asyncpg.IntegrityConstraintViolationError() | UnicodeError() | OverflowError():
            return DataRefused(str(error))
        case asyncpg.InvalidAuthorizationSpecificationError() | asyncpg.InvalidCatalogNameError():
            return StoreError(f"PostgreSQL: {error}; check the user, password and database in the store's URL")
        case asyncpg.ClientConfigurationError():
            return StoreError(f"PostgreSQL: {error}; check the parameters in the store's URL")
        case _ if isinstance(error, _PASSING):
            return StoreUnavailable(f"PostgreSQL: {str(error) or type(error).__name__}")
        case _:
            return StoreError(f"PostgreSQL: {error}") if isinstance(error, asyncpg.PostgresError) else error
