"""What tests ask a data source themselves: by the drivers alone, so that nothing of what is tested stands between."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Any

import asyncmy
import asyncpg

from hourhand.model.data_source import Address, Dialect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


async def execute(source: Address, *statements: str) -> None:
    """Execute statements, each on its own, in one connection; an error is the driver's."""
    match source.dialect:
        case Dialect.POSTGRESQL:
            async with postgres_connection(source) as connection:
                for statement in statements:
                    await connection.execute(statement)
        case Dialect.MARIADB:
            async with maria_connection(source) as connection, connection.cursor() as cursor:
                for statement in statements:
                    await cursor.execute(statement)
        case _:
            await asyncio.to_thread(_execute_file, source, statements)


async def fetch(source: Address, query: str) -> list[tuple[Any, ...]]:
    """Return all rows of a query, as the driver gives them."""
    match source.dialect:
        case Dialect.POSTGRESQL:
            async with postgres_connection(source) as connection:
                return [tuple(row) for row in await connection.fetch(query)]
        case Dialect.MARIADB:
            async with maria_connection(source) as connection, connection.cursor() as cursor:
                await cursor.execute(query)
                return [tuple(row) for row in await cursor.fetchall()]
        case _:
            return await asyncio.to_thread(_fetch_file, source, query)


async def value(source: Address, query: str) -> Any:
    """Return the first value of a query's first row."""
    return (await fetch(source, query))[0][0]


async def count(source: Address, table: str, where: str = "TRUE") -> int:
    """Return how many rows a table has; `table` is written as in SQL, quoted where it must be."""
    return int(await value(source, f"SELECT count(*) FROM {table} WHERE {where}"))


def quoted(dialect: Dialect, name: str) -> str:
    """Return a name as it is written in SQL."""
    mark = "`" if dialect in {Dialect.MARIADB, Dialect.MYSQL} else '"'
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def literal(dialect: Dialect, text: str) -> str:
    """Return a text as it is written in SQL."""
    text = text.replace("\\", "\\\\") if dialect in {Dialect.MARIADB, Dialect.MYSQL} else text
    return "'" + text.replace("'", "''") + "'"


@asynccontextmanager
async def postgres_connection(source: Address) -> AsyncIterator[Any]:
    """Connect with PostgreSQL, such as to hold a lock for a while."""
    connection = await asyncpg.connect(
        host=source.host, port=source.port, user=source.username, password=source.password, database=source.database
    )
    try:
        await connection.execute("SET TIME ZONE 'UTC'")
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def maria_connection(source: Address) -> AsyncIterator[Any]:
    """Connect with MariaDB; each statement is a transaction of its own until one is begun."""
    connection = await asyncmy.connect(
        host=source.host,
        port=source.port,
        user=source.username,
        password=source.password,
        db=source.database,
        charset="utf8mb4",
        autocommit=True,
        init_command="SET time_zone = '+00:00'",
    )
    try:
        yield connection
    finally:
        await connection.ensure_closed()


def file_connection(source: Address) -> sqlite3.Connection:
    """Open an SQLite file; each statement is a transaction of its own until one is begun."""
    return sqlite3.connect(str(source.database), isolation_level=None, timeout=30)


def _execute_file(source: Address, statements: tuple[str, ...]) -> None:
    with closing(file_connection(source)) as connection:
        for statement in statements:
            connection.execute(statement)


def _fetch_file(source: Address, query: str) -> list[tuple[Any, ...]]:
    with closing(file_connection(source)) as connection:
        return connection.execute(query).fetchall()
