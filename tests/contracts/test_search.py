"""Searches by name, owner, and texts in arguments and errors; a page looks at so much and no more."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.filters import InstanceFilter
from hourhand.model.words import OutcomeKind, Status, TaskType
from hourhand.store import listing

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.world import World
    from hourhand.model.instance import Instance

NAMES = ("load orders", "Load_stock", "load 50%", "report")
ERRORS = ("Disk is full", "disk 100% used", "no route to host")


async def walk(read: Any, wanted: InstanceFilter, limit: int) -> tuple[list[Instance], int]:
    """All items of a list, and how many of its pages were short though others came after them."""
    items: list[Instance] = []
    short = 0
    cursor: str | None = None
    while True:
        page = await read(wanted, limit=limit, cursor=cursor)
        items += page.items
        cursor = page.next_cursor
        if cursor is None:
            return items, short
        short += len(page.items) < limit


async def past_and_present(world: World) -> None:
    """Instances of several tasks, of all kinds, living and ended, in an order that no filter has."""
    await world.executor()
    tasks = [
        await world.task(name, owner="ada" if number % 2 else None, type=TaskType.COMMAND)
        for number, name in enumerate(NAMES)
    ]
    for number in range(24):
        await world.submit(tasks[number % 4], args={"day": number % 5, "note": f"{number % 3} of 3_000"})
        kind = OutcomeKind.FAILED if number % 2 else OutcomeKind.SUCCESS
        await world.end(await world.claim(), kind, error_message=ERRORS[number % 3] if number % 2 else None)
    for number in range(16):
        await world.submit(tasks[number % 4], args=None if number % 5 else {"day": number, "note": "2 of 3_000"})


SEARCHES: dict[str, tuple[dict[str, Any], Callable[[Instance], bool]]] = {
    "q": ({"q": "LOAD"}, lambda one: "load" in one.task_name.lower()),
    "q literally": ({"q": "d_"}, lambda one: one.task_name == "Load_stock"),
    "q of one": ({"q": "0%"}, lambda one: one.task_name == "load 50%"),
    "q of none": ({"q": "nothing like it"}, lambda _: False),
    "exclude": ({"exclude": "load"}, lambda one: one.task_name == "report"),
    "q and exclude": ({"q": "load", "exclude": "_"}, lambda one: one.task_name in ("load orders", "load 50%")),
    "owner": ({"owner": "ada"}, lambda one: one.task_name in ("Load_stock", "report")),
    "args": ({"args": '"day": 3'}, lambda one: (one.args or {}).get("day") == 3),
    "args literally": ({"args": "of 3_0"}, lambda one: one.args is not None),
    "args of none": ({"args": "of 3%0"}, lambda _: False),
    "error": ({"error": "DISK"}, lambda one: "isk" in (one.error_message or "")),
    "error literally": ({"error": "100%"}, lambda one: "100%" in (one.error_message or "")),
    "error of none": ({"error": "disk_is"}, lambda _: False),
    "q and args": (
        {"q": "load", "args": "2 of"},
        lambda one: "load" in one.task_name.lower() and "2 of" in (one.args or {}).get("note", ""),
    ),
    "status and error": ({"status": Status.FAILED, "error": "full"}, lambda one: one.error_message == ERRORS[0]),
    "status and q": (
        {"status": Status.PENDING, "q": "report"},
        lambda one: one.status is Status.PENDING and one.task_name == "report",
    ),
    "task and args": ({"task_id": 1, "args": "0 of"}, lambda one: one.task_id == 1 and "0 of" in str(one.args)),
    "task and another name": ({"task_id": 1, "q": "report"}, lambda _: False),
    "task and its name": ({"task_id": 1, "q": "orders"}, lambda one: one.task_id == 1),
    "executor and error": ({"executor_id": "e1", "error": "host"}, lambda one: one.error_message == ERRORS[2]),
    "alive": ({"ended": False, "q": "load"}, lambda one: not one.status.ended and "load" in one.task_name.lower()),
    "ended": ({"ended": True, "args": "day"}, lambda one: one.status.ended),
}


@pytest.mark.parametrize(("few", "looked_at"), list(product([50, 1], [10_000, 7, 1])))
async def test_a_search_finds_all_and_nothing_else_however_little_a_page_looks_at(
    world: World, few: int, looked_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    await past_and_present(world)
    everything, _ = await walk(world.store.list_instances, InstanceFilter(), 50)
    logs, _ = await walk(world.store.list_logs, InstanceFilter(), 50)
    assert (len(everything), len(logs)) == (40, 24)
    monkeypatch.setattr(listing, "FEW_TASKS", few)
    monkeypatch.setattr(listing, "LOOKED_AT", looked_at)
    cut = 0
    for name, (wanted, fits) in SEARCHES.items():
        expected = [one.id for one in everything if fits(one)]
        found, short = await walk(world.store.list_instances, InstanceFilter(**wanted), 3)
        assert [one.id for one in found] == expected, name
        assert bool(expected) != ("none" in name or "another" in name), name
        ended, short_too = await walk(world.store.list_logs, InstanceFilter(**wanted), 3)
        assert [one.log_id for one in ended] == [one.log_id for one in logs if fits(one)], name
        cut += short + short_too
    assert bool(cut) == (looked_at < 10_000)


async def test_no_page_looks_at_more_than_it_may(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await past_and_present(world)
    monkeypatch.setattr(listing, "LOOKED_AT", 6)
    page = await world.store.list_logs(InstanceFilter(error="full"))
    newest = (await world.store.list_logs(limit=6)).items
    assert list(page.items) == [one for one in newest if one.error_message == ERRORS[0]]
    assert page.next_cursor is not None
    alive = await world.store.list_instances(InstanceFilter(args="nothing like it"))
    assert (alive.items, alive.next_cursor is not None) == ((), True)


@pytest.mark.parametrize("few", [50, 1])
async def test_what_a_search_finds_is_counted(world: World, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    await past_and_present(world)
    everything, _ = await walk(world.store.list_instances, InstanceFilter(), 50)
    monkeypatch.setattr(listing, "FEW_TASKS", few)
    for name, (wanted, fits) in SEARCHES.items():
        for status in (Status.PENDING, Status.SUCCESS, Status.FAILED):
            if "status" in wanted or "ended" in wanted:
                continue
            expected = [one for one in everything if fits(one) and one.status is status]
            counted = await world.store.count_instances(InstanceFilter(**{**wanted, "status": status}), most=100)
            assert counted == len(expected), (name, status)
    assert await world.store.count_instances(InstanceFilter(status=Status.FAILED, error="disk"), most=2) == 2


async def test_what_a_deleted_task_did_is_found_by_its_name(world: World) -> None:
    await world.executor()
    task = await world.task("gone for good", owner="ada")
    one = await world.submit(task)
    await world.run_all()
    await world.store.delete_task(task.id, by="test")
    for wanted in (InstanceFilter(q="for good"), InstanceFilter(owner="ada")):
        assert [each.id for each in (await world.store.list_instances(wanted)).items] == [one]
        assert [each.id for each in (await world.store.list_logs(wanted)).items] == [one]
