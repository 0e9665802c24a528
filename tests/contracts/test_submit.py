"""Submit: an instance asked for by a person or a program is one row, accepted with its whole batch or not at all."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from contracts.rows import counts, difference
from hourhand.model.errors import Conflict
from hourhand.model.instance import Submission
from hourhand.model.words import BlockedBy, OutcomeKind, Status, TriggeredBy

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.store import Store


async def test_a_plain_submission_writes_one_row_and_nothing_else(world: World) -> None:
    task = await world.task()
    await world.submit(task)  # the first of its kind also makes its lane
    before, stored = await counts(world), await world.store.get_task(task.id)

    await world.submit(task, args={"a": 1})

    assert difference(before, await counts(world)) == {"task_instances": 1}
    assert await world.store.get_task(task.id) == stored


async def test_it_is_pending_and_available_at_once_by_its_tasks_definition(world: World) -> None:
    task = await world.task(priority=3)
    before = await world.store.now()

    instance = await world.store.get_instance(await world.submit(task))

    after = await world.store.now()
    assert instance.status is Status.PENDING
    assert (instance.task_id, instance.task_name, instance.task_version) == (task.id, task.name, 1)
    assert (instance.priority, instance.fence, instance.in_ledger) == (3, 0, False)
    assert instance.triggered_by is TriggeredBy.API
    assert instance.available_at is not None
    assert before <= instance.available_at <= after
    assert before <= instance.scheduled_time <= after


async def test_everything_a_submission_says_is_kept(world: World) -> None:
    said = {
        "args": {"day": "2026-11-15", "größe": "中文 🙂", "n": 2**60, "backslash": "\\u0000", "none": None},
        "priority": 0,
        "key": "k",
        "triggered_by": TriggeredBy.MANUAL,
        "requested_by": "ann",
        "data_source_id": 7,
        "operation_kind": "archive",
        "operation_config_id": 8,
        "backup_reference": "b",
        "notes": "n",
    }

    instance = await world.store.get_instance(await world.submit(await world.task(), **said))

    assert {name: getattr(instance, name) for name in said} == said


async def test_run_at_is_when_it_becomes_available(world: World) -> None:
    await world.executor()
    later = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)

    instance = await world.store.get_instance(await world.submit(await world.task(), run_at=later))

    assert (instance.scheduled_time, instance.available_at) == (later, later)
    assert not await world.claim()


async def test_run_at_in_the_past_is_now(world: World) -> None:
    before = await world.store.now()
    past = before - timedelta(days=1)

    instance = await world.store.get_instance(await world.submit(await world.task(), run_at=past))

    assert instance.scheduled_time == past
    assert instance.available_at is not None
    assert instance.available_at >= before  # claimers look only above their low-water mark


async def test_a_batch_is_answered_in_its_order(world: World) -> None:
    one, other = await world.task(), await world.task()
    wanted = [one, other, other, one, other]

    submitted = await world.store.submit([Submission(task_id=task.id) for task in wanted])

    ids = [answer.instance_id for answer in submitted]
    assert len(set(ids)) == 5
    assert [(await world.store.get_instance(each)).task_id for each in ids] == [task.id for task in wanted]


async def test_one_submission_given_many_times_is_as_many_instances(world: World) -> None:
    upstream = await world.task()
    task = await world.task(dependency_ids=(upstream.id,))
    await world.submit(upstream)

    submitted = await world.store.submit([Submission(task_id=task.id, wait=True)] * 3)

    assert len({one.instance_id for one in submitted}) == 3
    assert await world.count("task_instances", f"task_id = {task.id} AND blocked_by = 'dependencies'") == 3
    assert await world.count("instance_waits") == 3


async def test_nothing_submitted_is_nothing_done(store: Store) -> None:
    assert await store.submit([]) == []


# Keys


async def test_a_key_that_lives_answers_with_the_living_instance(world: World) -> None:
    task = await world.task()
    first = await world.submit(task, key="k", args={"a": 1})
    before = await counts(world)

    (again,) = await world.store.submit([Submission(task_id=task.id, key="k", args={"a": 2})])

    assert (again.instance_id, again.status, again.existing) == (first, Status.PENDING, True)
    assert (await world.store.get_instance(first)).args == {"a": 1}
    assert difference(before, await counts(world)) == {}


async def test_a_key_that_runs_answers_with_the_running_instance(world: World) -> None:
    task = await world.task()
    await world.executor()
    first = await world.submit(task, key="k")
    await world.claim()

    (again,) = await world.store.submit([Submission(task_id=task.id, key="k")])

    assert (again.instance_id, again.status, again.existing) == (first, Status.RUNNING, True)


async def test_a_key_belongs_to_its_task(world: World) -> None:
    assert await world.submit(await world.task(), key="k") != await world.submit(await world.task(), key="k")


@pytest.mark.parametrize("kind", [OutcomeKind.SUCCESS, OutcomeKind.FAILED, OutcomeKind.CANCELLED])
async def test_a_key_is_free_again_once_its_instance_has_ended(world: World, kind: OutcomeKind) -> None:
    task = await world.task()
    await world.executor()
    first = await world.submit(task, key="k")
    await world.run_all(kind=kind)

    (again,) = await world.store.submit([Submission(task_id=task.id, key="k")])

    assert again.instance_id != first
    assert not again.existing


async def test_a_key_given_twice_in_one_batch_is_one_instance(world: World) -> None:
    task = await world.task()
    batch = [Submission(task_id=task.id, key=key) for key in ("a", "b", "a", None, "a", None)]

    answers = await world.store.submit(batch)

    ids = [answer.instance_id for answer in answers]
    assert ids[0] == ids[2] == ids[4]
    assert len(set(ids)) == 4
    assert [answer.existing for answer in answers] == [False, False, True, False, True, False]
    assert await world.count("task_instances") == 4


async def test_of_many_submitters_of_one_key_one_makes_the_instance(world: World) -> None:
    task = await world.task()

    answers = await asyncio.gather(*[world.store.submit([Submission(task_id=task.id, key="k")]) for _ in range(20)])

    assert len({answer.instance_id for (answer,) in answers}) == 1
    assert sum(not answer.existing for (answer,) in answers) == 1
    assert await world.count("task_instances") == 1


async def test_submitters_of_the_same_keys_in_opposite_order_never_see_a_deadlock(world: World) -> None:
    task = await world.task()
    for turn in range(10):
        keys = [f"{turn}-{number}" for number in range(50)]
        batches = [[Submission(task_id=task.id, key=key) for key in order] for order in (keys, keys[::-1]) * 2]

        answers = await asyncio.gather(*[world.store.submit(batch) for batch in batches])

        assert len({answer.instance_id for batch in answers for answer in batch}) == 50
    assert await world.count("task_instances") == 500


async def test_a_key_that_ends_while_it_is_submitted_again_is_answered_either_way(world: World) -> None:
    task = await world.task()
    await world.executor()
    accepted: set[int] = set()
    for _ in range(150):
        asked = [world.store.submit([Submission(task_id=task.id, key="k")]) for _ in range(3)]
        claimed = await world.claim()
        answers, _ = await asyncio.gather(asyncio.gather(*asked), world.end(claimed))
        accepted |= {answer.instance_id for (answer,) in answers}
    await world.run_all()
    assert await world.count("execution_logs") == len(accepted)
    assert await world.count("task_instances") == 0


# The ledger


async def test_a_manual_task_that_others_depend_on_gets_a_ledger_row_for_each_instance(world: World) -> None:
    upstream = await world.task()
    await world.task(dependency_ids=(upstream.id,))

    answers = await world.store.submit([Submission(task_id=upstream.id) for _ in range(3)])

    instances = [await world.store.get_instance(answer.instance_id) for answer in answers]
    assert all(instance.in_ledger for instance in instances)
    assert len({instance.scheduled_time for instance in instances}) == 3
    assert await world.count("task_instants", "outcome IS NULL AND shards_left = 1") == 3


async def test_a_ledger_row_is_taken_back_when_another_has_the_key(world: World) -> None:
    upstream = await world.task()
    await world.task(dependency_ids=(upstream.id,))

    await asyncio.gather(*[world.store.submit([Submission(task_id=upstream.id, key="k")]) for _ in range(10)])

    assert await world.count("task_instances") == 1
    assert await world.count("task_instants") == 1


@pytest.mark.parametrize("schedule", ["@daily", "@every 1h"])
async def test_a_submission_of_a_scheduled_task_leaves_the_ledger_to_the_schedule(world: World, schedule: str) -> None:
    upstream = await world.task(schedule=schedule)
    await world.task(dependency_ids=(upstream.id,))

    instance = await world.store.get_instance(await world.submit(upstream))

    assert not instance.in_ledger
    assert await world.count("task_instants") == 0


# Waiting and concurrency keys


async def test_dependencies_are_ignored_unless_asked_for(world: World) -> None:
    upstream = await world.task()
    task = await world.task(dependency_ids=(upstream.id,))
    await world.submit(upstream)

    ignoring = await world.store.get_instance(await world.submit(task))
    waiting = await world.store.get_instance(await world.submit(task, wait=True))

    assert ignoring.status is Status.PENDING
    assert (waiting.status, waiting.blocked_by) == (Status.PLANNED, BlockedBy.DEPENDENCIES)


async def test_what_waits_is_released_when_its_upstream_succeeds(world: World) -> None:
    upstream = await world.task()
    task = await world.task(dependency_ids=(upstream.id,))
    await world.executor()
    await world.submit(upstream)
    waiting = await world.submit(task, wait=True)

    await world.end(await world.claim(limit=1))

    assert (await world.store.get_instance(waiting)).status is Status.PENDING


async def test_waiting_for_what_has_succeeded_already_is_over_at_once(world: World) -> None:
    upstream = await world.task()
    task = await world.task(dependency_ids=(upstream.id,))
    await world.executor()
    await world.submit(upstream)
    await world.run_all()

    waiting = await world.submit(task, wait=True)

    assert (await world.store.get_instance(waiting)).status is Status.PENDING


async def test_a_concurrency_key_is_filled_in_from_the_arguments_and_waits_for_its_permit(world: World) -> None:
    task = await world.task(concurrency_key="shop-${shop}", concurrency_limit=1)
    await world.executor()
    ids = [await world.submit(task, args={"shop": shop}) for shop in ("a", "a", "b")]

    await world.claim()  # lanes are served from the first beat on
    await world.store.sweep()

    stand = [await world.store.get_instance(one) for one in ids]
    assert [one.concurrency_key for one in stand] == ["shop-a", "shop-a", "shop-b"]
    assert [one.blocked_by for one in stand] == [None, BlockedBy.PERMIT, None]


# Broadcast


async def test_a_broadcast_makes_one_instance_for_each_executor_alive(world: World) -> None:
    for name in ("e1", "e2", "e3"):
        await world.executor(name)
    await world.executor("elsewhere", group="other")

    await world.submit(await world.task(broadcast=True))

    rows = await world.sql("SELECT * FROM task_instances ORDER BY shard_index")
    assert [(row["shard_index"], row["shard_total"], row["target_executor_id"]) for row in rows] == [
        (0, 3, "e1"),
        (1, 3, "e2"),
        (2, 3, "e3"),
    ]


async def test_a_broadcast_to_nobody_is_refused_and_writes_nothing(world: World) -> None:
    task = await world.task(broadcast=True)
    plain = await world.task()
    before = await counts(world)

    with pytest.raises(Conflict, match="no executor of group 'default' is alive"):
        await world.store.submit([Submission(task_id=plain.id), Submission(task_id=task.id)])

    assert difference(before, await counts(world)) == {}


async def test_a_broadcast_whose_labels_nobody_has_names_them(world: World) -> None:
    await world.executor()
    task = await world.task(broadcast=True, executor_labels={"zone": "eu"})
    with pytest.raises(Conflict, match="no executor of group 'default' with the labels zone=eu is alive"):
        await world.submit(task)


async def test_a_broadcast_that_others_depend_on_ends_with_its_last_shard(world: World) -> None:
    upstream = await world.task(broadcast=True)
    task = await world.task(dependency_ids=(upstream.id,))
    for name in ("e1", "e2"):
        await world.executor(name)
    await world.submit(upstream)
    waiting = await world.submit(task, wait=True)

    await world.end(await world.claim("e1"))
    between = await world.store.get_instance(waiting)
    await world.end(await world.claim("e2"))

    assert between.status is Status.PLANNED
    assert (await world.store.get_instance(waiting)).status is Status.PENDING
