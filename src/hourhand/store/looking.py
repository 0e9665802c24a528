"""Store: a look at a store without opening it: nothing is made, upgraded, locked or kept; for `hourhand doctor`."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import asyncpg

from hourhand.model.diagnosis import DatabaseFacts, Examined
from hourhand.model.errors import StoreError
from hourhand.store import secret_key
from hourhand.store.clock import Clock
from hourhand.store.database import Tx
from hourhand.store.examine import examine
from hourhand.store.migrate import is_known, newest, sqlite_path
from hourhand.store.partitions import days_ahead
from hourhand.store.postgresql import PostgresqlTx, prepare, translate
from hourhand.store.server_facts import postgresql_facts, sqlite_facts
from hourhand.store.sqlite import SqliteTx

CONNECT_SECONDS = 5.0
COMMAND_SECONDS = 5.0
_STEPS = 10_000
_VERSIONS = slice(18, 20)
_REVISION = "SELECT version_num FROM alembic_version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What was seen; of the tables only where they are those that this program knows."""

    revision: str | None
    """None: there is no schema."""
    newest: str
    known: bool
    """Whether this program knows the revision: one that it does not is a newer program's."""
    database: DatabaseFacts
    store: Examined | None = None
    key_check: str | None = None
    skew_seconds: float | None = None
    """By how much the database's clock is ahead of this machine's."""


async def look(url: str, *, lease_seconds: float) -> Looked:
    """Look at a store; of SQLite at a file that nobody owns."""
    path = sqlite_path(url)
    if path is not None:
        with _reading(path) as connection:
            tx = SqliteTx(connection, Clock())
            facts = await sqlite_facts(tx)
            facts = replace(facts, settings={**facts.settings, "journal_mode": _journal_mode(path)})
            return await _looked(tx, _file_revision(connection), facts, lease_seconds)
    async with _connected(url) as connection:
        facts = await postgresql_facts(connection)
        async with connection.transaction(readonly=True):
            looked = await _looked(PostgresqlTx(connection), await _revision(connection), facts, lease_seconds)
        looked = replace(looked, skew_seconds=await _skew(PostgresqlTx(connection)))
        if looked.store is None:
            return looked
        days = await days_ahead(connection, looked.store.looked_at) - 1
        return replace(looked, store=replace(looked.store, days_ahead=days))


async def _looked(tx: Tx, revision: str | None, database: DatabaseFacts, lease_seconds: float) -> Looked:
    looked = Looked(revision=revision, newest=newest(), known=is_known(revision), database=database)
    if revision != looked.newest:
        return looked
    return replace(looked, store=await examine(tx, lease_seconds=lease_seconds), key_check=await secret_key.known(tx))


async def _skew(tx: Tx) -> float:
    """Asked twice: the first time a statement is prepared, which takes longer."""
    await tx.now()
    asked_at = datetime.now(UTC)
    told = await tx.now()
    return (told - (asked_at + (datetime.now(UTC) - asked_at) / 2)).total_seconds()


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[Any]:
    try:
        connection = await asyncpg.connect(url, timeout=CONNECT_SECONDS, command_timeout=COMMAND_SECONDS)
        try:
            await prepare(connection)
            yield connection
        finally:
            await connection.close(timeout=1)
    except Exception as error:
        told = translate(error)
        if told is error:
            raise
        raise told from error


async def _revision(connection: Any) -> str | None:
    if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
        return None
    found: str | None = await connection.fetchval(_REVISION)
    return found


def owner_of(path: Path) -> str | None:
    """Who owns a SQLite file just now, in its own words; None if nobody does."""
    try:
        lock = os.open(f"{path}.lock", os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return os.read(lock, 1_000).decode("utf-8", "replace").strip() or "another process"
    else:
        return None
    finally:
        os.close(lock)


def quick_check(path: Path, *, seconds: float) -> list[str] | None:
    """What SQLite itself finds wrong with a file, a few things at most; None when the time was not enough.

    It reads beside whoever owns the file.
    """
    end = time.monotonic() + seconds
    with _reading(path) as connection:
        connection.set_progress_handler(lambda: int(time.monotonic() > end), _STEPS)
        try:
            found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(5)")]
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                return None
            raise
    return [] if found == ["ok"] else found


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that leaves no trace: beside a file that is at rest SQLite would make two more to read it."""
    at_rest = owner_of(path) is None and not _size(Path(f"{path}-wal"))
    uri = f"file:{quote(str(path.absolute()))}?mode=ro{'&immutable=1' if at_rest else ''}"
    clock = Clock()
    try:
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)) as connection:
            connection.execute(f"PRAGMA busy_timeout = {round(COMMAND_SECONDS * 1_000)}")
            connection.create_function("clock_timestamp", 0, clock.wall_micros)
            connection.create_function("lease_clock", 0, clock.lease_micros)
            yield connection
    except sqlite3.Error as error:
        raise StoreError(f"{path} cannot be read: {error}") from error


def _journal_mode(path: Path) -> str:
    """What the file's head says: a connection to a file at rest is told that it keeps no log, and so it does not."""
    with path.open("rb") as opened:
        return "wal" if opened.read(_VERSIONS.stop)[_VERSIONS] == b"\x02\x02" else "delete"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _file_revision(connection: sqlite3.Connection) -> str | None:
    try:
        (found,) = connection.execute(_REVISION).fetchone() or (None,)
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return None
        raise
    return None if found is None else str(found)
