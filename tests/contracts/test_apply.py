"""Apply: tasks are made as their file has them, all or none, and what others did to them is told and undone."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.audits import kept, on_behalf
from contracts.plans import statements
from contracts.setting import OWNER, actions, apply, change, entry, fields, found, set_of
from hourhand.model.answers import Aftermath
from hourhand.model.audit import Author
from hourhand.model.errors import Conflict, DuplicateName, InvalidInput, NotFound
from hourhand.model.pause import PauseScope
from hourhand.model.task import Declaration, TaskDefinition
from hourhand.model.words import TaskType
from hourhand.store import apply as applying
from hourhand.store import edit, open_store
from hourhand.store.verbs import applying as verb

if TYPE_CHECKING:
    from contracts.world import World

ADA = Author(id="user:1", name="ada")


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


# Drift


async def test_what_somebody_changed_is_told_and_put_back(world: World) -> None:
    await apply(world, entry(priority=3, command=["a"]))
    task = await found(world)
    await world.store.edit_task(task.id, {"priority": 9, "payload": {"command": ["x"]}, "enabled": False}, by="bob")
    edited = await found(world)
    for dry_run in (True, False):
        drift = change(await apply(world, entry(priority=3, command=["a"]), dry_run=dry_run)).drift
        assert drift is not None
        assert (drift.by, drift.at, drift.deleted) == ("bob", edited.updated_at, False)
        assert set(drift.fields) == {"priority", "payload.command", "enabled"}
    task = await found(world)
    assert (task.priority, task.payload, task.enabled) == (3, {"command": ["a"]}, True)
    assert change(await apply(world, entry(priority=3, command=["a"]))).drift is None


async def test_only_what_is_undone_is_drift(world: World) -> None:
    await apply(world, entry("up"), entry(priority=3))
    task = await found(world)
    changes = {"priority": 4, "owner": "bob", "dependency_ids": [(await found(world, "up")).id]}
    await world.store.edit_task(task.id, changes, by="bob")
    done = await apply(world, entry("up"), entry(priority=4, timezone="Asia/Tokyo"))
    drift = change(done).drift
    assert drift is not None
    assert set(drift.fields) == {"owner", "depends_on"}
    assert fields(change(done)).keys() == {"owner", "depends_on", "timezone"}


async def test_an_edit_that_was_taken_back_is_no_drift(world: World) -> None:
    await apply(world, entry(priority=3))
    task = await found(world)
    for priority in (4, 3):
        await world.store.edit_task(task.id, {"priority": priority}, by="bob")
    assert change(await apply(world, entry(priority=3))).drift is None
    assert change(await apply(world, entry(priority=1))).drift is None


async def test_what_somebody_deleted_is_told_and_made_again(world: World) -> None:
    await apply(world, entry())
    task = await found(world)
    await on_behalf(world, Author(id="user:2", name="bob")).store.delete_task(task.id, by="bob")
    seen = await apply(world, entry(), dry_run=True)
    done = await apply(world, entry())
    assert change(seen) == change(done)
    assert actions(done) == {"load": "create"}
    drift = change(done).drift
    assert drift is not None
    assert (drift.by, drift.deleted) == ("bob", True)
    again = await found(world)
    assert again.id != task.id
    await apply(world, prune=True)
    assert change(await apply(world, entry())).drift is None


async def test_who_deleted_it_may_be_unknown(world: World) -> None:
    await apply(world, entry())
    await world.store.delete_task((await found(world)).id, by="bob")
    drift = change(await apply(world, entry())).drift
    assert drift is not None
    assert drift.by is None


async def test_a_rename_is_named_and_not_guessed(world: World) -> None:
    await apply(world, entry())
    await world.store.edit_task((await found(world)).id, {"name": "renamed"}, by="bob")
    done = await apply(world, entry())
    assert actions(done) == {"load": "create", "renamed": "gone"}
    assert "bob has renamed it from 'load'" in str(change(done, "renamed").reason)


async def test_a_deleted_dependency_is_named_as_such(world: World) -> None:
    up = await world.task("up")
    await apply(world, entry("load", "up"))
    await world.store.delete_task(up.id, force=True, by="bob")
    assert fields(change(await apply(world, entry()))) == {"depends_on": (["up (deleted)"], [])}


# What is refused


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


# Many at once


@pytest.mark.parametrize("existing", [False, True])
async def test_of_two_that_apply_at_once_one_follows_the_other(world: World, *, existing: bool) -> None:
    if existing:
        await apply(world, entry("a"), entry("b"))
    said = [
        [entry("a", "b", priority=number), entry("b", priority=number)]
        if number % 2
        else [entry("a", priority=number), entry("b", "a", priority=number)]
        for number in range(8)
    ]
    answers = await asyncio.gather(*[apply(world, *each) for each in said])
    a, b = await found(world, "a"), await found(world, "b")
    assert a.priority == b.priority
    assert (bool(a.dependency_ids), bool(b.dependency_ids)) == (bool(a.priority % 2), not a.priority % 2)
    assert sum(actions(answer)["a"] == "create" for answer in answers) == (not existing)


async def test_two_processes_on_one_database_apply_at_once(cluster_world: World, postgresql_url: str) -> None:
    others = [await open_store(postgresql_url) for _ in range(3)]
    try:
        wanted = set_of(*[entry(f"t{n}", *[f"t{n - 1}"] * (n > 0)) for n in range(20)])
        answers = await asyncio.gather(
            *[store.apply(wanted, by="ada") for store in (cluster_world.store, *others)],
        )
        assert sorted(actions(one)["t0"] for one in answers) == ["create", "unchanged", "unchanged", "unchanged"]
    finally:
        for one in others:
            await one.close()


async def test_a_name_that_is_taken_in_between_is_planned_with_anew(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0

    async def first_fails(tx: Any, *given: Any, **more: Any) -> Any:
        nonlocal tried
        tried += 1
        if tried == 1:
            raise DuplicateName("task", "load")
        return await edit.create_task(tx, *given, **more)

    monkeypatch.setattr(applying, "create_task", first_fails)
    assert actions(await apply(world, entry())) == {"load": "create"}
    assert tried == 2
    monkeypatch.setattr(applying, "create_task", lambda *_, **__: _taken())
    with pytest.raises(DuplicateName):
        await apply(world, entry("other"))
    assert verb._TRIES > 1  # noqa: SLF001


async def _taken() -> None:
    raise DuplicateName("task", "other")


async def test_how_many_statements_it_takes_does_not_depend_on_how_many_tasks_there_are(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    for many in (3, 60):
        said = [entry(f"t{n}", *["t0"] * (n > 0)) for n in range(many)]
        await apply(world, *said)
        for dry_run in (False, True):
            with statements(monkeypatch) as seen:
                assert set(actions(await apply(world, *said, dry_run=dry_run)).values()) == {"unchanged"}
            counts.append(len(seen))
    assert counts[:2] == counts[2:]
    assert max(counts) <= 6


async def test_what_follows_is_looked_after(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[Aftermath] = []

    async def follow(_: object, aftermath: Aftermath) -> None:
        followed.append(aftermath)

    await apply(world, entry("up"), entry("load", "up", schedule="@every 1h"))
    await world.submit(await found(world), wait=True)
    monkeypatch.setattr(type(world.store), "follow", follow)
    await apply(world, entry("up"), entry("load", "up", schedule="@every 1h", upstream_failure_policy="fail"))
    assert followed[0].waiting
