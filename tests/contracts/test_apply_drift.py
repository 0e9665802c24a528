"""Apply: what others did to the tasks of a file is told and undone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from contracts.audits import on_behalf
from contracts.setting import actions, apply, change, entry, fields, found
from hourhand.model.audit import Author

if TYPE_CHECKING:
    from contracts.world import World


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


async def test_what_the_file_has_taken_up_is_no_drift_later(world: World) -> None:
    await apply(world, entry(priority=5))
    await world.store.edit_task((await found(world)).id, {"priority": 7}, by="bob")
    edited = await found(world)
    assert actions(await apply(world, entry(priority=7))) == {"load": "unchanged"}
    assert replace(await found(world), declared_hash=edited.declared_hash) == edited
    done = await apply(world, entry(priority=8))
    assert (actions(done), change(done).drift) == ({"load": "edit"}, None)
    await world.store.edit_task(edited.id, {"priority": 7}, by="bob")
    assert change(await apply(world, entry(priority=8))).drift is not None
