"""`/api/v1/users`: who there is, what they may do, and which passwords are taken."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from api.answers import API, ok, problem, refused
from api.signing import PASSWORD, browser, make_user, quick_hasher
from hourhand.api import users

if TYPE_CHECKING:
    import httpx

    from contracts.world import World

USERS = f"{API}/users"
CANARY = "canary-of-a-secret"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hourhand.api.passwords.PasswordHasher", quick_hasher)


async def test_a_user_is_made_read_changed_and_removed(rest: httpx.AsyncClient, world: World) -> None:
    await world.store.ensure_group("billing")
    given = {"name": "ada", "password": PASSWORD, "role": "editor", "groups": ["billing"]}
    answer = await rest.post(USERS, json=given)
    made = ok(answer, 201)
    assert made.keys() == {"id", "name", "role", "groups", "created_at", "disabled_at"}
    assert answer.headers["location"] == f"{USERS}/{made['id']}"
    assert ok(await rest.get(answer.headers["location"])) == made
    assert ok(await rest.get(USERS)) == {"items": [made], "next_cursor": None}
    edited = ok(await rest.patch(f"{USERS}/{made['id']}", json={"role": "viewer", "groups": None, "disabled": True}))
    assert (edited["role"], edited["groups"], edited["disabled_at"] is None) == ("viewer", None, False)
    assert ok(await rest.delete(f"{USERS}/{made['id']}"), 204) is None
    problem(await rest.get(f"{USERS}/{made['id']}"), 404)


async def test_users_are_paged(rest: httpx.AsyncClient, world: World) -> None:
    for name in ("cleo", "ada", "bob"):
        await make_user(rest, name)
    first = ok(await rest.get(USERS, params={"limit": 2}))
    second = ok(await rest.get(USERS, params={"limit": 2, "cursor": first["next_cursor"]}))
    assert [one["name"] for one in first["items"] + second["items"]] == ["ada", "bob", "cleo"]
    assert "cursor" in refused(await rest.get(USERS, params={"cursor": "x"}))
    del world


async def test_the_same_request_again_makes_no_second_user(rest: httpx.AsyncClient) -> None:
    given = {"name": "ada", "password": PASSWORD, "role": "editor"}
    answers = [await rest.post(USERS, json=given, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert ok(answers[0], 201) == ok(answers[1], 201)
    problem(await rest.post(USERS, json=given), 409)


@pytest.mark.parametrize(
    ("password", "message"),
    [
        ("short-" + "x" * 5, "it has 11 characters: give at least 12"),
        ("xy" * 501, "it has 1002 characters: give at most 1000"),
        ("Ada-of-Lovelace", "it is the user's name"),
        ("Password12345", "one of the commonest"),
        ("x" * 20, "one of the commonest"),
    ],
)
async def test_a_password_that_would_be_guessed_is_refused_without_being_told(
    rest: httpx.AsyncClient, password: str, message: str
) -> None:
    answer = await rest.post(USERS, json={"name": "ada-of-lovelace", "password": password, "role": "viewer"})
    assert message in refused(answer)["password"]
    assert password not in answer.text
    made = await make_user(rest, "ada-of-lovelace")
    assert message in refused(await rest.patch(f"{USERS}/{made['id']}", json={"password": password}))["password"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"password": CANARY, "role": "viewer"}, "name"),
        ({"name": "ada", "role": "viewer", "pasword": CANARY}, "pasword"),
        ({"name": "ada", "role": CANARY, "password": "x"}, "role"),
        ({"name": "ada", "role": "viewer", "password": [CANARY]}, "password"),
        ({"name": "ada", "role": "viewer", "password": {"it": CANARY}}, "password"),
        ({"name": "ada", "role": "viewer", "password": f"{CANARY}\0"}, "body"),
        ({"name": "ada", "role": "viewer", "password": f"{CANARY}\ud800"}, "password"),
        ([CANARY], "body"),
        (CANARY, "body"),
        ({"name": " ada", "role": "viewer", "password": CANARY}, "name"),
        ({"name": "ada", "role": "viewer", "password": CANARY, "groups": []}, "groups"),
        ({"name": "ada", "role": "viewer", "password": CANARY, "groups": ["none-such"]}, "groups"),
    ],
)
async def test_wrong_values_are_refused_without_telling_any_of_them(
    rest: httpx.AsyncClient, world: World, given: Any, field: str
) -> None:
    body = json.dumps(given)  # by itself httpx would send no half of a surrogate pair
    answer = await rest.post(USERS, content=body, headers={"Content-Type": "application/json"})
    assert field in refused(answer)
    assert CANARY not in answer.text
    assert CANARY not in str([dict(row) for row in await world.sql("SELECT * FROM audit_logs")])
    assert await world.count("users") == 0


@pytest.mark.parametrize("name", ["role", "disabled", "password"])
async def test_null_is_no_change(rest: httpx.AsyncClient, name: str) -> None:
    made = await make_user(rest)
    assert "leave it out" in refused(await rest.patch(f"{USERS}/{made['id']}", json={name: None}))[name]


async def test_the_same_request_with_another_password_is_another_request(rest: httpx.AsyncClient) -> None:
    given = {"name": "ada", "password": PASSWORD, "role": "viewer"}
    once = {"Idempotency-Key": "k"}
    first, again = [ok(await rest.post(USERS, json=given, headers=once), 201) for _ in range(2)]
    assert first == again
    answer = await rest.post(USERS, json=given | {"password": CANARY}, headers=once)
    assert "whose password is another one" in refused(answer)["Idempotency-Key"]
    assert CANARY not in answer.text
    async with browser(rest) as her:
        ok(await her.sign_in("ada"), 201)
    ok(await rest.delete(f"{USERS}/{first['id']}"), 204)
    problem(await rest.post(USERS, json=given, headers=once), 404)


async def test_the_last_admin_stays(rest: httpx.AsyncClient, world: World) -> None:
    admin = await make_user(rest, "root", role="admin")
    (token,) = ok(await rest.get(f"{API}/tokens"))["items"]
    async with browser(rest) as her:
        ok(await her.sign_in("root"), 201)
        ok(await her.send("DELETE", f"/tokens/{token['id']}"), 204)
        for answer in (
            await her.send("PATCH", f"/users/{admin['id']}", {"role": "editor"}),
            await her.send("PATCH", f"/users/{admin['id']}", {"disabled": True}),
            await her.send("DELETE", f"/users/{admin['id']}"),
        ):
            assert "is the last way in" in problem(answer, 409)["detail"]
        assert await her.who() == "root"
    assert await world.count("audit_logs", "result = 'refused'") == 3


async def test_who_is_limited_or_no_admin_manages_nobody(rest: httpx.AsyncClient, world: World) -> None:
    await world.store.ensure_group("billing")
    await make_user(rest, "editor")
    await make_user(rest, "limited", role="admin", groups=["billing"])
    for name in ("editor", "limited"):
        async with browser(rest) as them:
            ok(await them.sign_in(name), 201)
            for path in ("/users", "/tokens", "/sessions"):
                problem(await them.send("GET", path), 403)
            given = {"name": "more", "password": PASSWORD, "role": "admin"}
            problem(await them.send("POST", "/users", given), 403)
    assert await world.count("users") == 2


def test_the_example_fits_its_shape() -> None:
    (example,) = users.USER.model_json_schema()["examples"]
    assert users.USER.model_validate(example).model_dump(mode="json") == example
