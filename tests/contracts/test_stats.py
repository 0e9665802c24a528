"""Figures are what plain SQL says about the execution logs, whatever part of them has been folded."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from contracts.past import TYPES, check, end, make_past, whole
from contracts.rows import stamp
from contracts.world import World
from hourhand.model.errors import InvalidInput
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.rules.fingerprint import fingerprint
from hourhand.store import open_store, stats_fold
from hourhand.store.verbs import statistics


async def fold(world: World) -> None:
    while await world.store.fold_stats():
        pass


async def check_all(world: World) -> None:
    """Every figure that can be asked for."""
    overview = await world.store.overview(hours=3)
    begin, last = overview.begin, whole(overview.end, up=True)
    assert begin == whole(overview.end - timedelta(hours=3))
    await check(world, overview.total, begin, last)
    for group in overview.groups:
        await check(world, group, begin, last, f"e.group_id = {group.group_id}")
    for minutes, step in ((7, 60), (130, 1_800), (300, 7_200)):
        await check_series(world, minutes, step)
    distribution = await world.store.distribution(last - timedelta(hours=5), last)
    assert {(one.type, one.operation_kind) for one in distribution.shares} == {
        *((kind, None) for kind in TYPES[:3]),
        ("operation", "archive"),
        ("operation", "backup"),
    }
    for share in distribution.shares:
        kind = f"e.operation_kind = '{share.operation_kind}'" if share.operation_kind else "e.operation_kind IS NULL"
        await check(world, share, distribution.begin, distribution.end, f"t.type = '{share.type}' AND {kind}")
    await check_failures(world)


async def check_series(world: World, minutes: int, step: int) -> None:
    now = await world.store.now()
    (second,) = [one.id for one in await world.store.list_groups() if one.name == "second"]
    found = await world.store.series(
        now - timedelta(minutes=minutes), now, step_seconds=step, groups=[second], task_type=TaskType.OPERATION
    )
    assert found.end == whole(now, up=True)
    assert found.points[0].at == found.begin <= now - timedelta(minutes=minutes)
    for point in found.points:
        until = min(point.at + timedelta(seconds=step), found.end)
        await check(world, point, point.at, until, f"e.group_id = {second} AND t.type = 'operation'")


async def check_failures(world: World) -> None:
    found = await world.store.failures(days=1)
    rows = await world.sql(
        "SELECT t.type, e.operation_kind, e.error_message, e.instance_id, e.end_time, e.task_id, t.name "
        "FROM execution_logs e JOIN tasks t ON t.id = e.task_id WHERE e.status = 'failed' AND e.end_time >= :begin",
        begin=stamp(world, found.begin),
    )
    by_reason: dict[Any, list[Any]] = {}
    for row in rows:
        key = (row["type"], row["operation_kind"], fingerprint(row["error_message"]))
        by_reason.setdefault(key, []).append(row)
    assert {(one.type, one.operation_kind, one.reason): one.count for one in found.reasons} == {
        key: len(some) for key, some in by_reason.items()
    }
    assert [one.count for one in found.reasons] == sorted((one.count for one in found.reasons), reverse=True)
    for one in found.reasons:
        some = by_reason[one.type, one.operation_kind, one.reason]
        assert one.instance_id == max(row["instance_id"] for row in some)
        assert one.first_seen is not None
        assert one.last_seen is not None
        assert stamp(world, one.first_seen) == min(row["end_time"] for row in some)
        assert stamp(world, one.last_seen) == max(row["end_time"] for row in some)
        assert {(task.id, task.name) for task in one.tasks} == {(row["task_id"], row["name"]) for row in some}


async def test_figures_are_right_before_anything_is_folded_half_way_and_afterwards(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_past(world)
    await check_all(world)
    with monkeypatch.context() as patch:
        patch.setattr(statistics, "FOLDED_AT_ONCE", 5)
        assert await world.store.fold_stats()
    assert await distinct_minutes(world) == 5
    await check_all(world)
    await fold(world)
    assert await world.count("stats_minutely", "writer = 'hour'") > 0
    await check_all(world)
    assert not await world.store.fold_stats(), "there is nothing left to do"
    await make_past(world, endings=50, minutes=1, spread=0, seed=2)
    await check_all(world)


async def distinct_minutes(world: World) -> int:
    (row,) = await world.sql("SELECT count(DISTINCT minute) AS n FROM stats_minutely WHERE writer = ''")
    return int(row["n"])


async def test_what_commits_late_is_counted_when_its_minute_is_folded_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_past(world, minutes=6)
    await fold(world)
    task = (await world.store.list_tasks(limit=1)).items[0]
    late = await world.store.now() - timedelta(minutes=5)
    before = (await world.store.overview()).total.success
    await end(world, [{"task_id": task.id, "group_id": task.group_id, "end_time": late} for _ in range(7)])
    await fold(world)
    assert (await world.store.overview()).total.success == before
    monkeypatch.setattr(stats_fold, "FINAL_AFTER", timedelta(minutes=2))  # and so it is old by now
    await fold(world)
    assert (await world.store.overview()).total.success == before + 7
    await check_all(world)


async def test_whole_hours_are_read_from_their_sums(world: World) -> None:
    await make_past(world)
    await fold(world)
    now = await world.store.now()
    whole_hours: dict[str, Any] = {"begin": now - timedelta(hours=6), "end": now, "step_seconds": 3_600}
    before = await world.store.series(**whole_hours)
    (mark,) = await world.sql("SELECT number FROM store_values WHERE name = 'stats_hours_until'")
    until = mark["number"] if world.store.database.dialect == "sqlite" else f"to_timestamp({mark['number']} / 1e6)"
    assert await world.execute(f"DELETE FROM stats_minutely WHERE writer = '' AND minute < {until}") > 0  # noqa: S608 - a number
    assert await world.store.series(**whole_hours) == before
    assert sum(point.success for point in before.points) > 0


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "Asia/Kathmandu", "Asia/Shanghai"])
async def test_steps_by_the_clock_of_a_zone_have_what_ended_in_them(world: World, zone: str) -> None:
    await make_past(world)
    now = await world.store.now()
    for _ in range(2):
        found = await world.store.series(now - timedelta(hours=6), now, step_seconds=3_600, timezone=zone)
        assert {point.at.astimezone(ZoneInfo(zone)).minute for point in found.points} == {0}
        for point, following in zip(found.points, [*(one.at for one in found.points[1:]), found.end], strict=True):
            await check(world, point, point.at, following)
        assert sum(point.success for point in found.points) > 0
        await fold(world)


async def test_a_period_of_centuries_is_read_from_where_the_figures_begin(world: World) -> None:
    await make_past(world, endings=200, minutes=4)
    now = await world.store.now()
    begin = datetime(1970, 1, 1, tzinfo=UTC)
    for _ in range(2):
        found = await world.store.series(begin, now, step_seconds=86_400 * 100)
        await check(world, found.points[-1], found.points[-1].at, found.end)
        distribution = await world.store.distribution(begin, now)
        assert sum(one.success for one in distribution.shares) == await world.count(
            "execution_logs", "status = 'success'"
        )
        await fold(world)


async def test_of_two_who_fold_at_once_one_has_worked_for_nothing(world: World) -> None:
    await make_past(world, minutes=4)
    database = world.store.database
    span = await database.read(stats_fold.next_span)
    assert span is not None
    counters = await database.read(lambda tx: stats_fold.count(tx, span))
    await fold(world)
    kept = await contents(world)
    stale = [{**row, "count": row["count"] + 1} for row in counters]
    await database.write(lambda tx: stats_fold.keep(tx, span, stale))
    assert await contents(world) == kept
    await check_all(world)


async def test_two_who_fold_at_the_same_time_count_nothing_twice(world: World, store_url: str) -> None:
    await make_past(world)
    shared = world.store.database.shared
    other = await open_store(store_url) if shared else world.store
    await asyncio.gather(fold(world), fold(World(other)), fold(world))
    await check_all(world)
    kept = await contents(world)
    assert len(kept) == len(set(kept))
    if shared:
        await other.close()


async def contents(world: World) -> list[tuple[Any, ...]]:
    rows = await world.sql("SELECT * FROM stats_minutely")
    marks = await world.sql("SELECT name, number FROM store_values WHERE name LIKE 'stats%'")
    return sorted(tuple(map(str, row.values())) for row in [*rows, *marks])


async def test_a_fold_that_fails_in_the_middle_changes_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await make_past(world, minutes=4)
    with monkeypatch.context() as patch:
        patch.setattr(statistics, "FOLDED_AT_ONCE", 2)
        await world.store.fold_stats()
    before = await contents(world)

    async def keep(tx: Any, span: stats_fold.Span, counters: Any) -> None:
        await original(tx, span, counters)
        raise RuntimeError("the power is gone")

    original = stats_fold.keep
    with monkeypatch.context() as patch:
        patch.setattr(stats_fold, "keep", keep)
        with pytest.raises(RuntimeError, match="the power is gone"):
            await world.store.fold_stats()
    assert await contents(world) == before
    await check_all(world)
    await fold(world)
    await check_all(world)


async def test_a_clock_that_was_set_back_loses_nothing(world: World) -> None:
    await make_past(world, minutes=4)
    await fold(world)
    # As a clock that was two hours ahead would have left it.
    await world.execute("UPDATE store_values SET number = number + 7200000000 WHERE name LIKE 'stats%'")
    task = (await world.store.list_tasks(limit=1)).items[0]
    now = await world.store.now()
    await end(world, [{"task_id": task.id, "group_id": task.group_id, "end_time": now}])
    await fold(world)
    await check_all(world)


async def test_every_ending_counts_also_one_that_a_retry_has_superseded(world: World) -> None:
    await world.executor()
    task = await world.task()
    one = await world.submit(task)
    await world.run_all(kind=OutcomeKind.FAILED)
    await world.store.retry(one)
    await world.run_all()
    total = (await world.store.overview(hours=1)).total
    assert (total.success, total.failed, total.failure_rate) == (1, 1, 0.5)


async def test_the_commonest_reasons_are_told_apart_and_the_rest_is_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await world.task()
    at = await world.store.now() - timedelta(minutes=20)
    words = [f"{chr(97 + number // 26)}x{chr(97 + number % 26)} is missing" for number in range(60)]
    failed = {"task_id": task.id, "group_id": task.group_id, "end_time": at, "status": "failed"}
    rows = [{**failed, "error_message": word} for number, word in enumerate(words) for _ in range(60 - number)]
    await end(world, rows)
    expected = Counter({row["error_message"]: 0 for row in rows})
    expected.update(row["error_message"] for row in rows)
    common = dict(expected.most_common(50)) | {"other": sum(sorted(expected.values())[:10])}
    for _ in range(2):
        found = {one.reason: one.count for one in (await world.store.failures(limit=100)).reasons}
        assert found == common
        await fold(world)
    assert await world.count("stats_minutely", "writer = '' AND status = 'failed'") == 51
    monkeypatch.setattr(stats_fold, "REASONS", 3)
    counted = await world.store.database.read(
        lambda tx: stats_fold.count_endings(tx, whole(at), whole(at) + timedelta(minutes=1))
    )
    assert {row["fingerprint"]: row["count"] for row in counted} == {
        **dict(expected.most_common(3)),
        "other": len(rows) - sum(count for _, count in expected.most_common(3)),
    }
    monkeypatch.setattr(stats_fold, "LOOKED_AT", 100)
    counted = await world.store.database.read(
        lambda tx: stats_fold.count_endings(tx, whole(at), whole(at) + timedelta(minutes=1))
    )
    assert sum(row["count"] for row in counted) == len(rows)
    (other,) = [row for row in counted if row["fingerprint"] == "other"]
    assert other["count"] >= len(rows) - 100
    assert sum(other["buckets"]["durations"].values()) == other["count"]


async def test_figures_can_be_limited_to_groups(world: World) -> None:
    await make_past(world, minutes=3)
    (second,) = [one.id for one in await world.store.list_groups() if one.name == "second"]
    for _ in range(2):
        limited = await world.store.overview(groups=[second])
        assert [one.group_id for one in limited.groups] == [second]
        await check(world, limited.total, limited.begin, whole(limited.end, up=True), f"e.group_id = {second}")
        begin, last = limited.end - timedelta(hours=5), limited.end
        distribution = await world.store.distribution(begin, last, groups=[second])
        failures = await world.store.failures(groups=[second], task_type=TaskType.HTTP)
        (row,) = await world.sql(
            "SELECT count(*) AS n FROM execution_logs e JOIN tasks t ON t.id = e.task_id "
            "WHERE status = 'failed' AND e.group_id = :id AND t.type = 'http'",
            id=second,
        )
        assert sum(one.count for one in failures.reasons) == row["n"] > 0
        assert sum(one.failed for one in distribution.shares if one.type == "http") == row["n"]
        nothing = await world.store.overview(groups=[])
        assert (nothing.groups, nothing.total.success) == ((), 0)
        await fold(world)


@pytest.mark.parametrize(
    ("hours", "step", "said"), [(24, 60, "at least 120 seconds"), (1, 61, "such as 60"), (-1, 60, "is not before")]
)
async def test_a_series_that_cannot_be_had_is_refused_with_what_would_be_right(
    world: World, hours: int, step: int, said: str
) -> None:
    now = await world.store.now()
    with pytest.raises(InvalidInput, match=said):
        await world.store.series(now - timedelta(hours=hours), now, step_seconds=step)
