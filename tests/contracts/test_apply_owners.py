"""Apply: what a file no longer has, and what others manage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contracts.setting import OWNER, actions, apply, change, entry, found
from hourhand.model.errors import Conflict, NotFound
from hourhand.model.task import Declaration, TaskDefinition
from hourhand.model.words import TaskType

if TYPE_CHECKING:
    from contracts.world import World


# What is no longer in the file


async def test_what_is_no_longer_in_the_file_stays_and_is_named(world: World) -> None:
    await apply(world, entry(), entry("old"))
    done = await apply(world, entry())
    assert actions(done) == {"load": "unchanged", "old": "gone"}
    assert (await found(world, "old")).version == 1


async def test_pruned_tasks_are_deleted_dependents_first(world: World) -> None:
    await apply(world, entry("a"), entry("b", "a"), entry("c", "b"), entry("kept", "a"))
    done = await apply(world, entry("kept"), prune=True)
    assert actions(done) == {"kept": "edit", "a": "delete", "b": "delete", "c": "delete"}
    assert [task.name for task in (await world.store.list_tasks()).items] == ["kept"]


async def test_what_others_depend_on_is_not_pruned(world: World) -> None:
    await apply(world, entry(), entry("old"))
    await world.task("outside", dependency_ids=((await found(world, "old")).id,))
    seen = await apply(world, entry(priority=1), prune=True, dry_run=True)
    assert actions(seen) == {"load": "edit", "old": "refused"}
    assert "outside depends on it" in str(change(seen, "old").reason)
    with pytest.raises(Conflict, match="'old': it is no longer in the file, but outside depends on it"):
        await apply(world, entry(priority=1), prune=True)
    assert (await found(world)).priority == 5


async def test_what_a_task_of_the_file_depends_on_is_not_pruned(world: World) -> None:
    await apply(world, entry(), entry("old"))
    with pytest.raises(Conflict, match="load depends on it"):
        await apply(world, entry("load", "old"), prune=True)


async def test_tasks_of_other_sets_are_left_alone(world: World) -> None:
    await apply(world, entry("theirs"), name="other")
    await world.task("nobodys")
    assert actions(await apply(world, entry(), prune=True)) == {"load": "create"}
    assert await found(world, "theirs")
    assert await found(world, "nobodys")


async def test_a_pruned_task_that_comes_back_is_nobodys_drift(world: World) -> None:
    await apply(world, entry(), entry("old"))
    await apply(world, entry(), prune=True)
    assert change(await apply(world, entry(), entry("old")), "old").drift is None


# Who else manages it


async def test_a_task_that_an_app_declares_is_refused_unless_it_is_taken_over(world: World) -> None:
    declared = TaskDefinition(name="load", type=TaskType.COMMAND, payload={"command": ["true"]})
    await world.store.declare([Declaration(definition=declared)], app="books", release=1)
    seen = await apply(world, entry(), dry_run=True)
    assert actions(seen) == {"load": "refused"}
    with pytest.raises(Conflict, match="'load': it is managed by app:books"):
        await apply(world, entry(), entry("new"))
    with pytest.raises(NotFound):
        await found(world, "new")
    done = await apply(world, entry(), take_over=True)
    assert (actions(done), change(done).reason) == ({"load": "edit"}, "taken over from app:books")
    assert (await found(world)).managed_by == OWNER
    assert (await world.store.declare([Declaration(definition=declared)], app="books", release=2)).kept
    assert actions(await apply(world, entry())) == {"load": "unchanged"}


async def test_a_task_of_another_set_is_refused_unless_it_is_taken_over(world: World) -> None:
    await apply(world, entry(), name="other")
    with pytest.raises(Conflict, match="managed by file:other"):
        await apply(world, entry())
    await apply(world, entry(priority=1), take_over=True)
    assert actions(await apply(world, name="other", prune=True)) == {}
    assert (await found(world)).priority == 1
