"""How single tasks fared lately, what ran when, and what a failure would block."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.past import end
from contracts.resting import paused
from contracts.rows import shift
from hourhand.model.errors import InvalidInput, NotFound
from hourhand.model.instance import Submission
from hourhand.model.pause import PauseScope
from hourhand.model.words import DependencyMode, OutcomeKind, SkipReason, Status, UpstreamFailurePolicy
from hourhand.store import graph, impact, timeline
from hourhand.store.partitions import partition_name

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.task import Task

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def ended(task: Task, at: datetime, **more: Any) -> dict[str, Any]:
    return {"task_id": task.id, "group_id": task.group_id, "task_name": task.name, "end_time": at, **more}


# How single tasks fared


async def test_each_task_has_its_last_endings_the_newest_last(world: World) -> None:
    first, second, none = [await world.task() for _ in range(3)]
    now = await world.store.now()
    await end(world, [ended(first, now - n * MINUTE, duration_ms=n) for n in range(40)])
    skip = {"status": "cancelled", "skip_reason": "overlap", "start_time": None, "duration_ms": 0}
    await end(
        world,
        [
            ended(second, now - 3 * MINUTE, status="failed", superseded_at=now),
            ended(second, now - 2 * MINUTE, **skip),
            ended(second, now - MINUTE, status="failed", duration_ms=7),
        ],
    )
    found = await world.store.task_stats([second.id, none.id, first.id, second.id, 999_999, 2**70])
    assert [one.task_id for one in found] == [second.id, none.id, first.id], "each once, in the order asked for"
    assert [one.duration_ms for one in found[2].endings] == list(range(29, -1, -1))
    assert found[1].endings == ()
    skipped, failed = found[0].endings
    assert (skipped.status, skipped.skip_reason, skipped.start_time) == (Status.CANCELLED, SkipReason.OVERLAP, None)
    assert (failed.status, failed.skip_reason, failed.end_time) == (Status.FAILED, None, now - MINUTE)
    assert [len(one.endings) for one in await world.store.task_stats([first.id], last=5)] == [5]


async def test_durations_are_those_of_the_last_successes(world: World) -> None:
    task, other = await world.task(), await world.task()
    now = await world.store.now()
    await end(world, [ended(task, now - n * MINUTE, duration_ms=n + 1) for n in range(80)])
    await end(world, [ended(task, now, status="failed", duration_ms=10**6), ended(other, now, status="failed")])
    one, never = await world.store.task_stats([task.id, other.id])
    assert (one.median_ms, one.p95_ms) == (25.5, 48.0), "of the last fifty"
    assert (never.median_ms, never.p95_ms) == (None, None)


async def test_a_task_that_rarely_fires_has_durations_too(world: World) -> None:
    task = await world.task()
    ago = await world.store.now() - timedelta(days=9)
    if world.store.database.dialect == "postgresql":
        day = ago.replace(hour=0, minute=0, second=0, microsecond=0)
        bounds = f"FROM ('{day.isoformat()}') TO ('{(day + timedelta(days=1)).isoformat()}')"
        name = partition_name("execution_logs", day.date())
        async with world.store.database.pool.acquire() as connection:  # type: ignore[attr-defined]  # PostgreSQL
            await connection.execute(f"CREATE TABLE {name} PARTITION OF execution_logs FOR VALUES {bounds}")
    await end(world, [ended(task, ago, duration_ms=300)])
    (one,) = await world.store.task_stats([task.id])
    assert (one.median_ms, one.p95_ms, len(one.endings)) == (300.0, 300.0, 1)


async def test_what_lives_is_counted(world: World) -> None:
    await world.executor()
    task, idle = await world.task(), await world.task()
    for _ in range(5):
        await world.submit(task)
    await world.claim(limit=2)
    for _ in range(2):
        await world.submit(task, held=True)
    one, none = await world.store.task_stats([task.id, idle.id])
    assert (one.running, one.pending, one.planned, one.more) == (2, 3, 2, False)
    assert (none.running, none.pending, none.planned, none.more) == (0, 0, 0, False)


async def test_more_than_a_thousand_are_said_to_be_more(world: World) -> None:
    task, planned = await world.task(), await world.task()
    for each, held in ((task, False), (planned, True)):
        await world.store.submit([Submission(task_id=each.id, held=held) for _ in range(1_001)])
    one, other = await world.store.task_stats([task.id, planned.id])
    assert (one.pending, one.planned, one.more) == (1_000, 0, True)
    assert (other.pending, other.planned, other.more) == (0, 1_000, True)


async def test_tasks_of_other_groups_and_deleted_ones_are_left_out(world: World) -> None:
    await world.store.ensure_group("other")
    mine, other, deleted = await world.task(), await world.task(group="other"), await world.task()
    await world.store.delete_task(deleted.id, by="test")
    ids = [mine.id, other.id, deleted.id]
    assert [one.task_id for one in await world.store.task_stats(ids)] == [mine.id, other.id]
    assert [one.task_id for one in await world.store.task_stats(ids, groups=[other.group_id])] == [other.id]
    assert await world.store.task_stats(ids, groups=[]) == []
    assert await world.store.task_stats([]) == []
    with pytest.raises(InvalidInput, match="201 tasks are too many: ask for at most 200"):
        await world.store.task_stats(list(range(1, 202)))
    for last in (0, 101):
        with pytest.raises(InvalidInput, match="give 1 to 100"):
            await world.store.task_stats(ids, last=last)


# What ran when


async def _ran(world: World) -> tuple[Task, Task, datetime]:
    """Five endings of one task and one that runs, each half an hour after the other; some of another group."""
    await world.store.ensure_group("other")
    await world.executor()
    task, other = await world.task("nightly books"), await world.task("Report_1", group="other")
    await world.submit(task)
    await world.claim()
    await shift(world, "start_time", -7_200)
    now = await world.store.now()
    await end(world, [ended(task, now - n * 30 * MINUTE, duration_ms=600_000, fence=n) for n in range(1, 6)])
    await end(world, [ended(other, now - 31 * MINUTE), ended(other, now - 45 * MINUTE, start_time=None)])
    return task, other, now


async def test_a_timeline_has_what_ran_in_the_period(world: World) -> None:
    task, other, now = await _ran(world)
    found = await world.store.timeline(now - HOUR, now)
    assert [(one.task_id, one.status, one.end_time) for one in found.bars] == [
        (task.id, Status.RUNNING, None),
        (task.id, Status.SUCCESS, now - 30 * MINUTE),
        (other.id, Status.SUCCESS, now - 31 * MINUTE),
        (task.id, Status.SUCCESS, now - HOUR),
    ], "what was never started did not run"
    running, first, *_ = found.bars
    assert (running.executor_id, running.attempt, running.task_name) == ("e1", 1, "nightly books")
    assert (first.start_time, first.attempt) == (now - 40 * MINUTE, 1)
    assert not found.truncated


async def test_what_ended_after_a_period_ran_in_it_too(world: World) -> None:
    task, _, now = await _ran(world)
    # Of those that ended one, one and a half and two hours ago, each after ten minutes.
    found = await world.store.timeline(now - 95 * MINUTE, now - 65 * MINUTE)
    ends = [one.end_time for one in found.bars]
    assert ends == [None, now - HOUR, now - 90 * MINUTE]
    before = await world.store.timeline(now - 200 * MINUTE, now - 155 * MINUTE)
    assert [one.end_time for one in before.bars] == [now - 150 * MINUTE], "it began after the running one"
    one = await world.store.timeline(now - 95 * MINUTE, now - 65 * MINUTE, task_id=task.id)
    assert one.bars == found.bars
    await end(world, [ended(task, now, duration_ms=26 * 3_600_000)])
    long_ago = now - 25.5 * HOUR
    assert (await world.store.timeline(long_ago, long_ago + HOUR)).bars == (), "a day after it is not looked at"
    assert len((await world.store.timeline(long_ago, long_ago + 2 * HOUR)).bars) == 1


async def test_a_timeline_is_of_groups_a_task_or_a_part_of_a_name(world: World) -> None:
    task, other, now = await _ran(world)

    async def ids(**wanted: Any) -> set[int]:
        found = await world.store.timeline(now - 3 * HOUR, now - MINUTE, **wanted)
        return {one.task_id for one in found.bars}

    assert await ids() == {task.id, other.id}
    assert await ids(groups=[other.group_id]) == {other.id}
    assert await ids(groups=[]) == set()
    assert await ids(task_id=task.id) == {task.id}
    assert await ids(task_id=task.id, groups=[other.group_id]) == set()
    assert await ids(q="BOOKS") == {task.id}
    assert await ids(q="t_1") == {other.id}
    assert await ids(q="o_k") == set(), "nothing in it has a meaning of its own"
    assert await ids(q="report", groups=[task.group_id]) == set()
    assert await ids(q="books", task_id=other.id) == set()


async def test_a_part_of_many_names_is_found_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    task, other, now = await _ran(world)
    monkeypatch.setattr(timeline, "FEW_TASKS", 0)
    found = await world.store.timeline(now - 3 * HOUR, now - MINUTE, q="books")
    assert {one.task_id for one in found.bars} == {task.id}
    assert len(found.bars) == 6
    assert {one.task_id for one in (await world.store.timeline(now - HOUR, now, q="report")).bars} == {other.id}


async def test_a_timeline_is_cut_and_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, now = await _ran(world)
    whole = await world.store.timeline(now - 3 * HOUR, now)
    assert len(whole.bars) == 7
    for limit in (1, 3, 6, 7):
        found = await world.store.timeline(now - 3 * HOUR, now, limit=limit)
        assert (found.bars, found.truncated) == (whole.bars[:limit], limit < 7)
    monkeypatch.setattr(timeline, "LOOKED_AT", 1)
    far = await world.store.timeline(now - 3 * HOUR, now - 85 * MINUTE)
    assert far.truncated, "not all that ended after it was looked at"


async def test_a_timeline_that_cannot_be_had_is_refused(world: World) -> None:
    now = await world.store.now()
    for begin, limit, said in (
        (now, 5, "is not before"),
        (now - timedelta(days=7, seconds=1), 5, "within 7 days"),
        (now - HOUR, 0, "give 1 to 2,000"),
        (now - HOUR, 2_001, "give 1 to 2,000"),
    ):
        with pytest.raises(InvalidInput, match=said):
            await world.store.timeline(begin, now, limit=limit)


# The graph


async def test_a_node_tells_its_instance_what_waits_and_whether_it_rests(world: World) -> None:
    above = await world.task("above")
    below = await world.task("below", dependency_ids=(above.id,))
    await world.executor()

    async def node(task: Task) -> Any:
        return next(one for one in (await world.store.graph()).nodes if one.id == task.id)

    found = await node(above)
    assert (found.instance_id, found.waiting, found.paused, found.running) == (None, 0, False, False)
    first = await world.submit(above)
    assert ((await node(above)).instance_id, (await node(above)).waiting) == (None, 1)
    (claimed,) = await world.claim()
    found = await node(above)
    assert (found.instance_id, found.waiting, found.running) == (first, 0, True)
    await world.end([claimed], OutcomeKind.FAILED)
    for _ in range(3):
        await world.submit(below, held=True)
    found = await node(above)
    assert (found.instance_id, found.last_outcome, found.running) == (first, Status.FAILED, False)
    second = await world.submit(above)
    await world.run_all()
    assert ((await node(above)).instance_id, (await node(above)).last_outcome) == (second, Status.SUCCESS)
    assert (await node(below)).waiting == 3
    await paused(world, below)
    assert [(await node(one)).paused for one in (above, below)] == [False, True]
    await paused(world, below, PauseScope.GROUP)
    assert [(await node(one)).paused for one in (above, below)] == [True, True]
    assert graph.MOST_WAITING == 100


async def test_a_node_whose_last_instance_retention_removed_has_none(world: World) -> None:
    above = await world.task()
    await world.task(dependency_ids=(above.id,))
    await world.executor()
    await world.submit(above)
    await world.run_all()
    await world.execute("DELETE FROM execution_logs")
    node = next(one for one in (await world.store.graph()).nodes if one.id == above.id)
    assert (node.last_outcome, node.instance_id) == (Status.SUCCESS, None)


# What a failure would block


async def _chain(world: World) -> dict[str, Task]:
    """On a: b and c; on c: d (another group) and run; on d: e; on run: f. g needs b or x."""
    await world.store.ensure_group("other")
    tasks = {"a": await world.task("a"), "x": await world.task("x")}

    async def add(name: str, *needs: str, **changes: Any) -> None:
        ids = tuple(tasks[one].id for one in needs)
        tasks[name] = await world.task(name, dependency_ids=ids, **changes)

    await add("b", "a", schedule="@hourly")
    await add("c", "a", upstream_failure_policy=UpstreamFailurePolicy.FAIL)
    await add("d", "c", group="other")
    await add("run", "c", upstream_failure_policy=UpstreamFailurePolicy.RUN)
    await add("e", "d", "b")
    await add("f", "run")
    await add("g", "b", "x", dependency_mode=DependencyMode.ANY)
    await add("h", "b", "c", dependency_mode=DependencyMode.ANY)
    return tasks


async def test_what_depends_on_a_failure_is_blocked_the_nearest_first(world: World) -> None:
    tasks = await _chain(world)
    found = await world.store.impact(tasks["a"].id)
    assert [(one.name, one.depth) for one in found.blocked] == [("b", 1), ("c", 1), ("d", 2), ("e", 2), ("h", 2)]
    assert (found.hidden, found.truncated) == (0, False)
    by_name = {one.name: one for one in found.blocked}
    assert (by_name["c"].policy, by_name["d"].policy) == (UpstreamFailurePolicy.FAIL, UpstreamFailurePolicy.WAIT)
    assert (by_name["d"].group, by_name["d"].task_id) == ("other", tasks["d"].id)
    assert by_name["b"].next_fire_at == (await world.store.get_task(tasks["b"].id)).next_fire_at
    assert (await world.store.impact(tasks["e"].id)).blocked == ()
    alone = [one.name for one in (await world.store.impact(tasks["b"].id)).blocked]
    assert alone == ["e"], "h would still have c"


async def test_what_is_out_of_the_groups_is_only_counted(world: World) -> None:
    tasks = await _chain(world)
    found = await world.store.impact(tasks["c"].id, group_ids=[tasks["c"].group_id])
    assert ([one.name for one in found.blocked], found.hidden) == (["e"], 1)


async def test_disabled_and_deleted_tasks_are_not_blocked(world: World) -> None:
    tasks = await _chain(world)
    await world.store.edit_task(tasks["d"].id, {"enabled": False}, by="test")
    await world.store.delete_task(tasks["b"].id, force=True, by="test")
    assert [one.name for one in (await world.store.impact(tasks["a"].id)).blocked] == ["c", "h"]
    for unknown in (tasks["b"].id, 999_999, 2**70, 0):
        with pytest.raises(NotFound):
            await world.store.impact(unknown)


async def test_too_much_is_cut_and_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = await _chain(world)
    monkeypatch.setattr(impact, "MOST_BLOCKED", 2)
    found = await world.store.impact(tasks["a"].id)
    assert ([one.name for one in found.blocked], found.truncated) == (["b", "c"], True)
    monkeypatch.setattr(impact, "MOST_BLOCKED", 100)
    monkeypatch.setattr(impact, "MOST_EDGES", 2)
    assert (await world.store.impact(tasks["a"].id)).truncated
