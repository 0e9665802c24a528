"""Retry: what failed or was cancelled lives again, with its id, version and checkpoint, under a new fence."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from contracts.rows import counts, difference, ended, expire, living, shift
from hourhand.model.errors import Conflict, Gone, IllegalEdge, InvalidInput, NotFound
from hourhand.model.instance import Progress
from hourhand.model.words import BlockedBy, OutcomeKind, Status, TriggeredBy, UpstreamFailurePolicy
from hourhand.store.schema import LIVING

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.task import Task


async def fail(world: World, task: Task | None = None, **changes: Any) -> int:
    """An instance that has failed."""
    await world.executor()
    submitted = await world.submit(task or await world.task(), **changes)
    await world.run_all(kind=OutcomeKind.FAILED)
    assert (await world.store.get_instance(submitted)).status is Status.FAILED
    return submitted


@pytest.mark.parametrize("kind", [OutcomeKind.FAILED, OutcomeKind.TIMED_OUT, OutcomeKind.CANCELLED])
async def test_what_failed_or_was_cancelled_is_pending_again(world: World, kind: OutcomeKind) -> None:
    await world.executor()
    submitted = await world.submit(await world.task())
    await world.run_all(kind=kind)
    before = await world.store.now()

    revived = await world.store.retry(submitted)

    assert (revived.id, revived.status, revived.manual_retries) == (submitted, Status.PENDING, 1)
    assert revived.available_at is not None
    assert revived.available_at >= before
    assert [one.instance_id for one in await world.run_all()] == [submitted]
    assert (await world.store.get_instance(submitted)).status is Status.SUCCESS


async def test_everything_is_restored_but_what_belongs_to_the_attempt(world: World) -> None:
    await world.executor()
    task = await world.task(max_retries=1, retry_delay_seconds=0)
    submitted = await world.submit(
        task,
        args={"a": [1, None]},
        priority=2,
        key="key",
        triggered_by=TriggeredBy.MANUAL,
        requested_by="ann",
        data_source_id=7,
        operation_kind="archive",
        operation_config_id=8,
        backup_reference="b",
        notes="n",
    )
    await world.claim()
    await expire(world)
    await world.store.reap()
    (claimed,) = await world.claim()
    await world.end([claimed], OutcomeKind.FAILED)
    (claimed,) = await world.claim()
    report = Progress(instance_id=submitted, fence=claimed.fence, progress=0.5, phase="p", checkpoint={"at": 3})
    await world.store.report_progress([report])
    await world.store.cancel(submitted, reason="test")
    await world.store.edit_task(task.id, {"priority": 9}, by="test")
    before = await living(world, submitted)
    assert before is not None
    await world.end([claimed], OutcomeKind.FAILED, result={"r": 1})

    await world.store.retry(submitted)

    row = await living(world, submitted)
    assert row is not None
    changed = {name: row[name] for name in LIVING if row[name] != before[name]}
    assert changed.pop("available_at") > before["available_at"]
    assert changed.pop("queued_at") > before["queued_at"]
    assert changed == {
        "status": "pending",
        "fence": claimed.fence + 1,
        "retry_count": 0,
        "loss_count": 0,
        "manual_retries": 1,
        "cancel_requested": False,
        "cancel_reason": None,
        "executor_id": None,
        "start_time": None,
        "lease_until": None,
        "last_heartbeat": None,
        "progress": None,
        "phase": None,
    }
    (again,) = await world.claim()
    assert (again.args, again.checkpoint, again.task_version) == ({"a": [1, None]}, {"at": 3}, 1)
    assert again.fence == claimed.fence + 2


async def test_new_arguments_take_the_place_of_the_old(world: World) -> None:
    submitted = await fail(world, args={"a": 1})

    assert (await world.store.retry(submitted, args={"a": 2})).args == {"a": 2}

    (claimed,) = await world.claim()
    assert claimed.args == {"a": 2}


async def test_bad_arguments_are_refused_and_nothing_is_written(world: World) -> None:
    submitted = await fail(world)
    before, logs = await counts(world), await ended(world, submitted)

    with pytest.raises(InvalidInput, match="NUL"):
        await world.store.retry(submitted, args={"a": "\x00"})

    assert difference(before, await counts(world)) == {}
    assert await ended(world, submitted) == logs


async def test_retries_are_counted_anew(world: World) -> None:
    await world.executor()
    submitted = await world.submit(await world.task(max_retries=1, retry_delay_seconds=0))
    await world.run_all(kind=OutcomeKind.FAILED)

    await world.store.retry(submitted)

    assert len(await world.run_all(kind=OutcomeKind.FAILED)) == 2


async def test_an_ending_that_was_taken_back_is_an_attempt_among_others(world: World) -> None:
    await world.executor()
    submitted = await world.submit(await world.task(max_retries=1, retry_delay_seconds=0))
    first = await world.run_all(kind=OutcomeKind.FAILED)
    await world.store.retry(submitted)
    (second,) = await world.run_all(kind=OutcomeKind.SUCCESS)

    attempts = await world.store.list_attempts(submitted)

    assert [one.fence for one in attempts] == [one.fence for one in first] < [second.fence]
    assert [one.outcome for one in attempts] == [OutcomeKind.FAILED, OutcomeKind.FAILED]
    assert all(one.start_time and one.start_time <= one.end_time for one in attempts)


async def test_an_ending_without_an_attempt_is_none(world: World) -> None:
    submitted = await world.submit(await world.task())
    await world.store.cancel(submitted, reason="not today")
    await world.store.retry(submitted)

    assert await world.store.list_attempts(submitted) == []


async def test_the_log_row_is_superseded_and_the_next_end_is_another(world: World) -> None:
    submitted = await fail(world)
    await world.store.retry(submitted)
    (first,) = await ended(world, submitted)
    await world.run_all()

    rows = await ended(world, submitted)
    assert [(row["status"], row["superseded_at"] is None) for row in rows] == [("failed", False), ("success", True)]
    assert rows[0] == first
    page = await world.store.list_logs()
    assert [one.status for one in page.items] == [Status.SUCCESS, Status.FAILED]
    assert (await world.store.get_instance(submitted)).log_id == rows[1]["id"]


async def test_it_can_be_retried_again_and_again(world: World) -> None:
    submitted = await fail(world)
    fences = []
    for _ in range(3):
        fences.append((await world.store.retry(submitted)).fence)
        await world.run_all(kind=OutcomeKind.FAILED)

    assert fences == sorted(set(fences))
    assert (await world.store.get_instance(submitted)).manual_retries == 3
    assert sum(row["superseded_at"] is None for row in await ended(world, submitted)) == 1


async def test_the_newest_end_counts_even_if_the_clock_was_set_back_before_it(world: World) -> None:
    submitted = await fail(world)
    await world.store.retry(submitted)
    await world.run_all(kind=OutcomeKind.FAILED)
    await shift(world, "end_time", 3600, "superseded_at IS NOT NULL", table="execution_logs")

    assert (await world.store.retry(submitted)).manual_retries == 2


# Refusals


async def test_a_success_refuses_and_names_the_legal_edges(world: World) -> None:
    await world.executor()
    submitted = await world.submit(await world.task())
    await world.run_all()

    with pytest.raises(IllegalEdge, match=r"is success and cannot be .*may become: nothing") as refused:
        await world.store.retry(submitted)

    assert (refused.value.state, refused.value.legal) == ("success", ())


@pytest.mark.parametrize("state", ["planned", "pending", "running"])
async def test_what_lives_refuses_and_names_the_legal_edges(world: World, state: str) -> None:
    await world.executor()
    submitted = await world.submit(await world.task(), held=state == "planned")
    if state == "running":
        await world.claim()
    row = await living(world, submitted)

    with pytest.raises(IllegalEdge, match=f"is {state} and cannot be retried") as refused:
        await world.store.retry(submitted)

    assert "cancelled" in refused.value.legal
    assert await living(world, submitted) == row


async def test_a_record_of_skips_refuses_and_points_to_backfill(world: World) -> None:
    task = await world.task(schedule="@every 1h", misfire_policy="skip", misfire_grace_seconds=0)
    await shift(world, "next_fire_at", -86_400, table="tasks")
    await shift(world, "wake_at", -86_400, table="tasks")
    await world.store.materialise()
    rows = await world.sql(f"SELECT instance_id FROM execution_logs WHERE task_id = {task.id}")  # noqa: S608 - a number

    with pytest.raises(Conflict, match=r"skipped \(misfire\) and never ran: make them with a backfill") as refused:
        await world.store.retry(rows[0]["instance_id"])

    assert not isinstance(refused.value, IllegalEdge)


async def test_an_unknown_instance_is_not_found(world: World) -> None:
    with pytest.raises(NotFound, match="there is no instance 12345"):
        await world.store.retry(12345)


async def test_one_that_retention_removed_is_gone(world: World) -> None:
    submitted = await fail(world)
    await world.execute("DELETE FROM execution_logs")

    with pytest.raises(Gone, match=r"retention .* run its task anew"):
        await world.store.retry(submitted)


async def test_while_another_instance_with_its_key_lives_it_is_refused(world: World) -> None:
    task = await world.task()
    submitted = await fail(world, task, key="k")
    other = await world.submit(task, key="k")
    before, logs = await counts(world), await ended(world, submitted)

    with pytest.raises(Conflict, match="while another instance with its key 'k' lives"):
        await world.store.retry(submitted)

    assert difference(before, await counts(world)) == {}
    assert await ended(world, submitted) == logs
    await world.store.cancel(other, reason="test")
    assert (await world.store.retry(submitted)).status is Status.PENDING


@pytest.mark.parametrize("keyed", [False, True], ids=["", "with a concurrency key"])
async def test_of_many_retries_at_once_one_wins(world: World, *, keyed: bool) -> None:
    submitted = await fail(world, await world.task(concurrency_key="k" if keyed else None))

    answers = await asyncio.gather(*[world.store.retry(submitted) for _ in range(10)], return_exceptions=True)

    assert sum(not isinstance(answer, BaseException) for answer in answers) == 1
    refusals = [answer for answer in answers if isinstance(answer, BaseException)]
    assert all(isinstance(refusal, IllegalEdge) for refusal in refusals)
    row = await living(world, submitted)
    assert row is not None
    assert (row["manual_retries"], len(await ended(world, submitted))) == (1, 1)


async def test_of_two_instances_with_one_key_retried_at_once_one_wins(world: World) -> None:
    task = await world.task()
    both = [await fail(world, task, key="k") for _ in range(2)]

    answers = await asyncio.gather(*[world.store.retry(one) for one in both], return_exceptions=True)

    assert sum(not isinstance(answer, BaseException) for answer in answers) == 1
    assert sum(isinstance(answer, Conflict) for answer in answers) == 1
    assert await world.count("execution_logs", "superseded_at IS NOT NULL") == 1


# Concurrency keys


async def test_one_with_a_concurrency_key_waits_for_its_permit(world: World) -> None:
    task = await world.task(concurrency_key="k")
    submitted = await fail(world, task)
    other = await world.submit(task)

    revived = await world.store.retry(submitted)

    assert (revived.status, revived.blocked_by) == (Status.PLANNED, BlockedBy.PERMIT)
    assert [one.instance_id for one in await world.run_all()] == [other, submitted]


async def test_new_arguments_make_a_new_concurrency_key(world: World) -> None:
    submitted = await fail(world, await world.task(concurrency_key="shop-${shop}"), args={"shop": "a"})

    assert (await world.store.retry(submitted, args={"shop": "b"})).concurrency_key == "shop-b"

    assert await world.count("concurrency_permits", "key = 'shop-b'") == 1


# The ledger


async def test_a_retried_instant_is_open_again(world: World) -> None:
    upstream = await world.task()
    task = await world.task(dependency_ids=(upstream.id,))
    submitted = await fail(world, upstream)
    waiter = await world.submit(task, wait=True)
    assert await world.count("task_instants", "outcome = 'failed' AND shards_left = 0 AND shards_failed = 1") == 1

    await world.store.retry(submitted)

    opened = "outcome IS NULL AND ended_at IS NULL AND unsettled IS NULL AND shards_left = 1 AND shards_failed = 0"
    assert await world.count("task_instants", opened) == 1
    await world.run_all()
    assert await world.count("task_instants", "outcome = 'success' AND shards_left = 0 AND shards_failed = 0") == 1
    assert (await world.store.get_instance(waiter)).status is Status.SUCCESS


@pytest.mark.parametrize("schedule", ["@manual", "@upstream"])
async def test_dependents_are_not_released_twice(world: World, schedule: str) -> None:
    upstream = await world.task()
    task = await world.task(
        schedule=schedule, dependency_ids=(upstream.id,), upstream_failure_policy=UpstreamFailurePolicy.RUN
    )
    await world.executor()
    submitted = await world.submit(upstream)
    if schedule == "@manual":
        await world.submit(task, wait=True)
    await world.end(await world.claim(), OutcomeKind.FAILED)
    await world.run_all()  # the dependent has run, since its policy says so
    assert await world.count("execution_logs", f"task_id = {task.id}") == 1

    await world.store.retry(submitted)
    await world.run_all()
    await world.store.settle()
    await world.store.sweep()
    await world.run_all()

    assert (await world.store.get_instance(submitted)).status is Status.SUCCESS
    assert await world.count("execution_logs", f"task_id = {task.id}") == 1
    assert await world.count("task_instances") == 0


# Broadcast


async def test_a_retried_shard_counts_in_its_instant_again(world: World) -> None:
    upstream = await world.task(broadcast=True)
    waiting = await world.task(dependency_ids=(upstream.id,))
    await world.executor("e1")
    await world.executor("e2")
    await world.submit(upstream)
    waiter = await world.submit(waiting, wait=True)
    (failed,) = await world.claim("e1")
    await world.end([failed], OutcomeKind.FAILED)
    await world.end(await world.claim("e2"))
    assert await world.count("task_instants", "outcome = 'failed' AND shards_failed = 1 AND shards_left = 0") == 1

    await world.store.retry(failed.instance_id)

    assert await world.count("task_instants", "outcome IS NULL AND shards_failed = 0 AND shards_left = 1") == 1
    assert not await world.claim("e2")
    (again,) = await world.claim("e1")
    assert (again.instance_id, again.shard_index, again.shard_total) == (failed.instance_id, 0, 2)
    await world.end([again])
    assert await world.count("task_instants", "outcome = 'success'") == 1
    assert (await world.store.get_instance(waiter)).status is Status.PENDING


async def test_a_retried_shard_of_an_executor_that_is_gone_finds_another(world: World) -> None:
    submitted = await fail(world, await world.task(broadcast=True))
    await world.store.deregister("e1")
    await world.store.retain(days=30)  # takes the lanes of executors that are gone
    await world.executor("e2")

    await world.store.retry(submitted)
    await world.store.reap()

    assert [one.instance_id for one in await world.claim("e2")] == [submitted]


async def test_a_retry_keeps_its_version_unless_it_is_to_take_the_current_one(world: World) -> None:
    await world.store.add_group("other")
    task = await world.task("a", concurrency_key="old")
    first, second = await world.submit(task), await world.submit(task)
    for one in (first, second):
        await world.store.cancel(one, reason="to be mended")
    edited = {"group": "other", "concurrency_key": "new ${day}", "payload": {"command": ["true"]}}
    await world.store.edit_task(task.id, edited, by="test")
    kept = await world.store.retry(first)
    assert (kept.task_version, kept.group_id, kept.concurrency_key) == (1, task.group_id, "old")
    mended = await world.store.retry(second, args={"day": "today"}, current_version=True)
    now = await world.store.get_task(task.id)
    assert (mended.task_version, mended.group_id, mended.concurrency_key) == (2, now.group_id, "new today")
    await world.executor("e2", group="other")
    await world.store.give_permits()
    assert [one.instance_id for one in await world.claim("e2")] == [second]


async def test_a_deleted_task_has_no_current_version(world: World) -> None:
    task = await world.task("a")
    instance_id = await world.submit(task)
    await world.store.cancel(instance_id, reason="no need")
    await world.store.delete_task(task.id, by="test")
    with pytest.raises(Conflict, match="its task was deleted"):
        await world.store.retry(instance_id, current_version=True)
    assert (await world.store.retry(instance_id)).task_version == 1
