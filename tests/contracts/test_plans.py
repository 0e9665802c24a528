"""Plans at a million execution logs and 200,000 living: nothing reads a big table from end to end."""

from __future__ import annotations

import asyncio
import shutil
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contracts.alerting import make_rule
from contracts.million import (
    DAYS,
    LIVING,
    LOGS,
    RARE_EXECUTOR,
    RARE_GROUP,
    RARE_SOURCE,
    RARE_TASK,
    fill_postgresql,
    fill_sqlite,
)
from contracts.plans import Plans, PostgresqlPlans, SqlitePlans, statements
from contracts.world import World
from hourhand.model.filters import InstanceFilter, TaskFilter
from hourhand.model.instance import Held
from hourhand.model.words import Status, TaskType, TriggeredBy
from hourhand.store import listing, open_store, retention
from hourhand.store.paging import write_cursor
from hourhand.store.types import to_micros

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from hourhand.model.page import Page
    from postgres import Cluster


@pytest.fixture(scope="session")
def million_postgresql(cluster: Cluster, postgresql_template: str) -> Iterator[str]:
    url = cluster.create_database(template=postgresql_template)
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        runner.run(fill_postgresql(url))
    yield url
    cluster.drop_database(url)


@pytest.fixture(scope="session")
def million_sqlite(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("million") / "hourhand.db"
    shutil.copyfile(sqlite_template, path)
    fill_sqlite(path)
    yield f"sqlite:///{path}"
    shutil.rmtree(path.parent)


@pytest.fixture(params=["sqlite", "postgresql"])
def million_url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue(f"million_{request.param}")
    return url


@pytest.fixture
async def big(million_url: str) -> AsyncIterator[World]:
    store = await open_store(million_url)
    yield World(store)
    await store.close()


@pytest.fixture
def plans(big: World, million_url: str) -> Iterator[Plans]:
    if big.store.database.dialect == "postgresql":
        yield PostgresqlPlans(big.store)
    else:
        found = SqlitePlans(Path(million_url.removeprefix("sqlite:///")))
        yield found
        found.close()


async def _finish(world: World) -> None:
    await world.end(await world.claim("e1", limit=20))


async def _beat(world: World) -> None:
    held = [Held(one.instance_id, one.fence) for one in await world.claim("e1", limit=20)]
    await world.store.beat("e1", held, extend=held[:10])


async def _retry_and_cancel(world: World) -> None:
    await world.store.cancel(LOGS + LIVING - 1, reason="test")
    await world.store.retry(LOGS + LIVING - 1)


async def _alerts(world: World) -> None:
    for condition in ({"kind": "failed"}, {"kind": "failed_in_a_row", "count": 3}):
        await make_rule(world, condition)
    await world.store.decide_alerts()
    await world.store.take_notices(limit=20, seconds=60)


async def _timeline(world: World, **wanted: Any) -> None:
    end = await world.store.now() - timedelta(days=1.5)
    assert (await world.store.timeline(end - timedelta(hours=1), end, **wanted)).bars


VERBS: dict[str, Callable[[World], Awaitable[Any]]] = {
    "alerts": _alerts,
    "materialise": lambda world: world.store.materialise(limit=20),
    "next_wake": lambda world: world.store.next_wake(),
    "claim": lambda world: world.claim("e1", limit=20),
    "beat": _beat,
    "finish": _finish,
    "reap": lambda world: world.store.reap(limit=20),
    "figures": lambda world: world.store.figures(),
    "permits": lambda world: world.store.give_permits(["key 3", "key 4"]),
    "settle": lambda world: world.store.settle(),
    "get_instance": lambda world: world.store.get_instance(LOGS + 7),
    "get_instance of the ended": lambda world: world.store.get_instance(7),
    "groups_of": lambda world: world.store.groups_of([7, 8, LOGS + 7]),
    "retry and cancel": _retry_and_cancel,
    "task_stats": lambda world: world.store.task_stats([*range(1, 200), RARE_TASK]),
    "timeline": _timeline,
    "timeline of a task": lambda world: _timeline(world, task_id=7),
    "timeline of a group": lambda world: _timeline(world, groups=[1]),
    "edit_task": lambda world: world.store.edit_task(777, {"priority": 1}, by="test"),
}


@pytest.mark.parametrize("verb", VERBS)
async def test_no_verb_reads_a_big_table_from_end_to_end(
    big: World, plans: Plans, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await big.executor("e1")
    with statements(monkeypatch) as seen:
        await VERBS[verb](big)
    assert seen
    for statement, params in seen:
        assert await plans.scans(statement, params) == [], statement.compiled(big.store.database.dialect).sql


async def test_how_200_tasks_of_a_million_logs_fared_costs_a_probe_or_two_each(
    big: World, plans: Plans, monkeypatch: pytest.MonkeyPatch
) -> None:
    with statements(monkeypatch) as seen:
        found = await big.store.task_stats([*range(1, 200), RARE_TASK])
    assert [len(one.endings) for one in found] == [30] * 199 + [20]
    cost = sum([await plans.cost(statement, params) for statement, params in seen])
    assert cost <= {"postgresql": 200 * 500, "sqlite": 200 * 120}[big.store.database.dialect]
    assert len(seen) <= {"postgresql": 5, "sqlite": 4 + 200}[big.store.database.dialect]


async def test_an_hour_of_a_timeline_reads_that_hour(big: World, plans: Plans, monkeypatch: pytest.MonkeyPatch) -> None:
    with statements(monkeypatch) as seen:
        await _timeline(big)
    cost = sum([await plans.cost(statement, params) for statement, params in seen])
    assert cost <= 20_000, "of which the look at the day after it is most"


async def test_the_sweep_reads_the_waits_and_nothing_else_from_end_to_end(
    big: World, plans: Plans, monkeypatch: pytest.MonkeyPatch
) -> None:
    await big.executor("e1")
    with statements(monkeypatch) as seen:
        await big.store.sweep()
    for statement, params in seen:
        assert [scan for scan in await plans.scans(statement, params) if "instance_waits" not in scan] == []


# Lists

RARE = {
    "task": InstanceFilter(task_id=RARE_TASK),
    "status": InstanceFilter(status=Status.CANCELLED),
    "group": InstanceFilter(group_id=RARE_GROUP),
    "type": InstanceFilter(type=TaskType.HTTP),
    "name": InstanceFilter(q="SK 900001", exclude="x"),
    "executor": InstanceFilter(executor_id=RARE_EXECUTOR),
    "data source": InstanceFilter(data_source_id=RARE_SOURCE),
    "triggered_by": InstanceFilter(triggered_by=TriggeredBy.BACKFILL),
}
COMMON = {
    "all": InstanceFilter(),
    "task": InstanceFilter(task_id=7),
    "success": InstanceFilter(status=Status.SUCCESS),
    "failed": InstanceFilter(status=Status.FAILED),
    "group": InstanceFilter(group_id=1),
    "type": InstanceFilter(type=TaskType.COMMAND),
    "executor": InstanceFilter(executor_id="e7"),
    "api": InstanceFilter(triggered_by=TriggeredBy.API),
    "scheduler": InstanceFilter(triggered_by=TriggeredBy.SCHEDULER),
    "failed of a group": InstanceFilter(group_id=1, status=Status.FAILED),
}
LIVE = {
    "all": InstanceFilter(),
    "pending": InstanceFilter(status=Status.PENDING),
    "running": InstanceFilter(status=Status.RUNNING),
    "planned": InstanceFilter(status=Status.PLANNED),
    "task": InstanceFilter(task_id=7),
    "group": InstanceFilter(group_id=1),
    "type": InstanceFilter(type=TaskType.COMMAND),
    "executor": InstanceFilter(executor_id="e1"),
    "data source": InstanceFilter(data_source_id=RARE_SOURCE),
    "triggered_by": InstanceFilter(triggered_by=TriggeredBy.API),
}
LOOKED_FOR = {
    "args": InstanceFilter(args="nowhere"),
    "args of some tasks": InstanceFilter(q="task 12", exclude="task 123", args="nowhere"),
    "error": InstanceFilter(error="nowhere"),
    "error of the failed": InstanceFilter(error="nowhere", status=Status.FAILED),
    "error of a group": InstanceFilter(error="nowhere", group_id=1),
    "error of the failed of a group": InstanceFilter(error="nowhere", status=Status.FAILED, group_id=1),
    "name of many": InstanceFilter(q="task 15"),
    "all but some names": InstanceFilter(exclude="task 5"),
    "error of an executor, but some names": InstanceFilter(exclude="task 5", error="nowhere", executor_id="e7"),
}
MOST_LOOKED_FOR = {"postgresql": 5_000, "sqlite": 4_000}
MOST = {"postgresql": 2_000, "sqlite": 2_000}
"""Pages, or hundreds of steps: a million rows are 40,000 pages and 200,000 hundreds of steps."""


async def costs(
    plans: Plans,
    monkeypatch: pytest.MonkeyPatch,
    read: Callable[..., Awaitable[Page[Any]]],
    wanted: InstanceFilter,
    cursor: str | None = None,
) -> int:
    """What a page costs; none of its statements may read a big table from end to end."""
    with statements(monkeypatch) as seen:
        await read(wanted, limit=50, cursor=cursor)
    total = 0
    of_task = wanted.type or wanted.q or wanted.exclude or wanted.owner
    for statement, params in seen:
        scans = await plans.scans(statement, params)
        assert [scan for scan in scans if not (of_task and "tasks" in scan)] == [], "only what is said of tasks"
        total += await plans.cost(statement, params)
    return total


@pytest.mark.parametrize("name", RARE)
async def test_what_is_rare_among_a_million_is_found_without_reading_them(
    big: World, plans: Plans, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 20 <= len((await big.store.list_logs(RARE[name])).items) < 50
    cost = await costs(plans, monkeypatch, big.store.list_logs, RARE[name])
    assert cost <= MOST[big.store.database.dialect]


@pytest.mark.parametrize("name", COMMON)
async def test_a_page_deep_in_the_past_costs_what_the_first_one_does(
    big: World, plans: Plans, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    past = await big.store.now() - timedelta(days=DAYS * 0.9)
    deep = write_cursor("ended", to_micros(past), 1)
    assert len((await big.store.list_logs(COMMON[name], cursor=deep)).items) == 50
    first = await costs(plans, monkeypatch, big.store.list_logs, COMMON[name])
    last = await costs(plans, monkeypatch, big.store.list_logs, COMMON[name], deep)
    assert first <= MOST[big.store.database.dialect]
    assert last <= first * 1.5 + 100


@pytest.mark.parametrize("name", LOOKED_FOR)
async def test_what_no_index_finds_is_looked_for_in_a_part_of_a_million(
    big: World, plans: Plans, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "LOOKED_AT", 1_000)
    past = await big.store.now() - timedelta(days=DAYS * 0.5)
    for read, place in (
        (big.store.list_logs, None),
        (big.store.list_logs, write_cursor("ended", to_micros(past), 1)),
        (big.store.list_instances, None),
        (big.store.list_instances, write_cursor("living", LOGS + LIVING // 2)),
    ):
        page = await read(LOOKED_FOR[name], limit=50, cursor=place)
        assert page.next_cursor is not None
        cost = await costs(plans, monkeypatch, read, LOOKED_FOR[name], place)
        assert cost <= MOST_LOOKED_FOR[big.store.database.dialect]


async def test_a_window_of_time_is_read_alone(big: World, plans: Plans, monkeypatch: pytest.MonkeyPatch) -> None:
    end = await big.store.now() - timedelta(days=DAYS / 2)
    wanted = InstanceFilter(begin=end - timedelta(minutes=10), end=end, status=Status.CANCELLED)
    cost = await costs(plans, monkeypatch, big.store.list_logs, wanted)
    assert cost <= MOST[big.store.database.dialect]


@pytest.mark.parametrize("name", LIVE)
async def test_a_page_of_the_living_does_not_read_them_all(
    big: World, plans: Plans, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    middle = write_cursor("living", LOGS + LIVING // 2)
    for cursor in (None, middle):
        cost = await costs(plans, monkeypatch, big.store.list_instances, LIVE[name], cursor)
        assert cost <= MOST[big.store.database.dialect]


@pytest.mark.parametrize("wanted", [TaskFilter(), TaskFilter(enabled=True), TaskFilter(q="task 1")], ids=str)
async def test_a_page_of_tasks_follows_their_names(
    big: World, plans: Plans, wanted: TaskFilter, monkeypatch: pytest.MonkeyPatch
) -> None:
    with statements(monkeypatch) as seen:
        assert len((await big.store.list_tasks(wanted)).items) == 50
    for statement, params in seen:
        assert await plans.scans(statement, params) == []


# The end of a day


async def test_what_retention_must_spare_is_found_without_reading_the_backlog(big: World, plans: Plans) -> None:
    dialect = big.store.database.dialect
    before = {"before": await big.store.now() - timedelta(days=30)}
    # By its cost: SQLite calls it a scan to walk along the primary key, even where it ends at the first row.
    cost = await plans.cost(retention._OLDEST_ATTEMPTED, before)  # noqa: SLF001 - retention itself would take the rest
    assert cost <= {"postgresql": 20, "sqlite": 2}[dialect]


async def test_the_oldest_day_of_a_million_goes(big: World) -> None:
    oldest = (await big.store.now() - timedelta(days=DAYS - 1)).replace(hour=0, minute=0, second=0, microsecond=0)
    before = await big.count("execution_logs")
    sqlite = big.store.database.dialect == "sqlite"
    if sqlite:
        oldest = await big.store.now() - timedelta(days=DAYS - 0.2)
    removed = await big.store.database.drop_days("execution_logs", oldest)
    assert (removed > 15_000) if sqlite else (removed == 1)
    assert before - await big.count("execution_logs") >= 15_000
