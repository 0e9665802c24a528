"""Operations: lock time-outs as each dialect has them, and the lock by which one attempt works at a time."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.config import Config
from hourhand.operations.failures import LockNotGained, OperationFailure

GUARD_SECONDS = 60
"""How long to wait until the attempt before, whose executor was lost, has let go."""


async def limit_waits(session: Session, config: Config, *, locally: bool) -> None:
    """Let this session's statements wait for locks only so long; `locally`: until its transaction ends."""
    milliseconds = config.lock_timeout_ms
    match session.dialect:
        case Dialect.POSTGRESQL:
            scope = "LOCAL" if locally else "SESSION"
            await session.execute(f"SET {scope} lock_timeout = '{milliseconds}ms'")
            await session.execute(f"SET {scope} statement_timeout = '{config.statement_timeout_ms or 0}ms'")
        case Dialect.MARIADB | Dialect.MYSQL:
            seconds = max(1, round(milliseconds / 1000))
            await session.execute(f"SET SESSION lock_wait_timeout = {seconds}, innodb_lock_wait_timeout = {seconds}")
            if session.dialect is Dialect.MARIADB:
                await session.execute(f"SET SESSION max_statement_time = {(config.statement_timeout_ms or 0) / 1000}")
        case _:
            await session.execute(f"PRAGMA busy_timeout = {milliseconds}")


@asynccontextmanager
async def guarded(session: Session, what: str) -> AsyncIterator[None]:
    """Work at this alone: an executor that was thought lost may still be at it, and must end first."""
    digest = hashlib.sha256(what.encode()).hexdigest()
    for _ in range(GUARD_SECONDS * 2):
        release = await _taken(session, digest)
        if release is not None:
            break
        await asyncio.sleep(0.5)
    else:
        raise LockNotGained(f"another attempt is still at {what}: it is waited for again later")
    try:
        yield
    finally:
        if isinstance(release, int):
            os.close(release)
        else:
            with suppress(OperationFailure):
                await session.fetch(release)


async def _taken(session: Session, digest: str) -> str | int | None:
    """What gives it back; None while another has it."""
    match session.dialect:
        case Dialect.POSTGRESQL:
            number = int(digest[:15], 16)
            rows = await session.fetch(f"SELECT pg_try_advisory_lock({number}) AS got")
            return f"SELECT pg_advisory_unlock({number})" if rows[0]["got"] else None
        case Dialect.MARIADB | Dialect.MYSQL:
            name = f"hourhand_{digest[:40]}"
            rows = await session.fetch(f"SELECT GET_LOCK('{name}', 0) AS got")
            return f"SELECT RELEASE_LOCK('{name}')" if rows[0]["got"] else None
    # Beside the file, not on it: closing any handle of an SQLite file drops the locks of all of its connections.
    path = Path(tempfile.gettempdir()) / f"hourhand-{os.getuid()}-{digest[:20]}.lock"
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle
