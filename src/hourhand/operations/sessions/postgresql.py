"""Operations: a session with PostgreSQL, by asyncpg."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar
from urllib.parse import urlencode

import asyncpg

from hourhand.contracts.operation import Row
from hourhand.model.data_source import Address, Dialect
from hourhand.model.operation import Blocker
from hourhand.operations.failures import LockNotGained, SourceUnreachable, StatementFailed

T = TypeVar("T")
_CLOSE_SECONDS = 5.0
_KEEPALIVES = {"tcp_keepalives_idle": "30", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3"}
"""So that the server gives up, and with it all locks, a minute after our machine is gone without a word; not hours."""
_TLS = ("sslmode", "sslrootcert", "sslcert", "sslkey")
_LOCKED = (
    asyncpg.exceptions.LockNotAvailableError,
    asyncpg.exceptions.DeadlockDetectedError,
    asyncpg.exceptions.SerializationError,  # another transaction changed the same row first
)
_BROKEN = (
    asyncpg.exceptions.PostgresConnectionError,
    asyncpg.exceptions.AdminShutdownError,
    asyncpg.exceptions.CrashShutdownError,
    asyncpg.exceptions.CannotConnectNowError,
    asyncpg.exceptions.ConnectionDoesNotExistError,
    asyncpg.exceptions.TooManyConnectionsError,
    asyncpg.exceptions.InternalClientError,
)
_BLOCKERS = """
SELECT a.pid, a.usename, a.application_name, a.client_addr, a.state, left(a.query, 120) AS query,
       extract(epoch FROM now() - a.xact_start)::int AS seconds
FROM pg_stat_activity w CROSS JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS b(pid)
     JOIN pg_stat_activity a ON a.pid = b.pid
WHERE w.pid = $1 AND w.wait_event_type = 'Lock' ORDER BY a.xact_start
"""
"""Asked often, so that it asks for the blockers, which holds up all who lock something, only where one waits."""


class PostgresSession:
    """One connection; a second one beside it, opened when it is first needed, asks who blocks."""

    dialect = Dialect.POSTGRESQL

    def __init__(self, address: Address, connection: Any, seconds: float) -> None:  # noqa: ANN401 - asyncpg has no types
        self._address = address
        self._seconds = seconds
        self._beside: Any = None
        self.driver = connection
        server = connection.get_server_version()
        self.version: tuple[int, ...] = (server.major, server.minor or server.micro)
        self.pid: int = connection.get_server_pid()

    @property
    def shown(self) -> str:
        """Where it is connected to."""
        return self._address.shown

    @property
    def database(self) -> str:
        """The database's name."""
        return self._address.database or ""

    async def fetch(self, sql: str, *params: object) -> list[Row]:
        """Read rows."""
        return [dict(row) for row in await told(self.driver.fetch(sql, *params), sql)]

    async def execute(self, sql: str, *params: object) -> int:
        """Execute one statement."""
        status = await told(self.driver.execute(sql, *params), sql)
        last = str(status).rpartition(" ")[2]
        return int(last) if last.isdigit() else 0

    @asynccontextmanager
    async def transaction(self, *, isolation: str | None = None) -> AsyncIterator[None]:
        """All or nothing."""
        try:
            begun = self.driver.transaction(isolation=isolation.lower().replace(" ", "_") if isolation else None)
        except asyncpg.InterfaceError as error:
            raise SourceUnreachable(f"the connection broke: {_words(error)}") from error
        await told(begun.start(), "BEGIN")
        try:
            yield
        except BaseException:
            if not self.driver.is_closed():
                with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                    await begun.rollback()
            raise
        await told(begun.commit(), "COMMIT")

    async def blockers(self) -> list[Blocker]:
        """Who holds up what this session waits for."""
        try:
            if self._beside is None or self._beside.is_closed():
                self._beside = await _connected(self._address, self._seconds)
            rows = await self._beside.fetch(_BLOCKERS, self.pid)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError, SourceUnreachable):
            return []  # who cannot be asked cannot be named; the lock is what matters
        return [blocker(row) for row in rows]

    async def close(self) -> None:
        """Give the connections back."""
        for one in (self.driver, self._beside):
            if one is None:
                continue
            try:
                await one.close(timeout=_CLOSE_SECONDS)
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
                one.terminate()


def blocker(row: Row) -> Blocker:
    """A session of `pg_stat_activity`, in words."""
    who = ", ".join(str(one) for one in (row["usename"], row["application_name"], row["client_addr"]) if one)
    since = "" if row["seconds"] is None else f", its transaction open for {row['seconds']} s"
    return Blocker(session=f"pid {row['pid']}", who=who, doing=f"{row['state']}{since}: {row['query']}")


async def connect(address: Address, seconds: float) -> PostgresSession:
    """Connect; the session's own settings keep it apart from the applications'."""
    session = PostgresSession(address, await _connected(address, seconds), seconds)
    if session.version >= (14,):
        # So that a statement of an executor that was killed does not go on for nobody.
        await session.execute("SET client_connection_check_interval = '5s'")
    return session


async def _connected(address: Address, seconds: float) -> Any:  # noqa: ANN401
    options = dict(address.options)
    tls = {name: str(options.pop(name)) for name in _TLS if name in options}
    try:
        return await asyncpg.connect(
            f"postgresql://?{urlencode(tls)}",  # its only way to be given these
            host=address.host,
            port=address.port,
            user=address.username,
            password=address.password or "",  # never this process's own PGPASSWORD
            database=address.database,
            timeout=seconds,
            server_settings={
                **_KEEPALIVES,
                "application_name": "hourhand operation",
                "DateStyle": "ISO, YMD",
                "TimeZone": "UTC",
                "lock_timeout": f"{round(seconds)}s",  # or who only looks may wait for ever
                "search_path": str(options.pop("search_path", "public")),
                **{name: str(value) for name, value in options.items()},
            },
        )
    except asyncpg.exceptions.InvalidPasswordError:
        raise SourceUnreachable(f"{address.shown} refuses the password of {address.username!r}: give another") from None
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError, ValueError) as error:
        raise SourceUnreachable(f"{address.shown} cannot be reached: {_words(error)}") from None


async def told(statement: Awaitable[T], sql: str) -> T:
    """The statement's answer; what goes wrong, told apart."""
    try:
        return await statement
    except _LOCKED as error:
        raise LockNotGained(_words(error)) from error
    except _BROKEN as error:
        raise SourceUnreachable(f"the connection broke: {_words(error)}") from error
    except asyncpg.exceptions.QueryCanceledError as error:
        raise StatementFailed(f"stopped by the server: {_words(error)}: {_short(sql)}") from error
    except asyncpg.PostgresError as error:
        raise StatementFailed(f"{_words(error)}: {_short(sql)}") from error
    except (asyncpg.InterfaceError, OSError) as error:
        raise SourceUnreachable(f"the connection broke: {_words(error)}") from error
    except asyncio.IncompleteReadError as error:
        raise SourceUnreachable("the connection broke") from error


def _words(error: BaseException) -> str:
    first = (
        error.args[0] if isinstance(error, asyncpg.PostgresError) and error.args else error
    )  # its text has all three
    text = " ".join(str(first).split()) or type(error).__name__
    detail = getattr(error, "detail", None)
    hint = getattr(error, "hint", None)
    return "; ".join(str(one) for one in (text, detail, hint) if one)


def _short(sql: str) -> str:
    text = " ".join(sql.split())
    return text if len(text) <= 200 else f"{text[:199]}…"  # noqa: PLR2004 - enough to find it
