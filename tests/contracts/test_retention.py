"""Retention: the past is removed by whole days; the living and what they need are never touched."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from contracts.elapse import elapse, instances, ledger, moment, transaction
from hourhand.model.errors import Gone, InvalidInput
from hourhand.model.instance import Held, LogLine
from hourhand.model.words import OutcomeKind, Status
from hourhand.store import partitions
from hourhand.store.schema import DAILY_TABLES
from hourhand.store.types import from_micros

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.task import Task

OLD, YOUNG, PERIOD = 40, 10, 30


async def make_days(world: World, *ago: int) -> None:
    """Days of long ago, which PostgreSQL had when they were today."""
    if world.store.database.dialect == "postgresql":
        today = (await world.store.now()).date()
        async with world.store.database.pool.acquire() as connection:  # type: ignore[attr-defined]  # PostgreSQL
            for table in DAILY_TABLES:
                for days in ago:
                    await partitions._make(connection, table, today - timedelta(days=days))


async def age(world: World, table: str, days: int, where: str = "1 = 1") -> None:
    column = DAILY_TABLES[table]
    by = f"{days * 86_400_000_000}" if world.store.database.dialect == "sqlite" else f"interval '{days} days'"
    await world.execute(f"UPDATE {table} SET {column} = {column} - {by} WHERE {where}")  # noqa: S608 - names from above


async def ended(world: World, task: Task, days: int, kind: OutcomeKind = OutcomeKind.SUCCESS) -> int:
    """An instance that ended so many days ago, after one attempt that failed, with a line of each."""
    one = await world.submit(task)
    for outcome in (OutcomeKind.FAILED, kind):
        (claimed,) = await world.claim()
        held, line = (
            Held(one, claimed.fence),
            LogLine(seq=claimed.fence << 32, logged_at=await world.store.now(), message="x"),
        )
        await world.store.write_lines([(held, line)])
        await world.end([claimed], outcome)
    for table in DAILY_TABLES:
        await age(world, table, days, f"instance_id = {one}")
    await world.execute("DELETE FROM id_days")  # which say that its id was allocated today
    return one


async def kept(world: World, table: str) -> set[int]:
    return {row["instance_id"] for row in await world.sql(f"SELECT instance_id FROM {table}")}  # noqa: S608 - a table


async def busy(world: World) -> Task:
    await world.executor()
    await make_days(world, OLD, YOUNG)
    return await world.task(max_retries=1, retry_delay_seconds=0)


# History


async def test_what_ended_before_the_period_is_removed_and_what_ended_since_stays(world: World) -> None:
    task = await busy(world)
    old, young, today = [await ended(world, task, days) for days in (OLD, YOUNG, 0)]
    removed = await world.store.retain(days=PERIOD)
    assert (removed.execution_logs, removed.instance_attempts) == (1, 1)
    assert removed.instance_logs == (1 if world.store.database.dialect == "postgresql" else 2)
    for table in DAILY_TABLES:
        assert await kept(world, table) == {young, today}
    with pytest.raises(Gone, match="retention"):
        await world.store.get_instance(old)
    with pytest.raises(Gone, match="retention"):
        await world.store.retry(old)
    again = await world.store.retain(days=PERIOD)
    assert (again.execution_logs, again.instance_attempts, again.instance_logs, again.instants) == (0, 0, 0, 0)


async def test_what_has_not_ended_is_never_touched_however_old(world: World) -> None:
    await world.executor()
    upstream = await world.task(schedule="@every 60s")
    dependent = await world.task(schedule="@every 60s", dependency_ids=(upstream.id,))
    await elapse(world, 65)
    await world.store.materialise()
    running = await world.submit(upstream)
    await world.claim(limit=1)
    before = {one.id for task in (upstream, dependent) for one in await instances(world, task)}
    await elapse(world, 100 * 86_400)
    await world.store.retain(days=1)
    assert {one.id for task in (upstream, dependent) for one in await instances(world, task)} == before >= {running}
    assert len(await ledger(world, upstream)) == len(await ledger(world, dependent)) == 1
    assert await world.count("instance_waits") == 1


async def test_what_a_living_instance_wrote_stays_as_long_as_it_lives(world: World) -> None:
    task = await busy(world)
    one = await ended(world, task, OLD, OutcomeKind.FAILED)
    await world.store.retry(one)
    await elapse(world, (OLD + 1) * 86_400)
    await world.store.retain(days=PERIOD)
    assert await kept(world, "instance_logs") == await kept(world, "instance_attempts") == {one}
    await world.run_all()
    await world.store.retain(days=PERIOD)
    assert await kept(world, "instance_logs") == await kept(world, "instance_attempts") == set()
    assert (await world.store.get_instance(one)).status is Status.SUCCESS


@pytest.mark.parametrize("how", ["held", "waiting", "far ahead"])
async def test_one_forgotten_instance_that_never_ran_keeps_nothing_else(world: World, how: str) -> None:
    task = await busy(world)
    ways: dict[str, dict[str, Any]] = {
        "held": {"held": True},
        "waiting": {"wait": True},
        "far ahead": {"run_at": datetime(2090, 1, 1, tzinfo=UTC)},
    }
    dependent = await world.task(dependency_ids=(task.id,))
    forgotten = await world.submit(dependent, **ways[how])
    await elapse(world, 400 * 86_400)
    young = [await ended(world, task, days) for days in (OLD, YOUNG)][1]
    await world.store.retain(days=PERIOD)
    assert await kept(world, "instance_logs") == await kept(world, "instance_attempts") == {young}
    assert (await world.store.get_instance(forgotten)).status in (Status.PLANNED, Status.PENDING)


@pytest.mark.parametrize("kind", [None, OutcomeKind.FAILED, OutcomeKind.HANDED_BACK])
async def test_what_an_old_instance_that_was_attempted_wrote_stays(world: World, kind: OutcomeKind | None) -> None:
    task = await busy(world)
    await world.submit(await world.task(), held=True)
    one = await world.submit(task)
    claimed = await world.claim()
    line = LogLine(seq=claimed[0].fence << 32, logged_at=await world.store.now(), message="x")
    await world.store.write_lines([(Held(one, claimed[0].fence), line)])
    if kind is not None:
        await world.end(claimed, kind)
    await age(world, "instance_logs", OLD)
    await elapse(world, (OLD + 1) * 86_400)
    await world.store.retain(days=PERIOD)
    assert await kept(world, "instance_logs") == {one}


# The ledger


async def enter(world: World, task: Task, days: int, outcome: str | None, **changes: Any) -> datetime:
    time = (await world.store.now()).replace(microsecond=0) - timedelta(days=days)
    values = {"ended_at": time, "unsettled": None, **changes}
    await world.execute(
        "INSERT INTO task_instants (task_id, scheduled_time, outcome, shards_left, ended_at, unsettled) "
        "VALUES (:task_id, :time, :outcome, :left, :ended_at, :unsettled)",
        task_id=task.id,
        time=moment(world, time),
        outcome=outcome,
        left=int(outcome is None),
        ended_at=None if outcome is None else moment(world, values["ended_at"]),
        unsettled=values["unsettled"],
    )
    return time


async def test_the_ledger_keeps_what_somebody_may_still_ask_for(world: World) -> None:
    task, other = await world.task(), await world.task()
    now = await world.store.now()
    gone = [await enter(world, task, days, "failed") for days in (60, 44)]
    gone.append(await enter(world, task, 59, "success"))
    staying = [
        await enter(world, task, 50, "success"),  # the newest success
        await enter(world, task, 45, None),  # alive
        await enter(world, task, 43, "failed", unsettled=7),  # not settled
        await enter(world, task, 42, "failed", ended_at=now - timedelta(days=1)),  # its log is still there
        await enter(world, task, 41, "cancelled"),  # the newest that ended
    ]
    waited_for = await enter(world, task, 48, "failed")
    await world.execute(
        "INSERT INTO instance_waits (instance_id, upstream_task_id, upstream_time, requires) "
        "VALUES (1, :id, :t, 'end')",
        id=task.id,
        t=moment(world, waited_for),
    )
    lonely = await enter(world, other, 400, "success")
    removed = await world.store.retain(days=PERIOD)
    assert sorted(await ledger(world, task)) == sorted([*staying, waited_for])
    assert sorted(await ledger(world, other)) == [lonely]
    assert removed.instants == len(gone)


async def test_the_floor_rises_and_never_falls(world: World) -> None:
    task = await world.task(schedule="@daily", enabled=False)
    await world.execute("UPDATE tasks SET created_at = :at", at=moment(world, await _day(world, 90)))
    for days, expected in ((PERIOD, PERIOD), (60, PERIOD), (20, 20)):
        await world.store.retain(days=days)
        (row,) = await world.sql("SELECT number FROM store_values WHERE name = 'ledger_floor'")
        floor = from_micros(row["number"])
        assert floor == (await _day(world, expected)).replace(hour=0, minute=0, second=0, microsecond=0)
        with pytest.raises(InvalidInput, match="no longer known"):
            await world.store.backfill(task.id, floor - timedelta(seconds=1), await world.store.now(), by="ann")
    assert await world.store.backfill(task.id, floor, floor + timedelta(hours=23), by="ann") == 1


async def test_a_task_younger_than_the_floor_can_be_backfilled_from_any_time(world: World) -> None:
    await world.store.retain(days=PERIOD)
    task = await world.task(schedule="@daily", enabled=False)
    begin = await _day(world, 300)
    assert await world.store.backfill(task.id, begin, begin + timedelta(days=3), by="ann") == 3
    await world.store.retain(days=PERIOD)
    assert await world.store.backfill(task.id, begin, begin + timedelta(days=3), by="ann") == 0


async def test_the_ledger_of_a_day_stays_as_long_as_its_logs_may(world: World) -> None:
    """On PostgreSQL they go by whole days: until then each of them can be retried, and is told apart from new ones."""
    task = await world.task(schedule="@daily", enabled=False)
    midnight = (await _day(world, PERIOD)).replace(hour=0, minute=0, second=0, microsecond=0)
    for time in (midnight, midnight - timedelta(seconds=1), await world.store.now()):
        await world.execute(
            "INSERT INTO task_instants (task_id, scheduled_time, outcome, shards_left, ended_at) "
            "VALUES (:task_id, :time, 'failed', 0, :time)",
            task_id=task.id,
            time=moment(world, time),
        )
    assert (await world.store.retain(days=PERIOD)).instants == 1
    assert min(await ledger(world, task)) == midnight


# The rest


async def test_keys_are_forgotten_after_a_day_and_lanes_with_their_executors(world: World) -> None:
    now = await world.store.now()
    for key, hours in (("old", 25), ("new", 23)):
        await world.execute(
            "INSERT INTO idempotency_keys (principal, route, key, request_hash, created_at) "
            "VALUES ('p', 'r', :key, 'h', :at)",
            key=key,
            at=moment(world, now - timedelta(hours=hours)),
        )
    await world.executor("e1")
    await world.executor("e2")
    task = await world.task(broadcast=True)
    await world.submit(task)
    await world.run_all("e1")
    await world.store.deregister("e1")
    await world.store.deregister("e2")
    await world.store.retain(days=PERIOD)
    assert [row["key"] for row in await world.sql("SELECT key FROM idempotency_keys")] == ["new"]
    lanes = await world.sql("SELECT target_executor_id AS target FROM lanes")
    assert [row["target"] for row in lanes] == ["e2"], "what is meant for e2 still lives"


async def test_two_at_once_remove_everything_once(world: World) -> None:
    task = await busy(world)
    await ended(world, task, OLD)
    await asyncio.gather(*[world.store.retain(days=PERIOD) for _ in range(3)])
    assert await kept(world, "execution_logs") == set()
    assert await instances(world, task) == []


async def test_sqlite_deletes_in_batches_between_which_others_write(
    sqlite_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = sqlite_world
    task = await busy(world)
    for _ in range(5):
        await ended(world, task, OLD)
    write, writes = world.store.database.write, []

    async def counted(body: Any, **more: Any) -> Any:
        writes.append(body)
        return await write(body, **more)

    monkeypatch.setattr(world.store.database, "write", counted)
    before = await world.store.now() - timedelta(days=PERIOD)
    assert await world.store.database.drop_days("execution_logs", before, batch=2) == 5
    assert len(writes) == 3


# Days of PostgreSQL


async def define(world: World, statement: str) -> None:
    async with world.store.database.pool.acquire() as connection:  # type: ignore[attr-defined]  # PostgreSQL
        await connection.execute(statement)


async def days_of(world: World, table: str = "execution_logs") -> set[str]:
    rows = await world.sql(
        "SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "
        "WHERE i.inhparent = CAST(CAST(:table AS text) AS regclass)",
        table=table,
    )
    return {row["name"] for row in rows}


async def test_two_weeks_are_made_ahead_and_made_again_where_one_is_missing(cluster_world: World) -> None:
    world = cluster_world
    today = (await world.store.now()).date()
    ahead = {partitions.partition_name("instance_logs", today + timedelta(days=days)) for days in range(15)}
    assert ahead <= await days_of(world, "instance_logs")
    for days in (3, 14):
        await define(world, f"DROP TABLE {partitions.partition_name('instance_logs', today + timedelta(days=days))}")
    async with world.store.database.pool.acquire() as connection:  # type: ignore[attr-defined]  # PostgreSQL
        assert await partitions.days_ahead(connection, datetime.now(UTC)) == 3
    assert await world.store.ensure_partitions() == 15
    assert ahead <= await days_of(world, "instance_logs")


async def test_a_day_is_detached_without_keeping_readers_waiting_and_dropped_when_nobody_reads_it(
    cluster_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = cluster_world
    monkeypatch.setattr(partitions, "_LOCK_RETRIES", 2)
    task = await busy(world)
    one = await ended(world, task, OLD)
    (old,) = [name for name in await days_of(world) if name.endswith(f"{await _day(world, OLD):%Y%m%d}")]
    async with transaction(world) as reader:
        assert await reader.fetchval("SELECT count(*) FROM execution_logs WHERE instance_id = $1", one) == 1
        retaining = asyncio.create_task(world.store.retain(days=PERIOD))
        await asyncio.sleep(0.3)
        assert not retaining.done()
        async with asyncio.timeout(0.5):
            assert await world.store.list_logs()
            await ended(world, task, 0)
        assert (await retaining).execution_logs == 0, "it gave up for now"
        assert old in await days_of(world)
        assert await kept(world, "execution_logs") & {one} == set(), "nobody new sees it"
    assert (await world.store.retain(days=PERIOD)).execution_logs == 1, "the pending one was finished"
    assert old not in await days_of(world)


async def test_a_day_that_was_detached_but_not_dropped_is_dropped(cluster_world: World) -> None:
    world = cluster_world
    await make_days(world, OLD)
    orphan = partitions.partition_name("execution_logs", await _day(world, OLD))
    await define(world, f"ALTER TABLE execution_logs DETACH PARTITION {orphan}")
    await world.store.retain(days=PERIOD)
    (row,) = await world.sql("SELECT to_regclass(:name) IS NULL AS gone", name=orphan)
    assert row["gone"]


async def test_a_younger_day_that_somebody_detached_is_theirs(cluster_world: World) -> None:
    """They may be archiving it."""
    world = cluster_world
    await make_days(world, YOUNG)
    theirs = partitions.partition_name("execution_logs", await _day(world, YOUNG))
    await define(world, f"ALTER TABLE execution_logs DETACH PARTITION {theirs}")
    try:
        await world.store.retain(days=PERIOD)
        (row,) = await world.sql("SELECT to_regclass(:name) IS NOT NULL AS there", name=theirs)
        assert row["there"]
    finally:
        await define(world, f"DROP TABLE {theirs}")


@pytest.mark.parametrize("ago", [OLD, YOUNG])
async def test_a_detach_that_was_interrupted_is_finished(cluster_world: World, ago: int) -> None:
    world = cluster_world
    await make_days(world, ago)
    name = partitions.partition_name("execution_logs", await _day(world, ago))
    async with transaction(world) as reader:
        await reader.fetch("SELECT 1 FROM execution_logs")
        async with world.store.database.pool.acquire() as connection:  # type: ignore[attr-defined]  # PostgreSQL
            await connection.execute("SET lock_timeout = '50ms'")
            with pytest.raises(asyncpg.LockNotAvailableError):
                await connection.execute(f"ALTER TABLE execution_logs DETACH PARTITION {name} CONCURRENTLY")
    (row,) = await world.sql("SELECT count(*) AS n FROM pg_inherits WHERE inhdetachpending")
    assert row["n"] == 1
    assert (await world.store.retain(days=PERIOD)).execution_logs == (1 if ago == OLD else 0)
    assert name not in await days_of(world)
    (row,) = await world.sql("SELECT to_regclass(:name) IS NULL AS gone", name=name)
    assert row["gone"] == (ago == OLD), "a younger day is somebody else's to drop"


async def _day(world: World, ago: int) -> datetime:
    return await world.store.now() - timedelta(days=ago)
