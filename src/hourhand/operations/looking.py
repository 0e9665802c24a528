"""Operations: what a kind may look at while it plans, and the sessions it looks through."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Address, Dialect
from hourhand.operations.failures import Refused
from hourhand.operations.sessions import open_session

Addresses = Callable[[str], Awaitable[Address]]
"""Where a data source is, by name, with its password opened."""
_CLOCKS = {
    Dialect.POSTGRESQL: "SELECT now() AS now",
    Dialect.MARIADB: "SELECT UTC_TIMESTAMP(6) AS now",
    Dialect.MYSQL: "SELECT UTC_TIMESTAMP(6) AS now",
}


class LiveLook:
    """Sessions to the data sources of one configuration, opened when they are first needed."""

    def __init__(self, addresses: Addresses, source: Session, now: datetime, name: str) -> None:
        self._addresses = addresses
        self._name = name
        self._others: dict[str, Session] = {}
        self.source = source
        self.now = now

    async def open(self, data_source: str) -> Session:
        """Another data source; the same session each time."""
        if data_source not in self._others:
            try:
                self._others[data_source] = await open_session(await self._addresses(data_source))
            except Refused as error:
                error.field = "target_data_source"  # it is no other that is opened here
                raise
        return self._others[data_source]

    async def address(self) -> Address:
        """Where the data source is."""
        return await self._addresses(self._name)

    async def close(self) -> None:
        """Give all sessions back."""
        for one in (*self._others.values(), self.source):
            await one.close()


@asynccontextmanager
async def looking(addresses: Addresses, data_source: str) -> AsyncIterator[LiveLook]:
    """Open the data source, and close whatever was opened."""
    source = await open_session(await addresses(data_source))
    look = LiveLook(addresses, source, datetime.now(UTC), data_source)
    try:
        if source.dialect in _CLOCKS:
            found: datetime = (await source.fetch(_CLOCKS[source.dialect]))[0]["now"]
            look.now = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        yield look
    finally:
        await look.close()
