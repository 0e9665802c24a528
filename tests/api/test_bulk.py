"""`/api/v1/tasks/bulk` and `/api/v1/instances/bulk` on both stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from api.answers import API, ok, problem
from hourhand.model.words import OutcomeKind, Status
from hourhand.store import listing

if TYPE_CHECKING:
    import httpx
    import pytest

    from contracts.world import World


async def _tasks(rest: httpx.AsyncClient, action: str, chosen: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {"action": action, "filter": chosen, **more}
    return dict(ok(await rest.post(f"{API}/tasks/bulk", json=body)))


async def _instances(rest: httpx.AsyncClient, action: str, chosen: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {"action": action, "filter": chosen, **more}
    return dict(ok(await rest.post(f"{API}/instances/bulk", json=body)))


async def test_a_dry_run_counts_and_changes_nothing(rest: httpx.AsyncClient, world: World) -> None:
    for name in ("load a", "load b", "other"):
        await world.task(name)
    counted = await _tasks(rest, "disable", {"q": "LOAD"}, dry_run=True)
    assert counted == {"dry_run": True, "matched": 2, "done": 0, "refused": [], "more": False}
    assert len(ok(await rest.get(f"{API}/tasks?enabled=true"))["items"]) == 3


async def test_tasks_are_disabled_and_enabled_by_filter(rest: httpx.AsyncClient, world: World) -> None:
    for name in ("load a", "load b", "other"):
        await world.task(name)
    assert (await _tasks(rest, "disable", {"q": "load"}))["done"] == 2
    enabled = ok(await rest.get(f"{API}/tasks?enabled=true"))["items"]
    assert [one["name"] for one in enabled] == ["other"]
    assert (await _tasks(rest, "disable", {"q": "load"}))["matched"] == 0
    assert (await _tasks(rest, "enable", {"all": True}))["done"] == 2
    assert len(ok(await rest.get(f"{API}/tasks?enabled=true"))["items"]) == 3


async def test_one_that_cannot_be_deleted_keeps_no_other_from_it(rest: httpx.AsyncClient, world: World) -> None:
    needed = await world.task("needed")
    await world.task("z-dependent", schedule="@upstream", dependency_ids=(needed.id,))
    await world.task("other")
    done = await _tasks(rest, "delete", {"all": True})
    assert (done["matched"], done["done"]) == (3, 2)
    (refused,) = done["refused"]
    assert refused["id"] == needed.id
    assert "z-dependent" in refused["message"]


async def test_more_tasks_than_a_page_are_all_changed(rest: httpx.AsyncClient, world: World) -> None:
    for number in range(203):
        await world.task(f"t{number:03}")
    assert (await _tasks(rest, "delete", {"q": "t"}))["done"] == 203
    assert ok(await rest.get(f"{API}/tasks"))["items"] == []


async def test_everything_must_be_said_in_so_many_words(rest: httpx.AsyncClient, world: World) -> None:
    await world.task("a")
    for path, action in (("tasks", "delete"), ("instances", "cancel")):
        for nothing in ({}, {"q": ""}, {"q": " ", "owner": None}):
            refusal = problem(await rest.post(f"{API}/{path}/bulk", json={"action": action, "filter": nothing}), 422)
            assert "all: true" in refusal["errors"][0]["message"]
    blank = {"action": "cancel", "filter": {"args": " "}}  # blanks do not count there
    assert "all: true" in problem(await rest.post(f"{API}/instances/bulk", json=blank), 422)["errors"][0]["message"]
    refusal = problem(await rest.post(f"{API}/tasks/bulk", json={"action": "explode", "filter": {"all": True}}), 422)
    assert refusal["errors"][0]["field"] == "action"
    already = {"action": "enable", "filter": {"enabled": True}}
    assert "already" in problem(await rest.post(f"{API}/tasks/bulk", json=already), 422)["errors"][0]["message"]


async def test_what_lives_is_cancelled_by_filter_and_what_ended_is_not(rest: httpx.AsyncClient, world: World) -> None:
    await world.executor()
    one, other = await world.task("one"), await world.task("other")
    ended = await world.submit(one)
    await world.run_all()
    running = await world.submit(one)
    await world.claim()
    waiting = [await world.submit(one) for _ in range(205)]
    spared = await world.submit(other)
    assert (await _instances(rest, "cancel", {"task_id": one.id}, dry_run=True))["matched"] == 206
    done = await _instances(rest, "cancel", {"task_id": one.id}, reason="wrong data")
    assert (done["matched"], done["done"], done["refused"]) == (206, 206, [])
    assert (await world.store.get_instance(ended)).status is Status.SUCCESS
    assert (await world.store.get_instance(spared)).status is Status.PENDING
    assert (await world.store.get_instance(running)).cancel_requested
    cancelled = await world.store.get_instance(waiting[-1])
    assert (cancelled.status, cancelled.error_message) == (Status.CANCELLED, "wrong data")


async def test_what_failed_is_retried_by_filter(rest: httpx.AsyncClient, world: World) -> None:
    await world.executor()
    task = await world.task("a")
    failed = [await world.submit(task) for _ in range(3)]
    await world.run_all(kind=OutcomeKind.FAILED)
    cancelled = await world.submit(task)
    await world.store.cancel(cancelled, reason="no need")
    assert (await _instances(rest, "retry", {"task_id": task.id}, dry_run=True))["matched"] == 3
    assert (await _instances(rest, "retry", {"task_id": task.id}))["done"] == 3
    assert {(await world.store.get_instance(one)).status for one in failed} == {Status.PENDING}
    assert (await world.store.get_instance(cancelled)).status is Status.CANCELLED
    assert (await _instances(rest, "retry", {"status": "cancelled", "task_id": task.id}))["done"] == 1


async def test_the_filters_of_the_lists_choose_what_is_changed(rest: httpx.AsyncClient, world: World) -> None:
    await world.executor()
    ours = await world.task("load orders", owner="ada", tags=("eu",))
    await world.task("load stock")
    full = await world.submit(ours, args={"day": "Sunday"}, data_source_id=7)
    await world.end(await world.claim(), OutcomeKind.FAILED, error_message="The disk is full")
    other = await world.submit(ours, args={"day": "Monday"})
    await world.end(await world.claim(), OutcomeKind.FAILED, error_message="no route")
    for chosen in ({"error": "disk"}, {"args": "SUN"}, {"data_source_id": 7}):
        assert (await _instances(rest, "retry", chosen, dry_run=True))["matched"] == 1
    assert (await _instances(rest, "retry", {"q": "load", "exclude": "stock", "owner": "ada"}, dry_run=True)) == {
        "dry_run": True,
        "matched": 2,
        "done": 0,
        "refused": [],
        "more": False,
    }
    assert (await _instances(rest, "retry", {"error": "DISK"}))["done"] == 1
    assert (await world.store.get_instance(full)).status is Status.PENDING
    assert (await world.store.get_instance(other)).status is Status.FAILED
    assert (await _instances(rest, "cancel", {"q": "orders", "args": "sunday"}))["done"] == 1
    body = {"action": "cancel", "filter": {"error": "disk"}}
    assert problem(await rest.post(f"{API}/instances/bulk", json=body), 422)["errors"][0]["field"] == "filter.error"
    for chosen in ({"owner": "ada"}, {"tag": "eu"}, {"exclude": "stock"}):
        assert (await _tasks(rest, "disable", chosen, dry_run=True))["matched"] == 1


async def test_what_is_rare_is_cancelled_however_far_away_it_is(
    rest: httpx.AsyncClient, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "LOOKED_AT", 2)
    task = await world.task("a")
    ids = [await world.submit(task, args={"number": number}) for number in range(20)]
    done = await _instances(rest, "cancel", {"args": '"number": 3'})
    assert (done["matched"], done["done"]) == (1, 1)
    assert (await world.store.get_instance(ids[3])).status is Status.CANCELLED


async def test_a_status_that_makes_no_sense_is_refused(rest: httpx.AsyncClient) -> None:
    for action, status in (("cancel", "failed"), ("retry", "running"), ("retry", "success")):
        body = {"action": action, "filter": {"status": status}}
        refusal = problem(await rest.post(f"{API}/instances/bulk", json=body), 422)
        assert refusal["errors"][0]["field"] == "filter.status"
