"""Operations: a session with MariaDB or MySQL, by asyncmy."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncmy
from asyncmy import errors
from asyncmy.constants import CLIENT
from asyncmy.cursors import DictCursor

from hourhand.contracts.operation import Row
from hourhand.model.data_source import Address, Dialect
from hourhand.model.operation import Blocker
from hourhand.operations.failures import LockNotGained, OperationFailure, SourceUnreachable, StatementFailed

_LOCKED = {1020, 1205, 1213}
"""Another changed the row first, lock wait time-out, deadlock."""
_TOOK_TOO_LONG = {1969, 3024}
"""A statement's own time-out, on either."""
_DENIED = {1044, 1045, 1698}
_BROKEN = {1053, 1077, 1152, 1159, 1160, 1161, 1184, 1927, 2003, 2006, 2013, 2055, 4031}
_CLOSE_SECONDS = 5.0
_BLOCKERS = """
SELECT p.ID, p.USER, p.HOST, p.COMMAND, p.INFO, TIMESTAMPDIFF(SECOND, t.trx_started, NOW()) AS seconds
FROM information_schema.INNODB_TRX t JOIN information_schema.PROCESSLIST p ON p.ID = t.trx_mysql_thread_id
WHERE p.ID NOT IN (%s, %s) ORDER BY t.trx_started LIMIT 5
"""


class MariaSession:
    """One connection; a second one beside it stops statements and asks who blocks."""

    def __init__(self, address: Address, driver: Any, server: str, seconds: float) -> None:  # noqa: ANN401
        self._address = address
        self._seconds = seconds
        self._beside: MariaSession | None = None
        self.driver = driver
        self.dialect = Dialect.MARIADB if "mariadb" in server.lower() else Dialect.MYSQL
        self.version: tuple[int, ...] = _version(server)
        self.pid: int = driver.thread_id()

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
        rows, _ = await self._executed(sql, params)
        return rows

    async def execute(self, sql: str, *params: object) -> int:
        """Execute one statement."""
        _, touched = await self._executed(sql, params)
        return touched

    async def _executed(self, sql: str, params: tuple[object, ...]) -> tuple[list[Row], int]:
        try:
            async with self.driver.cursor(DictCursor) as cursor:
                touched = await cursor.execute(sql, params or None)
                rows = await cursor.fetchall() if cursor.description else ()
                return list(rows), max(int(touched or 0), 0)
        except asyncio.CancelledError:
            await asyncio.shield(self._stop())
            raise
        except errors.MySQLError as error:
            raise told(error, sql) from error
        except RuntimeError as error:
            self.driver.close()
            raise _asks_for_a_file(error) from error
        except (OSError, EOFError, asyncio.IncompleteReadError) as error:
            raise SourceUnreachable(f"the connection broke: {error or type(error).__name__}") from error

    @asynccontextmanager
    async def transaction(self, *, isolation: str | None = None) -> AsyncIterator[None]:
        """All or nothing; DDL commits by itself, whatever one does."""
        if isolation:
            await self.execute(f"SET TRANSACTION ISOLATION LEVEL {isolation}")
        await self.execute("START TRANSACTION")
        try:
            yield
        except BaseException:
            with suppress(OperationFailure):
                if self.driver.connected:
                    await self.execute("ROLLBACK")
            raise
        await self.execute("COMMIT")

    async def blockers(self) -> list[Blocker]:
        """Who has a transaction open; which of them it waits for is not told of metadata locks."""
        try:
            if self._beside is None or not self._beside.driver.connected:
                self._beside = await connect(self._address, self._seconds)
            rows = await self._beside.fetch(_BLOCKERS, self.pid, self._beside.pid)
        except OperationFailure:
            return []  # without the privilege PROCESS nobody else can be seen
        return [
            Blocker(
                session=f"connection {row['ID']}",
                who=f"{row['USER']}, {row['HOST']}",
                doing=f"{row['COMMAND']}, its transaction open for {row['seconds']} s: {str(row['INFO'] or '')[:120]}",
            )
            for row in rows
        ]

    async def _stop(self) -> None:
        """Stop the statement that runs: the server does not notice by itself that nobody waits for it."""
        with suppress(OperationFailure):
            beside = await connect(self._address, self._seconds)
            try:
                await beside.execute(f"KILL {self.pid}")
            finally:
                await beside.close()

    async def close(self) -> None:
        """Give the connections back."""
        if self._beside is not None:
            await self._beside.close()
        with suppress(errors.MySQLError, OSError, TimeoutError, asyncio.IncompleteReadError):
            await asyncio.wait_for(self.driver.ensure_closed(), _CLOSE_SECONDS)
        with suppress(errors.MySQLError, OSError):
            self.driver.close()


