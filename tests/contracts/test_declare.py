"""Declare: an app's tasks are written where they are the app's to write, and nowhere else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from contracts.elapse import instances
from hourhand.model.answers import Declared
from hourhand.model.errors import InvalidInput, NotFound
from hourhand.model.task import Declaration, TaskDefinition
from hourhand.model.words import TaskType
from hourhand.store import edit, open_store
from hourhand.store.postgresql import PostgresqlTx
from hourhand.store.sqlite import SqliteTx

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.task import Task

APP = "app:billing"


def one(name: str = "load", *depends_on: str, **changes: Any) -> Declaration:
    values = {"name": name, "type": TaskType.PYTHON, "payload": {"handler": name}, "group": "billing", **changes}
    return Declaration(definition=TaskDefinition(**values), depends_on=depends_on)


async def declare(world: World, *declarations: Declaration, release: int = 1, app: str = "billing") -> Declared:
    return await world.store.declare(declarations, app=app, release=release)


async def found(world: World, name: str = "load") -> Task:
    return await world.store.find_task(name)


def kept(declared: Declared) -> dict[str, str]:
    assert not declared.created + declared.changed
    return dict(declared.kept)


# What is written


async def test_declared_tasks_are_created_with_their_group_and_owner(world: World) -> None:
    assert await declare(world, one(priority=3), one("report", "load")) == Declared(created=("load", "report"))
    load, report = await found(world), await found(world, "report")
    assert (load.group, load.managed_by, load.created_by, load.updated_by) == ("billing", APP, APP, APP)
    assert (load.priority, report.dependency_ids) == (3, (load.id,))
    assert (load.declared_hash or "").startswith("1:")


async def test_declaring_the_same_again_changes_nothing(world: World) -> None:
    declarations = [one("report", "load", schedule="@every 1h", tags=("a",)), one(executor_labels={"zone": "eu"})]
    await declare(world, *declarations)
    before = await found(world, "report")
    assert await declare(world, *declarations) == Declared()
    assert await found(world, "report") == before


async def test_what_differs_is_written_as_an_edit(world: World) -> None:
    await declare(world, one(), one("report"))
    assert await declare(world, one(priority=2), one("report", "load")) == Declared(changed=("load", "report"))
    load, report = await found(world), await found(world, "report")
    assert (load.version, load.priority, report.dependency_ids) == (2, 2, (load.id,))


async def test_a_changed_schedule_takes_back_what_was_made_ahead(world: World) -> None:
    await declare(world, one(schedule="@every 2s"))
    await world.store.materialise()
    assert await instances(world, await found(world))
    await declare(world, one(schedule="@manual"))
    task = await found(world)
    now = await world.store.now()
    assert (task.next_fire_at, task.wake_at) == (None, None)
    assert all(instance.scheduled_time <= now for instance in await instances(world, task))


async def test_a_task_of_the_app_moves_to_another_group(world: World) -> None:
    await declare(world, one())
    await declare(world, one(group="reports"))
    assert (await found(world)).group == "reports"


async def test_the_app_itself_may_disable_and_enable(world: World) -> None:
    await declare(world, one())
    for enabled in (False, True):
        assert (await declare(world, one(enabled=enabled))).changed == ("load",)
        assert (await found(world)).enabled is enabled


async def test_ids_and_names_of_dependencies_are_put_together(world: World) -> None:
    by_hand = await world.task("by hand")
    await declare(world, one("report", "load", dependency_ids=(by_hand.id,)), one())
    assert (await found(world, "report")).dependency_ids == (by_hand.id, (await found(world)).id)


async def test_dependencies_may_turn_round(world: World) -> None:
    await declare(world, one("a", "b"), one("b"))
    assert (await declare(world, one("a"), one("b", "a"))).changed == ("a", "b")
    assert (await found(world, "b")).dependency_ids == ((await found(world, "a")).id,)


# Releases


async def test_an_older_release_changes_nothing(world: World) -> None:
    await declare(world, one(priority=4), release=4)
    assert kept(await declare(world, one(priority=3), release=3)) == {
        "load": "release 4 has declared it already, and this is release 3"
    }
    assert (await found(world)).priority == 4


async def test_a_newer_release_that_changes_nothing_is_remembered(world: World) -> None:
    await declare(world, one(priority=1), release=1)
    await declare(world, one(priority=1), release=3)
    assert "load" in kept(await declare(world, one(priority=2), release=2))
    assert (await found(world)).priority == 1


@pytest.mark.parametrize("existing", [False, True])
async def test_of_releases_that_start_at_once_the_newest_has_the_last_word(world: World, *, existing: bool) -> None:
    if existing:
        await declare(world, one("a"), one("b", "a"), release=0)
    # The first of each depends on the second in every other release, so that their orders of writing differ.
    releases = [
        [one("a", "b", priority=number), one("b", priority=number)]
        if number % 2
        else [one("a", priority=number), one("b", "a", priority=number)]
        for number in range(9)
    ]
    answers = await asyncio.gather(
        *[declare(world, *said, release=number + 1) for number, said in enumerate(releases)],
        *[declare(world, *said, release=number + 1) for number, said in reversed(list(enumerate(releases)))],
    )
    a, b = await found(world, "a"), await found(world, "b")
    assert (a.priority, b.priority, a.dependency_ids, b.dependency_ids) == (8, 8, (), (a.id,))
    assert sum(answer.created.count("a") for answer in answers) == (not existing)
    assert await world.count("tasks", "deleted_at IS NULL") == 2


async def test_two_processes_on_one_database_declare_at_once(cluster_world: World, postgresql_url: str) -> None:
    others = [await open_store(postgresql_url) for _ in range(3)]
    try:
        names = [f"task {number}" for number in range(20)]
        declarations = [one(name, *names[:number][-2:], schedule="@every 1s") for number, name in enumerate(names)]
        answers = await asyncio.gather(
            *[store.declare(declarations, app="billing", release=1) for store in (cluster_world.store, *others)],
            *[cluster_world.store.materialise() for _ in range(4)],
        )
    finally:
        for store in others:
            await store.close()
    declared = [answer for answer in answers if isinstance(answer, Declared)]
    assert sorted(len(answer.created) for answer in declared) == [0, 0, 0, 20]
    assert await cluster_world.count("tasks") == 20


# What is kept


async def test_what_a_person_edited_is_not_overwritten(world: World) -> None:
    await declare(world, one())
    await world.store.edit_task((await found(world)).id, {"enabled": False}, by="ann")
    assert await declare(world, one(), release=2) == Declared()
    reason = kept(await declare(world, one(priority=1), release=3))["load"]
    assert reason.startswith("ann has edited it")
    task = await found(world)
    assert (task.enabled, task.priority, task.updated_by, task.version) == (False, 5, "ann", 2)


async def test_what_a_person_deleted_stays_deleted(world: World) -> None:
    await declare(world, one())
    await world.store.delete_task((await found(world)).id, by="ann")
    assert "deleted" in kept(await declare(world, one(priority=1), release=2))["load"]
    with pytest.raises(NotFound):
        await found(world)


async def test_what_a_person_deleted_stays_deleted_whoever_had_the_name_since(world: World) -> None:
    await declare(world, one())
    await world.store.delete_task((await found(world)).id, by="ann")
    await world.store.delete_task((await world.task("load")).id, by="ann")
    assert "deleted" in kept(await declare(world, one()))["load"]


async def test_what_a_person_renamed_is_not_made_again_beside_it(world: World) -> None:
    await declare(world, one())
    await world.store.edit_task((await found(world)).id, {"name": "load the books"}, by="ann")
    assert kept(await declare(world, one(), release=2)) == {"load": "ann has renamed it to 'load the books'"}
    assert await world.count("tasks") == 1


async def test_a_name_that_somebody_else_has_is_theirs(world: World) -> None:
    await world.task("load", priority=7)
    await declare(world, one("report"), app="reports")
    reasons = kept(await declare(world, one(), one("report")))
    assert "was created by test" in reasons["load"]
    assert "is managed by app:reports" in reasons["report"]
    assert (await found(world)).priority == 7


async def test_a_name_that_a_deleted_task_had_is_free(world: World) -> None:
    await world.store.delete_task((await world.task("load")).id, by="ann")
    assert (await declare(world, one())).created == ("load",)


async def test_one_that_is_kept_does_not_hold_up_the_others(world: World) -> None:
    taken = await world.task("load")
    answer = await declare(world, one(), one("report", "load"))
    assert answer.created == ("report",)
    assert [name for name, _ in answer.kept] == ["load"]
    assert (await found(world, "report")).dependency_ids == (taken.id,)


async def test_one_that_depends_on_what_is_not_there_is_kept_and_written_once_it_is(world: World) -> None:
    declarations = [one("report", "lod"), one()]
    answer = await declare(world, *declarations)
    assert answer.created == ("load",)
    assert answer.kept == (("report", "it depends on 'lod', and there is no task of that name: did you mean 'load'?"),)
    await world.task("lod")
    assert (await declare(world, *declarations)).created == ("report",)


async def test_a_date_that_has_passed_keeps_its_task_and_nobody_else(world: World) -> None:
    past = {"schedule": "@at 2020-01-01T00:00:00Z"}
    answer = await declare(world, one(**past), one("report"))
    assert answer.created == ("report",)
    assert "lies in the past" in dict(answer.kept)["load"]
    await declare(world, one())
    assert "lies in the past" in kept(await declare(world, one(**past)))["load"]


async def test_a_date_that_passed_since_it_was_declared_lets_other_fields_change(world: World) -> None:
    past = {"schedule": "@at 2020-01-01T00:00:00+00:00"}
    await declare(world, one(**past, misfire_grace_seconds=10 * 366 * 86_400))
    assert (await declare(world, one(**past, priority=1))).changed == ("load",)


async def test_somebody_who_takes_the_name_in_between_has_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is taken after it was looked for, in the moment before it is written."""
    transaction = PostgresqlTx if world.store.database.dialect == "postgresql" else SqliteTx
    fetch = transaction.fetch
    insert = edit._INSERT  # noqa: SLF001 - the very moment
    intruding = [True]

    async def slow_fetch(self: Any, statement: Any, **params: Any) -> Any:
        if statement is insert and params["created_by"] == APP and intruding.pop():
            await fetch(self, insert, **{**params, "created_by": "ann", "updated_by": "ann", "managed_by": None})
            intruding.append(False)
        return await fetch(self, statement, **params)

    monkeypatch.setattr(transaction, "fetch", slow_fetch)
    assert "was created by ann" in kept(await declare(world, one()))["load"]


# What is refused


async def test_a_cycle_is_refused_and_nothing_is_written(world: World) -> None:
    with pytest.raises(InvalidInput, match="a → b → a"):
        await declare(world, one("a", "b"), one("b", "a"), one("c"))
    assert await world.count("tasks") == 0


async def test_a_cycle_through_somebody_elses_task_is_refused_and_nothing_is_written(world: World) -> None:
    await declare(world, one("a"))
    by_hand = await world.task("by hand", dependency_ids=((await found(world, "a")).id,))
    with pytest.raises(InvalidInput, match="cycle"):
        await declare(world, one("c"), one("a", "by hand"))
    assert await world.count("tasks") == 2
    assert (await found(world, "by hand")) == by_hand


async def test_a_definition_that_cannot_work_is_refused_and_nothing_is_written(world: World) -> None:
    with pytest.raises(InvalidInput, match="schedule"):
        await declare(world, one(), one("report", schedule="61 * * * *"))
    assert await world.count("tasks") == 0
