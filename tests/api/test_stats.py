"""`/api/v1/stats`: the key figures and the three monitoring questions, on both stores."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from api.answers import API, ok, problem, refused
from contracts.past import check, make_past, whole
from contracts.rows import shift
from hourhand.api.app import create_app
from hourhand.model.access import Principal
from hourhand.model.stats import Figures
from hourhand.model.words import OutcomeKind, Role
from hourhand.settings import Settings

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.store import Store

STATS = f"{API}/stats"


def figures(item: dict[str, Any]) -> Figures:
    return Figures(**{name: item[name] for name in Figures.__dataclass_fields__})


async def test_the_overview_has_the_key_figures_in_all_and_by_group(rest: httpx.AsyncClient, world: World) -> None:
    await make_past(world, endings=200, minutes=3)
    await world.executor("e1", capacity=7)
    task = await world.task()
    for _ in range(3):
        await world.submit(task)
    await world.claim("e1", limit=1)
    found = ok(await rest.get(f"{STATS}/overview", params={"hours": 5}))
    begin, end = (datetime.fromisoformat(found[name]) for name in ("from", "to"))
    assert found["from"].endswith("Z")
    await check(world, figures(found), begin, whole(end, up=True))
    assert (found["pending_due"], found["running"], found["zombies"]) == (2, 1, 0)
    assert (found["executors"], found["capacity"]) == (1, 7)
    assert {one["group"]: one["pending_due"] for one in found["groups"]} == {"default": 2, "second": 0}
    for one in found["groups"]:
        await check(world, figures(one), begin, whole(end, up=True), f"e.group_id = {one['group_id']}")
    (only,) = ok(await rest.get(f"{STATS}/overview", params={"group": "second"}))["groups"]
    assert only["group"] == "second"


async def test_nothing_yet_has_no_rates(rest: httpx.AsyncClient) -> None:
    found = ok(await rest.get(f"{STATS}/overview"))
    assert (found["success"], found["failure_rate"], found["average_ms"], found["p99_ms"]) == (0, None, None, None)
    assert [one["group"] for one in found["groups"]] == ["default"]
    series = ok(await rest.get(f"{STATS}/series"))
    assert series["step_seconds"] == 300
    assert len(series["items"]) in (288, 289)


@pytest.mark.parametrize(("step", "seconds"), [("60", 60), ("5m", 300), ("300s", 300), ("2h", 7_200), ("1d", 86_400)])
async def test_a_series_is_given_step_by_step(rest: httpx.AsyncClient, world: World, step: str, seconds: int) -> None:
    await make_past(world, endings=200, minutes=3)
    end = await world.store.now()
    begin = end - timedelta(hours=5 if seconds > 300 else 1)
    params = {"from": begin.isoformat(), "to": end.isoformat(), "step": step, "type": "http", "group": "default"}
    found = ok(await rest.get(f"{STATS}/series", params=params))
    assert found["step_seconds"] == seconds
    assert found["items"][0]["at"] == found["from"]
    for item in found["items"]:
        at = datetime.fromisoformat(item["at"])
        until = min(at + timedelta(seconds=seconds), datetime.fromisoformat(found["to"]))
        await check(world, figures(item), at, until, "t.type = 'http' AND e.group_id = 1")


async def test_hours_begin_by_the_clock_that_is_asked_for(rest: httpx.AsyncClient) -> None:
    params = {"from": "2026-11-15T00:10:00Z", "to": "2026-11-15T03:00:00Z", "step": "1h", "timezone": "Asia/Kolkata"}
    found = ok(await rest.get(f"{STATS}/series", params=params))
    begins = ["2026-11-14T23:30:00Z", *(f"2026-11-15T0{hour}:30:00Z" for hour in range(3))]
    assert [item["at"] for item in found["items"]] == begins
    assert (found["from"], found["to"]) == (begins[0], "2026-11-15T03:00:00Z")
    days = ok(await rest.get(f"{STATS}/series", params=params | {"from": "2020-01-01T00:00:00Z", "step": []}))
    assert days["step_seconds"] % 86_400 == 0


@pytest.mark.parametrize(
    ("params", "field", "said"),
    [
        ({"step": "soon"}, "step", "1m, 5m, 1h, 1d"),
        ({"step": "90"}, "step", "whole minutes"),
        ({"step": "0"}, "step", "such as 60"),
        ({"step": "1m"}, "step", "at least 120 seconds"),
        ({"step": "1.5h"}, "step", "is no step"),
        ({"step": "-5m"}, "step", "is no step"),
        ({"from": "2026-11-15T09:00:00Z", "to": "2026-11-15T09:00:00Z"}, "from", "is not before"),
        ({"from": "yesterday"}, "from", ""),
        ({"type": "ssh"}, "type", ""),
        ({"timezone": "Asia/Kolkatta"}, "timezone", "did you mean Asia/Kolkata"),
        ({"timezone": "Asia/Kolkata", "step": "7m"}, "step", "what a day can be divided into"),
        ({"group": "nobody"}, "group", "there is no group"),
        ({"stpe": "1m"}, "stpe", "the known ones are"),
    ],
)
async def test_a_series_that_cannot_be_had_is_refused_with_what_would_be_right(
    rest: httpx.AsyncClient, params: dict[str, str], field: str, said: str
) -> None:
    assert said in refused(await rest.get(f"{STATS}/series", params=params))[field]


@pytest.mark.parametrize(
    "question",
    ["overview?hours=0", "overview?hours=99999", "failures?days=0", "long-running?minutes=-1", "long-running?cursor=x"],
)
async def test_bounds_are_kept(rest: httpx.AsyncClient, question: str) -> None:
    assert refused(await rest.get(f"{STATS}/{question}"))


async def test_the_distribution_is_by_type_and_operation_kind(rest: httpx.AsyncClient, world: World) -> None:
    await make_past(world, endings=300, minutes=3)
    await world.submit(await world.task())
    found = ok(await rest.get(f"{STATS}/distribution"))
    kinds = [(one["type"], one["operation_kind"]) for one in found["items"]]
    assert kinds == [
        ("command", None),
        ("http", None),
        ("operation", "archive"),
        ("operation", "backup"),
        ("python", None),
    ]
    assert found["items"][0]["pending"] == 1
    begin, end = (datetime.fromisoformat(found[name]) for name in ("from", "to"))
    await check(world, figures(found["items"][2]), begin, end, "e.operation_kind = 'archive'")


async def test_what_runs_for_long_is_listed_in_pages(rest: httpx.AsyncClient, world: World) -> None:
    await world.executor()
    tasks = [await world.task(f"slow {number}") for number in range(3)]
    for task in tasks:
        await world.submit(task)
    await world.claim()
    await shift(world, "start_time", -7_200)
    first = ok(await rest.get(f"{STATS}/long-running", params={"minutes": 60, "limit": 2}))
    assert [one["task_name"] for one in first["items"]] == ["slow 0", "slow 1"]
    assert (first["items"][0]["group"], first["items"][0]["executor_id"]) == ("default", "e1")
    assert first["items"][0]["running_seconds"] >= 7_200
    rest_of_it = ok(await rest.get(f"{STATS}/long-running", params={"limit": 2, "cursor": first["next_cursor"]}))
    assert [one["task_name"] for one in rest_of_it["items"]] == ["slow 2"]
    assert rest_of_it["next_cursor"] is None
    assert ok(await rest.get(f"{STATS}/long-running", params={"minutes": 121}))["items"] == []


async def test_failures_are_told_by_reason(rest: httpx.AsyncClient, world: World) -> None:
    await world.executor()
    task = await world.task("books")
    ids = []
    for number in range(3):
        ids.append(await world.submit(task))
        await world.end(await world.claim(), OutcomeKind.FAILED, error_message=f"order {1234 + number} is not there")
    (found,) = ok(await rest.get(f"{STATS}/failures"))["items"]
    assert (found["type"], found["reason"], found["count"]) == ("command", "order # is not there", 3)
    assert found["instance_id"] == ids[-1]
    assert found["tasks"] == [{"id": task.id, "name": "books"}]
    assert found["first_seen"] < found["last_seen"]
    assert ok(await rest.get(f"{STATS}/failures", params={"type": "http"}))["items"] == []


class _Limited:
    """Everybody is a viewer of the second group."""

    async def holder(self, token: str) -> Principal | None:
        return Principal(id="token:9", name=token, role=Role.VIEWER, groups=frozenset({"second"}))


async def test_who_is_limited_to_groups_sees_the_figures_of_those(store: Store, world: World) -> None:
    await make_past(world, endings=200, minutes=3)
    await world.executor()
    for group in ("default", "second"):
        await world.submit(await world.task(group=group))
    await world.claim()
    await shift(world, "start_time", -7_200)
    transport = httpx.ASGITransport(create_app(store, Settings(), _Limited()))
    async with httpx.AsyncClient(transport=transport, base_url="http://test", timeout=30) as rest:
        rest.headers["Authorization"] = "Bearer x"
        overview = ok(await rest.get(f"{STATS}/overview"))
        assert [one["group"] for one in overview["groups"]] == ["second"]
        assert (overview["running"], overview["pending_due"], overview["executors"]) == (0, 1, 0)
        (second,) = [one.id for one in await store.list_groups() if one.name == "second"]
        failed = await world.count("execution_logs", f"status = 'failed' AND group_id = {second}")
        assert overview["failed"] == failed
        assert sum(one["failed"] for one in ok(await rest.get(f"{STATS}/series"))["items"]) == failed
        assert sum(one["failed"] for one in ok(await rest.get(f"{STATS}/distribution"))["items"]) == failed
        assert sum(one["count"] for one in ok(await rest.get(f"{STATS}/failures"))["items"]) == failed
        assert ok(await rest.get(f"{STATS}/long-running"))["items"] == []
        problem(await rest.get(f"{STATS}/overview", params={"group": "default"}), 403)
