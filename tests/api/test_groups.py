"""`/api/v1/groups` and `/api/v1/executors` on both stores."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from api.answers import API, ok, problem
from api.cli import run
from api.in_process import TOKEN
from contracts.elapse import silence

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from contracts.world import World


async def test_groups_are_made_and_listed(rest: httpx.AsyncClient) -> None:
    given = {"name": "billing", "title": "月末", "address_type": "manual", "address_list": ["http://10.0.0.7:9999/"]}
    made = ok(await rest.post(f"{API}/groups", json=given), 201)
    assert given.items() <= made.items()
    assert made["created_at"].endswith("Z")
    plain = ok(await rest.post(f"{API}/groups", json={"name": "a"}), 201)
    assert (plain["title"], plain["address_type"], plain["address_list"]) == (None, "auto", [])
    listed = ok(await rest.get(f"{API}/groups"))
    assert [each["name"] for each in listed["items"]] == ["a", "billing", "default"]
    assert made in listed["items"]
    assert "billing" in problem(await rest.post(f"{API}/groups", json=given), 409)["detail"]


async def test_executors_are_listed_while_they_are_registered(rest: httpx.AsyncClient, world: World) -> None:
    assert ok(await rest.get(f"{API}/executors")) == {"items": [], "next_cursor": None}
    await world.executor("e1", hostname="h", pid=7, labels={"os": "linux"}, capacity=3)
    (listed,) = ok(await rest.get(f"{API}/executors"))["items"]
    assert (listed["id"], listed["group"], listed["hostname"], listed["pid"]) == ("e1", "default", "h", 7)
    assert (listed["labels"], listed["provides"], listed["kind"]) == ({"os": "linux"}, ["builtin"], "native")
    assert listed["last_heartbeat"].endswith("Z")
    assert listed["alive"] is True
    await world.store.deregister("e1")
    assert ok(await rest.get(f"{API}/executors"))["items"] == []


async def test_an_executor_that_is_silent_for_longer_than_a_lease_is_not_alive(
    rest: httpx.AsyncClient, world: World, tmp_path: Path
) -> None:
    for name in ("heard", "lost"):
        await world.executor(name)
    await silence(world, "lost")
    listed = ok(await rest.get(f"{API}/executors"))["items"]
    assert {one["id"]: one["alive"] for one in listed} == {"heard": True, "lost": False}
    address = {"HOURHAND_URL": str(rest.base_url), "HOURHAND_TOKEN": TOKEN}
    shown = (await asyncio.to_thread(run, tmp_path, "executors", **address)).out.splitlines()
    assert shown[1].split()[:3] == ["heard", "default", "alive"]
    assert " silent for " in shown[2]


async def test_a_group_is_changed_but_for_its_name(rest: httpx.AsyncClient) -> None:
    made = ok(await rest.post(f"{API}/groups", json={"name": "billing", "title": "old"}), 201)
    path = f"{API}/groups/{made['id']}"
    changed = ok(await rest.patch(path, json={"title": "new", "address_type": "manual"}))
    assert (changed["title"], changed["address_type"], changed["name"]) == ("new", "manual", "billing")
    assert ok(await rest.patch(path, json={"address_list": ["http://10.0.0.7:9999/"]}))["title"] == "new"
    assert ok(await rest.get(path))["address_list"] == ["http://10.0.0.7:9999/"]
    assert "name" in problem(await rest.patch(path, json={"name": "other"}), 422)["errors"][0]["field"]
    problem(await rest.patch(f"{API}/groups/999", json={}), 404)
    problem(await rest.get(f"{API}/groups/{2**70}"), 404)


async def test_a_group_that_something_needs_is_not_deleted(rest: httpx.AsyncClient, world: World) -> None:
    groups = {one["name"]: one["id"] for one in ok(await rest.get(f"{API}/groups"))["items"]}
    assert "it stays" in problem(await rest.delete(f"{API}/groups/{groups['default']}"), 409)["detail"]
    made = ok(await rest.post(f"{API}/groups", json={"name": "billing"}), 201)
    path = f"{API}/groups/{made['id']}"
    task = await world.task("t", group="billing")
    assert "has tasks (t)" in problem(await rest.delete(path), 409)["detail"]
    instance_id = await world.submit(task)
    await world.executor("e1", group="billing")
    await world.claim("e1")
    await world.store.delete_task(task.id, by="somebody")
    assert "has executors (e1)" in problem(await rest.delete(path), 409)["detail"]
    await world.store.deregister("e1")
    assert f"such as {instance_id}" in problem(await rest.delete(path), 409)["detail"]


async def test_what_ended_in_a_group_that_is_gone_is_still_listed(rest: httpx.AsyncClient, world: World) -> None:
    made = ok(await rest.post(f"{API}/groups", json={"name": "billing"}), 201)
    task = await world.task("t", group="billing")
    instance_id = await world.submit(task)
    await world.store.cancel(instance_id, reason="no need")
    await world.store.delete_task(task.id, by="somebody")
    assert (await rest.delete(f"{API}/groups/{made['id']}")).status_code == 204
    assert [one["name"] for one in ok(await rest.get(f"{API}/groups"))["items"]] == ["default"]
    (listed,) = ok(await rest.get(f"{API}/instances"))["items"]
    assert (listed["id"], listed["group"]) == (instance_id, f"#{made['id']}")


async def test_an_access_token_is_shown_once(rest: httpx.AsyncClient) -> None:
    made = ok(await rest.post(f"{API}/groups", json={"name": "billing"}), 201)
    token = ok(await rest.post(f"{API}/groups/{made['id']}/access-token"), 201)["access_token"]
    assert token.startswith("xxl_")
    assert token not in (await rest.get(f"{API}/groups/{made['id']}")).text
    problem(await rest.post(f"{API}/groups/999/access-token"), 404)
