"""`/api/v1/groups` and `/api/v1/executors` on both stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.answers import API, ok, problem

if TYPE_CHECKING:
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
    await world.store.deregister("e1")
    assert ok(await rest.get(f"{API}/executors"))["items"] == []
