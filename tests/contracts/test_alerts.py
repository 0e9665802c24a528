"""Alerts are decided from the store alone: each condition fires and recovers, nothing is told twice, none is missed."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.alerting import A, B, fail, make_rule, said, taken
from contracts.elapse import elapse, moment, silence
from hourhand.model.pause import PauseScope
from hourhand.model.words import OutcomeKind
from hourhand.store import alert_facts, alert_living

if TYPE_CHECKING:
    from contracts.world import World

FAILED: dict[str, Any] = {"kind": "failed"}


async def test_nothing_is_decided_without_a_rule(world: World) -> None:
    await fail(world, await world.task())
    decided = await world.store.decide_alerts()
    assert (decided.notices, decided.more) == (0, False)
    assert await world.count("alert_seen") == 0


# Endings


async def test_a_failure_is_told_and_so_is_the_next_success(world: World) -> None:
    task = await world.task("close")
    await make_rule(world, FAILED)
    assert await said(world) == []
    number = await fail(world, task)
    (told,) = await said(world)
    assert told.startswith(f"task 'close' failed: boom (instance {number}, due ")
    assert await said(world) == []
    await fail(world, task)
    assert len(await said(world)) == 1
    await fail(world, task, OutcomeKind.SUCCESS)
    assert await said(world) == ["recovered: task 'close' has succeeded"]
    assert await world.store.list_firing() == []


async def test_what_failed_before_the_rule_is_none_of_its_business(world: World) -> None:
    task = await world.task()
    await fail(world, task)
    rule = await make_rule(world, FAILED)
    assert await said(world) == []
    await world.store.edit_alert_rule(rule.id, {"enabled": False}, by="test")
    await fail(world, task)
    assert await said(world) == []
    await world.store.edit_alert_rule(rule.id, {"enabled": True}, by="test")
    assert await said(world) == []
    await fail(world, task)
    assert len(await said(world)) == 1


async def test_a_failure_is_told_however_late_anybody_looks(world: World) -> None:
    task = await world.task()
    await make_rule(world, FAILED)
    await said(world)
    await world.execute(
        "UPDATE store_values SET number = :at WHERE name = 'alert_cursor'",
        at=int((await world.store.now() - timedelta(days=1)).timestamp() * 1_000_000),
    )
    await world.execute(
        "UPDATE alert_rules SET active_since = :at", at=moment(world, await world.store.now() - timedelta(days=2))
    )
    await fail(world, task)
    assert len(await said(world)) == 1


async def test_what_becomes_visible_late_is_told_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction may commit after the cursor has passed the end_time it wrote."""
    task = await world.task()
    await make_rule(world, FAILED)
    active = await world.store.now() - timedelta(minutes=10)
    await world.execute("UPDATE alert_rules SET active_since = :at", at=moment(world, active))
    await fail(world, task)
    assert len(await said(world)) == 1
    await fail(world, task)
    late = await world.store.now() - timedelta(minutes=4)
    await world.execute(
        "UPDATE execution_logs SET end_time = :at WHERE id = (SELECT max(id) FROM execution_logs)",
        at=moment(world, late),
    )
    monkeypatch.setattr(alert_facts, "OVERLAP", timedelta(minutes=1))
    assert await said(world) == []  # too late
    monkeypatch.undo()
    assert len([line for line in await said(world) if "boom" in line]) == 1
    assert await said(world) == []


async def test_more_failures_than_are_read_at_once_are_all_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alert_facts, "FAILURES_AT_ONCE", 3)
    await make_rule(world, FAILED)
    for number in range(8):
        await fail(world, await world.task(f"t{number}"))
    assert (await world.store.decide_alerts()).more
    told = await said(world)
    assert len({line.split("'")[1] for line in told}) == 8
    assert len(told) == 8


@pytest.mark.parametrize("scope", ["group", "task"])
async def test_a_rule_looks_at_its_scope_alone(world: World, scope: str) -> None:
    group = await world.store.add_group("billing")
    mine, other = await world.task("mine", group="billing"), await world.task("other")
    rule = await make_rule(world, FAILED, scope={scope: "billing" if scope == "group" else "mine"})
    assert rule.scope.id == (group.id if scope == "group" else mine.id)
    await world.executor("e2", group="billing")
    await fail(world, other)
    await world.submit(mine)
    await world.end(await world.claim("e2"), OutcomeKind.FAILED)
    assert [line.split("'")[1] for line in await said(world)] == ["mine"]


