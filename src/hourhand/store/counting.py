"""Store: counts what was committed, by the group and type of its task; what a verb did not commit is never counted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping

from hourhand.model.answers import Aftermath
from hourhand.model.errors import StoreError
from hourhand.model.task import TaskDefinition
from hourhand.model.words import OutcomeKind, Status
from hourhand.service.metrics import OfInstances, of_instances

Version = tuple[int, int]
"""A task's id and the number of its version."""
Look = Callable[[Iterable[Version]], Awaitable[Mapping[Version, TaskDefinition]]]


async def count(aftermath: Aftermath, look: Look) -> None:
    """Count what ended and what is tried again, once; `look` reads definitions, which executors have read before."""
    ended, aftermath.ended = aftermath.ended, []
    repeated, aftermath.repeated = aftermath.repeated, []
    if not ended and not repeated:
        return
    bound = await _bound({one[:2] for one in ended} | {one[:2] for one in repeated}, look)
    statuses: dict[Version, list[Status]] = {version: [] for version in bound}
    for task_id, number, status, milliseconds in ended:
        version = task_id, number
        statuses[version].append(status)
        if milliseconds is not None:
            bound[version].duration.observe(milliseconds / 1_000)
    for version, seen in statuses.items():
        for status, counter in bound[version].ended.items():
            counter.inc(seen.count(status))
    for task_id, number, kind in repeated:
        one = bound[task_id, number]
        (one.lost if kind is OutcomeKind.LOST else one.retried).inc()


async def _bound(versions: set[Version], look: Look) -> dict[Version, OfInstances]:
    try:
        known = await look(versions)
    except StoreError:  # what is counted without its names still makes the sums right
        known = {}
    return {
        version: of_instances("", "") if one is None else of_instances(one.group, one.type.value)
        for version in versions
        for one in [known.get(version)]
    }
