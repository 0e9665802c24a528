"""Lists: keyset pages, newest first, the living before the ended, in one shape; every filter; no page costs more."""

from __future__ import annotations

import base64
import json
from dataclasses import fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.errors import InvalidInput, NotFound
from hourhand.model.filters import InstanceFilter, TaskFilter
from hourhand.model.words import OutcomeKind, Status, TaskType, TriggeredBy
from hourhand.store import listing
from hourhand.store.postgresql import PostgresqlTx
from hourhand.store.sqlite import SqliteTx

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from contracts.world import World
    from hourhand.model.instance import Instance
    from hourhand.model.page import Page
    from hourhand.model.task import Task


async def walk(
    read: Callable[..., Awaitable[Page[Any]]],
    *wanted: Any,
    limit: int = 7,
    between: Callable[[], Awaitable[Any]] | None = None,
) -> list[Any]:
    """All items of a list, page by page; something may happen between the pages."""
    items: list[Any] = []
    cursor: str | None = None
    while True:
        page = await read(*wanted, limit=limit, cursor=cursor)
        items += page.items
        assert len(page.items) == limit or page.next_cursor is None
        if page.next_cursor is None:
            return items
        cursor = page.next_cursor
        if between is not None:
            await between()


async def some(world: World, task: Task, count: int, *, end: bool = False) -> list[int]:
    ids = [await world.submit(task) for _ in range(count)]
    if end:
        for number in range(0, count, 3):  # several endings at the same microsecond
            claimed = await world.claim(limit=min(3, count - number))
            await world.end(claimed)
    return ids


async def both_kinds(world: World) -> tuple[Task, list[int], list[int]]:
    await world.executor()
    task = await world.task()
    ended = await some(world, task, 20, end=True)
    return task, await some(world, task, 20), ended


# Pages


async def test_the_living_come_first_and_the_ended_after_them_newest_first(world: World) -> None:
    _, living, ended = await both_kinds(world)
    found: list[Instance] = await walk(world.store.list_instances)
    assert [one.id for one in found[:20]] == sorted(living, reverse=True)
    assert {one.id for one in found[20:]} == set(ended)
    places = [(one.end_time, one.log_id or 0) for one in found[20:] if one.end_time is not None]
    assert len(places) == 20
    assert places == sorted(places, reverse=True)
    assert {one.task_name for one in found} == {found[0].task_name}
    assert all((one.log_id is None) == (one.status is Status.PENDING) for one in found)


@pytest.mark.parametrize("limit", [1, 3, 19, 20, 21, 40, 200])
async def test_pages_are_complete_and_disjoint_whatever_their_size(world: World, limit: int) -> None:
    _, living, ended = await both_kinds(world)
    found = [one.id for one in await walk(world.store.list_instances, limit=limit)]
    assert sorted(found) == sorted([*living, *ended])
    logs = [one.id for one in await walk(world.store.list_logs, limit=limit)]
    assert sorted(logs) == sorted(ended)


