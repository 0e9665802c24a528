"""Store: the days of PostgreSQL's history tables: made ahead, dropped whole.

There is no default partition: `DETACH … CONCURRENTLY` refuses to work beside one.
"""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, date, datetime, timedelta
from typing import Any

import asyncpg

from hourhand.store.schema import DAILY_TABLES, DAYS_AHEAD

_ADVISORY_LOCK = 0x686F7572_68616E64  # "hourhand": one maker of days at a time; the losers find them made
_LOCK_RETRIES = 30

_DAYS = """
SELECT c.relname AS name, i.inhdetachpending AS pending
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = CAST($1 AS regclass)
"""


async def ensure_partitions(connection: Any, now: datetime) -> int:
    """Make yesterday, today and the days ahead; the number of days that are there, from today on."""
    today = now.astimezone(UTC).date()
    wanted = [today + timedelta(days=ahead) for ahead in range(-1, DAYS_AHEAD + 1)]
    missing = [
        (table, day)
        for table in DAILY_TABLES
        for existing in [await _existing(connection, table)]
        for day in wanted
        if partition_name(table, day) not in existing
    ]
    if missing:
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", _ADVISORY_LOCK)
            for table, day in missing:
                # Not CREATE … PARTITION OF: that needs an exclusive lock on the parent, ATTACH does not.
                if await connection.fetchval("SELECT to_regclass($1)", partition_name(table, day)) is None:
                    await _make(connection, table, day)
    # Left by a clock that was ahead: what is allocated until then would be looked for only from then on.
    await connection.execute("DELETE FROM id_days WHERE day > $1", today)
    await connection.execute(
        "INSERT INTO id_days (day, first_id) SELECT $1, last_value + CAST(is_called AS integer) FROM instance_ids "
        "ON CONFLICT (day) DO NOTHING",
        today,
    )
    return await days_ahead(connection, now)


async def _make(connection: Any, table: str, day: date) -> None:
    name, column = partition_name(table, day), DAILY_TABLES[table]
    bounds = f"'{day.isoformat()} 00:00:00+00'", f"'{(day + timedelta(days=1)).isoformat()} 00:00:00+00'"
    await connection.execute(
        f"CREATE TABLE {name} (LIKE {table} INCLUDING ALL, "
        f"CONSTRAINT {name}_day CHECK ({column} >= {bounds[0]} AND {column} < {bounds[1]}))"
    )
    await connection.execute(
        f"ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ({bounds[0]}) TO ({bounds[1]})"
    )
    await connection.execute(f"ALTER TABLE {name} DROP CONSTRAINT {name}_day")


async def days_ahead(connection: Any, now: datetime) -> int:
    """How many days, counted from today, every history table has without a gap."""
    today = now.astimezone(UTC).date()
    existing = [await _existing(connection, table) for table in DAILY_TABLES]
    ahead = 0
    while all(
        partition_name(table, today + timedelta(days=ahead)) in names
        for table, names in zip(DAILY_TABLES, existing, strict=True)
    ):
        ahead += 1
    return ahead


async def drop_days(connection: Any, table: str, before: datetime) -> int:
    """Detach and drop the days that ended at or before `before`; readers and writers are never kept waiting.

    A detach that was interrupted leaves its day pending (invisible, and in the way): it is finished first. Younger days
    that are detached are not dropped: somebody may be archiving them.
    """
    last = before.astimezone(UTC).date()
    dropped = 0
    for name, pending in sorted((await _existing(connection, table)).items()):
        day = partition_day(table, name)
        if day is not None and (pending or day < last):
            old = day < last
            done = await _detach(connection, table, name, pending=pending, drop=old)
            dropped += done and old
    for name in await _orphans(connection, table):
        day = partition_day(table, name)
        if day is not None and day < last:
            await _drop_orphan(connection, name)
    return dropped


async def _drop_orphan(connection: Any, name: str) -> None:
    try:
        await connection.execute("SET lock_timeout = '1s'")
        await connection.execute(f"DROP TABLE IF EXISTS {name}")
    except asyncpg.LockNotAvailableError:
        pass  # somebody reads it: the next time
    finally:
        await connection.execute("RESET lock_timeout")


async def _detach(connection: Any, table: str, name: str, *, pending: bool, drop: bool) -> bool:
    how = "FINALIZE" if pending else "CONCURRENTLY"
    for _ in range(_LOCK_RETRIES):
        try:
            await connection.execute("SET lock_timeout = '1s'")
            await connection.execute(f"ALTER TABLE {table} DETACH PARTITION {name} {how}")
            if drop:
                await connection.execute(f"DROP TABLE {name}")
        except asyncpg.LockNotAvailableError:
            how = "FINALIZE" if (await _existing(connection, table)).get(name) else "CONCURRENTLY"
            await asyncio.sleep(random.uniform(0.05, 0.5))  # noqa: S311 - jitter
        except (asyncpg.UndefinedTableError, asyncpg.ObjectNotInPrerequisiteStateError):
            return False  # another process was faster
        else:
            return True
        finally:
            await connection.execute("RESET lock_timeout")
    return False


async def _existing(connection: Any, table: str) -> dict[str, bool]:
    return {row["name"]: row["pending"] for row in await connection.fetch(_DAYS, table)}


async def _orphans(connection: Any, table: str) -> list[str]:
    """Days that were detached but not dropped, because the process died in between."""
    rows = await connection.fetch(
        "SELECT c.relname AS name FROM pg_class c WHERE c.relnamespace = CAST(current_schema() AS regnamespace) "
        "AND c.relkind = 'r' AND NOT c.relispartition AND c.relname ~ $1",
        f"^{table}_[0-9]{{8}}$",
    )
    return [row["name"] for row in rows]


def partition_name(table: str, day: date) -> str:
    """`execution_logs_20261115`."""
    return f"{table}_{day:%Y%m%d}"


def partition_day(table: str, name: str) -> date | None:
    """The day of a partition that was made here; None for one that somebody else attached."""
    suffix = name.removeprefix(f"{table}_")
    if len(suffix) != len("YYYYMMDD") or not suffix.isdecimal():
        return None
    return datetime.strptime(suffix, "%Y%m%d").replace(tzinfo=UTC).date()
