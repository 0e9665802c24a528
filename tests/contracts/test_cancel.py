"""Cancel: what has not started ends at once, what runs is asked to stop, what has ended refuses."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from contracts.rows import counts, difference, ended, living
from hourhand.model.errors import Gone, HourhandError, IllegalEdge, NotFound
from hourhand.model.instance import Held, Submission
from hourhand.model.words import BlockedBy, OutcomeKind, Status

if TYPE_CHECKING:
    from contracts.world import World

WAITING: list[tuple[dict[str, Any], BlockedBy | None]] = [
    ({}, None),
    ({"held": True}, BlockedBy.DISPATCH),
    ({"wait": True}, BlockedBy.DEPENDENCIES),
    ({}, BlockedBy.PERMIT),
]


@pytest.mark.parametrize(("submission", "blocked_by"), WAITING)
async def test_what_has_not_started_ends_at_once(
    world: World, submission: dict[str, Any], blocked_by: BlockedBy | None
) -> None:
    upstream = await world.task()
    keyed = {"concurrency_key": "k"} if blocked_by is BlockedBy.PERMIT else {}
    task = await world.task(dependency_ids=(upstream.id,), **keyed)
    await world.submit(upstream, held=True)
    submitted = await world.submit(task, **submission)
    assert (await world.store.get_instance(submitted)).blocked_by is blocked_by

    cancelled = await world.store.cancel(submitted, reason="no longer wanted")

    assert (cancelled.status, cancelled.error_message) == (Status.CANCELLED, "no longer wanted")
    assert (cancelled.start_time, cancelled.duration_ms, cancelled.blocked_by) == (None, 0, None)
    assert await living(world, submitted) is None
    assert await world.count("instance_waits") == 0


async def test_what_runs_is_asked_to_stop_and_told_at_its_next_beat(world: World) -> None:
    await world.executor()
    submitted = await world.submit(await world.task())
    (claimed,) = await world.claim()
    before = await counts(world)

    asked = await world.store.cancel(submitted, reason="test")

    assert (asked.status, asked.cancel_requested) == (Status.RUNNING, True)
    assert difference(before, await counts(world)) == {}
    assert (await world.store.beat("e1", [Held(submitted, claimed.fence)])).cancelled == (submitted,)
    assert [one.status for one in await world.end([claimed], OutcomeKind.CANCELLED)] == [Status.CANCELLED]


async def test_why_what_runs_was_cancelled_is_remembered(world: World) -> None:
    await world.executor()
    submitted = await world.submit(await world.task())
    await world.claim()
    await world.store.cancel(submitted, reason="the data\0 is wrong")
    row = await living(world, submitted)
    assert row is not None
    assert row["cancel_reason"] == "the data is wrong"


async def test_asking_twice_changes_nothing(world: World) -> None:
    await world.executor()
    submitted = await world.submit(await world.task())
    await world.claim()
    await world.store.cancel(submitted, reason="test")
    row = await living(world, submitted)

    await world.store.cancel(submitted, reason="test")

    assert await living(world, submitted) == row


@pytest.mark.parametrize(
    ("kind", "legal"),
    [
        (OutcomeKind.SUCCESS, ()),
        (OutcomeKind.FAILED, ("planned", "pending")),
        (OutcomeKind.CANCELLED, ("planned", "pending")),
    ],
)
async def test_what_has_ended_refuses_and_names_the_legal_edges(
    world: World, kind: OutcomeKind, legal: tuple[str, ...]
) -> None:
    await world.executor()
    submitted = await world.submit(await world.task())
    await world.run_all(kind=kind)
    before = await ended(world, submitted)

    with pytest.raises(IllegalEdge, match=f"instance {submitted} is {kind.value} and cannot be cancelled") as refused:
        await world.store.cancel(submitted, reason="test")

    assert (refused.value.state, refused.value.legal) == (kind.value, legal)
    assert await ended(world, submitted) == before


async def test_an_unknown_instance_is_not_found(world: World) -> None:
    with pytest.raises(NotFound, match="there is no instance 12345"):
        await world.store.cancel(12345, reason="test")


async def test_one_that_retention_removed_is_gone(world: World) -> None:
    await world.executor()
    submitted = await world.submit(await world.task())
    await world.run_all()
    await world.execute("DELETE FROM execution_logs")

    with pytest.raises(Gone, match="retention"):
        await world.store.cancel(submitted, reason="test")


async def test_a_permit_is_given_to_the_next(world: World) -> None:
    await world.executor()
    task = await world.task(concurrency_key="k")
    first, second = await world.submit(task), await world.submit(task)
    assert (await world.store.get_instance(first)).status is Status.PENDING

    await world.store.cancel(first, reason="test")

    assert (await world.store.get_instance(second)).status is Status.PENDING
    assert await world.count("concurrency_permits") == 1


async def test_a_key_is_free_again(world: World) -> None:
    task = await world.task()
    first = await world.submit(task, key="k")

    await world.store.cancel(first, reason="test")

    assert await world.submit(task, key="k") != first


async def test_a_cancelled_instant_is_in_the_ledger_and_does_not_release_its_dependents(world: World) -> None:
    upstream = await world.task()
    waiting = await world.task(dependency_ids=(upstream.id,))
    submitted = await world.submit(upstream)
    waiter = await world.submit(waiting, wait=True)

    await world.store.cancel(submitted, reason="test")

    assert await world.count("task_instants", "outcome = 'cancelled' AND unsettled IS NULL AND shards_left = 0") == 1
    assert (await world.store.get_instance(waiter)).blocked_by is BlockedBy.DEPENDENCIES


async def test_of_a_cancel_and_a_claim_one_comes_first(world: World) -> None:
    await world.executor()
    task = await world.task()
    for _ in range(15):
        submitted = [one.instance_id for one in await world.store.submit([Submission(task_id=task.id)] * 4)]

        claiming = asyncio.create_task(world.claim())
        await asyncio.gather(*[world.store.cancel(one, reason="test") for one in submitted])
        claimed = await claiming

        running = {one.instance_id for one in claimed}
        for one in submitted:
            instance = await world.store.get_instance(one)
            assert instance.status is (Status.RUNNING if one in running else Status.CANCELLED)
            assert instance.cancel_requested is (one in running)
        await world.end(claimed, OutcomeKind.CANCELLED)
    assert await world.count("execution_logs", "status = 'cancelled'") == 60


async def test_of_many_cancels_at_once_one_ends_it(world: World) -> None:
    submitted = await world.submit(await world.task())

    answers = await asyncio.gather(
        *[world.store.cancel(submitted, reason="test") for _ in range(10)], return_exceptions=True
    )

    assert sum(not isinstance(answer, BaseException) for answer in answers) == 1
    assert all(isinstance(answer, IllegalEdge) for answer in answers if isinstance(answer, BaseException))
    assert len(await ended(world, submitted)) == 1


async def test_no_refusal_contradicts_itself_while_it_is_retried_again_and_again(world: World) -> None:
    submitted = await world.submit(await world.task())
    refusals: list[HourhandError] = []

    async def again(act: Any, **more: Any) -> None:
        for _ in range(60):
            try:
                await act(submitted, **more)
            except HourhandError as error:
                refusals.append(error)

    await asyncio.gather(
        *[again(world.store.cancel, reason="test") for _ in range(3)], *[again(world.store.retry) for _ in range(3)]
    )

    assert all(isinstance(error, IllegalEdge) for error in refusals)
    assert not [str(error) for error in refusals if isinstance(error, IllegalEdge) and error.wanted in error.legal]
    logs = await ended(world, submitted)
    assert sum(row["superseded_at"] is None for row in logs) + (await living(world, submitted) is not None) == 1
