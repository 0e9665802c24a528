"""`/api/v1/diagnosis`: facts for operators, and no secret among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.answers import API, ok, problem
from hourhand import __version__

if TYPE_CHECKING:
    import httpx

    from contracts.world import World


async def test_a_server_tells_of_itself_its_database_and_its_store(rest: httpx.AsyncClient, world: World) -> None:
    await world.executor("e1")
    await world.task("books", payload={"command": ["close", "--password", "canary"], "env": {"TOKEN": "canary"}})
    answer = await rest.get(f"{API}/diagnosis")
    told = ok(answer)
    assert told.keys() == {"process", "database", "store"}
    assert told["process"]["version"] == __version__
    assert (told["process"]["loopback"], told["process"]["key"]) == (True, "unused")
    assert told["database"]["dialect"] == world.store.database.dialect
    assert [one["id"] for one in told["store"]["executors"]] == ["e1"]
    assert [one["name"] for one in told["store"]["programs"]] == ["close"]
    assert answer.headers["Cache-Control"] == "no-store"
    assert "canary" not in answer.text


async def test_it_is_for_operators_of_everything(rest: httpx.AsyncClient) -> None:
    for role, groups, allowed in (("viewer", None, False), ("operator", None, True), ("admin", ["default"], False)):
        asked = {"name": role, "role": role} | ({} if groups is None else {"groups": groups})
        token = ok(await rest.post(f"{API}/tokens", json=asked), 201)["token"]
        answer = await rest.get(f"{API}/diagnosis", headers={"Authorization": f"Bearer {token}"})
        if allowed:
            ok(answer)
        else:
            problem(answer, 403)
