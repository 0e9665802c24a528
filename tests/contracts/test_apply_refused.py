"""Apply: what is wrong is refused as a whole, all of it at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.audits import kept, on_behalf
from contracts.setting import actions, apply, change, entry, fields, found, set_of
from hourhand.model.audit import Author
from hourhand.model.errors import Conflict, InvalidInput, NotFound
from hourhand.store import apply as applying

if TYPE_CHECKING:
    from contracts.world import World

ADA = Author(id="user:1", name="ada")


async def test_everything_that_is_wrong_is_told_at_once_by_its_place(world: World) -> None:
    await world.task("loader")
    await world.store.add_group("billing")
    gone = "@at 2001-01-01T00:00:00Z"
    with pytest.raises(InvalidInput) as refused:
        await apply(
            world,
            entry("a", "laoder"),
            entry("b", group="biling"),
            entry("c", group="none of them"),
            entry("d", schedule=gone),
            entry("fine"),
        )
    told = {error.field: error.message for error in refused.value.errors}
    assert told.keys() == {"tasks.0.depends_on", "tasks.1.group", "tasks.2.group", "tasks.3.schedule"}
    assert "did you mean 'loader'?" in told["tasks.0.depends_on"]
    assert "did you mean 'billing'? Else list it under groups" in told["tasks.1.group"]
    assert "list it under groups, and it will be made" in told["tasks.2.group"]
    assert "lies in the past" in told["tasks.3.schedule"]
    with pytest.raises(NotFound):
        await found(world, "fine")


async def test_a_date_that_has_passed_stays_where_it_is(world: World) -> None:
    soon = (await world.store.now() + timedelta(seconds=30)).isoformat(timespec="seconds").replace("+00:00", "Z")
    await apply(world, entry(schedule=f"@at {soon}"))
    await world.execute("UPDATE tasks SET schedule = '@at 2001-01-01T00:00:00Z'")
    done = await apply(world, entry(schedule="@at 2001-01-01T00:00:00Z", priority=1))
    assert fields(change(done)) == {"priority": (5, 1)}


async def test_a_cycle_is_named_be_it_by_way_of_others(world: World) -> None:
    with pytest.raises(InvalidInput, match=r"tasks.0.depends_on: these dependencies form a cycle: a → b → a"):
        await apply(world, entry("a", "b"), entry("b", "a"))
    await apply(world, entry("a"))
    await world.task("outside", dependency_ids=((await found(world, "a")).id,))
    with pytest.raises(InvalidInput, match="a → outside → a"):
        await apply(world, entry("a", "outside"), dry_run=True)


async def test_a_failure_at_the_end_leaves_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await apply(world, entry("old"))

    async def fails(*_: Any, **__: Any) -> None:
        raise Conflict("at the very end")

    monkeypatch.setattr(applying, "delete_task", fails)
    with pytest.raises(Conflict, match="at the very end"):
        await apply(on_behalf(world, ADA), entry(), group_of_its_own(), groups=("billing",), prune=True)
    assert [task.name for task in (await world.store.list_tasks()).items] == ["old"]
    assert "billing" not in [group.name for group in await world.store.list_groups()]
    assert await kept(world) == []


def group_of_its_own() -> dict[str, Any]:
    return entry("billed", group="billing")


async def test_a_set_with_tasks_that_are_wrong_is_only_looked_at(world: World) -> None:
    await apply(world, entry("a"))
    wanted = replace(set_of(entry("b", "c")), unread=("a", "c"))
    seen = await world.store.apply(wanted, by="ada")
    assert (seen.applied, actions(seen)) == (False, {"b": "create"})
