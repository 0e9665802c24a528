"""Apply: tasks are made as their file has them, all or none; a dry run only tells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from contracts.setting import OWNER, actions, apply, change, entry, fields, found, set_of
from hourhand.model.errors import Conflict, InvalidInput, NotFound
from hourhand.model.pause import PauseScope

if TYPE_CHECKING:
    from contracts.world import World


# What is written


async def test_tasks_are_created_in_the_order_of_their_dependencies(world: World) -> None:
    done = await apply(world, entry("report", "load", schedule="@upstream"), entry(priority=3))
    assert actions(done) == {"report": "create", "load": "create"}
    assert done.applied
    load, report = await found(world), await found(world, "report")
    assert (load.managed_by, load.created_by, load.priority) == (OWNER, "ada", 3)
    assert report.dependency_ids == (load.id,)


async def test_applying_the_same_again_changes_nothing(world: World) -> None:
    said = [entry("report", "load", schedule=" 0  2 * * * ", tags=["a"]), entry(executor_labels={"zone": "eu"})]
    await apply(world, *said)
    before = await found(world, "report")
    again = await apply(world, *said)
    assert actions(again) == {"report": "unchanged", "load": "unchanged"}
    assert await found(world, "report") == before
    assert len((await world.store.list_versions(before.id)).items) == 1


async def test_what_differs_is_edited_and_told_field_by_field(world: World) -> None:
    await apply(world, entry(priority=3, command=["a"], payload={"env": {"PASSWORD": "canary-1"}}), entry("report"))
    done = await apply(
        world,
        entry(schedule="@daily", command=["b"], payload={"env": {"PASSWORD": "canary-2"}}),
        entry("report", "load", enabled=False),
    )
    told = fields(change(done))
    assert told.pop("payload.env") == ({"PASSWORD": "***"}, {"PASSWORD": "*** (changed)"})
    assert told == {"schedule": ("@manual", "@daily"), "priority": (3, 5), "payload.command": (["a"], ["b"])}
    assert fields(change(done, "report")) == {"enabled": (True, False), "depends_on": ([], ["load"])}
    load = await found(world)
    assert (load.version, load.schedule, load.priority) == (2, "@daily", 5)
    assert load.payload == {"command": ["b"], "env": {"PASSWORD": "canary-2"}}


async def test_groups_that_are_listed_are_made(world: World) -> None:
    done = await apply(world, entry(group="billing"), groups=("billing", "default"))
    assert done.groups == ("billing",)
    assert (await found(world)).group == "billing"
    assert (await apply(world, entry(group="billing"), groups=("billing",))).groups == ()


async def test_a_task_made_by_hand_is_adopted(world: World) -> None:
    await world.task("same", payload={"command": ["true"]})
    await world.task("other", priority=1)
    done = await apply(world, entry("same"), entry("other"))
    assert actions(done) == {"same": "adopt", "other": "adopt"}
    assert (fields(change(done, "same")), fields(change(done, "other"))) == ({}, {"priority": (1, 5)})
    assert (await found(world, "same")).managed_by == OWNER
    assert actions(await apply(world, entry("same"), entry("other"))) == {"same": "unchanged", "other": "unchanged"}


async def test_dependencies_may_turn_round(world: World) -> None:
    await apply(world, entry("a", "b"), entry("b"))
    assert actions(await apply(world, entry("a"), entry("b", "a"))) == {"a": "edit", "b": "edit"}
    assert (await found(world, "b")).dependency_ids == ((await found(world, "a")).id,)


async def test_dependencies_may_turn_round_by_way_of_others(world: World) -> None:
    await apply(world, entry("x"), entry("s", "x"))
    await world.task("between", dependency_ids=((await found(world, "s")).id,))
    done = await apply(world, entry("x", "between"), entry("s"))
    assert actions(done) == {"x": "edit", "s": "edit"}


async def test_a_pause_stays(world: World) -> None:
    await apply(world, entry(schedule="@hourly"))
    task = await found(world)
    await world.store.pause(PauseScope.TASK, task.id, reason="a migration", by="ada")
    await apply(world, entry(schedule="@daily"))
    assert len(await world.store.list_pauses()) == 1


async def test_true_is_not_one_and_one_is_one_however_it_is_written(world: World) -> None:
    def said(value: object) -> dict[str, Any]:
        return entry(handler="h", payload={"args": {"on": value, "list": [value]}})

    await apply(world, said(1))
    done = await apply(world, said(True))  # noqa: FBT003
    assert fields(change(done)) == {"payload.args": ({"on": 1, "list": [1]}, {"on": True, "list": [True]})}
    assert (await found(world)).payload["args"]["on"] is True
    for value in (1e22, 10**22, 2.0, 2):
        await apply(world, said(value))
        assert actions(await apply(world, said(value))) == {"load": "unchanged"}
    assert (await found(world)).version == 4


# Dry runs and plans


async def test_a_dry_run_tells_the_same_and_changes_nothing(world: World) -> None:
    said = entry(group="billing")
    seen = await apply(world, said, groups=("billing",), dry_run=True)
    assert (seen.applied, seen.groups, actions(seen)) == (False, ("billing",), {"load": "create"})
    with pytest.raises(NotFound):
        await found(world)
    done = await apply(world, said, groups=("billing",), plan_hash=seen.plan_hash)
    assert replace(done, applied=False) == seen


async def test_a_plan_that_is_no_longer_right_is_refused(world: World) -> None:
    await apply(world, entry())
    seen = await apply(world, entry(priority=1), dry_run=True)
    await world.store.edit_task((await found(world)).id, {"owner": "bob"}, by="bob")
    with pytest.raises(Conflict, match="has changed since plan"):
        await apply(world, entry(priority=1), plan_hash=seen.plan_hash)
    assert (await found(world)).priority == 5


async def test_a_plan_of_another_file_is_refused(world: World) -> None:
    seen = await apply(world, entry(priority=1), dry_run=True)
    with pytest.raises(Conflict, match="has changed since plan"):
        await apply(world, entry(priority=2), plan_hash=seen.plan_hash)


async def test_what_others_will_have_made_is_there_for_a_dry_run_alone(world: World) -> None:
    said = set_of(entry("report", "extract", group="billing"), groups=("shared",))
    coming = replace(said, expected_tasks=("extract",), expected_groups=("billing", "shared"))
    seen = await world.store.apply(coming, by="ada", dry_run=True)
    assert (seen.groups, actions(seen)) == ((), {"report": "create"})
    with pytest.raises(InvalidInput) as refused:
        await world.store.apply(coming, by="ada")
    assert [error.field for error in refused.value.errors] == ["tasks.0.group", "tasks.0.depends_on"]
