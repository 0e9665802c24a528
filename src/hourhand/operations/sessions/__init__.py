"""Operations: sessions with data sources, one file for each driver."""

from __future__ import annotations

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Address, Dialect
from hourhand.operations.failures import Refused

CONNECT_SECONDS = 10.0


async def open_session(address: Address) -> Session:
    """Connect; SourceUnreachable says in words why not."""
    match address.dialect:
        case Dialect.POSTGRESQL:
            from hourhand.operations.sessions import postgresql  # noqa: PLC0415 - drivers load when they are used

            return await postgresql.connect(address, CONNECT_SECONDS)
        case Dialect.MARIADB | Dialect.MYSQL:
            from hourhand.operations.sessions import mariadb  # noqa: PLC0415

            return await mariadb.connect(address, CONNECT_SECONDS)
        case Dialect.SQLITE:
            from hourhand.operations.sessions import sqlite  # noqa: PLC0415

            return await sqlite.connect(address, CONNECT_SECONDS)
    raise Refused(
        "nothing connects to SQL Server: its operations are scripts to read and run by hand", field="data_source"
    )
