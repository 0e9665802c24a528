"""The demo in a store: loaded whole, removed whole, and nothing of anybody else's touched."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from contracts.past import check
from contracts.world import World
from hourhand.demo import loading
from hourhand.demo.app import COURIER, INVENTORY, REPORT, handlers
from hourhand.demo.loading import Loaded, load, refresh, remove
from hourhand.demo.samples import ALARM, BACKUP, CARDS, NEWSLETTER, PAUSED_BECAUSE, RULE_NAME, WEBSITE
from hourhand.model.alert import AlertDefinition, Failed, Scope, ScopeKind
from hourhand.model.audit import Author
from hourhand.model.demo import DEMO_GROUP, DemoRemoved, DemoState, PastEnding
from hourhand.model.errors import Conflict
from hourhand.model.filters import InstanceFilter, TaskFilter
from hourhand.model.instance import Held
from hourhand.model.pause import PauseScope
from hourhand.model.window import WindowDefinition
from hourhand.model.words import OutcomeKind, Role, SkipReason, Status
from hourhand.rules.demo import DEMO_OWNER
from hourhand.store.schema import metadata

if TYPE_CHECKING:
    from hourhand.model.task import Task
    from hourhand.store import Store

ADDRESS = "http://127.0.0.1:8420"
KEPT = {"audit_logs", "stats_minutely", "id_days", "leases", "store_values"}
"""What changes by itself, or is kept on purpose."""


@pytest.fixture
def world(store: Store) -> World:
    return World(store)


async def counted(world: World) -> dict[str, int]:
    names = [table.name for table in metadata.sorted_tables if table.name not in KEPT]
    found = {name: await world.count(name) for name in names}
    return found | {"the demo's values": await world.count("store_values", "name LIKE '%demo%'")}


async def soon_loaded(store: Store) -> Loaded:
    """Load it with minutes of a past instead of a day, which takes its time."""
    return await load(store, address=ADDRESS, day=timedelta(minutes=20))


async def sample(store: Store, name: str) -> Task:
    return await store.find_task(name)


async def test_loading_makes_the_sample_tasks_with_a_pause_a_rule_and_a_day_behind_them(store: Store) -> None:
    loaded = await load(store, address=ADDRESS)
    assert loaded.new
    assert loaded.kept == ()
    assert loaded.state.loaded_at is not None
    tasks = (await store.list_tasks(limit=200)).items
    assert len(tasks) == loaded.state.tasks > 20
    assert {task.group for task in tasks} == {DEMO_GROUP}
    assert {task.managed_by for task in tasks} == {DEMO_OWNER}
    assert all(task.description and task.owner and "demo" in task.tags for task in tasks)
    assert {task.type.value for task in tasks} == {"command", "http", "python"}
    (pause,) = await store.list_pauses()
    assert (pause.task_name, pause.reason) == (NEWSLETTER, PAUSED_BECAUSE)
    assert pause.until is not None
    (rule,) = (await store.list_alert_rules()).items
    assert (rule.name, rule.targets) == (RULE_NAME, ())
    now = await store.now()
    series = await store.series(now - timedelta(hours=24), now, step_seconds=3600)
    # The first and the last of them are parts of an hour, in which nothing need have ended.
    assert all(point.success for point in series.points[1:-1])
    found = await store.failures(days=1)
    assert len(found.reasons) >= 4


async def test_handlers_are_there_for_all_that_needs_one(store: Store) -> None:
    await soon_loaded(store)
    tasks = (await store.list_tasks(limit=200)).items
    wanted = {(task.payload["app"], task.payload["handler"]) for task in tasks if task.type.value == "python"}
    assert wanted == set(handlers())


async def test_loaded_twice_is_loaded_once(store: Store, world: World) -> None:
    first = await soon_loaded(store)
    rows = await counted(world)
    again = await soon_loaded(store)
    assert not again.new
    assert again.state == first.state
    assert await counted(world) == rows


async def test_the_past_agrees_with_the_ledger_and_the_figures(store: Store, world: World) -> None:
    await load(store, address=ADDRESS)
    # Guarantee 1: one instance for each task and instant.
    in_ledger = await world.count("execution_logs", "in_ledger")
    assert in_ledger == await world.count("task_instants") > 5_000
    agreeing = await world.sql(
        "SELECT count(*) AS n FROM execution_logs l JOIN task_instants i ON i.task_id = l.task_id "
        "AND i.scheduled_time = l.scheduled_time AND i.outcome = l.status AND i.ended_at = l.end_time "
        "AND i.shards_left = 0 AND i.unsettled IS NULL WHERE l.in_ledger"
    )
    assert agreeing[0]["n"] == in_ledger
    overview = await store.overview(hours=24)
    await check(world, overview.total, overview.begin, overview.end)
    await store.fold_stats()
    overview = await store.overview(hours=24)
    await check(world, overview.total, overview.begin, overview.end)


async def test_past_instances_can_be_looked_at_like_any_other(store: Store) -> None:
    await load(store, address=ADDRESS)
    task = await sample(store, REPORT)
    newest = (await store.list_logs(InstanceFilter(task_id=task.id))).items[0]
    assert [line.message for line in await store.read_lines(newest.id)] == ["the report lies on the counter"]
    assert "never ran" in (newest.notes or "")
    page = await store.list_logs(limit=200)
    while page.next_cursor:
        page = await store.list_logs(limit=200, cursor=page.next_cursor)
    oldest = page.items[-1]
    assert oldest.end_time is not None
    assert await store.now() - oldest.end_time > timedelta(hours=23)
    assert (await store.get_instance(oldest.id)).log_id == oldest.log_id
    tried = [
        one
        for one in (await store.list_logs(InstanceFilter(task_id=(await sample(store, COURIER)).id), limit=200)).items
        if one.retry_count
    ]
    assert len(await store.list_attempts(tried[0].id)) == tried[0].retry_count
    website = InstanceFilter(task_id=(await sample(store, WEBSITE)).id)
    assert SkipReason.OVERLAP in {one.skip_reason for one in (await store.list_logs(website)).items}
    backups = InstanceFilter(task_id=(await sample(store, BACKUP)).id)
    took = [one.duration_ms or 0 for one in (await store.list_logs(backups)).items]
    assert sum(took[:5]) > 1.3 * sum(took[-5:])  # durations have a trend


async def test_a_past_failure_can_be_retried(store: Store, world: World) -> None:
    await soon_loaded(store)
    task = await sample(store, CARDS)
    failed = (await store.list_logs(InstanceFilter(task_id=task.id, status=Status.FAILED))).items[0]
    await store.retry(failed.id)
    await world.executor(group=DEMO_GROUP)
    assert failed.id in {one.instance_id for one in await world.claim()}


async def test_removing_leaves_the_store_as_it_was(store: Store, world: World) -> None:
    mine = await world.task("mine")
    await world.executor()
    await world.submit(mine)
    await world.run_all()
    before = await counted(world)
    figures = await world.count("stats_minutely")
    await soon_loaded(store)
    removed = await remove(store, by="test")
    assert removed.tasks > 20
    assert removed.execution_logs > 100
    assert await counted(world) == before
    assert await world.count("stats_minutely") == figures
    assert await store.demo_state() == DemoState()
    assert [task.name for task in (await store.list_tasks()).items] == ["mine"]


async def test_what_of_it_ran_goes_too(store: Store, world: World) -> None:
    before = await counted(world)
    await soon_loaded(store)
    await store.materialise()
    executor = await world.executor("shop", group=DEMO_GROUP, provides=("builtin", "python:hourhand.demo"))
    await store.give_permits()
    claimed = await world.claim(executor)
    assert len(claimed) >= 3
    done, running = claimed[:-1], claimed[-1:]
    await world.end(done, OutcomeKind.FAILED, error_message="x")
    await store.settle()
    await store.sweep()
    assert await store.stop_demo(by="test") > 20
    state = await store.demo_state()
    assert (state.tasks, state.living, state.executors) == (0, 1, 1)
    assert state.wants_executor
    beat = await store.beat(executor, [Held(running[0].instance_id, running[0].fence)])
    assert list(beat.cancelled) == [running[0].instance_id]
    with pytest.raises(Conflict, match="still at work"):
        await store.clear_demo()
    await world.end(running, OutcomeKind.CANCELLED)
    await store.deregister(executor)
    await store.clear_demo()
    assert await counted(world) == before


async def test_after_a_removal_it_can_be_loaded_again(store: Store, world: World) -> None:
    await soon_loaded(store)
    rows = await world.count("tasks")
    await remove(store, by="test")
    assert (await soon_loaded(store)).new
    assert await world.count("tasks") == rows


async def test_an_interrupted_removal_is_finished_by_the_next_load(store: Store, world: World) -> None:
    await soon_loaded(store)
    rows = await world.count("tasks")
    await store.stop_demo(by="test")
    loaded = await soon_loaded(store)
    assert (loaded.new, loaded.kept) == (True, ())
    assert await world.count("tasks") == rows


async def test_nothing_is_removed_where_there_is_nothing(store: Store, world: World) -> None:
    await world.task("mine")
    with pytest.raises(Conflict, match="the demo is not loaded"):
        await remove(store, by="test")
    assert (await store.find_task("mine")).name == "mine"


async def test_a_name_that_is_taken_is_left_alone(store: Store, world: World) -> None:
    mine = await world.task(BACKUP)
    loaded = await soon_loaded(store)
    assert [name for name, _ in loaded.kept] == [BACKUP]
    await remove(store, by="test")
    assert await store.find_task(BACKUP) == mine


async def test_a_group_of_its_name_is_left_alone(store: Store, world: World) -> None:
    group = await store.add_group(DEMO_GROUP)
    with pytest.raises(Conflict, match="not the demo's"):
        await soon_loaded(store)
    assert (await store.list_tasks()).items == ()
    assert await world.count("leases") == 0
    await store.delete_group(group.id)
    await soon_loaded(store)


async def test_what_people_built_on_it_is_in_the_way_of_its_removal(store: Store, world: World) -> None:
    await soon_loaded(store)
    backup = await sample(store, BACKUP)
    mine = await world.task("mine", dependency_ids=(backup.id,))
    with pytest.raises(Conflict, match=r"depend on sample tasks \(mine\)"):
        await remove(store, by="test")
    await store.edit_task(mine.id, {"dependency_ids": [], "group": DEMO_GROUP}, by="test")
    with pytest.raises(Conflict, match=r"not the demo's \(mine\)"):
        await remove(store, by="test")
    assert (await store.demo_state()).tasks > 20
    await store.edit_task(mine.id, {"group": "default"}, by="test")
    await remove(store, by="test")
    assert [task.name for task in (await store.list_tasks()).items] == ["mine"]


async def test_a_mark_makes_no_sample_of_somebodys_task(store: Store, world: World) -> None:
    await soon_loaded(store)
    mine = [await world.task(name) for name in ("mine", "mine-too")]
    await world.execute("UPDATE tasks SET managed_by = :owner WHERE created_by <> :owner", owner=DEMO_OWNER)
    await world.execute("UPDATE tasks SET declared_hash = '1:x' WHERE id = :id", id=mine[1].id)
    await world.executor()
    await world.submit(mine[0])
    await world.run_all()
    await remove(store, by="test")
    assert [task.name for task in (await store.list_tasks()).items] == ["mine", "mine-too"]
    assert await world.count("execution_logs") == 1
    assert await store.demo_state() == DemoState()


async def test_a_marked_task_in_the_demos_group_is_in_the_way_of_its_removal(store: Store, world: World) -> None:
    await soon_loaded(store)
    await world.task("mine", group=DEMO_GROUP)
    await world.execute("UPDATE tasks SET managed_by = :owner WHERE name = 'mine'", owner=DEMO_OWNER)
    with pytest.raises(Conflict, match=r"not the demo's \(mine\)"):
        await remove(store, by="test")
    assert (await store.find_task("mine")).deleted_at is None


@pytest.mark.parametrize("kind", [ScopeKind.GROUP, ScopeKind.TASK])
async def test_an_alert_rule_of_somebody_about_it_is_in_the_way_of_its_removal(store: Store, kind: ScopeKind) -> None:
    await soon_loaded(store)
    name = DEMO_GROUP if kind is ScopeKind.GROUP else BACKUP
    definition = AlertDefinition(name="mine", condition=Failed(), scope=Scope(kind=kind, name=name))
    rule = await store.create_alert_rule(definition, [], by="ada")
    other = await store.create_alert_rule(AlertDefinition(name="all", condition=Failed()), [], by="ada")
    for work in (remove(store, by="test"), store.stop_demo(by="test")):
        with pytest.raises(Conflict, match=r"alert rules that are not the demo's are about it \(mine\)"):
            await work
    assert (await store.demo_state()).tasks > 20
    await store.delete_alert_rule(rule.id)
    await remove(store, by="test")
    assert [one.id for one in (await store.list_alert_rules()).items] == [other.id]


async def test_a_maintenance_window_about_it_is_in_the_way_of_its_removal(store: Store) -> None:
    await soon_loaded(store)
    backup = await sample(store, BACKUP)
    for scope, scope_id in ((PauseScope.TASK, backup.id), (PauseScope.GROUP, backup.group_id)):
        window = WindowDefinition(
            name=f"mine-{scope.value}",
            reason="x",
            scope=scope,
            scope_id=scope_id,
            schedule="@daily",
            duration_seconds=60,
        )
        made = await store.create_window(window, by="ada")
        with pytest.raises(Conflict, match=rf"maintenance windows are about the demo \(mine-{scope.value}\)"):
            await remove(store, by="test")
        await store.delete_window(made.id)
    await remove(store, by="test")


async def test_limits_to_its_group_are_in_the_way_of_its_removal(store: Store) -> None:
    await soon_loaded(store)
    user, _ = await store.add_user("ada", password_hash=None, role=Role.VIEWER, groups=[DEMO_GROUP, "default"])
    token, _ = await store.add_token("deploys", "hash", role=Role.VIEWER, groups=[DEMO_GROUP], by="ada")
    with pytest.raises(Conflict, match=r"limited to \(token deploys, user ada\)"):
        await remove(store, by="test")
    assert (await store.get_user(user.id)).groups == ("default", DEMO_GROUP)
    await store.edit_user(user.id, {"groups": ["default"]})
    await store.revoke_token(token.id)
    await remove(store, by="test")


async def test_only_sample_tasks_can_be_given_a_past(store: Store, world: World) -> None:
    mine = await world.task("mine")
    now = await store.now()
    ending = PastEnding(task_id=mine.id, scheduled_time=now, start_time=now, end_time=now, status=Status.SUCCESS)
    with pytest.raises(Conflict, match="'mine' is none of the demo's"):
        await store.write_demo_past([ending])
    assert await world.count("execution_logs") == 0
    assert (await store.demo_state()).loaded_at is None


async def test_what_is_to_come_is_no_past(store: Store, world: World) -> None:
    await soon_loaded(store)
    await world.execute("DELETE FROM store_values WHERE name = 'demo_loaded_at'")
    task = await sample(store, INVENTORY)
    soon = await store.now() + timedelta(minutes=1)
    ending = PastEnding(task_id=task.id, scheduled_time=soon, start_time=soon, end_time=soon, status=Status.SUCCESS)
    with pytest.raises(Conflict, match="does not lie within the day before now"):
        await store.write_demo_past([ending])


async def test_the_tasks_that_call_hourhand_itself_follow_its_address(store: Store) -> None:
    await load(store, address=None, day=timedelta(0))
    assert (await store.list_tasks(TaskFilter(name=ALARM))).items == ()
    await refresh(store, address=ADDRESS)
    assert (await sample(store, ALARM)).payload["url"] == f"{ADDRESS}/healthz"
    await refresh(store, address="http://127.0.0.1:9")
    moved = await sample(store, ALARM)
    assert (moved.payload["url"], moved.version) == ("http://127.0.0.1:9/healthz", 2)


async def test_where_it_is_not_loaded_a_start_loads_nothing(store: Store) -> None:
    assert await refresh(store, address=ADDRESS) == DemoState()
    assert (await store.list_tasks()).items == ()


async def test_two_do_not_load_or_remove_at_once(store: Store) -> None:
    assert await store.take_lease("demo", "somebody", 60)
    for work in (soon_loaded(store), remove(store, by="test")):
        with pytest.raises(Conflict, match="just now"):
            await work


async def test_the_lease_is_renewed_for_as_long_as_it_takes(
    store: Store, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ends() -> object:
        (row,) = await world.sql("SELECT * FROM leases WHERE name = 'demo'")
        return row["lease_until"]

    monkeypatch.setattr(loading, "RENEW_SECONDS", 0.05)
    await soon_loaded(store)
    executor = await world.executor("shop", group=DEMO_GROUP)  # it waits for this one to go
    removing = asyncio.ensure_future(remove(store, by="test"))
    async with asyncio.timeout(30):
        while (await store.demo_state()).tasks:
            await asyncio.sleep(0.01)
        first = await ends()
        while await ends() == first:
            await asyncio.sleep(0.01)
    with pytest.raises(Conflict, match="just now"):
        await remove(store, by="test")
    await store.deregister(executor)
    assert (await removing).tasks > 20
    assert await world.count("leases") == 0


async def test_whoever_has_lost_the_lease_goes_no_further(
    store: Store, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "RENEW_SECONDS", 0.05)
    await soon_loaded(store)
    executor = await world.executor("shop", group=DEMO_GROUP)
    removing = asyncio.ensure_future(remove(store, by="test"))
    async with asyncio.timeout(30):
        while (await store.demo_state()).tasks:
            await asyncio.sleep(0.01)
        await world.execute("UPDATE leases SET holder = 'another' WHERE name = 'demo'")
        with pytest.raises(Conflict, match="just now"):
            await removing
    await store.deregister(executor)
    assert (await store.demo_state()).owned
    assert await world.count("leases", "holder = 'another'") == 1


async def test_of_many_that_load_or_remove_at_once_each_does_it_whole_or_not_at_all(store: Store, world: World) -> None:
    before = await counted(world)
    many = await asyncio.gather(*[soon_loaded(store) for _ in range(4)], return_exceptions=True)
    assert [one.new for one in many if isinstance(one, Loaded)].count(True) == 1
    assert all(isinstance(one, Loaded | Conflict) for one in many)
    assert (await world.count("pauses"), await world.count("alert_rules")) == (1, 1)
    gone = await asyncio.gather(*[remove(store, by="test") for _ in range(4)], return_exceptions=True)
    assert sum(not isinstance(one, BaseException) for one in gone) == 1
    assert all(isinstance(one, DemoRemoved | Conflict) for one in gone)
    assert await counted(world) == before


async def test_two_that_clear_at_once_do_not_hinder_each_other(store: Store, world: World) -> None:
    before = await counted(world)
    await soon_loaded(store)
    await store.stop_demo(by="test")
    both = await asyncio.gather(store.clear_demo(), store.clear_demo())
    assert max(one.tasks for one in both) > 20
    assert await counted(world) == before


async def test_loading_and_removing_are_in_the_audit(store: Store) -> None:
    mine = store.on_behalf(Author(id="user:7", name="ada"))
    await soon_loaded(mine)
    await remove(mine, by="ada")
    entries = (await store.list_audit(limit=200)).items
    kept = [(one.action, one.resource_type, one.user_name) for one in entries if one.resource_type == "demo"]
    assert sorted(kept) == [("load", "demo", "ada"), ("remove", "demo", "ada"), ("stop", "demo", "ada")]
    assert sum(one.action == "create" and one.resource_type == "task" for one in entries) > 20