async def connect(address: Address, seconds: float) -> MariaSession:
    """Connect; statements are told from data by their length alone, so that any text may be a value."""
    try:
        async with asyncio.timeout(seconds):  # the driver's own is for the socket alone: a server may still say nothing
            return await _connected(address, seconds)
    except TimeoutError:
        why = f"{address.shown} has not answered within {seconds:g} seconds: see whether its host and port are right"
        raise SourceUnreachable(why) from None


async def _connected(address: Address, seconds: float) -> MariaSession:
    options = dict(address.options)
    secure = options.pop("ssl", None) or ("ssl_ca" in options)
    try:
        context = ssl.create_default_context(cafile=options.pop("ssl_ca", None)) if secure else None
        driver = await asyncmy.connect(
            host=address.host or "localhost",
            port=address.port or 3306,
            user=address.username,
            password=address.password or "",
            db=address.database,
            charset="utf8mb4",
            autocommit=True,
            connect_timeout=int(seconds),
            # Rows go by LOAD DATA LOCAL, sent by ourselves. With local_infile the driver would send whatever file of
            # this machine the server asks for, in answer to any statement.
            local_infile=False,
            client_flag=CLIENT.LOCAL_FILES,
            ssl=context,
            **{name: value for name, value in options.items() if name == "unix_socket"},
        )
        async with driver.cursor() as cursor:
            # Refuses what it would otherwise cut short or make up, and speaks of times in UTC.
            await cursor.execute(
                "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
                "NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO', SESSION time_zone = '+00:00', "
                f"SESSION lock_wait_timeout = {max(1, round(seconds))}"  # or who only looks may wait for a day
            )
            await cursor.execute("SELECT VERSION()")
            server = str((await cursor.fetchone())[0])
    except errors.MySQLError as error:
        raise SourceUnreachable(_unreachable(address, error)) from None
    except RuntimeError as error:
        raise _asks_for_a_file(error) from None
    except (OSError, TimeoutError, EOFError, asyncio.IncompleteReadError) as error:
        raise SourceUnreachable(f"{address.shown} cannot be reached: {error or type(error).__name__}") from None
    return MariaSession(address, driver, server, seconds)


def _unreachable(address: Address, error: Any) -> str:  # noqa: ANN401 - asyncmy's
    if error.args and error.args[0] in _DENIED:
        return f"{address.shown} refuses the user or the password: {_text(error)}"
    return f"{address.shown} cannot be reached: {_text(error)}"


def _asks_for_a_file(error: RuntimeError) -> Exception:
    """What the driver says, as no error of its own, to a server that wants a file of this machine."""
    if "LOAD_LOCAL" not in str(error):
        return error
    return StatementFailed("the server asks for a file of this machine (LOAD DATA LOCAL), which it is not given")


def told(error: Any, sql: str) -> OperationFailure:  # noqa: ANN401
    """What an error of the driver means, told apart."""
    number = error.args[0] if error.args else 0
    if number in _LOCKED:
        return LockNotGained(_text(error))
    if number in _BROKEN:
        return SourceUnreachable(f"the connection broke: {_text(error)}")
    text = " ".join(sql.split())
    if number in _TOOK_TOO_LONG:
        return StatementFailed(f"stopped by the server: {_text(error)}: {text[:200]}")
    return StatementFailed(f"{_text(error)}: {text[:200]}")


def _text(error: Any) -> str:  # noqa: ANN401
    return str(error.args[1]) if len(error.args) > 1 else str(error)


def _version(server: str) -> tuple[int, ...]:
    """Of `5.5.5-10.11.19-MariaDB`, whose first part is for old replicas, the second."""
    return tuple(int(one) for one in re.findall(r"\d+", server.removeprefix("5.5.5-").split("-")[0])[:3])
