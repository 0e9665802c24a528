"""Bootstrap: data sources of a process: the key of their passwords, and whether one can be reached."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from hourhand.bootstrap.secret_key import SecretKey
from hourhand.contracts.operation import Session
from hourhand.contracts.store import Store
from hourhand.model.data_source import Address, Dialect
from hourhand.operations.failures import OperationFailure, Refused
from hourhand.operations.sessions import open_session
from hourhand.service.sources import SealedSources
from hourhand.settings import Settings

SECONDS = 10.0
NEVER_CONNECTED = (
    "nothing was tried: Hourhand does not connect to SQL Server; its operations are scripts there, to read and run by "
    "hand"
)
_WHO = {
    Dialect.POSTGRESQL: "SELECT current_user::text AS who",
    Dialect.MARIADB: "SELECT CURRENT_USER() AS who",
    Dialect.MYSQL: "SELECT CURRENT_USER() AS who",
    Dialect.SQLITE: "SELECT NULL AS who",
}
_CALLED = {
    Dialect.POSTGRESQL: "PostgreSQL",
    Dialect.MARIADB: "MariaDB",
    Dialect.MYSQL: "MySQL",
    Dialect.SQLITE: "SQLite",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """What became of an attempt to connect."""

    ok: bool
    dialect: Dialect
    """What it really speaks, where it answered."""
    version: str | None = None
    latency_ms: float | None = None
    user: str | None = None
    detail: str
    refused: bool = False
    """It answers, but no operation may work on it, now or later."""


def build_sources(settings: Settings, store: Store) -> SealedSources:
    """What seals and opens the passwords of data sources."""
    return SealedSources(SecretKey(settings, store).envelope)


async def tried(address: Address) -> Tested:
    """Connect, ask one question, and leave."""
    if address.dialect is Dialect.SQLSERVER:
        return Tested(ok=False, dialect=address.dialect, detail=NEVER_CONNECTED)
    try:
        async with asyncio.timeout(SECONDS):
            session = await open_session(address)
            try:
                return await _asked(session)
            finally:
                await session.close()
    except TimeoutError:
        detail = f"{address.shown} has not answered within {SECONDS:g} seconds: see whether its host and port are right"
    except Refused as error:
        return Tested(ok=False, dialect=address.dialect, detail=str(error), refused=True)
    except (OperationFailure, OSError) as error:
        detail = str(error)
    except Exception as error:  # noqa: BLE001 - what a driver makes of a server that speaks something else entirely
        detail = f"{address.shown} does not speak as {_CALLED[address.dialect]} does ({type(error).__name__})"
    return Tested(ok=False, dialect=address.dialect, detail=detail)


async def _asked(session: Session) -> Tested:
    begin = time.monotonic()
    (row,) = await session.fetch(_WHO[session.dialect])
    taken = time.monotonic() - begin
    version = ".".join(map(str, session.version))
    as_whom = "" if row["who"] is None else f", and knows us as {row['who']}"
    return Tested(
        ok=True,
        dialect=session.dialect,
        version=version,
        latency_ms=round(taken * 1000, 1),
        user=row["who"],
        detail=f"{session.shown} answers: {_CALLED[session.dialect]} {version}{as_whom}",
    )
