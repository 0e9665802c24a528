"""Looking at rows and moving them in time directly: what no verb does, and the contract suite needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hourhand.store import schema_access  # noqa: F401 - adds its tables to the metadata
from hourhand.store.schema import metadata
from hourhand.store.types import to_micros

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from contracts.world import World

TABLES = tuple(metadata.tables)


async def counts(world: World) -> dict[str, int]:
    """The number of rows of every table of the schema."""
    return {table: await world.count(table) for table in TABLES}


def difference(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """The tables that have grown or shrunk, and by how much."""
    return {table: after[table] - before[table] for table in before if after[table] != before[table]}


def stamp(world: World, time: datetime) -> Any:
    """A time as plain SQL takes it."""
    return to_micros(time) if world.store.database.dialect == "sqlite" else time


async def shift(world: World, column: str, seconds: int, where: str = "1 = 1", *, table: str = "task_instances") -> int:
    """Move a time of the rows meant by so many seconds."""
    moved = f"{column} + {seconds} * 1000000"
    if world.store.database.dialect == "postgresql":
        moved = f"{column} + make_interval(secs => {seconds})"
    return await world.execute(f"UPDATE {table} SET {column} = {moved} WHERE {where}")  # noqa: S608 - a test's own words


async def expire(world: World, where: str = "status = 'running'") -> int:
    """Let leases have run out an hour ago; locked in the store's order, so as not to bring deadlocks of our own."""
    if world.store.database.dialect == "postgresql":
        where = f"id IN (SELECT id FROM task_instances WHERE {where} ORDER BY id FOR UPDATE)"  # noqa: S608 - a test's own words
    return await shift(world, "lease_until", -3600, where)


async def living(world: World, instance_id: int) -> dict[str, Any] | None:
    """The living row as it stands in its table."""
    rows = await world.sql("SELECT * FROM task_instances WHERE id = :id", id=instance_id)
    return dict(rows[0]) if rows else None


async def ended(world: World, instance_id: int) -> list[dict[str, Any]]:
    """Every ending of an instance as it stands in the logs, oldest first."""
    rows = await world.sql("SELECT * FROM execution_logs WHERE instance_id = :id ORDER BY id", id=instance_id)
    return [dict(row) for row in rows]
