"""Edit: creating, changing and deleting tasks: versions, names, dependencies and refusals."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from contracts.elapse import instances, report
from hourhand.model.errors import DuplicateName, HasDependents, InvalidInput, NotFound, StaleVersion
from hourhand.model.task import Task, TaskDefinition
from hourhand.model.words import Status, TaskType
from hourhand.store.postgresql import PostgresqlTx
from hourhand.store.sqlite import SqliteTx

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.task import TaskVersion


async def versions(world: World, task: Task) -> tuple[TaskVersion, ...]:
    return (await world.store.list_versions(task.id)).items


async def change(world: World, task: Task, by: str = "ann", **changes: Any) -> Task:
    return await world.store.edit_task(task.id, changes, by=by)


# Versions


async def test_a_new_task_has_its_first_version(world: World) -> None:
    task = await world.task("nightly", description="what it does", tags=("a", "b"), max_retries=3)
    assert (task.version, task.created_by, task.updated_by, task.created_at) == (1, "test", "test", task.updated_at)
    assert await world.store.get_task(task.id) == await world.store.find_task("nightly") == task
    (version,) = await versions(world, task)
    assert (version.version, version.changed_by, version.definition.tags) == (1, "test", ("a", "b"))
    assert await world.store.definitions([(task.id, 1)]) == {(task.id, 1): version.definition}


async def test_each_edit_adds_a_version_and_keeps_the_former_ones(world: World) -> None:
    task = await world.task("old", priority=3)
    edited = await change(world, task, name="new", priority=7)
    assert (edited.version, edited.name, edited.priority, edited.updated_by) == (2, "new", 7, "ann")
    assert edited.created_at == task.created_at < edited.updated_at
    assert [(one.version, one.definition.name, one.changed_by) for one in await versions(world, task)] == [
        (2, "new", "ann"),
        (1, "old", "test"),
    ]
    assert (await world.store.definitions([(task.id, 1)]))[task.id, 1].priority == 3


async def test_an_edit_that_changes_nothing_makes_no_version(world: World) -> None:
    upstream = await world.task()
    task = await world.task(priority=3, tags=("a",), dependency_ids=(upstream.id,))
    assert await change(world, task, priority=3, tags=["a"], dependency_ids=[upstream.id]) == task
    assert len(await versions(world, task)) == 1


async def test_a_stale_version_is_refused_and_changes_nothing(world: World) -> None:
    task = await world.task()
    await world.store.edit_task(task.id, {"priority": 1}, expected_version=1, by="ann")
    with pytest.raises(StaleVersion) as refused:
        await world.store.edit_task(task.id, {"priority": 2}, expected_version=1, by="bob")
    assert (refused.value.given, refused.value.current) == (1, 2)
    assert (await world.store.get_task(task.id)).priority == 1


async def test_of_edits_on_the_same_version_one_wins(world: World) -> None:
    task = await world.task()
    results = await asyncio.gather(
        *[
            world.store.edit_task(task.id, {"description": str(number)}, expected_version=1, by="ann")
            for number in range(6)
        ],
        return_exceptions=True,
    )
    assert sorted(type(one).__name__ for one in results) == ["StaleVersion"] * 5 + ["Task"]
    assert [one.version for one in await versions(world, task)] == [2, 1]


async def test_edits_without_an_expected_version_all_count(world: World) -> None:
    task = await world.task()
    await asyncio.gather(*[change(world, task, description=str(number)) for number in range(6)])
    assert [one.version for one in await versions(world, task)] == [7, 6, 5, 4, 3, 2, 1]


# Names


async def test_a_taken_name_is_refused_until_its_task_is_deleted(world: World) -> None:
    first, second = await world.task("one"), await world.task("two")
    with pytest.raises(DuplicateName, match="'one'"):
        await world.task("one")
    with pytest.raises(DuplicateName, match="'one'"):
        await change(world, second, name="one")
    await world.store.delete_task(first.id, by="ann")
    assert (await change(world, second, name="one")).name == "one"


async def test_of_creators_of_the_same_name_one_wins(world: World) -> None:
    results = await asyncio.gather(*[world.task("same") for _ in range(8)], return_exceptions=True)
    assert sorted(type(one).__name__ for one in results) == ["DuplicateName"] * 7 + ["Task"]
    assert (await world.count("tasks"), await world.count("task_versions")) == (1, 1)


async def test_of_tasks_renamed_to_the_same_name_one_wins(world: World) -> None:
    tasks = [await world.task() for _ in range(6)]
    for number in range(5):
        same = f"same-{number}"
        results = await asyncio.gather(*[change(world, task, name=same) for task in tasks], return_exceptions=True)
        assert sorted(type(one).__name__ for one in results) == ["DuplicateName"] * 5 + ["Task"]


# Dependencies


async def test_an_unknown_or_deleted_dependency_is_refused(world: World) -> None:
    task, deleted = await world.task(), await world.task("gone")
    await world.store.delete_task(deleted.id, by="ann")
    with pytest.raises(InvalidInput, match="dependency_ids: there is no task 999999"):
        await change(world, task, dependency_ids=[999_999])
    with pytest.raises(InvalidInput, match=r"dependency_ids: task \d+ \('gone'\) has been deleted"):
        await world.task(dependency_ids=(deleted.id,))
    assert await world.count("task_dependencies") == 0


async def test_a_task_cannot_depend_on_itself(world: World) -> None:
    task = await world.task("ouroboros")
    with pytest.raises(InvalidInput, match="ouroboros → ouroboros"):
        await change(world, task, dependency_ids=[task.id])


async def test_a_cycle_is_refused_and_named(world: World) -> None:
    a = await world.task("a")
    b = await world.task("b", dependency_ids=(a.id,))
    c = await world.task("c", dependency_ids=(b.id,))
    with pytest.raises(InvalidInput, match="form a cycle: a → c → b → a") as refused:
        await change(world, a, dependency_ids=[c.id])
    assert (refused.value.errors[0].field, refused.value.errors[0].value) == ("dependency_ids", [c.id])
    assert (await world.store.get_task(a.id)).dependency_ids == ()


async def test_a_cycle_is_found_at_any_depth_and_a_diamond_is_none(world: World) -> None:
    chain = [await world.task("0")]
    for place in range(1, 30):
        chain.append(await world.task(str(place), dependency_ids=tuple(one.id for one in chain[-2:])))
    with pytest.raises(InvalidInput, match=r"form a cycle: 0 → 29 →.* → 0"):
        await change(world, chain[0], dependency_ids=[chain[-1].id])
    await change(world, chain[-1], dependency_ids=[one.id for one in chain[:-1]])


async def test_only_what_the_dependencies_lead_to_is_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    a = await world.task()
    b = await world.task(dependency_ids=(a.id,))
    await world.execute(
        "INSERT INTO task_dependencies (task_id, depends_on_id) WITH RECURSIVE far(n) AS "
        "(SELECT 1000 UNION ALL SELECT n + 1 FROM far WHERE n < 3000) SELECT n, n + 1 FROM far"
    )
    most = 0
    for kind in (SqliteTx, PostgresqlTx):

        async def fetch(self: Any, *arguments: Any, _original: Any = kind.fetch, **params: Any) -> Any:
            nonlocal most
            rows = await _original(self, *arguments, **params)
            most = max(most, len(rows))
            return rows

        monkeypatch.setattr(kind, "fetch", fetch)
    c = await world.task(dependency_ids=(b.id,))
    await change(world, c, dependency_ids=[a.id, b.id])
    assert 0 < most < 10


async def test_two_edits_that_would_close_a_cycle_together_do_not(world: World) -> None:
    for _ in range(5):
        a, b = await world.task(), await world.task()
        results = await asyncio.gather(
            change(world, a, dependency_ids=[b.id]), change(world, b, dependency_ids=[a.id]), return_exceptions=True
        )
        assert sorted(type(one).__name__ for one in results) == ["InvalidInput", "Task"]


async def test_a_dependency_cannot_be_deleted_while_somebody_comes_to_depend_on_it(world: World) -> None:
    for _ in range(5):
        upstream = await world.task()
        results = await asyncio.gather(
            world.task(dependency_ids=(upstream.id,)),
            world.store.delete_task(upstream.id, by="ann"),
            return_exceptions=True,
        )
        assert [isinstance(one, Exception) for one in results] in ([True, False], [False, True])


async def test_dependencies_are_replaced_as_a_whole(world: World) -> None:
    a, b, c = [await world.task() for _ in range(3)]
    task = await world.task(dependency_ids=(a.id, b.id))
    assert (await change(world, task, dependency_ids=[b.id, c.id])).dependency_ids == (b.id, c.id)
    assert (await change(world, task, dependency_ids=[])).dependency_ids == ()


# Refusals

WRONG = [
    ({"schedule": "61 * * * *"}, "schedule", "0"),
    ({"schedule": "@sometimes"}, "schedule", "@every 30s"),
    ({"schedule": "@at 2001-01-01T00:00:00Z"}, "schedule", "past"),
    ({"schedule": "@upstream"}, "schedule", "dependency_ids"),
    ({"timezone": "Mars/Olympus"}, "timezone", "Mars/Olympus"),
    ({"payload": {}}, "payload.command", "command"),
    ({"payload": {"command": ["true"], "comand": 1}}, "payload.comand", "command"),
    ({"priority": 10}, "priority", "0 to 9"),
    ({"max_retries": -1}, "max_retries", "0 to"),
    ({"timeout_seconds": 0}, "timeout_seconds", "1 to"),
    ({"misfire_grace_seconds": -5}, "misfire_grace_seconds", "0 to"),
    ({"catch_up_limit": 0}, "catch_up_limit", "1 to"),
    ({"name": " "}, "name", "empty"),
    ({"group": "nowhere"}, "group", "default"),
    ({"concurrency_key": "${no-name}"}, "concurrency_key", "${arg}"),
]


@pytest.mark.parametrize(("changes", "field", "right"), WRONG, ids=[f"{one[1]}-{n}" for n, one in enumerate(WRONG)])
async def test_wrong_values_are_refused_with_field_value_and_what_is_right(
    world: World, changes: dict[str, Any], field: str, right: str
) -> None:
    task = await world.task("kept")
    sound: dict[str, Any] = {"name": "new", "type": TaskType.COMMAND, "payload": {"command": ["true"]}}
    for attempt in (
        world.store.edit_task(task.id, changes, by="ann"),
        world.store.create_task(TaskDefinition(**{**sound, **changes}), by="ann"),
    ):
        with pytest.raises(InvalidInput) as refused:
            await attempt
        (error,) = refused.value.errors
        assert error.field == field
        assert right in error.message
        if "." not in field:
            assert error.value == changes[field]
    assert await world.store.get_task(task.id) == task
    assert (await world.count("tasks"), await world.count("task_versions")) == (1, 1)


@pytest.mark.parametrize(
    ("changes", "field", "right"),
    [
        ({"shedule": "@daily"}, "shedule", "'schedule'"),
        ({"id": 7}, "id", "fields are"),
        ({"type": "cobol"}, "type", "command, http"),
        ({"overlap_policy": "never"}, "overlap_policy", "serial"),
        ({"priority": "high"}, "priority", "whole number"),
        ({"enabled": 1}, "enabled", "true or false"),
        ({"name": None}, "name", "a text"),
        ({"tags": "a"}, "tags", "list"),
    ],
)
async def test_unknown_keys_and_shapes_are_refused(
    world: World, changes: dict[str, Any], field: str, right: str
) -> None:
    task = await world.task()
    with pytest.raises(InvalidInput) as refused:
        await world.store.edit_task(task.id, changes, by="ann")
    assert [(error.field, error.value) for error in refused.value.errors] == [(field, changes[field])]
    assert right in refused.value.errors[0].message
    assert await world.store.get_task(task.id) == task


async def test_everything_wrong_is_told_at_once(world: World) -> None:
    task = await world.task()
    with pytest.raises(InvalidInput) as refused:
        await change(world, task, priority=77, max_retries=-1, timezone="Nowhere")
    assert {error.field for error in refused.value.errors} == {"priority", "max_retries", "timezone"}


@pytest.mark.parametrize("deleted", [False, True])
async def test_what_is_unknown_or_deleted_cannot_be_edited_or_deleted(world: World, *, deleted: bool) -> None:
    task_id = 999_999
    if deleted:
        task_id = (await world.task()).id
        await world.store.delete_task(task_id, by="ann")
    with pytest.raises(NotFound):
        await world.store.edit_task(task_id, {"priority": 1}, by="ann")
    with pytest.raises(NotFound):
        await world.store.delete_task(task_id, by="ann")
    with pytest.raises(NotFound):
        await world.store.get_task(task_id)


# Deletion


async def test_a_task_that_others_need_is_deleted_only_by_force(world: World) -> None:
    upstream = await world.task("up")
    for name in ("zeta", "alpha"):
        await world.task(name, dependency_ids=(upstream.id,))
    with pytest.raises(HasDependents) as refused:
        await world.store.delete_task(upstream.id, by="ann")
    assert refused.value.dependents == ("alpha", "zeta")
    assert (await world.store.get_task(upstream.id)).deleted_at is None
    await world.store.delete_task(upstream.id, force=True, by="ann")
    with pytest.raises(NotFound):
        await world.store.find_task("up")


async def test_a_deleted_dependent_keeps_nobody(world: World) -> None:
    upstream = await world.task()
    dependent = await world.task(dependency_ids=(upstream.id,))
    await world.store.delete_task(dependent.id, by="ann")
    await world.store.delete_task(upstream.id, by="ann")
    assert await world.count("tasks", "deleted_at IS NULL") == 0


async def test_deletion_cancels_what_has_not_started_and_lets_what_runs_go_on(world: World) -> None:
    await world.executor()
    task = await world.task(schedule="@every 60s")
    later = (await world.store.now()).replace(year=2099)
    for changes in ({}, {"run_at": later}, {"held": True}):
        await world.submit(task, **changes)
    (claimed,) = await world.claim(limit=1)
    await world.store.delete_task(task.id, by="ann")
    found = {one.id: one for one in await instances(world, task)}
    running = found.pop(claimed.instance_id)
    assert running.status is Status.RUNNING
    assert [one.status for one in found.values()] == [Status.CANCELLED] * 2
    assert all(one.error_message == "its task was deleted by ann" for one in found.values())
    await report(world, running)
    assert (await world.store.get_instance(running.id)).status is Status.SUCCESS
    with pytest.raises(NotFound):
        await world.submit(task)


async def test_deletion_does_not_touch_updated_at(world: World) -> None:
    task = await world.task(schedule="@every 60s")
    await world.store.delete_task(task.id, by="ann")
    (row,) = await world.sql(
        "SELECT updated_by, next_fire_at, wake_at, updated_at = created_at AS untouched, "
        "deleted_at > created_at AS gone FROM tasks"
    )
    assert (row["updated_by"], row["next_fire_at"], row["wake_at"]) == ("test", None, None)
    assert row["untouched"]
    assert row["gone"]
