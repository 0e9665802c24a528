"""What figures cost: as many statements however much there is, the tail by its index, fingerprints alike on both."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Text, column, select

from contracts.past import end, make_past
from contracts.plans import PostgresqlPlans, statements
from contracts.rows import stamp
from hourhand.rules.fingerprint import fingerprint
from hourhand.scheduler.folder import LEASE, Folder
from hourhand.store import stats, stats_fold
from hourhand.store.sql import records
from hourhand.store.statements import Statement
from hourhand.store.stats_sql import fingerprint_of, reasons, totals

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from contracts.world import World

HOURS = timedelta(hours=5)


async def _series(world: World) -> object:
    now = await world.store.now()
    return await world.store.series(now - HOURS, now, step_seconds=600)


async def _distribution(world: World) -> object:
    now = await world.store.now()
    return await world.store.distribution(now - HOURS, now)


CALLS: dict[str, tuple[int, Callable[[World], Awaitable[object]]]] = {
    "overview": (6, lambda world: world.store.overview()),
    "series": (3, _series),
    "distribution": (4, _distribution),
    "long_running": (1, lambda world: world.store.long_running()),
    "failures": (6, lambda world: world.store.failures()),
}


@pytest.mark.parametrize("name", CALLS)
async def test_a_call_takes_as_many_statements_however_much_there_is(
    world: World, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    most, call = CALLS[name]
    await make_past(world, endings=100, minutes=4)
    for _ in range(2):
        with statements(monkeypatch) as seen:
            await call(world)
        assert len(seen) <= most
        await make_past(world, endings=500, minutes=12)
        while await world.store.fold_stats():
            pass


async def test_where_nothing_ended_nothing_is_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    task = await world.task()
    ago = await world.store.now() - timedelta(hours=3)
    await end(world, [{"task_id": task.id, "group_id": task.group_id, "end_time": ago}])
    counting = totals(grouped=False, typed=False, failed=False)
    for counted in (2, 0):  # when its minute was closed, when it was a quarter of an hour old, and never again
        with statements(monkeypatch) as seen:
            assert not await world.store.fold_stats()
        assert sum(statement is counting for statement, _ in seen) == counted


async def vacuum(world: World, table: str) -> None:
    """The database may have been used before; and what is visible to all is known only then."""
    async with world.store.database.pool.acquire() as connection:  # type: ignore[attr-defined]  # PostgreSQL
        await connection.execute(f"VACUUM ANALYZE {table}")


async def test_the_tail_is_read_by_the_index_of_its_time(cluster_world: World) -> None:
    world = cluster_world
    task = await world.task()
    now = await world.store.now()
    row = {"task_id": task.id, "group_id": task.group_id}
    await end(
        world,
        [
            {**row, "end_time": now - timedelta(seconds=n), "status": "failed" if n % 50 == 0 else "success"}
            for n in range(20_000)
        ],
    )
    await vacuum(world, "execution_logs")
    plans = PostgresqlPlans(world.store)
    tail: dict[str, Any] = {"begin": now - timedelta(seconds=70), "end": now}
    limited = {"group_ids": [task.group_id], "type": "command"}
    for statement, params in (
        (totals(grouped=False, typed=False, failed=False), tail),
        (totals(grouped=True, typed=True, failed=False), tail | limited),
        (totals(grouped=False, typed=False, failed=True), tail),
        (reasons(grouped=False, typed=False), tail | {"limit": 1_000, "looked_at": 1_000}),
        (stats_fold._FIRST_LOG, tail),  # noqa: SLF001 - what is looked at every few seconds
    ):
        assert await plans.scans(statement, params, unavoidable=True) == [], statement.compiled("postgresql").sql
        assert await plans.cost(statement, params) < 500, "of some thousand pages"


async def test_a_backlog_is_counted_from_the_claim_index_alone(cluster_world: World) -> None:
    world = cluster_world
    task = await world.task()
    await world.submit(task)
    now = stamp(world, await world.store.now())
    await world.execute(
        "INSERT INTO task_instances (id, task_id, task_version, group_id, scheduled_time, status, created_at, lane_id, "
        "priority, available_at, triggered_by, args) SELECT 1000 + n, :task, 1, :group, :now, 'pending', :now, "
        "(SELECT max(id) FROM lanes), 5, :now, 'api', jsonb_build_object('filler', repeat(md5(n::text), 20)) "
        "FROM generate_series(1, 5000) n".replace("::", "\\:\\:"),
        task=task.id,
        group=task.group_id,
        now=now,
    )
    await vacuum(world, "task_instances")
    plans = PostgresqlPlans(world.store)
    assert await plans.scans(stats._lives(grouped=False), {}, unavoidable=True) == []  # noqa: SLF001
    assert (await world.store.overview()).total.pending_due == 5_001


def _messages() -> list[str]:
    chance = random.Random(7)  # noqa: S311 - the same each time
    parts = ["0x", "0X", "deadbeef", "DEAD", "12", "9", "-", ".", " ", "\t\n", "'", '"', "#", "é", "数", "٣", "\\", "%"]
    parts += [
        "3f2a9c04-1b2c-4d5e-8f90-a1b2c3d4e5f6",
        "a1b2",
        "order",
        ":",
        "0",
        "f" * 7,
        "f" * 8,
        "$1",
        "{8}",
        "\u00a0",
    ]
    made = ["".join(chance.choices(parts, k=chance.randrange(1, 12))) for _ in range(3_000)]
    return [*made, "x" * 600, "7" * 600, "12 " * 300, "ab" * 249 + "é7", " ", "\n", ""]


async def test_fingerprints_are_the_same_on_every_store(world: World) -> None:
    given = records("given", {"message": Text()})
    statement = Statement(
        select(given.c.message, fingerprint_of(column("message", Text)).label("found")).select_from(given)
    )
    messages: list[str | None] = [*_messages(), None]
    rows = await world.store.database.read(lambda tx: tx.fetch(statement, given=[{"message": one} for one in messages]))
    assert len(rows) == len(messages)
    assert [row["found"] for row in rows] == [fingerprint(row["message"]) for row in rows]


async def test_only_the_scheduler_whose_turn_it_is_folds(world: World) -> None:
    await make_past(world, endings=20, minutes=3)
    assert await world.store.take_lease(LEASE, "another", 30)
    assert await Folder(world.store, "this").step() > 0
    assert await world.count("stats_minutely") == 0
    await world.store.give_lease(LEASE, "another")
    assert await Folder(world.store, "this").step() > 0
    assert await world.count("stats_minutely") > 0
