"""Store: bringing the schema of a database to what this program knows."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import TypeVar, cast

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, event, pool, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from hourhand.model.errors import InvalidInput, SchemaTooNew, SchemaTooOld, StoreError
from hourhand.rules.redaction import without_password
from hourhand.store.partitions import ensure_partitions
from hourhand.store.postgresql import translate
from hourhand.store.sqlite import FileLock

T = TypeVar("T")
_MIGRATION_LOCK = 0x686F7572_6D696772  # "hourmigr"


def sqlite_path(url: str) -> Path | None:
    """The file of a SQLite URL; None for PostgreSQL; anything else is refused."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        parsed = None
    if parsed is not None and parsed.drivername == "sqlite" and parsed.database not in (None, "", ":memory:"):
        return Path(str(parsed.database))
    if parsed is not None and parsed.drivername in ("postgresql", "postgres") and parsed.database:
        return None
    shown = without_password(url)
    raise InvalidInput.one(
        "store",
        shown,
        f"{shown!r} is no store: write sqlite:///path/to/hourhand.db or postgresql://user:password@host/database",
    )


async def upgrade(url: str) -> tuple[str | None, str]:
    """Bring the schema up to date; (revision before, revision after). Safe to call from many processes at once."""
    path = sqlite_path(url)
    if path is None:
        return await _on_postgresql(url, _upgrade)
    return await asyncio.to_thread(_upgrade_sqlite, path)


async def revision(url: str) -> tuple[str | None, str]:
    """The revision the database is at (None: empty) and the newest this program knows."""
    path = sqlite_path(url)
    if path is not None:
        return await asyncio.to_thread(_sqlite_revision, path), newest()
    return await _postgresql_revision(url), newest()


# Asked at every opening, so without an engine, which takes longer to build than the answer takes.
_REVISION = "SELECT version_num FROM alembic_version"


async def _postgresql_revision(url: str) -> str | None:
    try:
        connection = await asyncpg.connect(url)
        try:
            return cast("str | None", await connection.fetchval(_REVISION))
        except asyncpg.UndefinedTableError:
            return None
        finally:
            await connection.close()
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise _refused(error) from error


def _sqlite_revision(path: Path) -> str | None:
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(path)) as connection:
            (found,) = connection.execute(_REVISION).fetchone() or (None,)
    except sqlite3.Error as error:
        if "no such table" in str(error):
            return None
        raise _not_sqlite(path, error) from error
    return cast("str | None", found)


async def require_current(url: str) -> None:
    """Refuse a schema that is not the one this program knows."""
    current, known = await revision(url)
    if current != known:
        _refuse_newer(current)
        raise SchemaTooOld(
            f"the store's schema is at revision {current or 'none (empty)'}, this program needs {known}: "
            "run `hourhand db upgrade` for this store, or open it with migrate=True"
        )


def newest() -> str:
    """The newest revision this program knows."""
    head = _scripts(_location()).get_current_head()
    if head is None:
        raise AssertionError("the program ships without migrations")
    return head


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _location() -> str:
    return _config().get_main_option("script_location") or ""


@cache
def _scripts(location: str) -> ScriptDirectory:
    """The migrations of a folder; reading them takes longer than opening a store."""
    return ScriptDirectory(location)


def _current(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def is_known(current: str | None) -> bool:
    """Whether this program knows the revision; one that it does not was written by a newer release."""
    return current is None or current in {script.revision for script in _scripts(_location()).walk_revisions()}


def _refuse_newer(current: str | None) -> None:
    if not is_known(current):
        raise SchemaTooNew(
            f"the store's schema is at revision {current}, which this program does not know "
            f"(its newest is {newest()}): it was written by a newer release; install that release or a newer one"
        )


def _upgrade(connection: Connection, target: str = "head") -> tuple[str | None, str]:
    before = _current(connection)
    _refuse_newer(before)
    connection.commit()
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, target)
    connection.commit()
    after = _current(connection)
    if after is None:
        raise AssertionError("an upgrade leaves a revision behind")
    return before, after


def _upgrade_sqlite(path: Path) -> tuple[str | None, str]:
    lock = FileLock(path, "hourhand db upgrade")
    try:
        path.touch(mode=0o600)  # for its owner only, and so are the files that SQLite makes beside it
        before = _on_sqlite(path, _current)
        if before is not None and before != newest():
            _refuse_newer(before)
            shutil.copy2(path, path.with_name(f"{path.name}.{before}.bak"))
        return _on_sqlite(path, _upgrade)
    finally:
        lock.release()


def _on_sqlite(path: Path, work: Callable[[Connection], T]) -> T:
    # Of itself the driver begins no transaction before CREATE and ALTER; a migration is done whole or not at all.
    engine = create_engine(f"sqlite:///{path}", poolclass=pool.NullPool, connect_args={"isolation_level": None})
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    try:
        with engine.connect() as connection:
            return work(connection)
    except DBAPIError as error:
        raise _not_sqlite(path, error.orig) from error
    finally:
        engine.dispose()


def _not_sqlite(path: Path, error: object) -> StoreError:
    return StoreError(f"cannot open {path}: {error}; is it a SQLite file that this user may write?")


async def _on_postgresql(url: str, work: Callable[[Connection], T]) -> T:
    # The driver reads the URL itself, as it does for the store: SQLAlchemy knows few of its parameters (no `sslmode`).
    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(url), poolclass=pool.NullPool
    )
    try:
        async with engine.connect() as connection:
            # A session lock, held across the migrations' own transactions: one process migrates, the others wait.
            await connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _MIGRATION_LOCK})
            await connection.commit()
            result = await connection.run_sync(work)
            await connection.commit()
            if work is _upgrade:
                raw = (await connection.get_raw_connection()).driver_connection
                await ensure_partitions(raw, await raw.fetchval("SELECT clock_timestamp()"))  # type: ignore[union-attr]
            await connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _MIGRATION_LOCK})
            return result
    except DBAPIError as error:
        raise _refused(error.orig.__cause__ or error) from error  # type: ignore[union-attr]
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise _refused(error) from error
    finally:
        await engine.dispose()


def _refused(error: BaseException) -> StoreError:
    told = translate(error)
    return told if isinstance(told, StoreError) else StoreError(f"PostgreSQL: {error}")
