"""Ids that were never given out, and such as no store could give out: there is no such thing, whoever asks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.errors import NotFound
from hourhand.model.filters import LineFilter
from hourhand.model.instance import Submission
from hourhand.model.words import Status

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from contracts.world import World
    from hourhand.store import Store

NOW = datetime.now(UTC)
NEVER = [2**63, 2**70, -(2**70)]
OF_TASKS: dict[str, Callable[[Store, int], Awaitable[Any]]] = {
    "get_task": lambda store, one: store.get_task(one),
    "edit_task": lambda store, one: store.edit_task(one, {"priority": 1}, by="ann"),
    "delete_task": lambda store, one: store.delete_task(one, by="ann"),
    "backfill": lambda store, one: store.backfill(one, NOW, NOW, by="ann"),
    "submit": lambda store, one: store.submit([Submission(task_id=one)]),
}
OF_INSTANCES: dict[str, Callable[[Store, int], Awaitable[Any]]] = {
    "get_instance": lambda store, one: store.get_instance(one),
    "cancel": lambda store, one: store.cancel(one, reason="test"),
    "retry": lambda store, one: store.retry(one),
    "dispatch": lambda store, one: store.dispatch([one]),
}
# Of an id that was never given out there is simply nothing to list.
LISTS: dict[str, Callable[[Store, int], Awaitable[Any]]] = {
    "list_versions": lambda store, one: store.list_versions(one),
    "list_attempts": lambda store, one: store.list_attempts(one),
    "read_lines": lambda store, one: store.read_lines(one),
    "search_lines": lambda store, one: store.search_lines(one, LineFilter(q="x")),
}


@pytest.mark.parametrize("one", [*NEVER, 0, -1, 12345])
@pytest.mark.parametrize("verb", OF_TASKS)
async def test_there_is_no_such_task(world: World, verb: str, one: int) -> None:
    await world.task()
    with pytest.raises(NotFound, match=str(one)):
        await OF_TASKS[verb](world.store, one)


@pytest.mark.parametrize("one", [*NEVER, 0, -1, 12345])
async def test_there_is_no_such_version(world: World, one: int) -> None:
    task = await world.task()
    found = await world.store.definitions([(one, 1), (task.id, one), (task.id, 1)])
    assert list(found) == [(task.id, 1)]


@pytest.mark.parametrize("one", [*NEVER, 0, -1, 1, 12345])
@pytest.mark.parametrize("verb", OF_INSTANCES)
async def test_there_is_no_such_instance(world: World, verb: str, one: int) -> None:
    """Nor is the first id gone before it was given out."""
    with pytest.raises(NotFound, match=str(one)):
        await OF_INSTANCES[verb](world.store, one)


@pytest.mark.parametrize("one", NEVER)
@pytest.mark.parametrize("verb", LISTS)
async def test_of_what_cannot_be_there_is_nothing_to_list(world: World, verb: str, one: int) -> None:
    with pytest.raises(NotFound, match=str(one)):
        await LISTS[verb](world.store, one)


async def test_a_clock_that_was_ahead_hides_nothing(cluster_world: World) -> None:
    """It entered a day that has not come as that on which the ids from here on were given out."""
    world = cluster_world
    await world.executor()
    task = await world.task()
    await world.submit(task)
    await world.run_all()
    await world.execute("INSERT INTO id_days SELECT current_date + 2, last_value + 1 FROM instance_ids")

    one = await world.submit(task)
    await world.run_all()
    assert (await world.store.get_instance(one)).status is Status.SUCCESS

    # Nor once that day has come.
    await world.store.ensure_partitions()
    assert await world.count("id_days", "day > current_date") == 0


@pytest.mark.parametrize("name", ["", "nobody", "a\x00b", "x" * 10_000])
async def test_there_is_no_task_of_that_name(world: World, name: str) -> None:
    with pytest.raises(NotFound):
        await world.store.find_task(name)
