"""Requests that come again create nothing again, and are recorded once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.audits import kept, on_behalf, request
from contracts.elapse import elapse
from hourhand.model.errors import Conflict, Gone, InvalidInput
from hourhand.model.instance import Submission
from hourhand.model.task import TaskDefinition
from hourhand.model.words import TaskType
from hourhand.store import open_store

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.audit import Once
    from hourhand.store import Store

DEFINITION = TaskDefinition(name="nightly", type=TaskType.COMMAND, payload={"command": ["true"]})


def again(world: World, once: Once | None = None) -> Store:
    return on_behalf(world, once=once or request()).store


async def test_a_task_is_created_once(world: World) -> None:
    first = await again(world).create_task(DEFINITION, by="ada")
    assert await again(world).create_task(DEFINITION, by="ada") == first
    assert await world.count("tasks") == 1
    assert len(await kept(world)) == 1


async def test_a_repetition_is_answered_with_the_task_as_it_is_now(world: World) -> None:
    first = await again(world).create_task(DEFINITION, by="ada")
    await world.store.edit_task(first.id, {"name": "other"}, by="test")
    assert (await again(world).create_task(DEFINITION, by="ada")).name == "other"


async def test_a_repetition_after_the_task_was_deleted_is_told_so(world: World) -> None:
    first = await again(world).create_task(DEFINITION, by="ada")
    await world.store.delete_task(first.id, by="test")
    with pytest.raises(Gone, match=f"task {first.id}, which was deleted since: choose a new Idempotency-Key"):
        await again(world).create_task(DEFINITION, by="ada")
    assert await world.count("tasks") == 1


async def test_a_group_is_made_once(world: World) -> None:
    first = await again(world).add_group("billing")
    assert await again(world).add_group("billing") == first
    assert len(await kept(world)) == 1


async def test_an_instance_is_submitted_once(world: World) -> None:
    task = await world.task()
    ((first,), (second,)) = [await again(world).submit([Submission(task_id=task.id)]) for _ in range(2)]
    assert second == replace(first, existing=True)
    assert await world.count("task_instances") == 1
    assert len(await kept(world)) == 1


async def test_several_instances_are_submitted_once(world: World) -> None:
    task = await world.task()
    submissions = [Submission(task_id=task.id, args={"n": n}) for n in range(3)]
    first = await again(world).submit(submissions)
    other = await again(world, request("another")).submit(submissions)
    assert await again(world).submit(submissions) == [replace(one, existing=True) for one in first]
    assert len({one.instance_id for one in (*first, *other)}) == await world.count("task_instances") == 6
    assert [(await world.store.get_instance(one.instance_id)).args for one in first] == [{"n": n} for n in range(3)]
    assert len(await kept(world)) == 6


async def test_an_ended_instance_is_still_the_answer(world: World) -> None:
    task = await world.task()
    await world.executor()
    (first,) = await again(world).submit([Submission(task_id=task.id)])
    await world.run_all()
    (second,) = await again(world).submit([Submission(task_id=task.id)])
    assert (second.instance_id, second.status.value) == (first.instance_id, "success")


async def test_a_backfill_is_made_once(world: World) -> None:
    task = await world.task(schedule="@every 60s", misfire_policy="skip")
    await elapse(world, 330)
    await world.store.materialise()
    begin, end = task.anchored_at - timedelta(seconds=300), await world.store.now()
    made = await again(world).backfill(task.id, begin, end, by="ada")
    assert made > 0
    assert await again(world).backfill(task.id, begin, end, by="ada") == made
    assert len(await kept(world)) == 1


async def test_what_was_refused_may_be_tried_again_under_its_key(world: World) -> None:
    blocking = await world.task("nightly")
    with pytest.raises(Conflict):
        await again(world).create_task(DEFINITION, by="ada")
    assert await world.count("idempotency_keys") == 0
    await world.store.delete_task(blocking.id, by="test")
    assert (await again(world).create_task(DEFINITION, by="ada")).id != blocking.id


async def test_another_request_under_the_same_key_is_refused(world: World) -> None:
    task = await again(world).create_task(DEFINITION, by="ada")
    other = again(world, request(body="other"))
    for attempt in (
        lambda: other.create_task(replace(DEFINITION, name="other"), by="ada"),
        lambda: other.add_group("other"),
        lambda: other.submit([Submission(task_id=task.id)]),
    ):
        with pytest.raises(InvalidInput, match="was used for another request"):
            await attempt()
    assert (await world.count("tasks"), await world.count("task_instances")) == (1, 0)


async def test_the_same_key_of_another_route_is_another_request(world: World) -> None:
    task = await again(world).create_task(DEFINITION, by="ada")
    (one,) = await again(world, request(route="/tasks/1/run")).submit([Submission(task_id=task.id)])
    (two,) = await again(world, request(route="/tasks/2/run")).submit([Submission(task_id=task.id)])
    assert one.instance_id != two.instance_id


@pytest.mark.parametrize("what", ["task", "group", "instance", "instances"])
async def test_of_many_at_once_one_creates_and_all_get_its_answer(world: World, store_url: str, what: str) -> None:
    """Two API processes on PostgreSQL; on SQLite there is one, with many callers."""
    task = await world.task("upstream")
    shared = world.store.database.shared
    stores = [world.store, await open_store(store_url) if shared else world.store]

    async def ask(store: Store) -> Any:
        bound = again(replace(world, store=store))
        if what == "task":
            return (await bound.create_task(DEFINITION, by="ada")).id
        if what == "group":
            return (await bound.add_group("billing")).id
        many = [Submission(task_id=task.id)] * (1 if what == "instance" else 3)
        return [one.instance_id for one in await bound.submit(many)]

    try:
        answers = await asyncio.gather(*[ask(stores[n % 2]) for n in range(8)])
    finally:
        if shared:
            await stores[1].close()
    assert answers == [answers[0]] * 8
    assert len(await kept(world)) == (3 if what == "instances" else 1)
