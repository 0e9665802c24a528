"""A past for the tests of figures: endings of every kind over some hours; and what plain SQL says about it."""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Integer, Text, select
from sqlalchemy.types import TypeEngine

from contracts.rows import stamp
from hourhand.model.stats import Figures
from hourhand.rules.histogram import BOUNDS
from hourhand.store.schema import execution_logs
from hourhand.store.sql import insert, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from contracts.world import World

_COLUMNS: dict[str, TypeEngine[Any]] = {
    "id": BigInteger(),
    "instance_id": Id,
    "task_name": Text(),
    "task_id": Id,
    "task_version": Integer(),
    "group_id": Id,
    "scheduled_time": Instant(),
    "status": Text(),
    "created_at": Instant(),
    "lane_id": Id,
    "priority": Integer(),
    "available_at": Instant(),
    "triggered_by": Text(),
    "start_time": Instant(),
    "end_time": Instant(),
    "duration_ms": BigInteger(),
    "error_message": Text(),
    "skip_reason": Text(),
    "superseded_at": Instant(),
    "operation_kind": Text(),
    "loss_count": Integer(),
    "fence": BigInteger(),
}
_LOGS = records("logs", _COLUMNS)
_INSERT = Statement(insert(execution_logs).from_select(list(_COLUMNS), select(_LOGS), include_defaults=False))
TYPES = ("command", "http", "python", "operation")
_MESSAGES = ("exit code {}", "order {}: not found", "timed out after {} s", "no such table 'books'", None)
_numbers = iter(range(1_000_000, 2_000_000))


async def end(world: World, endings: Iterable[dict[str, Any]]) -> None:
    """Write endings as the past would have: each names a task, its group and when it ended."""
    rows = []
    for ending in endings:
        number = next(_numbers)
        at, duration = ending["end_time"], ending.get("duration_ms", 5)
        row = dict.fromkeys(_COLUMNS) | {
            "id": number,
            "instance_id": number,
            "task_name": "task",
            "task_version": 1,
            "scheduled_time": at,
            "status": "success",
            "created_at": at,
            "lane_id": 1,
            "priority": 5,
            "available_at": at,
            "triggered_by": "api",
            "start_time": at - timedelta(milliseconds=duration),
            "duration_ms": duration,
            "loss_count": 0,
            "fence": 1,
        }
        rows.append(row | ending)
    await world.store.database.write(lambda tx: tx.run(_INSERT, logs=rows))


async def make_past(
    world: World, *, endings: int = 1_500, minutes: int = 12, hours: int = 4, spread: int = 30, seed: int = 1
) -> None:
    """Endings of two groups and all types, about some moments of the last hours, of which the newest is now."""
    chance = random.Random(seed)  # noqa: S311 - the same each time
    group = await world.store.ensure_group("second")
    tasks = []
    for number in range(8):
        task = await world.task(group="second" if number % 2 else "default")
        kind = TYPES[number // 2]
        await world.execute("UPDATE tasks SET type = :type WHERE id = :id", type=kind, id=task.id)
        tasks.append((task.id, group.id if number % 2 else task.group_id, kind))
    now = await world.store.now()
    apart = timedelta(hours=hours) / minutes
    moments = [now - number * apart for number in range(minutes)]
    made = [_ending(chance, tasks, chance.choice(moments)) for _ in range(endings)]
    await end(
        world,
        [one | {"end_time": one["end_time"] - timedelta(seconds=chance.uniform(0, spread))} for one in made],
    )


def _ending(chance: random.Random, tasks: Sequence[tuple[int, int, str]], at: datetime) -> dict[str, Any]:
    task_id, group_id, kind = chance.choice(tasks)
    row: dict[str, Any] = {"task_id": task_id, "group_id": group_id, "end_time": at}
    row["duration_ms"] = round(10 ** chance.uniform(-1, 9))
    if kind == "operation":
        row["operation_kind"] = chance.choice(["archive", "backup"])
    fate = chance.random()
    if fate < 0.05:
        return row | {
            "status": "cancelled",
            "skip_reason": chance.choice(["misfire", "overlap"]),
            "duration_ms": 0,
            "start_time": None,
        }
    if fate < 0.15:
        return row | {"status": "cancelled", **chance.choice([{}, {"start_time": None, "duration_ms": 0}])}
    row["loss_count"] = chance.choice([0, 0, 0, 0, 1, 2])
    if fate < 0.4:
        message = chance.choice(_MESSAGES)
        row |= {"status": "failed", "error_message": message and message.format(chance.randrange(1_000, 10_000))}
        if chance.random() < 0.2:
            row["superseded_at"] = at + timedelta(seconds=1)
    return row


def whole(time: datetime, *, up: bool = False) -> datetime:
    """A whole minute."""
    down = time.replace(second=0, microsecond=0)
    return down + timedelta(minutes=1) if up and down != time else down


_FIGURES = """
SELECT count(CASE WHEN e.status = 'success' THEN 1 END) AS success,
    count(CASE WHEN e.status = 'failed' THEN 1 END) AS failed,
    count(CASE WHEN e.status = 'cancelled' AND e.skip_reason IS NULL THEN 1 END) AS cancelled,
    count(e.skip_reason) AS skipped,
    coalesce(sum(e.loss_count), 0) AS losses,
    avg(CASE WHEN e.start_time IS NOT NULL THEN e.duration_ms END) AS average
FROM execution_logs e JOIN tasks t ON t.id = e.task_id
WHERE e.end_time >= :begin AND e.end_time < :end AND {where}
"""
_DURATIONS = """
SELECT e.duration_ms FROM execution_logs e JOIN tasks t ON t.id = e.task_id
WHERE e.end_time >= :begin AND e.end_time < :end AND e.start_time IS NOT NULL AND {where} ORDER BY 1
"""


async def check(world: World, found: Figures, begin: datetime, end: datetime, where: str = "1 = 1") -> None:
    """Figures are what plain SQL counts in the execution logs."""
    bounds = {"begin": stamp(world, begin), "end": stamp(world, end)}
    (row,) = await world.sql(_FIGURES.format(where=where), **bounds)
    counts = tuple(int(row[name]) for name in ("success", "failed", "cancelled", "skipped", "losses"))
    assert (found.success, found.failed, found.cancelled, found.skipped, found.losses) == counts
    ended = sum(counts[:3])
    assert found.failure_rate == (counts[1] / ended if ended else None)
    durations = [one["duration_ms"] for one in await world.sql(_DURATIONS.format(where=where), **bounds)]
    if not durations:
        assert found.average_ms is found.p50_ms is found.p95_ms is found.p99_ms is None
        return
    assert found.average_ms is not None
    assert math.isclose(found.average_ms, float(row["average"]))
    for share, percentile in ((0.5, found.p50_ms), (0.95, found.p95_ms), (0.99, found.p99_ms)):
        true = durations[math.ceil(share * len(durations)) - 1]
        place = bisect_left(BOUNDS, true)
        assert percentile is not None
        assert (0, *BOUNDS)[place] <= percentile <= (*BOUNDS, BOUNDS[-1])[place]