async def test_failures_in_a_row_are_told_once_and_so_is_the_success(world: World) -> None:
    task = await world.task("close")
    await make_rule(world, {"kind": "failed_in_a_row", "count": 3})
    await fail(world, task)
    await fail(world, task, OutcomeKind.SUCCESS)
    for _ in range(2):
        await fail(world, task)
        assert await said(world) == []
    await world.store.cancel(await world.submit(task), reason="it does not count")
    assert await said(world) == []
    await fail(world, task)
    assert await said(world) == ["task 'close' failed 3 times in a row: boom"]
    await fail(world, task)
    assert await said(world) == []
    await fail(world, task, OutcomeKind.SUCCESS)
    assert await said(world) == ["recovered: task 'close' has succeeded"]


async def test_of_a_deleted_task_nothing_more_is_said(world: World) -> None:
    task = await world.task()
    await make_rule(world, FAILED)
    await fail(world, task)
    assert len(await said(world)) == 1
    await world.store.delete_task(task.id, by="test")
    assert await said(world) == []
    assert await world.store.list_firing() == []


# The living


@pytest.mark.parametrize("scope", ["all", {"group": "default"}, {"task": "close"}], ids=str)
async def test_what_is_due_and_not_started_is_late_until_it_starts(world: World, scope: Any) -> None:
    task = await world.task("close")
    await make_rule(world, {"kind": "late", "seconds": 60}, scope=scope)
    number = await world.submit(task)
    assert await said(world) == []
    await elapse(world, 61)
    (told,) = await said(world)
    assert told.startswith(f"instance {number} of task 'close' was due ")
    assert told.endswith("has not started: no executor has claimed it")
    assert await said(world) == []
    await world.executor()
    claimed = await world.claim()
    assert await said(world) == [
        f"recovered: instance {number} of task 'close' is no longer late: it has started or ended"
    ]
    await world.end(claimed)


async def test_what_waits_for_its_dependencies_is_late_and_what_is_held_is_not(world: World) -> None:
    upstream = await world.task("upstream", schedule="@every 1h")
    task = await world.task("close", schedule="@manual", dependency_ids=(upstream.id,))
    await make_rule(world, {"kind": "late", "seconds": 60})
    number = await world.submit(task, wait=True)
    await world.submit(task, held=True)
    await elapse(world, 61)
    told = await said(world)
    assert len(told) == 1
    assert told[0].startswith(f"instance {number} ")
    assert "dependencies" in told[0]


async def test_what_is_paused_is_not_late(world: World) -> None:
    task = await world.task()
    await make_rule(world, {"kind": "late", "seconds": 60})
    await world.submit(task)
    await elapse(world, 61)
    await world.store.pause(PauseScope.ALL, None, reason="moving", until=None, by="test")
    assert await said(world) == []


@pytest.mark.parametrize("scope", ["all", {"group": "default"}, {"task": "close"}], ids=str)
async def test_an_instant_of_which_nothing_starts_is_told_once_by_task(world: World, scope: Any) -> None:
    task = await world.task("close", schedule="@every 60s", overlap_policy="parallel", misfire_policy="catch_up")
    await world.task("by hand")
    await make_rule(world, {"kind": "never_started", "seconds": 100}, scope=scope)
    await elapse(world, 65)
    await world.store.materialise()
    assert await said(world) == []
    await elapse(world, 130)
    await world.store.materialise()
    (told,) = await said(world)
    assert told.startswith("task 'close': nothing has started for its instant ")
    assert await said(world) == []
    await world.executor()
    claimed = await world.claim()
    assert len(claimed) > 1
    assert await said(world) == ["recovered: task 'close' has started, or its instant was skipped"]
    assert {one.task_id for one in claimed} == {task.id}


async def test_an_instant_that_was_never_made_is_told(world: World) -> None:
    await world.task("close", schedule="@every 60s")
    await make_rule(world, {"kind": "never_started", "seconds": 100})
    await elapse(world, 200)
    (told,) = await said(world)
    assert told.startswith("task 'close': nothing has started for its instant ")
    await world.store.materialise()  # skips all but the newest, which is not that old
    assert await said(world) == ["recovered: task 'close' has started, or its instant was skipped"]


async def test_a_skip_is_no_instant_that_never_started(world: World) -> None:
    await world.task("close", schedule="@every 60s", misfire_policy="skip")
    await make_rule(world, {"kind": "never_started", "seconds": 100})
    await elapse(world, 1_000)
    await world.store.materialise()
    assert await said(world) == []


