"""What a newer release, sharing the database, may have written: words that this one does not know."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from hourhand.store.types import dump_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from contracts.world import World

WORD = "word_of_tomorrow"


@asynccontextmanager
async def newer_word(world: World, table: str, column: str, key: int | str) -> AsyncIterator[None]:
    """Inside, the column of one row has a word that no constraint of this release allows; afterwards its own again."""
    (row,) = await world.sql(f"SELECT {column} AS word FROM {table} WHERE id = :id", id=key)  # noqa: S608 - a test's own words
    change = f"UPDATE {table} SET {column} = :word WHERE id = :id"  # noqa: S608 - a test's own words
    constraint = f"ck_{table}_{column}"
    if world.store.database.dialect == "sqlite":
        await world.execute("PRAGMA ignore_check_constraints = on")
        await world.execute(change, word=WORD, id=key)
        await world.execute("PRAGMA ignore_check_constraints = off")
        try:
            yield
        finally:
            await world.execute(change, word=row["word"], id=key)
        return
    (found,) = await world.sql(
        "SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint "
        "WHERE conname = :name AND conrelid = CAST(CAST(:table AS text) AS regclass)",
        name=constraint,
        table=table,
    )
    pool = world.store.database.pool  # type: ignore[attr-defined]  # PostgreSQL
    await pool.execute(f"ALTER TABLE {table} DROP CONSTRAINT {constraint}")
    try:
        await world.execute(change, word=WORD, id=key)
        yield
    finally:
        await world.execute(change, word=row["word"], id=key)
        await pool.execute(f"ALTER TABLE {table} ADD CONSTRAINT {constraint} {found['definition']}")


async def newer_version(world: World, task_id: int, **changes: Any) -> None:
    """The versions of a task hold what this release cannot read."""
    (row,) = await world.sql("SELECT definition FROM task_versions WHERE task_id = :id", id=task_id)
    if world.store.database.dialect == "sqlite":
        change = "UPDATE task_versions SET definition = json_patch(definition, :changes) WHERE task_id = :id"
    else:
        change = "UPDATE task_versions SET definition = definition || CAST(:changes AS jsonb) WHERE task_id = :id"
    changed = dump_json(changes) if world.store.database.dialect == "sqlite" else changes
    await world.execute(change, changes=changed, id=task_id)
    assert row != (await world.sql("SELECT definition FROM task_versions WHERE task_id = :id", id=task_id))[0]