async def test_what_is_inserted_between_pages_neither_hides_nor_repeats_anything(world: World) -> None:
    task, living, ended = await both_kinds(world)
    await world.executor("other", group="other")
    elsewhere = await world.task(group="other")

    async def insert() -> None:
        await world.submit(task)
        await world.submit(elsewhere)
        await world.run_all("other")

    found = [one.id for one in await walk(world.store.list_instances, between=insert)]
    assert len(found) == len(set(found))
    assert set(found) >= {*living, *ended}
    logs = [one.log_id for one in await walk(world.store.list_logs, between=insert)]
    assert len(logs) == len(set(logs)) >= 20


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
async def test_what_ends_while_a_page_is_read_is_told_once(
    world: World, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    await world.executor()
    task = await world.task()
    ids = [*await some(world, task, 3, end=True), *await some(world, task, 1)]
    read = listing._ended_rows  # noqa: SLF001 - the moment between two statements

    async def later(*given: Any, **more: Any) -> Any:
        if isinstance(given[0], PostgresqlTx):  # SQLite reads a page from one snapshot
            await world.run_all()
        return await read(*given, **more)

    monkeypatch.setattr(listing, "_ended_rows", later)
    found: list[int] = []
    cursor = None
    while True:
        page = await world.store.list_instances(limit=limit, cursor=cursor)
        found += [one.id for one in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(found) == sorted(ids)


async def test_an_instance_is_found_wherever_it_is(world: World) -> None:
    await world.executor()
    task = await world.task("where")
    one = await world.submit(task, args={"a": 1}, notes="n")
    alive = await world.store.get_instance(one)
    await world.run_all()
    ended = await world.store.get_instance(one)
    assert (alive.status, ended.status) == (Status.PENDING, Status.SUCCESS)
    for name in ("id", "task_id", "task_name", "scheduled_time", "created_at", "args", "notes", "priority", "lane_id"):
        assert getattr(alive, name) == getattr(ended, name)
    with pytest.raises(NotFound):
        await world.store.get_instance(999_999)


async def test_a_superseded_end_is_listed_among_the_logs_only(world: World) -> None:
    await world.executor()
    task = await world.task()
    one = await world.submit(task)
    await world.end(await world.claim(), OutcomeKind.FAILED)
    await world.store.retry(one)
    await world.run_all()
    assert [(each.id, each.status) for each in await walk(world.store.list_instances)] == [(one, Status.SUCCESS)]
    logs = await walk(world.store.list_logs)
    assert [(each.id, each.status) for each in logs] == [(one, Status.SUCCESS), (one, Status.FAILED)]
    assert [each.superseded_at is None for each in logs] == [True, False]


# Filters


async def zoo(world: World) -> dict[str, Task]:
    """One instance of every kind, living and ended alike."""
    await world.executor("e1")
    await world.executor("e2")
    await world.executor("e3", group="other")
    plain = await world.task()
    web = await world.task(type=TaskType.HTTP, payload={"url": "http://example.org/"})
    other = await world.task(group="other", owner="ada")
    for alive in (False, True):
        await world.submit(plain)
        claimed = await world.claim("e2")
        if not alive:
            await world.end(claimed, OutcomeKind.FAILED, error_message="The disk is full")
        await world.submit(web)
        for changes in ({}, {"data_source_id": 7}, {"triggered_by": TriggeredBy.MANUAL, "args": {"day": "Sunday"}}):
            await world.submit(plain, **changes)
        await world.submit(other)
        if not alive:
            await world.run_all("e1")
            await world.run_all("e3")
    return {"plain": plain, "web": web, "other": other}


FILTERS: list[tuple[str, Callable[[dict[str, Task]], dict[str, Any]], Callable[[Instance], bool]]] = [
    ("task_id", lambda z: {"task_id": z["web"].id}, lambda one: one.task_name == "task-1"),
    ("status pending", lambda _: {"status": Status.PENDING}, lambda one: one.status is Status.PENDING),
    ("status running", lambda _: {"status": Status.RUNNING}, lambda one: one.status is Status.RUNNING),
    ("status planned", lambda _: {"status": Status.PLANNED}, lambda one: one.status is Status.PLANNED),
    ("status success", lambda _: {"status": Status.SUCCESS}, lambda one: one.status is Status.SUCCESS),
    ("status failed", lambda _: {"status": Status.FAILED}, lambda one: one.status is Status.FAILED),
    ("status cancelled", lambda _: {"status": Status.CANCELLED}, lambda one: one.status is Status.CANCELLED),
    ("group_id", lambda z: {"group_id": z["other"].group_id}, lambda one: one.task_name == "task-2"),
    ("group_ids", lambda z: {"group_ids": (z["other"].group_id, 99)}, lambda one: one.task_name == "task-2"),
    ("type", lambda _: {"type": TaskType.HTTP}, lambda one: one.task_name == "task-1"),
    ("q", lambda _: {"q": "TASK-1"}, lambda one: one.task_name == "task-1"),
    ("exclude", lambda _: {"exclude": "K-0"}, lambda one: one.task_name != "task-0"),
    ("owner", lambda _: {"owner": "ada"}, lambda one: one.task_name == "task-2"),
    ("args", lambda _: {"args": '"day": "SUN'}, lambda one: one.args is not None),
    ("error", lambda _: {"error": "disk IS"}, lambda one: one.error_message is not None),
    ("ended", lambda _: {"ended": True}, lambda one: one.status.ended),
    ("type of none", lambda _: {"type": TaskType.PYTHON}, lambda _: False),
    ("executor_id", lambda _: {"executor_id": "e2"}, lambda one: one.executor_id == "e2"),
    ("data_source_id", lambda _: {"data_source_id": 7}, lambda one: one.data_source_id == 7),
    ("triggered_by", lambda _: {"triggered_by": TriggeredBy.MANUAL}, lambda one: one.triggered_by == "manual"),
    ("triggered_by api", lambda _: {"triggered_by": TriggeredBy.API}, lambda one: one.triggered_by == "api"),
    (
        "several",
        lambda z: {"task_id": z["plain"].id, "status": Status.SUCCESS, "triggered_by": TriggeredBy.API},
        lambda one: one.task_name == "task-0" and one.status is Status.SUCCESS and one.triggered_by == "api",
    ),
]


@pytest.mark.parametrize("few", [50, 0])
async def test_every_filter_finds_what_it_names_and_nothing_else(
    world: World, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hourhand.store.listing.FEW_TASKS", few)  # types with few tasks and with many are read apart
    animals = await zoo(world)
    everything: list[Instance] = await walk(world.store.list_instances)
    logs: list[Instance] = await walk(world.store.list_logs)
    assert (len(everything), len(logs)) == (12, 6)
    for name, wanted, belongs in FILTERS:
        chosen = InstanceFilter(**wanted(animals))
        found = await walk(world.store.list_instances, chosen, limit=2)
        assert found == [one for one in everything if belongs(one)], name
        ended = await walk(world.store.list_logs, chosen, limit=2)
        assert ended == [one for one in logs if belongs(one)], name
        assert found or name in ("status planned", "status cancelled", "type of none"), name
    tried = {field.name for field in fields(InstanceFilter)} - {"begin", "end"}
    assert tried <= {name.split()[0] for name, _, _ in FILTERS}, "a filter without a test"


async def test_begin_and_end_bound_the_end_of_the_ended_and_the_instant_of_the_living(world: World) -> None:
    task, _, ended = await both_kinds(world)
    soon = await world.store.now() + timedelta(hours=1)
    future = await world.submit(task, run_at=soon)
    logs: list[Instance] = await walk(world.store.list_logs)
    middle = logs[10].end_time
    since = await walk(world.store.list_logs, InstanceFilter(begin=middle))
    before = await walk(world.store.list_logs, InstanceFilter(end=middle))
    assert (since + before, len(since) > 10) == (logs, True)
    assert [one.id for one in await walk(world.store.list_instances, InstanceFilter(begin=soon))] == [future]
    both = InstanceFilter(begin=soon, end=soon + timedelta(seconds=1))
    assert [one.id for one in await walk(world.store.list_instances, both)] == [future]
    assert set(ended) == {one.id for one in logs}


# Tasks and versions


async def test_tasks_are_listed_by_name_without_the_deleted(world: World) -> None:
    names = [f"task {number:03}" for number in range(20)]
    for name in reversed(names):
        await world.task(name)
    await world.store.delete_task((await world.task("task 0055")).id, by="test")
    assert [task.name for task in await walk(world.store.list_tasks)] == names


async def test_every_filter_of_tasks(world: World) -> None:
    await world.store.ensure_group("other")
    await world.task("Nightly 50% off", owner="ada", tags=("night", "50%"))
    await world.task("nightly_report", enabled=False, owner="ada lovelace", tags=("nightly",))
    await world.task("web", type=TaskType.HTTP, payload={"url": "http://example.org/"}, group="other")
    for wanted, expected in (
        (TaskFilter(q="NIGHT"), ["Nightly 50% off", "nightly_report"]),
        (TaskFilter(q="50% o"), ["Nightly 50% off"]),
        (TaskFilter(q="%"), ["Nightly 50% off"]),
        (TaskFilter(q="_"), ["nightly_report"]),
        (TaskFilter(q="\\"), []),
        (TaskFilter(q="y_r"), ["nightly_report"]),
        (TaskFilter(exclude="NIGHT"), ["web"]),
        (TaskFilter(exclude="%"), ["nightly_report", "web"]),
        (TaskFilter(q="night", exclude="_"), ["Nightly 50% off"]),
        (TaskFilter(owner="ada"), ["Nightly 50% off"]),
        (TaskFilter(owner="Ada"), []),
        (TaskFilter(tag="night"), ["Nightly 50% off"]),
        (TaskFilter(tag="50%"), ["Nightly 50% off"]),
        (TaskFilter(tag="nigh"), []),
        (TaskFilter(enabled=False), ["nightly_report"]),
        (TaskFilter(enabled=True), ["Nightly 50% off", "web"]),
        (TaskFilter(group="other"), ["web"]),
        (TaskFilter(type=TaskType.HTTP), ["web"]),
        (TaskFilter(q="night", enabled=True, group="default", type=TaskType.COMMAND), ["Nightly 50% off"]),
    ):
        assert [task.name for task in await walk(world.store.list_tasks, wanted, limit=1)] == expected, wanted
        assert await world.store.count_tasks(wanted, most=10) == len(expected), wanted


async def test_versions_are_listed_newest_first(world: World) -> None:
    task = await world.task()
    for number in range(9):
        await world.store.edit_task(task.id, {"description": str(number)}, by="test")
    found = await walk(world.store.list_versions, task.id, limit=4)
    assert [one.version for one in found] == list(range(10, 0, -1))


# Refusals


def cursor(*place: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


GARBAGE = [
    "",
    "x",
    "!!!!",
    "é",
    "\ud800",
    base64.urlsafe_b64encode(b"\xff\xfe").decode(),
    cursor(),
    cursor("living"),
    cursor("living", "1"),
    cursor(*["living", True]),
    cursor("living", 1.5),
    cursor("living", 2**70),
    cursor("ended", 1),
    cursor("ended", 2**62, 1),
    cursor("ended", -(2**62), 1),
    cursor("nonsense", 1),
    cursor("name", "\x00"),
    cursor("name", "\ud800"),
    cursor({}, 1),
    base64.urlsafe_b64encode(b'{"living": 1}').decode(),
    base64.urlsafe_b64encode(b"[" * 100_000).decode(),
]


async def test_a_cursor_of_another_list_or_garbage_is_refused(world: World) -> None:
    task, *_ = await both_kinds(world)
    for _ in range(3):
        await world.store.edit_task(task.id, {"description": str(_)}, by="test")
    await world.task()
    lists: dict[str, Callable[[str | None], Awaitable[Page[Any]]]] = {
        "instances": lambda place: world.store.list_instances(limit=1, cursor=place),
        "logs": lambda place: world.store.list_logs(limit=1, cursor=place),
        "tasks": lambda place: world.store.list_tasks(limit=1, cursor=place),
        "versions": lambda place: world.store.list_versions(task.id, limit=1, cursor=place),
    }
    cursors = {name: (await read(None)).next_cursor for name, read in lists.items()}
    for name, read in lists.items():
        assert (await read(cursors[name])).items, name
        foreign = [
            place for other, place in cursors.items() if other != name and (name, other) != ("instances", "logs")
        ]
        for place in (*GARBAGE, *foreign):
            with pytest.raises(InvalidInput) as refused:
                await read(place)
            assert refused.value.errors[0].field == "cursor", (name, place)


@pytest.mark.parametrize("limit", [-1, 0, 201])
async def test_a_limit_out_of_range_is_refused_by_every_list(world: World, limit: int) -> None:
    task, *_ = await both_kinds(world)
    place = (await world.store.list_logs(limit=1)).next_cursor
    for reading in (
        world.store.list_instances(limit=limit),
        world.store.list_instances(InstanceFilter(status=Status.SUCCESS), limit=limit),
        world.store.list_instances(limit=limit, cursor=place),
        world.store.list_logs(limit=limit),
        world.store.list_tasks(limit=limit),
        world.store.list_versions(task.id, limit=limit),
    ):
        with pytest.raises(InvalidInput, match="1 to 200"):
            await reading


# Costs


async def test_a_page_takes_the_same_few_statements_however_much_is_on_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.executor()
    upstream = await world.task()
    for _ in range(12):
        task = await world.task(dependency_ids=(upstream.id,))
        await some(world, task, 2, end=True)
        await some(world, task, 2)
    count = 0
    kind: Any = SqliteTx if world.store.database.dialect == "sqlite" else PostgresqlTx
    fetch = kind.fetch

    async def counted(self: Any, *arguments: Any, **params: Any) -> Any:
        nonlocal count
        count += 1
        return await fetch(self, *arguments, **params)

    monkeypatch.setattr(kind, "fetch", counted)
    lists: list[tuple[Callable[..., Awaitable[Page[Any]]], int]] = [
        (world.store.list_instances, 2),
        (world.store.list_logs, 1),
        (world.store.list_tasks, 2),
    ]
    for read, most in lists:
        costs = set()
        for limit in (2, 10, 40):
            count = 0
            page = await read(limit=limit)
            assert len(page.items) > 1
            costs.add(count)
        assert max(costs) <= most, read
