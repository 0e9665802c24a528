"""`/api/v1/tokens`: made once, shown once, revoked for good."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import httpx

from api.answers import API, ok, problem, refused
from contracts.rows import shift
from hourhand.api import tokens

if TYPE_CHECKING:
    from contracts.world import World

TOKENS = f"{API}/tokens"


def shown(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_a_token_is_shown_once_and_works_until_it_is_revoked(rest: httpx.AsyncClient, world: World) -> None:
    await world.store.ensure_group("billing")
    answer = await rest.post(TOKENS, json={"name": "deploys", "role": "operator", "groups": ["billing"]})
    made = ok(answer, 201)
    secret = made.pop("token")
    assert re.fullmatch(r"hh_[A-Za-z0-9_-]{43}", secret)
    assert answer.headers["cache-control"] == "no-store"
    assert (made["created_by"], made["groups"], made["expires_at"]) == ("admin", ["billing"], None)
    who = ok(await rest.get(f"{API}/sessions/current", headers=shown(secret)))
    assert who == {
        "id": f"token:{made['id']}",
        "name": "deploys",
        "role": "operator",
        "groups": ["billing"],
        "csrf_token": None,
        "expires_at": None,
    }
    listed = await rest.get(TOKENS)
    assert ok(listed)["items"][0] == made
    assert secret not in listed.text
    problem(await rest.post(f"{API}/groups", json={"name": "x"}, headers=shown(secret)), 403)
    for _ in range(2):
        assert ok(await rest.delete(f"{TOKENS}/{made['id']}"), 204) is None
    problem(await rest.get(f"{API}/version", headers=shown(secret)), 401)
    problem(await rest.delete(f"{TOKENS}/999"), 404)


async def test_the_same_request_again_does_not_show_it_again(rest: httpx.AsyncClient) -> None:
    given = {"name": "t", "role": "viewer"}
    first, again = [ok(await rest.post(TOKENS, json=given, headers={"Idempotency-Key": "k"}), 201) for _ in range(2)]
    assert first["token"] is not None
    assert again == first | {"token": None}


async def test_a_token_ends_by_itself(rest: httpx.AsyncClient, world: World) -> None:
    until = (await world.store.now() + timedelta(hours=1)).isoformat()
    made = ok(await rest.post(TOKENS, json={"name": "t", "role": "viewer", "expires_at": until}), 201)
    assert (await rest.get(f"{API}/version", headers=shown(made["token"]))).status_code == 200
    await shift(world, "expires_at", -3601, "expires_at IS NOT NULL", table="api_tokens")
    problem(await rest.get(f"{API}/version", headers=shown(made["token"])), 401)


async def test_wrong_values_are_refused(rest: httpx.AsyncClient) -> None:
    assert refused(await rest.post(TOKENS, json={})).keys() == {"name", "role"}
    past = {"name": "t", "role": "viewer", "expires_at": "2020-01-01T00:00:00Z"}
    assert "has passed" in refused(await rest.post(TOKENS, json=past))["expires_at"]
    chosen = {"name": "t", "role": "viewer", "token": "changeme"}
    assert "is not a known key" in refused(await rest.post(TOKENS, json=chosen))["token"]


async def test_the_last_admin_token_stays(rest: httpx.AsyncClient) -> None:
    (token,) = ok(await rest.get(TOKENS))["items"]
    assert "is the last way in" in problem(await rest.delete(f"{TOKENS}/{token['id']}"), 409)["detail"]
    ok(await rest.get(f"{API}/version"))


def test_the_examples_fit_their_shapes() -> None:
    for shape in (tokens.TOKEN, tokens.MADE_TOKEN):
        (example,) = shape.model_json_schema()["examples"]
        assert shape.model_validate(example).model_dump(mode="json") == example
