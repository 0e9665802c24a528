"""Operations: rows through PostgreSQL's COPY: out of a query, into a table, or straight from one server to another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from hourhand.contracts.operation import Session
from hourhand.operations.sessions.postgresql import told

T = TypeVar("T")
_BLOCKS = 64
"""How many blocks may lie between the server that reads and the one that writes."""
Blocks = AsyncIterator[bytes]
Sink = Callable[[bytes], Awaitable[None]]


def copy_out_sql(query: str, format_: str) -> str:
    """As it is shown."""
    return f"COPY ({query}) TO STDOUT (FORMAT {format_})"


def copy_in_sql(table: str, columns: str, format_: str) -> str:
    """As it is shown."""
    return f"COPY {table} ({columns}) FROM STDIN (FORMAT {format_})"


async def copy_out(session: Session, query: str, format_: str, sink: Sink) -> int:
    """Send what a query gives, DELETE … RETURNING included, to a sink; how many rows."""
    status = await told(session.driver.copy_from_query(query, output=sink, format=format_), query)
    return _rows(status)


async def copy_in(
    session: Session, place: tuple[str | None, str], columns: tuple[str, ...], format_: str, blocks: Blocks
) -> int:
    """Write blocks into a table, by schema and name; how many rows."""
    schema, table = place
    copying = session.driver.copy_to_table(
        table, schema_name=schema, columns=list(columns), source=blocks, format=format_
    )
    return _rows(await told(copying, f"COPY {table} FROM STDIN"))


def _rows(status: Any) -> int:  # noqa: ANN401 - `COPY 5`
    return int(str(status).rpartition(" ")[2])


async def piped(read: Callable[[Sink], Awaitable[T]], write: Callable[[Blocks], Awaitable[int]]) -> tuple[T, int]:
    """Read and write at once; if one side fails the other is stopped, and the first failure is the one that is told."""
    blocks: asyncio.Queue[bytes | None] = asyncio.Queue(_BLOCKS)

    async def given() -> Blocks:
        while (block := await blocks.get()) is not None:
            yield block

    async def reading() -> T:
        result = await read(blocks.put)
        await blocks.put(None)
        return result

    reader, writer = asyncio.ensure_future(reading()), asyncio.ensure_future(write(given()))
    try:
        await asyncio.wait((reader, writer), return_when=asyncio.FIRST_EXCEPTION)
        for one in (writer, reader):
            if one.done() and not one.cancelled() and one.exception() is not None:
                one.result()
        return await reader, await writer
    finally:
        for one in (reader, writer):
            if not one.done():
                one.cancel()
                with suppress(BaseException):
                    await one
            elif not one.cancelled():
                one.exception()  # it was told, or the other's was
