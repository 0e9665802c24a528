"""Store: one contract, kept by SQLite and PostgreSQL."""

from __future__ import annotations

from hourhand.store.migrate import require_current, revision, sqlite_path, upgrade
from hourhand.store.postgresql import PostgresqlDatabase
from hourhand.store.reap import bury_the_dead
from hourhand.store.sqlite import SqliteDatabase
from hourhand.store.store import SqlStore as Store

__all__ = ["Store", "open_store", "require_current", "revision", "upgrade"]


async def open_store(
    url: str,
    *,
    migrate: bool = False,
    owner: str = "",
    look_ahead_seconds: float = 10.0,
    lease_seconds: float = 15.0,
) -> Store:
    """Open the store at a URL; `migrate` brings an empty or older schema up to date first.

    `owner` is what a second process is told when it asks for the same SQLite file.
    """
    path = sqlite_path(url)
    if migrate:
        await upgrade(url)
    await require_current(url)
    database: SqliteDatabase | PostgresqlDatabase
    if path is None:
        database = await PostgresqlDatabase.open(url, lease_seconds=lease_seconds)
    else:
        database = SqliteDatabase(path, owner=owner)
    try:
        if path is None:
            await database.ensure_partitions()
        else:
            await database.write(bury_the_dead)
    except BaseException:
        await database.close()  # else nobody in this process could open it again
        raise
    return Store(database, look_ahead_seconds=look_ahead_seconds, lease_seconds=lease_seconds)
