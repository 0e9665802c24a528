"""Whoever is limited to groups stays within them, whatever moves between the look and the change."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from contracts.audits import kept, on_behalf, request
from contracts.explained import EVERY
from contracts.windowing import opened
from hourhand.model.audit import Author
from hourhand.model.errors import Conflict, Forbidden, HasDependents, InvalidInput
from hourhand.model.instance import Submission
from hourhand.model.pause import PauseScope
from hourhand.model.words import OutcomeKind, Role
from hourhand.store import reach
from hourhand.store.statements import Statement

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from contracts.world import World
    from hourhand.model.task import Task
    from hourhand.store import Store
    from hourhand.store.database import Tx

ED = Author(id="token:7", name="ed", groups=frozenset({"alpha"}))
NOBODY = Author(id="token:8", name="nobody", groups=frozenset())
BOTH = Author(id="token:9", name="both", groups=frozenset({"alpha", "beta"}))
ADMIN = Author(id="user:1", name="admin")


@pytest.fixture
async def world(world: World) -> World:
    """Return a world of two groups."""
    return await _with_groups(world)


@pytest.fixture
async def cluster_world(cluster_world: World) -> World:
    """Return the same on PostgreSQL."""
    return await _with_groups(cluster_world)


async def _with_groups(world: World) -> World:
    for name in ("alpha", "beta"):
        await world.store.add_group(name)
    return world


async def _edit(store: Store, task: Task) -> object:
    return await store.edit_task(task.id, {"description": "by ed"}, by="ed")


async def _delete(store: Store, task: Task) -> None:
    await store.delete_task(task.id, by="ed")


async def _backfill(store: Store, task: Task) -> object:
    now = await store.now()
    return await store.backfill(task.id, now - timedelta(hours=1), now, by="ed")


async def _submit(store: Store, task: Task) -> object:
    return await store.submit([Submission(task_id=task.id)])


async def _pause(store: Store, task: Task) -> object:
    return await store.pause(PauseScope.TASK, task.id, reason="none of ed's", by="ed")


async def _pause_group(store: Store, task: Task) -> object:
    return await store.pause(PauseScope.GROUP, task.group_id, reason="none of ed's", by="ed")


async def _pause_all(store: Store, _: Task) -> object:
    return await store.pause(PauseScope.ALL, reason="none of ed's", by="ed")


async def _get(store: Store, task: Task) -> object:
    return await store.get_task(task.id)


CHANGES = [_edit, _delete, _backfill, _submit, _pause]


@pytest.mark.parametrize("change", [*CHANGES, _pause_group, _pause_all, _get])
@pytest.mark.parametrize("author", [ED, NOBODY])
async def test_a_task_of_another_group_is_left_alone(
    world: World, change: Callable[[Store, Task], Awaitable[object]], author: Author
) -> None:
    task = await world.task(group="beta", schedule=EVERY)
    with pytest.raises(Forbidden, match=f"out of reach: '{author.name}' is limited to these groups"):
        await change(on_behalf(world, author).store, task)
    assert (await world.store.get_task(task.id)).version == 1
    assert await world.store.list_pauses() == []
    assert await world.count("task_instances") == 0
    assert await kept(world, user_id=author.id) == []


@pytest.mark.parametrize("change", CHANGES)
async def test_a_task_within_reach_is_not(world: World, change: Callable[[Store, Task], Awaitable[object]]) -> None:
    await change(on_behalf(world, ED).store, await world.task(group="alpha", schedule=EVERY))


@pytest.mark.parametrize("change", CHANGES)
async def test_a_task_that_is_moved_while_somebody_changes_it_is_out_of_reach(
    cluster_world: World, change: Callable[[Store, Task], Awaitable[object]]
) -> None:
    world = cluster_world
    task = await world.task(group="alpha", schedule=EVERY)
    beta = next(one.id for one in await world.store.list_groups() if one.name == "beta")
    moved, waited_for = asyncio.Event(), asyncio.Event()

    async def move(tx: Tx) -> None:
        await tx.run(Statement(text("UPDATE tasks SET group_id = :beta WHERE id = :id")), beta=beta, id=task.id)
        moved.set()
        await waited_for.wait()

    moving = asyncio.create_task(world.store.database.write(move))
    await moved.wait()
    changing = asyncio.create_task(_outcome(change(on_behalf(world, ED).store, task)))
    while not changing.done() and not await world.sql(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    ):
        await asyncio.sleep(0.01)
    waited_for.set()
    await moving
    refused = await changing
    if change is _submit:  # it waits for nobody: what it saw is where its instance belongs
        assert refused is None
        assert await world.count("task_instances", f"group_id <> {task.group_id}") == 0
    else:
        assert isinstance(refused, Forbidden), refused
        assert (await world.store.get_task(task.id)).group == "beta"


async def _outcome(change: Awaitable[object]) -> Exception | None:
    try:
        await change
    except Forbidden as refused:
        return refused
    return None


async def test_no_task_is_made_in_or_moved_to_another_group(world: World) -> None:
    ed = on_behalf(world, ED)
    with pytest.raises(Forbidden, match="group 'beta' is out of reach"):
        await ed.task(group="beta")
    task = await ed.task(group="alpha")
    with pytest.raises(Forbidden, match="group 'beta' is out of reach"):
        await ed.store.edit_task(task.id, {"group": "beta"}, by="ed")


async def test_what_a_request_made_is_not_shown_again_once_it_has_moved(world: World) -> None:
    once = request()
    task = await on_behalf(world, ED, once=once).task("mine", group="alpha")
    await world.store.edit_task(task.id, {"group": "beta"}, by="admin")
    with pytest.raises(Forbidden):
        await on_behalf(world, ED, once=once).task("mine", group="alpha")


async def test_instances_of_another_group_are_left_alone(world: World) -> None:
    await world.executor(group="beta")
    task = await world.task(group="beta")
    failed = await world.submit(task)
    await world.run_all(kind=OutcomeKind.FAILED)
    held = await world.submit(task, held=True)
    mine = await world.submit(await world.task(group="alpha"), held=True)
    ed = on_behalf(world, ED).store
    for refused in (
        ed.dispatch([mine, held]),
        ed.cancel(held, reason="none of ed's"),
        ed.cancel_many([mine, held], reason="none of ed's"),
        ed.retry(failed),
        ed.explain(held),
    ):
        with pytest.raises(Forbidden, match="out of reach"):
            await refused
    for one in (held, mine):
        assert (await world.store.get_instance(one)).blocked_by == "dispatch"
    await ed.dispatch([mine])
    assert await ed.cancel_many([mine], reason="mine") == [mine]
    assert (await ed.retry(mine)).status == "pending"


@pytest.mark.parametrize("many", [False, True])
async def test_an_instance_that_is_retried_into_another_group_meanwhile_is_out_of_reach(
    world: World, monkeypatch: pytest.MonkeyPatch, *, many: bool
) -> None:
    task = await world.task(group="alpha")
    instance_id = await world.submit(task)
    await world.store.cancel(instance_id, reason="first")
    await world.store.edit_task(task.id, {"group": "beta"}, by="admin")
    seen = await world.store.groups_of([instance_id])
    await world.store.retry(instance_id, current_version=True)
    looks = [seen]

    async def look(tx: Tx, ids: Iterable[int]) -> dict[int, str]:
        """As it was before the retry, the first time."""
        return dict(looks.pop()) if looks else await look_now(tx, ids)

    look_now = reach.groups_of
    monkeypatch.setattr(reach, "groups_of", look)
    ed = on_behalf(world, ED).store
    with pytest.raises(Forbidden, match="out of reach"):
        await (ed.cancel_many([instance_id], reason="ed's") if many else ed.cancel(instance_id, reason="ed's"))
    assert looks == []
    assert (await world.store.get_instance(instance_id)).status == "pending"


async def test_a_retry_with_the_current_version_stays_within_reach(world: World) -> None:
    task = await world.task(group="alpha")
    instance_id = await world.submit(task)
    await world.store.cancel(instance_id, reason="first")
    await world.store.edit_task(task.id, {"group": "beta"}, by="admin")
    ed = on_behalf(world, ED).store
    with pytest.raises(Forbidden, match="out of reach"):
        await ed.retry(instance_id, current_version=True)
    assert (await world.store.get_instance(instance_id)).status == "cancelled"
    assert (await ed.retry(instance_id)).status == "pending"


async def test_the_groups_of_many_instances_are_one_look(world: World) -> None:
    await world.executor(group="beta")
    ended = await world.submit(await world.task(group="beta"))
    await world.run_all()
    living = await world.submit(await world.task(group="alpha"))
    assert await world.store.groups_of([living, ended, 999, -1, 2**70]) == {living: "alpha", ended: "beta"}
    assert await world.store.groups_of([]) == {}


async def test_pauses_and_windows_of_another_group_stay(world: World) -> None:
    task = await world.task(group="beta", schedule=EVERY)
    mine = await world.task(group="alpha", schedule=EVERY)
    ed = on_behalf(world, ED)
    pause = await world.store.pause(PauseScope.TASK, task.id, reason="resting", by="admin")
    window = await opened(world, task, PauseScope.GROUP, seconds=60)
    own = await opened(ed, mine, seconds=60)
    for refused in (
        ed.store.resume(pause.id),
        ed.store.delete_window(window.id),
        ed.store.edit_window(window.id, {"reason": "ed's"}, by="ed"),
        ed.store.edit_window(own.id, {"scope_id": task.id}, by="ed"),
        opened(ed, task, seconds=60),
        opened(ed, mine, PauseScope.ALL, seconds=60),
    ):
        with pytest.raises(Forbidden, match="out of reach"):
            await refused
    assert [one.id for one in await world.store.list_pauses()] == [pause.id]
    assert {one.id: one.reason for one in await world.store.list_windows()} == {
        window.id: "the ledger moves",
        own.id: "the ledger moves",
    }
    await ed.store.edit_window(own.id, {"reason": "ed's"}, by="ed")
    await ed.store.delete_window(own.id)


async def test_an_unknown_dependency_and_one_out_of_reach_are_answered_alike(world: World) -> None:
    foreign, gone = await world.task("secret", group="beta"), await world.task("secret, too", group="beta")
    await world.store.delete_task(gone.id, by="admin")
    ed = on_behalf(world, ED)
    mine = await ed.task(group="alpha")
    for one in (foreign.id, gone.id, 999):
        with pytest.raises(InvalidInput) as refused:
            await ed.task(group="alpha", dependency_ids=(one,))
        assert str(refused.value) == f"dependency_ids: there is no task {one} within your groups"
        with pytest.raises(InvalidInput, match=f"there is no task {one} within your groups"):
            await ed.store.edit_task(mine.id, {"dependency_ids": [one]}, by="ed")
    with pytest.raises(InvalidInput, match=r"there is no task 999$"):
        await world.task(dependency_ids=(999,))


async def test_a_dependency_that_is_there_may_stay_although_it_is_out_of_reach(world: World) -> None:
    foreign, own = await world.task("secret", group="beta"), await world.task(group="alpha")
    mine = await world.task(group="alpha", dependency_ids=(foreign.id,))
    ed = on_behalf(world, ED).store
    edited = await ed.edit_task(mine.id, {"dependency_ids": [foreign.id, own.id]}, by="ed")
    assert set(edited.dependency_ids) == {foreign.id, own.id}
    await world.store.delete_task(foreign.id, force=True, by="admin")
    with pytest.raises(InvalidInput, match=f"task {foreign.id} has been deleted") as refused:
        await ed.edit_task(mine.id, {"dependency_ids": [foreign.id]}, by="ed")
    assert "secret" not in str(refused.value)
    assert (await ed.edit_task(mine.id, {"dependency_ids": []}, by="ed")).dependency_ids == ()


async def test_a_cycle_does_not_name_tasks_out_of_reach(world: World) -> None:
    first = await world.task("first", group="alpha")
    middle = await world.task("secret", group="beta", dependency_ids=(first.id,))
    last = await world.task("last", group="alpha", dependency_ids=(middle.id,))
    change = {"dependency_ids": [last.id]}
    with pytest.raises(InvalidInput, match="cycle: first → last → a task of another group → first"):
        await on_behalf(world, ED).store.edit_task(first.id, change, by="ed")
    with pytest.raises(InvalidInput, match="first → last → secret → first"):
        await on_behalf(world, BOTH).store.edit_task(first.id, change, by="both")


async def test_what_other_groups_need_is_not_deleted_and_they_are_not_named(world: World) -> None:
    needed = await world.task("needed", group="alpha")
    await world.task("mine", group="alpha", dependency_ids=(needed.id,))
    for name in ("secret", "secret, too"):
        await world.task(name, group="beta", dependency_ids=(needed.id,))
    ed = on_behalf(world, ED).store
    with pytest.raises(HasDependents) as refused:
        await ed.delete_task(needed.id, by="ed")
    assert "is needed by mine, 2 tasks of other groups:" in str(refused.value)
    with pytest.raises(Forbidden, match="needed by 2 tasks of other groups, and 'ed' is limited") as forced:
        await ed.delete_task(needed.id, force=True, by="ed")
    assert "secret" not in f"{refused.value}{refused.value.dependents}{forced.value}"
    await on_behalf(world, BOTH).store.delete_task(needed.id, force=True, by="both")


async def test_a_key_that_an_instance_of_the_old_group_has_is_taken(world: World) -> None:
    task = await world.task(group="beta")
    living = await world.submit(task, key="k")
    await world.store.edit_task(task.id, {"group": "alpha"}, by="admin")
    with pytest.raises(Conflict, match=r"key 'k' is taken by an instance .* another group") as refused:
        await on_behalf(world, ED).submit(task, key="k")
    assert f"instance {living}" not in str(refused.value)
    assert await on_behalf(world, BOTH).submit(task, key="k") == living
    assert await on_behalf(world, ED).submit(task, key="j") != living


async def _explained(world: World, instance_id: int, author: Author = ED) -> str:
    found = await on_behalf(world, author).store.explain(instance_id)
    return f"{found.summary} {[(one.text, dict(one.data)) for one in found.reasons]}"


async def test_an_explanation_does_not_name_what_is_awaited_of_another_group(world: World) -> None:
    upstream = await world.task("secret", group="beta", schedule=EVERY)
    mine = await world.task(group="alpha", dependency_ids=(upstream.id,))
    waiting = await world.submit(mine, wait=True)
    assert "'secret'" in await _explained(world, waiting, BOTH)
    said = await _explained(world, waiting)
    assert "it needs a task of another group" in said
    assert "secret" not in said


async def test_an_explanation_does_not_name_other_groups_or_their_instances(world: World) -> None:
    await world.executor("b1", group="beta")
    limits: dict[str, Any] = {"concurrency_key": "k", "concurrency_limit": 1}
    foreign = await world.submit(await world.task(group="beta", **limits))
    assert [one.instance_id for one in await world.claim("b1")] == [foreign]
    mine = await world.task(group="alpha", **limits)
    pending = await world.submit(await world.task(group="alpha"))
    assert "'beta'" in await _explained(world, pending, BOTH)
    assert "beta" not in await _explained(world, pending)
    blocked = await world.submit(mine)
    assert f"instance {foreign} holds" in await _explained(world, blocked, BOTH)
    said = await _explained(world, blocked)
    assert "1 other holds its permit" in said
    assert "'instances': []" in said


async def test_limits_lose_a_group_that_is_deleted_and_do_not_gain_its_namesake(world: World) -> None:
    store = on_behalf(world, ADMIN).store
    await store.add_token("beta's", "hash of beta", role=Role.EDITOR, groups=["beta"], by="admin")
    await store.add_token("both's", "hash of both", role=Role.EDITOR, groups=["alpha", "beta"], by="admin")
    await store.add_token("all's", "hash of all", role=Role.EDITOR, by="admin")
    await store.add_user("bea", password_hash=None, role=Role.VIEWER, groups=["beta"])
    beta = next(one.id for one in await store.list_groups() if one.name == "beta")
    await store.delete_group(beta)
    await store.add_group("beta")
    limits = {}
    for name in ("beta", "both", "all"):
        found = await store.find_token(f"hash of {name}")
        assert found is not None
        limits[name] = found.groups
    assert limits == {"beta": frozenset(), "both": frozenset({"alpha"}), "all": None}
    (bea,) = (await store.list_users()).items
    assert bea.groups == ()
    changes = [one for one in await kept(world, user_id=ADMIN.id, action="edit") if one.summary]
    assert {one.resource_type for one in changes} == {"user", "token"}
    assert len(changes) == 3
    assert all("group 'beta' was deleted" in (one.summary or "") for one in changes)


async def test_limits_that_are_written_while_their_group_is_deleted_are_refused(cluster_world: World) -> None:
    store = cluster_world.store
    for number in range(10):
        group = await store.add_group(f"g{number}")
        added = store.add_token("t", f"hash {number}", role=Role.VIEWER, groups=[group.name], by="admin")
        await asyncio.gather(store.delete_group(group.id), added, return_exceptions=True)
        found = await store.find_token(f"hash {number}")
        assert found is None or found.groups == frozenset()
