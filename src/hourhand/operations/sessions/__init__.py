"""Operations: sessions with data sources, one file for each driver."""

from __future__ import annotations

from pathlib import Path

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Address, Dialect
from hourhand.operations.failures import Refused, SourceUnreachable
from hourhand.operations.sessions.own import require_not_own

CONNECT_SECONDS = 10.0
_FILES = ("sslrootcert", "sslcert", "sslkey", "ssl_ca", "unix_socket")
"""Options that name a file, which drivers miss without saying which it is."""


async def open_session(address: Address) -> Session:
    """Connect; SourceUnreachable says in words why not, Refused that it is the database of a Hourhand itself."""
    _require_files(address)
    session = await _connected(address)
    try:
        await require_not_own(session)
    except BaseException:
        await session.close()
        raise
    return session


async def _connected(address: Address) -> Session:
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


def _require_files(address: Address) -> None:
    for name in _FILES:
        path = address.options.get(name)
        if path is not None and not Path(path).exists():
            raise SourceUnreachable(
                f"there is no file {path} on this machine, which the option {name} of {address.shown} names"
            )