@pytest.mark.parametrize("scope", ["all", {"group": "default"}, {"task": "close"}], ids=str)
async def test_what_runs_for_too_long_is_told_until_it_ends(world: World, scope: Any) -> None:
    task = await world.task("close")
    await make_rule(world, {"kind": "running_longer", "seconds": 60}, scope=scope)
    await world.executor()
    number = await world.submit(task)
    claimed = await world.claim()
    assert await said(world) == []
    await elapse(world, 61)
    (told,) = await said(world)
    assert told.startswith(f"instance {number} of task 'close' runs since ")
    assert told.endswith("longer than 60 s, on e1")
    await world.end(claimed)
    assert await said(world) == [f"recovered: instance {number} of task 'close' runs no longer"]


async def test_what_runs_for_longer_than_its_task_usually_does_is_told(world: World) -> None:
    task, fresh = await world.task("close"), await world.task("fresh")
    await make_rule(world, {"kind": "running_longer", "times_median": 3})
    await world.executor()
    for seconds in (1, 10, 20):
        await world.submit(task)
        await world.end(await world.claim(), duration_ms=seconds * 1000)
    await world.submit(fresh)
    await world.submit(task)
    await world.claim()
    await elapse(world, 29)
    assert await said(world) == []
    await elapse(world, 2)
    (told,) = await said(world)
    assert "of task 'close' runs since" in told
    assert "longer than 3 times its task's median of 10 s" in told


async def test_a_long_queue_is_told_after_a_while_until_it_is_short(world: World) -> None:
    task = await world.task("close")
    await make_rule(world, {"kind": "queue_longer", "count": 2, "minutes": 1})
    await make_rule(world, {"kind": "queue_longer", "count": 2, "minutes": 1}, name="own", scope={"task": "close"})
    await make_rule(world, {"kind": "queue_longer", "count": 3, "minutes": 1}, name="patient")
    for _ in range(3):
        await world.submit(task)
    await world.submit(task, run_at=await world.store.now() + timedelta(hours=1))  # it does not wait yet
    assert await said(world) == []
    await _longer_ago(world, 61)
    assert sorted(await said(world)) == [
        "group 'default' has had more than 2 instances waiting for 1 minutes",
        "task 'close' has had more than 2 instances waiting for 1 minutes",
    ]
    await world.executor()
    await world.claim(limit=1)
    assert len(await said(world)) == 2
    assert await world.store.list_firing() == []


async def _longer_ago(world: World, seconds: int) -> None:
    by = f"{seconds}000000" if world.store.database.dialect == "sqlite" else f"make_interval(secs => {seconds})"
    await world.execute(f"UPDATE alert_states SET since = since - {by}")  # noqa: S608 - a number


# Executors


async def test_a_silent_executor_is_lost_until_it_beats(world: World) -> None:
    await make_rule(world, {"kind": "executor_lost"})
    await world.executor("e1")
    assert await said(world) == []
    await silence(world, "e1")
    (told,) = await said(world)
    assert told.startswith("executor e1 of group 'default' was last heard of ")
    await world.store.beat("e1")
    assert await said(world) == [
        "recovered: executor e1 of group 'default' is back, or another of its group has started"
    ]
    await world.store.deregister("e1")
    assert await said(world) == []
    assert await world.count("alert_states", "subject <> ''") == 0


async def test_an_executor_that_was_forgotten_unseen_is_lost_and_one_that_stopped_is_not(world: World) -> None:
    await make_rule(world, {"kind": "executor_lost"})
    for name in ("e1", "e2"):
        await world.executor(name)
    assert await said(world) == []
    await silence(world, "e1")
    assert await world.store.forget_executors() == ["e1"]
    await world.store.deregister("e2")
    (told,) = await said(world)
    assert told.startswith("executor e1 ")
    await world.executor("e3")
    assert len(await said(world)) == 1
    assert await world.store.list_firing() == []


