"""Operations: from a query to a file: each driver's fastest way that keeps every value."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import asyncmy.cursors
import asyncmy.errors

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.failures import SourceUnreachable
from hourhand.operations.sessions import mariadb, postgresql
from hourhand.operations.transfer.arrow import Form, from_rows
from hourhand.operations.transfer.files import PartWriter

_TEXT_BYTES = 8 << 20
_ROWS = 20_000


async def write_query(
    session: Session, sql: str, params: Sequence[object], forms: Sequence[Form], writer: PartWriter
) -> int:
    """Write a query's rows to a file; how many."""
    match session.dialect:
        case Dialect.POSTGRESQL:
            return await _write_copy(session, sql, params, writer)
        case Dialect.MARIADB | Dialect.MYSQL:
            return await _write_streamed(session, sql, params, forms, writer)
    return await _write_fetched(session, sql, params, forms, writer)


class _Behind:
    """Writes one block in a thread while the next one is read."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Any] | None = None

    async def next(self, call: Any, *args: object) -> None:  # noqa: ANN401
        await self.done()
        self._task = asyncio.create_task(asyncio.to_thread(call, *args))

    async def done(self) -> None:
        """Also when cancelled: the file must not be closed while a thread writes to it."""
        task, self._task = self._task, None
        if task is not None:
            try:
                await asyncio.shield(task)
            except asyncio.CancelledError:
                await asyncio.wait([task])
                raise


async def _write_copy(session: Session, sql: str, params: Sequence[object], writer: PartWriter) -> int:
    """PostgreSQL: COPY; each message of it is one row, so that no block ends within one."""
    behind, blocks, size = _Behind(), list[bytes](), 0

    async def take(data: bytes) -> None:
        nonlocal size
        blocks.append(data)
        size += len(data)
        if size >= _TEXT_BYTES:
            await behind.next(writer.write_text, b"".join(blocks))
            blocks.clear()
            size = 0

    try:
        copying = session.driver.copy_from_query(sql, *params, output=take, format="csv")
        status = await postgresql.told(copying, sql)
        if blocks:
            await behind.next(writer.write_text, b"".join(blocks))
    finally:
        await behind.done()
    return int(str(status).rpartition(" ")[2])


async def _write_streamed(
    session: Session, sql: str, params: Sequence[object], forms: Sequence[Form], writer: PartWriter
) -> int:
    """MariaDB: rows as they come, never all of them at once."""
    behind, count = _Behind(), 0
    try:
        cursor = session.driver.cursor(asyncmy.cursors.SSCursor)
        await cursor.execute(sql, params or None)
        try:
            while rows := await cursor.fetchmany(_ROWS):
                count += len(rows)
                await behind.next(_write_rows, writer, rows, forms)
        except BaseException:
            session.driver.close()  # rows that nobody reads are still on their way: it can be asked nothing more
            raise
        await cursor.close()
    except asyncmy.errors.MySQLError as error:
        raise mariadb.told(error, sql) from error
    except (OSError, EOFError, asyncio.IncompleteReadError) as error:
        raise SourceUnreachable(f"the connection broke: {error or type(error).__name__}") from error
    finally:
        await behind.done()
    return count


async def _write_fetched(
    session: Session, sql: str, params: Sequence[object], forms: Sequence[Form], writer: PartWriter
) -> int:
    """SQLite: in the thread of its driver."""
    behind, count = _Behind(), 0
    threaded = session.threaded  # type: ignore[attr-defined]  # of an SqliteSession
    cursor = await threaded(lambda: session.driver.execute(sql, tuple(params)))
    try:
        while rows := await threaded(lambda: cursor.fetchmany(_ROWS)):
            count += len(rows)
            await behind.next(_write_rows, writer, [tuple(row) for row in rows], forms)
    finally:
        await behind.done()
    return count


def _write_rows(writer: PartWriter, rows: Sequence[Sequence[Any]], forms: Sequence[Form]) -> None:
    writer.write(from_rows(rows, forms))
