"""Finish: the outcome of an attempt ends its instance or sends it round again, under its fence and never twice."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.rows import counts, difference, ended, expire, living, shift
from contracts.world import endings
from hourhand.model.instance import Ending, Held, Outcome, Progress, Submission
from hourhand.model.words import BlockedBy, OutcomeKind, RetryBackoff, Status, TriggeredBy
from hourhand.store.schema import LIVING

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.instance import Assignment
    from hourhand.model.task import Task


async def start(world: World, task: Task | None = None, **changes: Any) -> Assignment:
    """An instance that runs on e1."""
    await world.executor()
    await world.submit(task or await world.task(), **changes)
    (claimed,) = await world.claim()
    return claimed


ENDS = [
    (OutcomeKind.SUCCESS, Status.SUCCESS, None),
    (OutcomeKind.FAILED, Status.FAILED, "why"),
    (OutcomeKind.TIMED_OUT, Status.FAILED, "why"),
    (OutcomeKind.CANCELLED, Status.CANCELLED, "why"),
]


@pytest.mark.parametrize(("kind", "status", "error"), ENDS)
async def test_an_outcome_ends_the_instance_and_moves_it_to_the_logs(
    world: World, kind: OutcomeKind, status: Status, error: str | None
) -> None:
    claimed = await start(world)
    before = await world.store.now()

    (finished,) = await world.end(
        [claimed], kind, result={"n": 1}, summary={"s": 2}, error_message="why", output_summary="out", duration_ms=1500
    )

    assert (finished.instance_id, finished.fence, finished.status) == (claimed.instance_id, claimed.fence, status)
    assert not finished.fenced
    assert not finished.replaced
    assert await living(world, claimed.instance_id) is None
    instance = await world.store.get_instance(claimed.instance_id)
    assert (instance.status, instance.error_message) == (status, error)
    assert (instance.result, instance.summary, instance.output_summary) == ({"n": 1}, {"s": 2}, "out")
    assert instance.end_time is not None
    assert instance.start_time is not None
    assert before <= instance.end_time <= await world.store.now()
    assert (instance.duration_ms, instance.end_time - instance.start_time) == (1500, timedelta(milliseconds=1500))


async def test_a_success_writes_its_log_row_and_nothing_else(world: World) -> None:
    task = await world.task()
    await world.end([await start(world, task)])
    claimed = await start(world, task)
    before = await counts(world)

    await world.end([claimed])

    assert difference(before, await counts(world)) == {"task_instances": -1, "execution_logs": 1}


async def test_an_attempt_that_fails_is_followed_by_another_while_retries_are_left(world: World) -> None:
    task = await world.task(max_retries=2, retry_delay_seconds=0)
    claimed = await start(world, task)
    statuses, attempts = [], []
    for number in range(3):
        (finished,) = await world.end([claimed], OutcomeKind.FAILED, error_message=f"error {number}")
        statuses.append(finished.status)
        attempts.append((claimed.fence, claimed.retry_count))
        if number < 2:
            assert (await world.store.get_instance(claimed.instance_id)).fence == claimed.fence + 1
            (claimed,) = await world.claim()

    assert statuses == [Status.PENDING, Status.PENDING, Status.FAILED]
    assert [retries for _, retries in attempts] == [0, 1, 2]
    instance = await world.store.get_instance(claimed.instance_id)
    assert (instance.status, instance.retry_count, instance.loss_count) == (Status.FAILED, 2, 0)
    assert instance.error_message == "error 2"
    recorded = await world.store.list_attempts(claimed.instance_id)  # the last attempt is the log's row
    assert [(one.fence, one.outcome, one.error_message) for one in recorded] == [
        (attempts[0][0], OutcomeKind.FAILED, "error 0"),
        (attempts[1][0], OutcomeKind.FAILED, "error 1"),
    ]
    assert all(one.executor_id == "e1" and one.start_time is not None for one in recorded)


@pytest.mark.parametrize(
    ("backoff", "seconds"), [(RetryBackoff.FIXED, (60, 60, 60)), (RetryBackoff.EXPONENTIAL, (60, 120, 240))]
)
async def test_retries_wait_by_the_backoff(world: World, backoff: RetryBackoff, seconds: tuple[int, ...]) -> None:
    claimed = await start(world, await world.task(max_retries=5, retry_delay_seconds=60, retry_backoff=backoff))
    for least in seconds:
        before = await world.store.now()
        await world.end([claimed], OutcomeKind.FAILED)
        instance = await world.store.get_instance(claimed.instance_id)
        assert instance.available_at is not None
        delay = (instance.available_at - before).total_seconds()
        assert least <= delay <= least * 1.2 + 5
        assert not await world.claim()
        await shift(world, "available_at", -600)
        world.store._marks.clear()  # noqa: SLF001 - the past was changed behind the claimers' backs
        (claimed,) = await world.claim()


@pytest.mark.parametrize(
    ("task", "outcome"),
    [({}, {}), ({"max_retries": 0}, {}), ({"max_retries": 5}, {"retryable": False})],
    ids=["max_retries null", "max_retries 0", "not retryable"],
)
async def test_without_retries_left_the_first_failure_is_the_end(
    world: World, task: dict[str, Any], outcome: dict[str, Any]
) -> None:
    claimed = await start(world, await world.task(**task))

    (finished,) = await world.end([claimed], OutcomeKind.FAILED, **outcome)

    assert finished.status is Status.FAILED
    assert await world.store.list_attempts(claimed.instance_id) == []


async def test_a_hand_back_is_claimable_again_and_counts_for_nothing(world: World) -> None:
    claimed = await start(world, await world.task(max_retries=1))

    (finished,) = await world.end([claimed], OutcomeKind.HANDED_BACK)

    assert finished.status is Status.PENDING
    assert (await world.store.get_instance(claimed.instance_id)).fence == claimed.fence + 1
    assert await world.store.list_attempts(claimed.instance_id) == []
    (again,) = await world.claim()
    assert (again.instance_id, again.retry_count, again.loss_count) == (claimed.instance_id, 0, 0)
    assert again.fence > claimed.fence


async def test_a_hand_back_of_what_had_started_is_kept_as_an_attempt_and_counts_for_nothing(world: World) -> None:
    claimed = await start(world, await world.task(max_retries=1))

    flush = await world.store.flush(endings([claimed], OutcomeKind.HANDED_BACK, error_message="stopped"))

    assert flush.aftermath.repeated == [], "it is no retry"
    (kept,) = await world.store.list_attempts(claimed.instance_id)
    assert (kept.fence, kept.outcome, kept.error_message) == (claimed.fence, OutcomeKind.HANDED_BACK, "stopped")
    assert kept.start_time is not None
    (again,) = await world.claim()
    assert (again.retry_count, again.loss_count) == (0, 0)


async def test_a_hand_back_may_ask_for_a_delay(world: World) -> None:
    claimed = await start(world)
    before = await world.store.now()

    await world.end([claimed], OutcomeKind.HANDED_BACK, delay_seconds=15.0)

    instance = await world.store.get_instance(claimed.instance_id)
    assert instance.available_at is not None
    assert instance.available_at >= before + timedelta(seconds=15)
    assert (instance.executor_id, instance.start_time, instance.lease_until) == (None, None, None)


@pytest.mark.parametrize("kind", [kind for kind in OutcomeKind if kind is not OutcomeKind.LOST])
async def test_with_a_cancel_requested_all_but_success_ends_as_cancelled(world: World, kind: OutcomeKind) -> None:
    claimed = await start(world, await world.task(max_retries=5))
    await world.store.cancel(claimed.instance_id, reason="test")

    (finished,) = await world.end([claimed], kind)

    assert finished.status is (Status.SUCCESS if kind is OutcomeKind.SUCCESS else Status.CANCELLED)
    assert (await world.store.get_instance(claimed.instance_id)).status is finished.status


@pytest.mark.parametrize("kind", [OutcomeKind.FAILED, OutcomeKind.HANDED_BACK])
async def test_one_with_a_concurrency_key_goes_round_by_planned_and_frees_its_permit(
    world: World, kind: OutcomeKind
) -> None:
    task = await world.task(concurrency_key="k", max_retries=3, retry_delay_seconds=600)
    claimed = await start(world, task)
    waiting = await world.submit(task)
    assert not await world.claim()

    flush = await world.store.flush(endings([claimed], kind, delay_seconds=600.0))

    between = await world.store.get_instance(claimed.instance_id)
    assert (between.status, between.blocked_by) == (Status.PLANNED, BlockedBy.PERMIT)
    assert await world.count("concurrency_permits") == 0
    await world.store.follow(flush.aftermath)
    assert [one.instance_id for one in await world.claim()] == [waiting]


async def test_an_end_frees_the_permit_for_the_next(world: World) -> None:
    task = await world.task(concurrency_key="k")
    claimed = await start(world, task)
    waiting = await world.submit(task)

    await world.end([claimed])

    assert [one.instance_id for one in await world.claim()] == [waiting]
    assert await world.count("concurrency_permits") == 1


# Fences


@pytest.mark.parametrize("kind", [kind for kind in OutcomeKind if kind is not OutcomeKind.LOST])
async def test_a_late_outcome_changes_nothing_and_is_answered_as_fenced(world: World, kind: OutcomeKind) -> None:
    claimed = await start(world)
    await expire(world)
    await world.store.reap()
    (successor,) = await world.claim()
    before, row = await counts(world), await living(world, claimed.instance_id)

    (finished,) = await world.end([claimed], kind)

    assert (finished.fenced, finished.status) == (True, None)
    assert difference(before, await counts(world)) == {}
    assert await living(world, claimed.instance_id) == row
    assert [one.status for one in await world.end([successor])] == [Status.SUCCESS]


async def test_an_outcome_for_what_has_ended_or_never_was_is_fenced(world: World) -> None:
    claimed = await start(world)
    await world.end([claimed])
    (logged,) = await ended(world, claimed.instance_id)
    unknown = Ending(instance_id=10**12, fence=1, outcome=Outcome(kind=OutcomeKind.SUCCESS))

    answers = await world.store.finish([*endings([claimed], OutcomeKind.FAILED), unknown])

    assert [one.fenced for one in answers] == [True, True]
    assert await ended(world, claimed.instance_id) == [logged]


async def test_of_one_attempt_finished_twice_in_a_batch_the_first_counts(world: World) -> None:
    claimed = await start(world)

    answers = await world.store.finish([*endings([claimed]), *endings([claimed], OutcomeKind.FAILED)])

    assert sorted(one.fenced for one in answers) == [False, True]
    assert [row["status"] for row in await ended(world, claimed.instance_id)] == ["success"]


async def test_of_one_attempt_finished_by_many_at_once_one_wins(world: World) -> None:
    claimed = await start(world, await world.task(max_retries=3))
    kinds = [OutcomeKind.SUCCESS, OutcomeKind.FAILED, OutcomeKind.CANCELLED, OutcomeKind.HANDED_BACK] * 3

    answers = await asyncio.gather(*[world.end([claimed], kind) for kind in kinds])

    assert sum(not one.fenced for (one,) in answers) == 1


async def test_batches_in_opposite_order_never_see_a_deadlock(world: World) -> None:
    await world.executor()
    task = await world.task(concurrency_key="k-${n}", max_retries=1)
    await world.store.submit([Submission(task_id=task.id, args={"n": number}) for number in range(200)])
    await world.store.sweep()
    claimed = await world.claim()

    answers = await asyncio.gather(*[world.end(order) for order in (claimed, claimed[::-1]) * 4])

    assert len(claimed) == 200
    assert sum(not one.fenced for batch in answers for one in batch) == 200


# The log


async def full_row(world: World) -> Assignment:
    """A running instance that has something in every column."""
    task = await world.task(broadcast=True, concurrency_key="k", max_retries=9, retry_delay_seconds=0)
    await world.executor()
    submitted = await world.submit(
        task,
        args={"a": [1, None]},
        priority=2,
        triggered_by=TriggeredBy.MANUAL,
        requested_by="ann",
        data_source_id=7,
        operation_kind="archive",
        operation_config_id=8,
        backup_reference="b",
        notes="n",
    )
    await world.end(await world.claim(), OutcomeKind.CANCELLED)
    await world.store.retry(submitted)
    await world.end(await world.claim(), OutcomeKind.FAILED)
    await world.claim()
    await expire(world)
    await world.store.reap()
    (claimed,) = await world.claim()
    report = Progress(instance_id=submitted, fence=claimed.fence, progress=0.5, phase="p", checkpoint={"at": 3})
    assert await world.store.report_progress([report]) == []
    await world.execute("UPDATE task_instances SET key = 'key'")
    await world.store.cancel(submitted, reason="test")
    await world.store.beat("e1", [Held(submitted, claimed.fence)])
    return claimed


async def test_the_log_has_every_column_of_the_living_row(world: World) -> None:
    claimed = await full_row(world)
    before = await living(world, claimed.instance_id)
    assert before is not None
    empty = {name for name in LIVING if before[name] in (None, 0)}
    assert empty == {"blocked_by", "result", "in_ledger", "shard_index"}

    await world.end([claimed], result={"r": 1})

    row = (await ended(world, claimed.instance_id))[-1]
    changed = {name for name in LIVING if row[name] != before[name]}
    assert changed == {"status", "start_time", "result", "lease_until"}
    assert (row["instance_id"], row["lease_until"]) == (claimed.instance_id, None)


async def test_what_is_cancelled_unstarted_keeps_its_counters_in_the_log(world: World) -> None:
    claimed = await full_row(world)
    await world.execute("UPDATE task_instances SET cancel_requested = (1 = 0)")
    await world.end([claimed], OutcomeKind.HANDED_BACK)
    before = await living(world, claimed.instance_id)
    assert before is not None
    assert (before["loss_count"], before["retry_count"], before["manual_retries"]) == (1, 1, 1)

    await world.store.cancel(claimed.instance_id, reason="test")

    row = (await ended(world, claimed.instance_id))[-1]
    changed = {name for name in LIVING if row[name] != before[name]}
    assert changed == {"status"}
