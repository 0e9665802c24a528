"""`/api/v1/schedules/upcoming`, `/schedules/load`, `/stats/tasks`, `/stats/timeline` and `/tasks/{id}/impact`."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from api.answers import API, ok, problem, refused
from contracts.past import end
from hourhand.api.app import create_app
from hourhand.model.access import Principal
from hourhand.model.words import OutcomeKind, Role, UpstreamFailurePolicy
from hourhand.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.world import World
    from hourhand.model.task import Task
    from hourhand.store import Store

DAY = {"from": "2100-01-01T00:00:00Z", "to": "2100-01-02T00:00:00Z"}


class _Tokens:
    async def holder(self, token: str) -> Principal | None:
        groups = frozenset({"default", "other"}) & {token}
        return Principal(id="token:1", name="ann", role=Role.VIEWER, groups=groups)


def _as(store: Store, group: str) -> httpx.AsyncClient:
    app = create_app(store, Settings(), _Tokens())
    headers = {"Authorization": f"Bearer {group}"}
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=f"http://localhost{API}", headers=headers)


async def _two(world: World) -> tuple[Task, Task]:
    await world.store.ensure_group("other")
    return await world.task("mine", schedule="0 9 * * *"), await world.task("theirs", schedule="@hourly", group="other")


async def test_the_instants_to_come_are_listed_in_pages(rest: httpx.AsyncClient, world: World) -> None:
    mine, theirs = await _two(world)
    first = ok(await rest.get(f"{API}/schedules/upcoming", params={**DAY, "limit": 10}))
    assert first["items"][0] == {
        "task_id": theirs.id,
        "task_name": "theirs",
        "group": "other",
        "timezone": "UTC",
        "at": "2100-01-01T00:00:00Z",
        "note": None,
    }
    cursor = first["next_cursor"]
    second = ok(await rest.get(f"{API}/schedules/upcoming", params={**DAY, "limit": 20, "cursor": cursor}))
    assert [one["task_id"] for one in (first["items"] + second["items"])].count(theirs.id) == 24
    assert (second["next_cursor"], second["truncated"]) == (None, False)
    only = ok(await rest.get(f"{API}/schedules/upcoming", params={**DAY, "task_id": mine.id}))
    assert [one["at"] for one in only["items"]] == ["2100-01-01T09:00:00Z"]
    only = ok(await rest.get(f"{API}/schedules/upcoming", params={**DAY, "group": "default"}))
    assert {one["task_id"] for one in only["items"]} == {mine.id}


async def test_the_load_is_given_step_by_step(rest: httpx.AsyncClient, world: World) -> None:
    await _two(world)
    load = ok(await rest.get(f"{API}/schedules/load", params={**DAY, "step": "12h"}))
    assert load == {
        "from": DAY["from"],
        "to": DAY["to"],
        "step_seconds": 43_200,
        "items": [{"at": DAY["from"], "count": 13}, {"at": "2100-01-01T12:00:00Z", "count": 12}],
        "busiest": [
            {"task_id": 2, "task_name": "theirs", "group": "other", "count": 24},
            {"task_id": 1, "task_name": "mine", "group": "default", "count": 1},
        ],
        "truncated": False,
    }
    local = ok(await rest.get(f"{API}/schedules/load", params={**DAY, "step": "1d", "timezone": "Asia/Kolkata"}))
    assert [one["at"] for one in local["items"]] == ["2099-12-31T18:30:00Z", "2100-01-01T18:30:00Z"]


@pytest.mark.parametrize(
    ("path", "params", "field", "said"),
    [
        ("load", {"step": "7m"}, "step", "a day can be divided into"),
        ("load", {"step": "1m"}, "step", "at most 1,000"),
        ("load", {"step": "soon"}, "step", "1m, 5m, 1h, 1d"),
        ("load", {"timezone": "Europe/Berln"}, "timezone", "did you mean Europe/Berlin"),
        ("load", {"to": "2100-06-01T00:00:00Z"}, "to", "more than 62 days after `from`"),
        ("load", {"group": "nobody"}, "group", "there is no group"),
        ("upcoming", {"to": "2102-01-01T00:00:00Z"}, "to", "more than 366 days"),
        ("upcoming", {"from": "2100-01-03T00:00:00Z"}, "from", "is not before `to`"),
        ("upcoming", {"cursor": "x"}, "cursor", "is not a cursor"),
        ("upcoming", {"limit": "201"}, "limit", ""),
        ("upcoming", {"task": "7"}, "task", "the known ones are"),
    ],
)
async def test_what_cannot_be_had_of_schedules_is_refused(
    rest: httpx.AsyncClient, path: str, params: dict[str, str], field: str, said: str
) -> None:
    assert said in refused(await rest.get(f"{API}/schedules/{path}", params=DAY | params))[field]


async def test_tasks_are_told_with_their_endings(rest: httpx.AsyncClient, world: World) -> None:
    task, other = await _two(world)
    await world.executor()
    await world.submit(task)
    await world.end(await world.claim(), OutcomeKind.FAILED, duration_ms=70)
    await world.submit(task)
    await world.end(await world.claim(), duration_ms=90)
    await world.submit(task)
    found = ok(await rest.get(f"{API}/stats/tasks", params={"ids": f"{other.id},{task.id}, {task.id},999"}))
    assert found["next_cursor"] is None
    empty, one = found["items"]
    assert (empty["task_id"], empty["endings"], empty["median_ms"]) == (other.id, [], None)
    assert [(ending["status"], ending["duration_ms"]) for ending in one["endings"]] == [("failed", 70), ("success", 90)]
    assert one["endings"][0].keys() == {
        "instance_id",
        "status",
        "scheduled_time",
        "start_time",
        "end_time",
        "duration_ms",
        "skip_reason",
    }
    assert (one["running"], one["pending"], one["planned"], one["more"]) == (0, 1, 0, False)
    assert (one["median_ms"], one["p95_ms"]) == (90.0, 90.0)
    last = ok(await rest.get(f"{API}/stats/tasks", params={"ids": task.id, "last": 1}))
    assert [ending["status"] for ending in last["items"][0]["endings"]] == ["success"]


@pytest.mark.parametrize(
    ("params", "field", "said"),
    [
        ({}, "ids", ""),
        ({"ids": ""}, "ids", "'' is no id"),
        ({"ids": "1,two"}, "ids", "'two' is no id: give the ids of tasks, separated by commas"),
        ({"ids": "0"}, "ids", "is no id"),
        ({"ids": "9" * 30}, "ids", "is no id"),
        ({"ids": "1,²"}, "ids", "is no id"),
        ({"ids": ",".join(map(str, range(1, 202)))}, "ids", "these are 201 tasks: give at most 200"),
        ({"ids": "1", "last": "101"}, "last", ""),
    ],
)
async def test_what_are_no_tasks_is_refused(
    rest: httpx.AsyncClient, params: dict[str, str], field: str, said: str
) -> None:
    assert said in refused(await rest.get(f"{API}/stats/tasks", params=params))[field]


async def test_a_timeline_has_what_ran_and_what_runs(rest: httpx.AsyncClient, world: World) -> None:
    task, _ = await _two(world)
    await world.executor()
    await world.submit(task)
    (claimed,) = await world.claim()
    now = await world.store.now()
    await end(
        world,
        [
            {"task_id": task.id, "group_id": task.group_id, "task_name": "mine", "end_time": now - timedelta(minutes=n)}
            for n in (5, 50, 70)
        ],
    )
    found = ok(await rest.get(f"{API}/stats/timeline"))
    assert [one["status"] for one in found["items"]] == ["running", "success", "success"]
    assert found["items"][0] == {
        "instance_id": claimed.instance_id,
        "task_id": task.id,
        "task_name": "mine",
        "group": "default",
        "status": "running",
        "start_time": found["items"][0]["start_time"],
        "end_time": None,
        "executor_id": "e1",
        "attempt": 1,
    }
    assert found["truncated"] is False
    cut = ok(await rest.get(f"{API}/stats/timeline", params={"limit": 2, "q": "MIN", "task_id": task.id}))
    assert (len(cut["items"]), cut["truncated"]) == (2, True)
    assert ok(await rest.get(f"{API}/stats/timeline", params={"group": "other"}))["items"] == []
    for params, field, said in (
        ({"from": "2026-01-01T00:00:00Z", "to": "2026-01-08T00:00:01Z"}, "from", "within 7 days"),
        ({"limit": "2001"}, "limit", ""),
        ({"from": "2100-01-01T00:00:00Z"}, "from", "is not before"),
    ):
        assert said in refused(await rest.get(f"{API}/stats/timeline", params=params))[field]


async def test_what_a_failure_blocks(rest: httpx.AsyncClient, world: World) -> None:
    mine, _ = await _two(world)
    below = await world.task("below", dependency_ids=(mine.id,), upstream_failure_policy=UpstreamFailurePolicy.FAIL)
    found = ok(await rest.get(f"{API}/tasks/{mine.id}/impact"))
    assert found == {
        "items": [
            {
                "task_id": below.id,
                "name": "below",
                "group": "default",
                "depth": 1,
                "next_fire_at": None,
                "policy": "fail",
            }
        ],
        "next_cursor": None,
        "hidden": 0,
        "truncated": False,
    }
    problem(await rest.get(f"{API}/tasks/999/impact"), 404)


async def test_who_is_limited_to_groups_sees_those_alone(store: Store, world: World) -> None:
    mine, theirs = await _two(world)
    await world.task("between", dependency_ids=(mine.id,), group="other")
    await world.task("below", dependency_ids=((await store.find_task("between")).id,))
    now = await store.now()
    for task in (mine, theirs):
        row = {"task_id": task.id, "group_id": task.group_id, "task_name": task.name, "end_time": now}
        await end(world, [row | {"end_time": now - timedelta(minutes=1)}])
    names: dict[str, Callable[[Any], Any]] = {
        "/schedules/upcoming?to=2199-01-01T00:00:00Z&from=2198-12-01T00:00:00Z": lambda one: one["task_id"],
        f"/stats/tasks?ids={mine.id},{theirs.id}": lambda one: one["task_id"],
        "/stats/timeline": lambda one: one["task_id"],
    }
    async with _as(store, "default") as ann, _as(store, "none") as nobody:
        for path, read in names.items():
            assert {read(one) for one in ok(await ann.get(path))["items"]} == {mine.id}, path
            assert ok(await nobody.get(path))["items"] == []
        assert {one["task_id"] for one in ok(await ann.get("/schedules/load", params=DAY))["busiest"]} == {mine.id}
        impact = ok(await ann.get(f"/tasks/{mine.id}/impact"))
        assert ([one["name"] for one in impact["items"]], impact["hidden"]) == (["below"], 1)
        for path in (
            f"/tasks/{theirs.id}/impact",
            f"/stats/timeline?task_id={theirs.id}",
            f"/schedules/upcoming?task_id={theirs.id}",
            "/schedules/load?group=other",
            "/stats/timeline?group=other",
        ):
            problem(await ann.get(path), 403)
