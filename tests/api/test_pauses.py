"""`/api/v1/pauses` and `/api/v1/instances/{id}/explain` on both stores."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from api.answers import API, ok, problem, refused
from hourhand.api.app import create_app
from hourhand.model.access import Principal
from hourhand.model.pause import PauseScope
from hourhand.model.words import Role
from hourhand.settings import Settings

if TYPE_CHECKING:
    from contracts.world import World

PAUSES = f"{API}/pauses"


class Limited:
    """Everybody is an operator of the groups that are their token."""

    async def holder(self, token: str) -> Principal | None:
        return Principal(id="token:1", name="somebody", role=Role.OPERATOR, groups=frozenset(token.split("+")))


async def test_a_task_a_group_and_everything_are_paused_and_resumed(rest: httpx.AsyncClient, world: World) -> None:
    task = await world.task("close_books")
    until = (await world.store.now() + timedelta(hours=1)).isoformat()
    given: list[dict[str, Any]] = [
        {"scope": "task", "task_id": task.id, "reason": "the supplier is down"},
        {"scope": "group", "group": "default", "reason": "moving", "until": until},
        {"scope": "all", "reason": "moving"},
    ]
    made = [ok(await rest.post(PAUSES, json=one), 201) for one in given]
    assert [(one["task_id"], one["task_name"], one["group"]) for one in made] == [
        (task.id, "close_books", "default"),
        (None, None, "default"),
        (None, None, None),
    ]
    assert {one["owner"] for one in made} == {"admin"}
    assert made[1]["until"].endswith("Z")
    assert ok(await rest.get(PAUSES)) == {"items": made, "next_cursor": None}
    assert (await rest.delete(f"{PAUSES}/{made[0]['id']}")).status_code == 204
    assert ok(await rest.get(PAUSES))["items"] == made[1:]
    assert "pause" in problem(await rest.delete(f"{PAUSES}/{made[0]['id']}"), 404)["detail"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"scope": "all"}, "reason"),
        ({"scope": "all", "reason": ""}, "reason"),
        ({"scope": "all", "reason": " "}, "reason"),
        ({"scope": "all", "reason": "r", "until": "2020-01-01T00:00:00Z"}, "until"),
        ({"scope": "all", "reason": "r", "task_id": 1}, "task_id"),
        ({"scope": "task", "reason": "r"}, "task_id"),
        ({"scope": "task", "reason": "r", "task_id": 1, "group": "default"}, "group"),
        ({"scope": "group", "reason": "r"}, "group"),
        ({"scope": "group", "reason": "r", "group": "nowhere"}, "group"),
        ({"scope": "task:7", "reason": "r"}, "scope"),
        ({"scope": "all", "reason": "r", "why": "x"}, "why"),
    ],
)
async def test_what_makes_no_sense_is_refused(rest: httpx.AsyncClient, given: dict[str, Any], field: str) -> None:
    assert field in refused(await rest.post(PAUSES, json=given))
    assert ok(await rest.get(PAUSES))["items"] == []


async def test_a_task_there_is_not_cannot_be_paused(rest: httpx.AsyncClient) -> None:
    problem(await rest.post(PAUSES, json={"scope": "task", "task_id": 999, "reason": "r"}), 404)
    problem(await rest.delete(f"{PAUSES}/{2**70}"), 404)


async def test_the_same_request_pauses_once(rest: httpx.AsyncClient) -> None:
    given = {"scope": "all", "reason": "moving"}
    first, second = [ok(await rest.post(PAUSES, json=given, headers={"Idempotency-Key": "k"}), 201) for _ in range(2)]
    assert first == second
    assert len(ok(await rest.get(PAUSES))["items"]) == 1


async def test_who_is_limited_to_groups_pauses_those_alone(world: World) -> None:
    await world.store.ensure_group("billing")
    mine, other = await world.task(group="billing"), await world.task()
    transport = httpx.ASGITransport(create_app(world.store, Settings(), Limited()))
    headers = {"Authorization": "Bearer billing"}
    async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as client:

        async def pause(**given: Any) -> httpx.Response:
            return await client.post(PAUSES, json={"reason": "r", **given})

        ok(await pause(scope="task", task_id=mine.id), 201)
        own = ok(await pause(scope="group", group="billing"), 201)
        for given in ({"scope": "task", "task_id": other.id}, {"scope": "group", "group": "default"}, {"scope": "all"}):
            problem(await pause(**given), 403)
        foreign = ok(
            await client.post(
                PAUSES,
                json={"reason": "r", "scope": "group", "group": "default"},
                headers={"Authorization": "Bearer default"},
            ),
            201,
        )
        assert foreign["id"] not in [one["id"] for one in ok(await client.get(PAUSES))["items"]]
        problem(await client.delete(f"{PAUSES}/{foreign['id']}"), 403)
        assert (await client.delete(f"{PAUSES}/{own['id']}")).status_code == 204


async def test_a_pause_of_everything_is_shown_to_all_and_resumed_by_those_who_reach_all(world: World) -> None:
    transport = httpx.ASGITransport(create_app(world.store, Settings(), Limited()))
    headers = {"Authorization": "Bearer billing"}
    pause = await world.store.pause(PauseScope.ALL, reason="moving", by="ann")
    async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as client:
        assert [one["id"] for one in ok(await client.get(PAUSES))["items"]] == [pause.id]
        problem(await client.delete(f"{PAUSES}/{pause.id}"), 403)


# Explain


async def test_an_instance_is_explained(rest: httpx.AsyncClient, world: World) -> None:
    task = await world.task()
    ok(await rest.post(PAUSES, json={"scope": "group", "group": "default", "reason": "moving"}), 201)
    instance_id = await world.submit(task)
    found = ok(await rest.get(f"{API}/instances/{instance_id}/explain"))
    assert (found["instance_id"], found["status"]) == (instance_id, "pending")
    paused, nobody = found["reasons"]
    assert (paused["code"], nobody["code"]) == ("paused", "no_executor")
    assert paused["text"] in found["summary"]
    assert paused["data"]["owner"] == "admin"
    assert (paused["since"].endswith("Z"), paused["until"]) == (True, None)


async def test_an_ended_instance_is_explained(rest: httpx.AsyncClient, world: World) -> None:
    instance_id = await world.submit(await world.task())
    ok(await rest.post(f"{API}/instances/{instance_id}/cancel", json={"reason": "no need"}))
    (reason,) = ok(await rest.get(f"{API}/instances/{instance_id}/explain"))["reasons"]
    assert (reason["code"], reason["data"]["by"]) == ("cancelled", "admin")
    problem(await rest.get(f"{API}/instances/999/explain"), 404)
