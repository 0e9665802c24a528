"""Explain: every reason there is, each brought about by the verbs that people, schedulers and executors use."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from contracts.elapse import elapse, only, report, silence
from contracts.explained import (
    EXAMPLES,
    behind_others,
    cancel_requested,
    cancelled,
    dependent,
    failed_upstream,
    release_due,
    skipped_misfire,
    upstream_open,
)
from contracts.plans import PostgresqlPlans, statements
from hourhand.model.errors import Gone, NotFound
from hourhand.model.explanation import Code
from hourhand.model.instance import Submission
from hourhand.model.pause import PauseScope
from hourhand.model.words import (
    DependencyMode,
    OutcomeKind,
    Status,
    UpstreamFailurePolicy,
)

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.explanation import Explanation, Reason

EVERY = "@every 60s"
SECOND = {Code.RETRIED, Code.EXECUTOR_LOST_BEFORE}
"""What is worth knowing beside the reason that decides."""


def test_every_reason_has_an_example() -> None:
    assert set(EXAMPLES) == set(Code)


@pytest.mark.parametrize("code", Code)
async def test_each_reason_is_found(world: World, code: Code) -> None:
    instance_id = await EXAMPLES[code](world)
    found = await world.store.explain(instance_id)
    codes = [one.code for one in found.reasons]
    assert code in codes
    assert codes[0] == code or code in SECOND
    instance = await world.store.get_instance(instance_id)
    assert (found.instance_id, found.status) == (instance_id, instance.status)
    assert found.reasons[0].text in found.summary
    assert found.summary.endswith(".")


async def reason(world: World, instance_id: int) -> Reason:
    """The one that decides."""
    return (await world.store.explain(instance_id)).reasons[0]


def codes(found: Explanation) -> list[Code]:
    return [one.code for one in found.reasons]


async def test_a_wait_says_which_instance_of_which_task_is_in_the_way(world: World) -> None:
    upstream, task = await dependent(world)
    await world.executor()
    first = await world.submit(upstream)
    instance_id = await world.submit(task, wait=True)
    (claimed,) = await world.claim()
    found = await reason(world, instance_id)
    assert (found.data["task_name"], found.data["instances"]) == (upstream.name, {str(first): "running"})
    assert found.data["scheduled_time"] == claimed.scheduled_time
    assert found.until is not None
    await report(world, await world.store.get_instance(first))
    assert codes(await world.store.explain(instance_id)) == [Code.CLAIMABLE]


async def test_what_would_happen_follows_the_policy(world: World) -> None:
    upstream, task = await dependent(
        world, upstream_failure_policy=UpstreamFailurePolicy.RUN, dependency_mode=DependencyMode.ALL
    )
    other = await world.task()
    await world.store.edit_task(task.id, {"dependency_ids": [upstream.id, other.id]}, by="ann")
    await world.submit(other)
    instance_id = await world.submit(task, wait=True)
    missing, still_open = (await world.store.explain(instance_id)).reasons
    assert (missing.code, still_open.code) == (Code.UPSTREAM_MISSING, Code.UPSTREAM_OPEN)
    assert "goes on when nothing else is open" in missing.text


async def test_who_has_the_permits_is_named(world: World) -> None:
    await world.executor()
    task = await world.task(concurrency_key="ledger", concurrency_limit=2)
    holders = [await world.submit(task) for _ in range(2)]
    waiting = [await world.submit(task) for _ in range(3)]
    found = await reason(world, waiting[-1])
    assert found.data == {"key": "ledger", "limit": 2, "instances": holders, "taken": 2, "ahead": 2}


async def test_what_is_due_later_also_says_what_will_be_in_the_way_then(world: World) -> None:
    task = await world.task(executor_labels={"zone": "us"})
    await world.executor()
    await world.store.pause(PauseScope.ALL, reason="moving", until=await world.store.now() + timedelta(1), by="ann")
    instance_id = await world.submit(task, run_at=await world.store.now() + timedelta(hours=1))
    found = await world.store.explain(instance_id)
    assert codes(found) == [Code.NOT_YET_DUE, Code.PAUSED, Code.NOBODY_LABELLED]
    assert "paused by ann until" in found.reasons[1].text
    assert found.reasons[2].data["executors"] == {"e1": {}}


async def test_a_pause_of_the_task_alone_is_not_in_the_way_of_a_submission(world: World) -> None:
    await world.executor()
    task = await world.task()
    await world.store.pause(PauseScope.TASK, task.id, reason="r", by="ann")
    assert codes(await world.store.explain(await world.submit(task))) == [Code.CLAIMABLE]


async def test_an_executor_that_fell_silent_is_named(world: World) -> None:
    await world.executor("e1")
    await silence(world, "e1")
    found = await reason(world, await world.submit(await world.task()))
    assert (found.code, found.data["silent"]) == (Code.NO_EXECUTOR, ["e1"])


async def test_those_ahead_are_counted_by_priority_and_age_as_the_claim_takes_them(world: World) -> None:
    await world.executor()
    later = await world.store.now() + timedelta(hours=1)
    urgent, usual, idle = [await world.task(priority=one) for one in (0, 5, 9)]
    for task in (urgent, usual, idle):
        await world.submit(task)
    await world.submit(urgent, run_at=later)  # not before its time
    instance_id = await world.submit(usual)
    await world.submit(usual)
    found = await reason(world, instance_id)
    assert (found.code, found.data["ahead"]) == (Code.BEHIND_OTHERS, 2)
    claimed = [one.instance_id for one in await world.claim()]
    assert claimed.index(instance_id) == found.data["ahead"]


async def test_a_cancel_says_who_and_why(world: World) -> None:
    found = await reason(world, await cancelled(world))
    assert found.data["by"] == "ann"
    assert "ann cancelled it before it started (no need)" in found.text
    asked = await reason(world, await cancel_requested(world))
    assert "asked to stop by ann (no need)" in asked.text


async def test_a_skip_says_how_many_and_what_to_do(world: World) -> None:
    found = await reason(world, await skipped_misfire(world))
    assert (found.data["count"], "backfill" in found.text) == (3, True)


async def test_what_waited_in_vain_says_for_what(world: World) -> None:
    found = await reason(world, await failed_upstream(world))
    (unmet,) = found.data["unmet"]
    assert (unmet["standing"], unmet["outcome"]) == ("failed", "failed")


async def test_a_success_after_a_loss_and_a_retry_by_hand_says_which_attempt_it_was(world: World) -> None:
    await world.executor()
    instance_id = await world.submit(await world.task())
    await world.claim()
    await elapse(world, 100)
    await world.store.reap()
    await world.run_all(kind=OutcomeKind.FAILED)
    assert (await reason(world, instance_id)).text.startswith("after 2 attempts: ")
    await world.store.retry(instance_id)
    await world.run_all()
    assert len(await world.store.list_attempts(instance_id)) == 2
    assert (await reason(world, instance_id)).text.startswith("at attempt 3, ")


async def test_explaining_changes_nothing(world: World) -> None:
    instance_id = await release_due(world)
    before = await world.sql("SELECT * FROM instance_waits")
    await world.store.explain(instance_id)
    assert [dict(row) for row in await world.sql("SELECT * FROM instance_waits")] == [dict(row) for row in before]
    assert (await world.store.get_instance(instance_id)).status is Status.PLANNED


async def test_what_there_is_not_cannot_be_explained(world: World) -> None:
    for instance_id in (999, 2**70, -1):
        with pytest.raises(NotFound):
            await world.store.explain(instance_id)
    task = await world.task(schedule=EVERY)
    await elapse(world, 55)
    await world.store.materialise()
    made = await only(world, task)
    await world.store.edit_task(task.id, {"enabled": False}, by="ann")
    with pytest.raises(Gone):
        await world.store.explain(made.id)


async def test_a_backlog_costs_no_more_statements(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.executor()
    tasks = [await world.task(priority=9), await world.task(priority=9, concurrency_key="k")]
    await world.submit(tasks[1])  # which has the permit
    counts = []
    for _ in range(2):
        ids = [await world.submit(one) for one in tasks]
        with statements(monkeypatch) as seen:
            for one in ids:
                await world.store.explain(one)
        counts.append(len(seen))
        for task in tasks:
            await world.store.submit([Submission(task_id=task.id) for _ in range(300)])
    assert counts[1] <= counts[0] <= 30, "the second time the definitions are known"


async def test_every_statement_uses_an_index(cluster_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world = cluster_world
    await world.executor()
    (group,) = await world.store.list_groups()
    insert = (
        "INSERT INTO task_instances (id, task_id, task_version, group_id, scheduled_time, status, blocked_by,"
        " concurrency_key, created_at, lane_id, priority, available_at, triggered_by)"
        " SELECT n + {}, 1000 + n % 1000, 1, {}, now(), {}, now(), 1, n % 10, now() - n * interval '1 s', 'api'"
        " FROM generate_series(1, 20000) n"
    )
    await world.execute(insert.format(1_000_000, group.id, "'pending', NULL, NULL"))
    await world.execute(insert.format(2_000_000, group.id, "'planned', 'permit', 'ledger'"))
    async with world.store.database.pool.acquire() as connection:  # type: ignore[attr-defined]  # PostgreSQL
        await connection.execute("ANALYZE task_instances")
    plans = PostgresqlPlans(world.store)
    keyed = await world.task(concurrency_key="ledger", priority=9)
    for instance_id in (await world.submit(keyed), await behind_others(world), await upstream_open(world)):
        with statements(monkeypatch) as seen:
            await world.store.explain(instance_id)
        for statement, params in seen:
            scans = await plans.scans(statement, params, unavoidable=True)
            assert [one for one in scans if "task_instances" in one] == []
