"""Mutants: our own program with one safeguard taken out, to show that the checker would notice.

    python -m faults.mutants NAME -- executor faults.handlers:app --store URL

Each mutant is what a simpler design would have done; a pause is added where two processes have to meet.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import ModuleType
from typing import Any

from sqlalchemy import bindparam, text

from hourhand.model.answers import Aftermath, Flush
from hourhand.model.instance import Beat, Ending
from hourhand.store import beat as beats
from hourhand.store import definitions, finish, instants, materialise, settle, waits
from hourhand.store.database import Tx
from hourhand.store.definitions import SELECT_TASKS, Versions
from hourhand.store.schema import tasks
from hourhand.store.sql import store_clock
from hourhand.store.statements import Statement

PAUSE_SECONDS = 1.0


def put(module: ModuleType, name: str, mutated: object) -> None:
    """Put something else in the place of what a module calls by this name."""
    if not hasattr(module, name):
        raise AttributeError(f"{module.__name__} has no {name!r} any more: this mutant would change nothing")
    setattr(module, name, mutated)


def no_fence() -> None:
    """Outcomes are believed by the id of their instance, whatever their fence, and nobody is told of being superseded.

    River, Oban and PGQueuer complete like this.
    """
    finish_batch, beat = finish.finish_batch, beats.beat

    async def believing(tx: Tx, endings: Sequence[Ending], versions: Versions) -> Flush:
        rows = await tx.fetch(finish._LOCK, ids=sorted({one.instance_id for one in endings}))  # noqa: SLF001
        fences = {row["id"]: row["fence"] for row in rows}
        believed = [replace(one, fence=fences.get(one.instance_id, one.fence)) for one in endings]
        flush = await finish_batch(tx, believed, versions)
        told = {one.instance_id: one.fence for one in endings}
        flush.finished = [replace(one, fence=told[one.instance_id]) for one in flush.finished]
        return flush

    async def silent(tx: Tx, **arguments: Any) -> Beat:
        return replace(await beat(tx, **arguments), superseded=())

    put(finish, "finish_batch", believing)
    put(beats, "beat", silent)


def no_ledger() -> None:
    """What was read is believed: tasks are looked at without a lock, and made although the ledger has the instant.

    Quartz and Celery beat fire twice like this when one scheduler takes over from another.
    """
    enter_instants, with_dependencies = instants.enter_instants, definitions.with_dependencies

    async def entering(tx: Tx, wanted: Iterable[tuple[int, datetime, int]]) -> set[tuple[int, datetime]]:
        asked = list(wanted)
        await enter_instants(tx, asked)
        return {(task_id, instant) for task_id, instant, _ in asked}

    async def pausing(tx: Tx, rows: Any) -> Any:
        await asyncio.sleep(PAUSE_SECONDS)
        return await with_dependencies(tx, rows)

    put(instants, "enter_instants", entering)
    put(materialise, "with_dependencies", pausing)
    due = SELECT_TASKS.where(tasks.c.wake_at.is_not(None), tasks.c.wake_at <= store_clock())
    put(materialise, "_DUE", Statement(due.order_by(tasks.c.wake_at).limit(bindparam("limit"))))


_COUNT_OPEN = """
SELECT w.instance_id, count(*) FILTER (WHERE l.outcome IS NULL) AS still_open
FROM instance_waits w
LEFT JOIN task_instants l ON l.task_id = w.upstream_task_id AND l.scheduled_time = w.upstream_time
WHERE w.instance_id IN
    (SELECT instance_id FROM instance_waits WHERE upstream_task_id = :task_id AND upstream_time = :at)
GROUP BY w.instance_id
"""
_RELEASE = (
    "UPDATE task_instances SET status = 'pending', blocked_by = NULL, "
    "available_at = greatest(available_at, clock_timestamp()), queued_at = clock_timestamp() "
    "WHERE id = :id AND status = 'planned'"
)


def release_inside_finish() -> None:
    """Dependents are released in the transaction that ends their upstream, by counting what is still open.

    Two upstreams that end at the same time each see the other open, and both leave the release to the other.
    """
    finish_batch = finish.finish_batch

    async def releasing(tx: Tx, endings: Sequence[Ending], versions: Versions) -> Flush:
        flush = await finish_batch(tx, endings, versions)
        for task_id, at in sorted(flush.aftermath.unsettled):
            counted = await tx.fetch(Statement(text(_COUNT_OPEN)), task_id=task_id, at=at)
            for row in counted:
                if row["still_open"] == 0:
                    await tx.run(Statement(text(_RELEASE)), id=row["instance_id"])
        if flush.aftermath.unsettled:
            await asyncio.sleep(PAUSE_SECONDS)
        flush.aftermath.unsettled.clear()
        return flush

    async def settled(*_: Any, **__: Any) -> tuple[int, Aftermath]:
        return 0, Aftermath()

    async def swept(*_: Any, **__: Any) -> list[int]:
        return []

    put(finish, "finish_batch", releasing)
    put(settle, "settle", settled)
    put(waits, "waits_to_evaluate", swept)


MUTANTS: Mapping[str, Callable[[], None]] = {
    "no-fence": no_fence,
    "no-ledger": no_ledger,
    "release-inside-finish": release_inside_finish,
}


def main(name: str, arguments: list[str]) -> None:
    """Take one safeguard out, then be `hourhand`."""
    from hourhand.cli.main import main as hourhand  # noqa: PLC0415 - after the mutation

    MUTANTS[name]()
    hourhand(arguments)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[3:])
