"""Connections of every driver that can be joined, all used in one way by the trials of joining.

Blocking ones have the same methods, which never wait: their trials run in threads, driven step by step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import asyncpg
import psycopg
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hourhand.sdk.client import Client


class Way(ABC):
    """One program's connection, opened again after it was cut."""

    blocking = False

    def __init__(self, url: str, client: Client) -> None:
        self.url = url
        self.client = client
        self.conn: Any = None

    @abstractmethod
    async def open(self) -> None: ...

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    def transaction(self) -> Any: ...

    @abstractmethod
    def nested(self) -> Any: ...

    @abstractmethod
    async def execute(self, sql: str) -> Any: ...

    async def submit(self, task: str, args: dict[str, Any], key: str | None) -> Any:
        if self.blocking:
            return self.client.sync.submit(task, args, key=key, conn=self.conn)
        return await self.client.submit(task, args, key=key, conn=self.conn)

    async def cut(self) -> None:
        """Let the server end the connection, and wait until it has."""
        pid = await self.execute("SELECT pg_backend_pid()")
        with psycopg.connect(self.url, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s, 30000)", (pid,))


class AsyncpgWay(Way):
    async def open(self) -> None:
        self.conn = await asyncpg.connect(self.url)

    async def close(self) -> None:
        self.conn.terminate()

    def transaction(self) -> Any:
        return self.conn.transaction()

    nested = transaction

    async def execute(self, sql: str) -> Any:
        return await self.conn.fetchval(sql)


class PooledWay(AsyncpgWay):
    async def open(self) -> None:
        self._pool = await asyncpg.create_pool(self.url, min_size=1, max_size=1)
        self.conn = await self._pool.acquire()

    async def close(self) -> None:
        self._pool.terminate()


class PsycopgWay(Way):
    async def open(self) -> None:
        self.conn = await psycopg.AsyncConnection.connect(self.url, autocommit=True)

    async def close(self) -> None:
        await self.conn.close()

    def transaction(self) -> Any:
        return self.conn.transaction()

    nested = transaction

    async def execute(self, sql: str) -> Any:
        cursor = await self.conn.execute(sql)
        return (await cursor.fetchone())[0] if cursor.description else None


class AlchemyWay(Way):
    driver = "asyncpg"

    async def open(self) -> None:
        self._engine = create_async_engine(self.url.replace("postgresql://", f"postgresql+{self.driver}://"))
        self.conn = await self._made()

    async def _made(self) -> Any:
        return await self._engine.connect()

    async def close(self) -> None:
        try:
            await self.conn.close()
        finally:
            await self._engine.dispose()

    def transaction(self) -> Any:
        return self.conn.begin()

    def nested(self) -> Any:
        return self.conn.begin_nested()

    async def execute(self, sql: str) -> Any:
        result = await self.conn.execute(text(sql))
        return result.scalar() if result.returns_rows else None


class AlchemyPsycopgWay(AlchemyWay):
    driver = "psycopg"


class SessionWay(AlchemyWay):
    async def _made(self) -> Any:
        return AsyncSession(self._engine)


class SessionPsycopgWay(SessionWay):
    driver = "psycopg"


class Blocking(Way):
    """What blocks: its context managers, as if they were awaited."""

    blocking = True

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        with self._begin():
            yield

    @asynccontextmanager
    async def nested(self) -> AsyncIterator[None]:
        with self._begin_nested():
            yield

    @abstractmethod
    def _begin(self) -> Any: ...

    def _begin_nested(self) -> Any:
        return self._begin()


class BlockingPsycopgWay(Blocking):
    async def open(self) -> None:
        self.conn = psycopg.connect(self.url, autocommit=True)

    async def close(self) -> None:
        self.conn.close()

    def _begin(self) -> Any:
        return self.conn.transaction()

    async def execute(self, sql: str) -> Any:
        cursor = self.conn.execute(sql)
        return cursor.fetchone()[0] if cursor.description else None


class BlockingAlchemyWay(Blocking):
    async def open(self) -> None:
        self._engine = create_engine(self.url.replace("postgresql://", "postgresql+psycopg://"))
        self.conn = self._made()

    def _made(self) -> Any:
        return self._engine.connect()

    async def close(self) -> None:
        try:
            self.conn.close()
        finally:
            self._engine.dispose()

    def _begin(self) -> Any:
        return self.conn.begin()

    def _begin_nested(self) -> Any:
        return self.conn.begin_nested()

    async def execute(self, sql: str) -> Any:
        result = self.conn.execute(text(sql))
        return result.scalar() if result.returns_rows else None


class BlockingSessionWay(BlockingAlchemyWay):
    def _made(self) -> Any:
        return Session(self._engine)


class DjangoWay(Blocking):
    """`django.db.connection`, inside `transaction.atomic()`."""

    async def open(self) -> None:
        from django.db import connection  # noqa: PLC0415 - Django wants to be configured first

        configure_django(self.url)
        self.conn = connection

    async def close(self) -> None:
        self.conn.close()

    def _begin(self) -> Any:
        from django.db import transaction  # noqa: PLC0415

        return transaction.atomic()

    async def execute(self, sql: str) -> Any:
        with self.conn.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchone()[0] if cursor.description else None


def configure_django(url: str) -> None:
    """Let Django's default database be this one, for threads that have not used it yet."""
    import django  # noqa: PLC0415
    from django.conf import settings  # noqa: PLC0415
    from django.db import connections  # noqa: PLC0415

    said = psycopg.conninfo.conninfo_to_dict(url)
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    default = {names[name]: str(value) for name, value in said.items() if name in names}
    if not settings.configured:
        settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", **default}}, USE_TZ=True)
        django.setup()
    connections.settings["default"].update(default)


WAYS: dict[str, type[Way]] = {
    "asyncpg": AsyncpgWay,
    "asyncpg, from a pool": PooledWay,
    "psycopg, async": PsycopgWay,
    "SQLAlchemy AsyncConnection, asyncpg": AlchemyWay,
    "SQLAlchemy AsyncConnection, psycopg": AlchemyPsycopgWay,
    "SQLAlchemy AsyncSession, asyncpg": SessionWay,
    "SQLAlchemy AsyncSession, psycopg": SessionPsycopgWay,
    "psycopg": BlockingPsycopgWay,
    "SQLAlchemy Connection": BlockingAlchemyWay,
    "SQLAlchemy Session": BlockingSessionWay,
    "Django": DjangoWay,
}
