"""Creating several tasks at once: all of them or none, each recorded, within reach."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from contracts.audits import ADA, kept, on_behalf
from hourhand.model.audit import Author
from hourhand.model.errors import DuplicateName, Forbidden, HourhandError, InvalidInput
from hourhand.model.filters import TaskFilter
from hourhand.model.task import TaskDefinition
from hourhand.model.words import TaskType

if TYPE_CHECKING:
    from contracts.world import World


def task(name: str, schedule: str = "@daily", group: str = "default") -> TaskDefinition:
    payload = {"command": ["true"]}
    return TaskDefinition(name=name, type=TaskType.COMMAND, payload=payload, schedule=schedule, group=group)


async def names(world: World) -> list[str]:
    return [one.name for one in (await world.store.list_tasks(TaskFilter())).items]


async def test_they_are_made_and_told_in_the_order_given(world: World) -> None:
    made = await world.store.create_tasks([task("b"), task("a", "*/5 * * * *")], by="ann")
    assert [(one.name, one.version, one.created_by) for one in made] == [("b", 1, "ann"), ("a", 1, "ann")]
    assert all(one.next_fire_at for one in made)
    assert await names(world) == ["a", "b"]
    assert await world.store.create_tasks([], by="ann") == []


async def test_a_name_that_is_taken_leaves_none(world: World) -> None:
    await world.task("m")
    with pytest.raises(DuplicateName, match="'m'"):
        await on_behalf(world).store.create_tasks([task("a"), task("m"), task("z")], by="ann")
    with pytest.raises(DuplicateName, match="'a'"):
        await on_behalf(world).store.create_tasks([task("a"), task("a")], by="ann")
    assert await names(world) == ["m"]
    assert await kept(world) == []


async def test_what_is_wrong_with_one_is_told_by_its_place_and_leaves_none(world: World) -> None:
    with pytest.raises(InvalidInput) as refused:
        await world.store.create_tasks([task("a"), task("b", "2001-01-01T00:00:00Z")], by="ann")
    assert [each.field for each in refused.value.errors] == ["tasks.1.schedule"]
    with pytest.raises(HourhandError, match="nowhere"):
        await world.store.create_tasks([task("a"), task("b", group="nowhere")], by="ann")
    assert await names(world) == []


async def test_each_is_recorded(world: World) -> None:
    made = await on_behalf(world).store.create_tasks([task("a"), task("b")], by="ann")
    entries = await kept(world)
    assert sorted((one.action, one.resource_id, one.user_name) for one in entries) == [
        ("create", str(one.id), ADA.name) for one in made
    ]


async def test_one_out_of_reach_leaves_none(world: World) -> None:
    await world.store.add_group("alpha")
    ed = world.store.on_behalf(Author(id="token:7", name="ed", groups=frozenset({"alpha"})))
    with pytest.raises(Forbidden):
        await ed.create_tasks([task("a", group="alpha"), task("b")], by="ed")
    assert await names(world) == []


async def test_of_two_who_make_the_same_names_at_once_one_makes_all(world: World) -> None:
    for number in range(5):
        some = [task(f"{number}-{letter}") for letter in "abcdefgh"]
        done = await asyncio.gather(
            world.store.create_tasks(some, by="ann"),
            world.store.create_tasks(some[::-1], by="bob"),
            return_exceptions=True,
        )
        assert sorted(type(one) is list for one in done) == [False, True]
        assert sum(isinstance(one, DuplicateName) for one in done) == 1
        authors = {one.created_by for one in (await world.store.list_tasks(TaskFilter(q=f"{number}-"))).items}
        assert len(authors) == 1
