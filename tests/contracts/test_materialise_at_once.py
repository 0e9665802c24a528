"""Guarantees 1 and 2 under contention: many schedulers, edits, disables and backfills at the same time."""

from __future__ import annotations

import asyncio
import random
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, union_all

from contracts.elapse import elapse
from hourhand.model.words import MisfirePolicy, OverlapPolicy
from hourhand.store.schema import execution_logs, task_instances, tasks
from hourhand.store.statements import Statement

if TYPE_CHECKING:
    from contracts.world import World

TASKS = 20_000
PASSED = 3
_MADE = Statement(
    union_all(
        select(task_instances.c.task_id, task_instances.c.scheduled_time, task_instances.c.shard_index),
        select(execution_logs.c.task_id, execution_logs.c.scheduled_time, execution_logs.c.shard_index).where(
            execution_logs.c.skip_reason.is_(None), execution_logs.c.superseded_at.is_(None)
        ),
    )
)
_SKIPPED = Statement(
    select(execution_logs.c.task_id, execution_logs.c.scheduled_time, execution_logs.c.summary).where(
        execution_logs.c.skip_reason.is_not(None)
    )
)
_STANDING = Statement(select(tasks.c.id, tasks.c.name, tasks.c.next_fire_at))


async def multiply(world: World, count: int) -> None:
    """Copy the three tasks there are until there are so many."""
    names = [column.name for column in tasks.c if column.name not in ("id", "name")]
    numbers = (
        "WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < :count) "
        if world.store.database.dialect == "sqlite"
        else "WITH g(n) AS (SELECT generate_series(1, CAST(:count AS integer))) "
    )
    columns = ", ".join(names)
    insert = f"INSERT INTO tasks (name, {columns}) "
    chosen = f"SELECT name || '-' || n, {columns} FROM tasks CROSS JOIN g"  # noqa: S608 - names from the schema
    if world.store.database.dialect == "sqlite":
        await world.execute(insert + numbers + chosen, count=count // 3 - 1)
    else:
        await world.execute(numbers + insert + chosen, count=count // 3 - 1)


async def materialiser(world: World) -> int:
    done = 0
    while (made := await world.store.materialise(limit=250)).tasks:
        done += made.tasks
    return done


async def editor(world: World, ids: list[int], changes: list[dict[str, Any]]) -> None:
    for task_id in ids:
        await world.store.edit_task(task_id, random.choice(changes), by="editor")  # noqa: S311 - no secret


async def backfiller(world: World, ids: list[int], begin: datetime, end: datetime) -> None:
    for task_id in ids:
        await world.store.backfill(task_id, begin, end, by="backfiller")


async def test_eight_schedulers_make_each_instant_once_and_miss_none_while_tasks_are_edited(world: World) -> None:
    for policy in MisfirePolicy:
        await world.task(
            f"bulk-{policy}", schedule="@every 60s", misfire_policy=policy, overlap_policy=OverlapPolicy.PARALLEL
        )
    await elapse(world, 60 * PASSED + 30)
    first = await world.store.find_task("bulk-skip")
    await multiply(world, TASKS)
    standing = await world.store.database.read(lambda tx: tx.fetch(_STANDING))
    ids = [row["id"] for row in standing]
    assert len(ids) == TASKS // 3 * 3
    chosen = random.Random(7).sample(ids, 360)  # noqa: S311 - no secret
    changes: list[dict[str, Any]] = [
        {"priority": 1},
        {"schedule": "@every 45s"},
        {"enabled": False},
        {"schedule": "@manual"},
    ]
    finished = await asyncio.gather(
        *[materialiser(world) for _ in range(8)],
        editor(world, chosen[:120], changes),
        editor(world, chosen[100:240], changes),
        backfiller(world, chosen[200:], first.anchored_at, await world.store.now()),
    )
    assert sum(count for count in finished[:8] if count is not None) >= TASKS // 3 * 3 - 240
    await _each_once(world)
    await _none_missing(world, [(row["id"], row["next_fire_at"]) for row in standing])


async def _each_once(world: World) -> None:
    made = await world.store.database.read(lambda tx: tx.fetch(_MADE))
    keys = [(row["task_id"], row["scheduled_time"], row["shard_index"]) for row in made]
    assert len(keys) == len(set(keys)), "an instant was made twice"
    assert len(keys) == await world.count("task_instants"), "the ledger says otherwise"


async def _none_missing(world: World, began: list[tuple[int, datetime]]) -> None:
    """Every instant that had passed is an instance or inside a recorded skip."""
    made = await world.store.database.read(lambda tx: tx.fetch(_MADE))
    seen = {(row["task_id"], row["scheduled_time"]) for row in made}
    runs: dict[int, list[tuple[datetime, datetime]]] = {}
    for row in await world.store.database.read(lambda tx: tx.fetch(_SKIPPED)):
        last = datetime.fromisoformat(row["summary"]["last"])
        runs.setdefault(row["task_id"], []).append((row["scheduled_time"], last))
    missing = [
        (task_id, instant)
        for task_id, first in began
        for instant in (first + timedelta(seconds=60 * number) for number in range(PASSED))
        if (task_id, instant) not in seen and not any(begin <= instant <= end for begin, end in runs.get(task_id, ()))
    ]
    assert missing == []