async def test_an_executor_that_leaves_while_it_is_looked_at_is_not_taken_for_lost(
    cluster_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = cluster_world
    await make_rule(world, {"kind": "executor_lost"})
    await world.executor("e1")
    read = alert_living.registry

    async def leaving(*given: Any) -> Any:
        found = await read(*given)
        await world.store.deregister("e1")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(alert_living, "registry", leaving)
        await world.store.decide_alerts()
    assert await said(world) == []
    assert await world.count("alert_states", "subject <> ''") == 0


async def test_executors_of_other_groups_are_none_of_its_business(world: World) -> None:
    await world.store.add_group("billing")
    await make_rule(world, {"kind": "executor_lost"}, scope={"group": "billing"})
    await world.executor("e1")
    await world.executor("e2", group="billing")
    await said(world)
    await silence(world, "e1", "e2")
    (told,) = await said(world)
    assert told.startswith("executor e2 ")


# Together


async def test_each_target_gets_each_notice(world: World) -> None:
    await make_rule(world, FAILED, A, B)
    await fail(world, await world.task())
    await world.store.decide_alerts()
    parcels = await taken(world)
    assert sorted(parcel.target.id for parcel in parcels if parcel.target) == ["a", "b"]
    assert len({parcel.event["notice"] for parcel in parcels}) == 1


async def test_what_is_collected_survives_and_is_told_as_one(world: World) -> None:
    await make_rule(world, FAILED, group_seconds=60)
    for name in ("a", "b", "c"):
        await fail(world, await world.task(name))
        await world.store.decide_alerts()
    (first,) = await taken(world)
    assert "task 'a'" in first.event["title"]
    (row,) = await world.sql("SELECT suppressed, about FROM alert_states WHERE subject = ''")
    assert row["suppressed"] == 2
    past = (await world.store.now() - timedelta(seconds=1)).isoformat()
    about = row["about"] if isinstance(row["about"], str) else None
    await _reopen(world, about, past)
    await world.store.decide_alerts()
    (second,) = await taken(world)
    assert second.event["title"] == "failed: 2 alerts"


async def _reopen(world: World, about: str | None, past: str) -> None:
    """Let the window end now."""
    if about is None:
        await world.execute(
            "UPDATE alert_states SET about = jsonb_set(about, '{open_until}', to_jsonb(CAST(:past AS text))) "
            "WHERE subject = ''",
            past=past,
        )
    else:
        await world.execute(
            "UPDATE alert_states SET about = json_set(about, '$.open_until', :past) WHERE subject = ''", past=past
        )


async def test_of_two_that_decide_at_once_one_changes_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await make_rule(world, FAILED)
    await fail(world, await world.task())
    gather = alert_facts.gather

    async def slow(tx: Any, **more: Any) -> Any:
        found = await gather(tx, **more)
        monkeypatch.setattr(alert_facts, "gather", gather)
        return found

    monkeypatch.setattr(alert_facts, "gather", slow)
    first = world.store.decide_alerts()
    write = world.store.database.write

    async def after_another(body: Any, **more: Any) -> Any:
        monkeypatch.setattr(world.store.database, "write", write)
        await world.store.decide_alerts()
        return await write(body, **more)

    monkeypatch.setattr(world.store.database, "write", after_another)
    decided = await first
    assert (decided.notices, decided.more) == (0, True)
    assert len(await taken(world)) == 1


async def test_a_rule_that_is_deleted_while_it_is_looked_at_says_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = await make_rule(world, FAILED)
    await fail(world, await world.task())
    write = world.store.database.write

    async def after_the_deletion(body: Any, **more: Any) -> Any:
        monkeypatch.setattr(world.store.database, "write", write)
        await world.store.delete_alert_rule(rule.id)
        return await write(body, **more)

    monkeypatch.setattr(world.store.database, "write", after_the_deletion)
    await world.store.decide_alerts()
    assert await taken(world) == []
    assert await world.count("alert_states") == 0


async def test_a_rule_that_cannot_be_read_holds_up_no_other(world: World) -> None:
    bad = await make_rule(world, FAILED, name="bad")
    await make_rule(world, FAILED, name="good")
    await world.execute(
        "UPDATE alert_rules SET condition = :condition WHERE id = :id".replace(
            ":condition", '\'{"kind": "of the future"}\''
        ),
        id=bad.id,
    )
    await fail(world, await world.task())
    assert len(await said(world)) == 1
    assert [rule.name for rule in (await world.store.list_alert_rules()).items] == ["good"]


async def test_looking_at_nothing_new_writes_nothing(world: World) -> None:
    await make_rule(world, FAILED)
    await fail(world, await world.task())
    for _ in range(2):
        await said(world)
    (before,) = await world.sql("SELECT text FROM store_values WHERE name = 'alert_cursor'")
    assert await said(world) == []
    (after,) = await world.sql("SELECT text FROM store_values WHERE name = 'alert_cursor'")
    assert before["text"] == after["text"]
