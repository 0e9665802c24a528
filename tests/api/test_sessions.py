"""`/api/v1/sessions`: signing in and out with a browser, and what other sites cannot make it do."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import httpx
import pytest
from argon2 import PasswordHasher

from api.answers import API, ok, problem, refused
from api.in_process import TOKEN
from api.signing import COOKIE, PASSWORD, SESSIONS, Browser, browser, make_user, quick_hasher
from contracts.rows import shift
from hourhand.api import passwords, sessions
from serving import Served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from contracts.world import World

WRONG = "wrong-but-long-enough"
OTHER = "https://evil.example"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "PasswordHasher", quick_hasher)


@pytest.fixture
async def her(rest: httpx.AsyncClient) -> AsyncIterator[Browser]:
    """Return the browser of a user, who has not signed in yet."""
    await make_user(rest)
    async with browser(rest) as opened:
        yield opened


# Signing in and out


async def test_a_user_signs_in_and_out(her: Browser, world: World) -> None:
    assert await her.who() is None
    answer = await her.sign_in()
    said = ok(answer, 201)
    assert said.keys() == {"id", "name", "role", "groups", "csrf_token", "expires_at"}
    assert (said["name"], said["role"], said["groups"]) == ("ada", "editor", None)
    assert answer.headers["cache-control"] == "no-store"
    current = await her.client.get(f"{SESSIONS}/current")
    assert ok(current) == said
    out = await her.send("DELETE", "/sessions/current")
    assert ok(out, 204) is None
    assert "Max-Age=0" in out.headers["set-cookie"]
    assert COOKIE not in her.client.cookies
    assert await her.who() is None
    assert await world.count("sessions") == 0


async def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(her: Browser) -> None:
    plain = (await her.sign_in()).headers["set-cookie"]
    told = {part.strip().split("=")[0].lower(): part.strip() for part in plain.split(";")}
    assert told.keys() == {COOKIE, "httponly", "samesite", "path", "max-age"}
    assert (told["samesite"].lower(), told["path"], told["max-age"]) == ("samesite=lax", "Path=/", "Max-Age=604800")
    lied = await her.sign_in(**{"X-Forwarded-Proto": "https"})
    assert "; Secure" not in lied.headers["set-cookie"]


async def test_the_store_knows_the_session_by_its_hash_only(her: Browser, world: World) -> None:
    await her.sign_in()
    (row,) = await world.sql("SELECT * FROM sessions")
    assert her.secret not in str(dict(row))
    assert her.csrf not in str(dict(row))


async def test_a_token_is_traded_for_a_session_of_its_own(rest: httpx.AsyncClient) -> None:
    async with browser(rest) as opened:
        said = ok(await opened.trade({"token": TOKEN}), 201)
        assert (said["id"], said["name"], said["role"]) == ("token:1", "admin", "admin")
        ok(await opened.send("POST", "/groups", {"name": "billing"}), 201)
        change = {"old": TOKEN, "new": PASSWORD}
        assert (
            "has no password" in problem(await opened.send("POST", "/sessions/current/password", change), 403)["detail"]
        )


async def test_a_wrong_password_an_unknown_name_and_a_disabled_user_are_told_the_same(
    rest: httpx.AsyncClient, her: Browser
) -> None:
    bob = await make_user(rest, "bob")
    ok(await rest.patch(f"{API}/users/{bob['id']}", json={"disabled": True}))
    answers = [await her.sign_in("ada", WRONG), await her.sign_in("nobody"), await her.sign_in("bob")]
    assert len({problem(answer, 401)["detail"] for answer in answers}) == 1
    problem(await her.trade({"token": "hh_" + "x" * 43}), 401)
    assert COOKIE not in her.client.cookies


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"name": "ada"},
        {"password": PASSWORD},
        {"name": "ada", "password": PASSWORD, "token": TOKEN},
        {"x": PASSWORD},
    ],
)
async def test_half_a_sign_in_is_refused_without_telling_it(her: Browser, given: dict[str, str]) -> None:
    answer = await her.trade(given)
    assert refused(answer)
    assert PASSWORD not in answer.text


async def test_signing_in_again_replaces_the_session_of_the_browser(her: Browser, world: World) -> None:
    await her.sign_in()
    first = her.secret
    await her.sign_in()
    assert her.secret != first
    assert await world.count("sessions") == 1
    old = await her.client.get(f"{SESSIONS}/current", headers={"Cookie": f"{COOKIE}={first}"})
    assert "session has ended" in problem(old, 401)["detail"]


async def test_a_bearer_beats_the_cookie(her: Browser) -> None:
    await her.sign_in()
    for bad in ("Bearer wrong", "Bearer", "bearer"):
        problem(await her.client.get(f"{API}/version", headers={"Authorization": bad}), 401)
    good = await her.client.get(f"{SESSIONS}/current", headers={"Authorization": f"Bearer {TOKEN}"})
    assert (ok(good)["name"], good.json()["csrf_token"]) == ("admin", None)
    basic = await her.client.get(f"{SESSIONS}/current", headers={"Authorization": "Basic YTpi"})
    assert ok(basic)["name"] == "ada"  # a proxy's password is none of ours
    without = await her.client.delete(f"{SESSIONS}/current", headers={"Authorization": f"Bearer {TOKEN}"})
    assert "there is no session" in problem(without, 409)["detail"]


# Other sites


async def test_a_change_needs_the_csrf_token_of_the_session(rest: httpx.AsyncClient, her: Browser) -> None:
    await make_user(rest, "bob")
    await her.sign_in()
    async with browser(rest) as his:
        await his.sign_in("bob")
        for wrong in ("", "x", "\xff", her.csrf[:-1], his.csrf):
            answer = await her.client.delete(f"{SESSIONS}/current", headers={b"X-CSRF-Token": wrong.encode("latin-1")})
            assert "not that of this session" in problem(answer, 403)["detail"]
    missing = await her.client.delete(f"{SESSIONS}/current")
    assert "`X-CSRF-Token` is missing" in problem(missing, 403)["detail"]
    preview = {"schedule": "@daily"}
    problem(await her.client.post(f"{API}/schedules/preview", json=preview), 403)
    ok(await her.send("POST", "/schedules/preview", preview))
    assert await her.who() == "ada"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": OTHER},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://127.0.0.1"},
        {"Origin": "http://["},
        {"Origin": "", "Referer": f"{OTHER}/page"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
async def test_another_site_can_neither_change_anything_nor_sign_anybody_in(
    her: Browser, headers: dict[str, str]
) -> None:
    assert "only pages of this server" in problem(await her.sign_in(**headers), 403)["detail"]
    await her.sign_in()
    own = str(her.client.base_url).rstrip("/")
    problem(await her.send("DELETE", "/sessions/current", **{"Origin": own} | headers), 403)
    assert await her.who() == "ada"


async def test_another_scheme_is_another_site(her: Browser) -> None:
    own = str(her.client.base_url).rstrip("/")
    secure = own.replace("http:", "https:")
    problem(await her.sign_in(Origin=secure), 403)
    problem(await her.sign_in(Origin=secure, **{"X-Forwarded-Proto": "https"}), 403)
    ok(await her.sign_in(Origin=own, **{"X-Forwarded-Proto": "https"}), 201)
    ok(await her.sign_in(Origin="http://hourhand.example", Host="hourhand.example"), 201)
    ok(await her.sign_in(Origin="http://hourhand.example", Host="Hourhand.Example:80"), 201)


async def test_the_pages_of_this_server_are_told_by_the_referer_too(her: Browser) -> None:
    own = str(her.client.base_url).rstrip("/")
    ok(await her.sign_in(Referer=f"{own}/sign-in", **{"Sec-Fetch-Site": "same-origin"}), 201)
    headers = {"Referer": f"{own}/sign-in", "X-CSRF-Token": her.csrf}
    assert (await her.client.delete(f"{SESSIONS}/current", headers=headers)).status_code == 204


async def test_only_signing_in_is_open_to_everybody(her: Browser) -> None:
    for method, path in (("GET", ""), ("HEAD", ""), ("PUT", ""), ("POST", "/"), ("POST", "/current"), ("DELETE", "/1")):
        answer = await her.client.request(method, f"{SESSIONS}{path}")
        assert answer.status_code == 401, (method, path)


# Revoked, expired


async def test_who_changes_its_password_goes_on_with_a_new_cookie_and_is_signed_out_elsewhere(
    rest: httpx.AsyncClient, her: Browser
) -> None:
    await her.sign_in()
    old_secret, old_csrf = her.secret, her.csrf
    path, new = "/sessions/current/password", "eight-quiet-otters"
    async with browser(rest) as elsewhere:
        await elsewhere.sign_in()
        wrong = await her.send("POST", path, {"old": WRONG, "new": new})
        assert refused(wrong)["old"] == "it is not the password"
        assert WRONG not in wrong.text
        assert "at least 12" in refused(await her.send("POST", path, {"old": PASSWORD, "new": "x"}))["new"]
        assert ok(await her.send("POST", path, {"old": PASSWORD, "new": new}), 204) is None
        assert await elsewhere.who() is None
        problem(await elsewhere.sign_in(), 401)
        ok(await elsewhere.sign_in("ada", new), 201)
    assert her.secret != old_secret
    current = ok(await her.client.get(f"{SESSIONS}/current"))
    assert current["csrf_token"] != old_csrf
    stolen = await her.client.get(f"{SESSIONS}/current", headers={"Cookie": f"{COOKIE}={old_secret}"})
    problem(stolen, 401)


@pytest.mark.parametrize("change", [{"password": "eight-quiet-otters"}, {"role": "viewer"}, {"disabled": True}])
async def test_what_an_admin_changes_signs_the_user_out(
    rest: httpx.AsyncClient, her: Browser, change: dict[str, object]
) -> None:
    user = ok(await her.sign_in(), 201)["id"].removeprefix("user:")
    ok(await rest.patch(f"{API}/users/{user}", json=change))
    assert await her.who() is None


@pytest.mark.parametrize("column", ["expires_at", "last_seen_at"])
async def test_a_session_ends_by_itself(her: Browser, world: World, column: str) -> None:
    await her.sign_in()
    await shift(world, column, -8 * 86_400, table="sessions")
    assert await her.who() is None


async def test_an_admin_sees_all_sessions_and_ends_one(rest: httpx.AsyncClient, her: Browser) -> None:
    await her.sign_in()
    listed = await rest.get(SESSIONS)
    (session,) = ok(listed)["items"]
    assert (session["name"], session["address"], session["token_id"]) == ("ada", "127.0.0.1", None)
    assert her.secret not in listed.text
    assert ok(await rest.delete(f"{SESSIONS}/{session['id']}"), 204) is None
    assert await her.who() is None
    problem(await rest.delete(f"{SESSIONS}/{session['id']}"), 404)


async def test_a_hash_of_other_parameters_is_renewed_at_the_next_sign_in(
    rest: httpx.AsyncClient, her: Browser, world: World
) -> None:
    del rest
    older = PasswordHasher(time_cost=2, memory_cost=64, parallelism=1).hash(PASSWORD)
    await world.execute("UPDATE users SET password_hash = :hash", hash=older)
    for _ in range(2):
        ok(await her.sign_in(), 201)
    (row,) = await world.sql("SELECT password_hash FROM users")
    assert "t=1" in row["password_hash"]
    await world.execute("UPDATE users SET password_hash = 'not a hash'")
    problem(await her.sign_in(), 401)


async def test_a_password_may_be_typed_on_any_keyboard(rest: httpx.AsyncClient, her: Browser) -> None:
    composed, decomposed = "caf\u00e9-des-otaries", "cafe\u0301-des-otaries"
    user = ok(await her.sign_in(), 201)["id"].removeprefix("user:")
    ok(await rest.patch(f"{API}/users/{user}", json={"password": composed}))
    ok(await her.sign_in("ada", decomposed), 201)


# Throttling


async def test_the_sixth_try_is_refused_with_the_right_password_too(rest: httpx.AsyncClient, her: Browser) -> None:
    for _ in range(5):
        problem(await her.sign_in("ada", WRONG), 401)
    answer = await her.sign_in()
    problem(answer, 429)
    assert 800 < int(answer.headers["retry-after"]) <= 900
    problem(await her.sign_in("bob"), 429)  # the address as well
    problem(await her.trade({"token": "hh_wrong"}), 401)
    ok(await her.trade({"token": TOKEN}), 201)  # which nobody can guess
    ok(await rest.get(f"{API}/version"))


async def test_wrong_tokens_lock_nobody_out_and_fill_nothing(her: Browser, world: World) -> None:
    for _ in range(6):
        problem(await her.trade({"token": "hh_nonsense"}), 401)
    assert await world.count("sign_in_failures") == 0
    assert await world.count("audit_logs", "action = 'sign_in'") == 0
    ok(await her.sign_in(), 201)


async def test_who_has_a_session_changes_its_password_whatever_others_at_the_address_do(her: Browser) -> None:
    ok(await her.sign_in(), 201)
    for number in range(5):
        problem(await her.client.post(SESSIONS, json={"name": f"user{number}", "password": WRONG}), 401)
    problem(await her.sign_in(), 429)
    change = {"old": PASSWORD, "new": "eight-quiet-otters"}
    assert ok(await her.send("POST", "/sessions/current/password", change), 204) is None


async def test_many_tries_at_once_are_not_more_tries(her: Browser, world: World) -> None:
    answers = await asyncio.gather(*(her.sign_in("ada", WRONG) for _ in range(20)))
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [401] * 5 + [429] * 15
    assert await world.count("sign_in_failures") == 5


async def test_a_success_begins_the_count_anew(her: Browser) -> None:
    for _ in range(3):
        for _ in range(4):
            problem(await her.sign_in("ada", WRONG), 401)
        ok(await her.sign_in(), 201)


async def test_a_stolen_session_does_not_help_to_guess_the_password(her: Browser) -> None:
    await her.sign_in()
    guess = {"old": WRONG, "new": "eight-quiet-otters"}
    for _ in range(5):
        assert refused(await her.send("POST", "/sessions/current/password", guess))
    problem(await her.send("POST", "/sessions/current/password", guess | {"old": PASSWORD}), 429)


def test_throttling_holds_across_processes_and_whatever_a_header_says(tmp_path: Path, postgresql_url: str) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    with (
        Served(tmp_path / "one", HOURHAND_STORE=postgresql_url) as first,
        Served(tmp_path / "two", HOURHAND_STORE=postgresql_url) as second,
        first.client() as admin,
        first.visitor() as one,
        second.visitor() as two,
    ):
        given = {"name": "ada", "password": PASSWORD, "role": "viewer"}
        ok(admin.post(f"{API}/users", json=given), 201)
        right = {"name": "ada", "password": PASSWORD}
        ok(two.post(SESSIONS, json=right), 201)
        wrong = right | {"password": WRONG}
        for number, visitor in enumerate((one, two, one, two, one)):
            forwarded = {"X-Forwarded-For": f"203.0.113.{number}"}
            problem(visitor.post(SESSIONS, json=wrong | {"name": f"user{number}"}, headers=forwarded), 401)
        for visitor in (one, two):
            problem(visitor.post(SESSIONS, json=right, headers={"X-Forwarded-For": "203.0.113.9"}), 429)


# Secrets


async def test_no_secret_is_in_any_answer_log_or_audit_row(
    rest: httpx.AsyncClient, her: Browser, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    new = "canary-of-a-new-password"
    answers = [
        await her.sign_in("ada", WRONG),
        await her.sign_in("ada", WRONG + "\0"),
        await her.trade({"token": [WRONG]}),
    ]
    answers.append(await her.sign_in())
    kept = {"csrf": her.csrf, "first secret": her.secret}
    answers.append(await her.send("POST", "/sessions/current/password", {"old": WRONG, "new": new}))
    answers.append(await her.send("POST", "/sessions/current/password", {"old": PASSWORD, "new": new}))
    kept["second secret"] = her.secret
    made = ok(await rest.post(f"{API}/tokens", json={"name": "t", "role": "viewer"}), 201)
    answers += [await rest.get(f"{API}{path}") for path in ("/users", "/tokens", "/sessions", "/audit-logs")]
    hidden = {"right": PASSWORD, "wrong": WRONG, "new": new, "token": made["token"], "bearer": TOKEN, **kept}
    (row,) = await world.sql("SELECT password_hash FROM users")
    hidden["hash"] = row["password_hash"]
    # By the loggers of Hourhand, its server and its store; httpx is this test's own.
    told = "\n".join(one.getMessage() for one in caplog.records if not one.name.startswith(("httpx", "httpcore")))
    rows = str([dict(row) for row in await world.sql("SELECT * FROM audit_logs")])
    rows += str([dict(row) for row in await world.sql("SELECT * FROM idempotency_keys")])
    said = "\n".join(answer.text for answer in answers).replace(f'"csrf_token":"{kept["csrf"]}"', "")
    for name, secret in hidden.items():
        assert secret not in told, f"{name} is in the log"
        assert secret not in rows, f"{name} is in the audit"
        assert secret not in said, f"{name} is in an answer"


async def test_signing_in_is_audited_whether_it_succeeds_or_not(her: Browser, world: World) -> None:
    await her.sign_in("ada", WRONG, **{"X-Request-Id": "r-1"})
    await her.sign_in()
    await her.trade({"token": TOKEN})
    rows = await world.sql(
        "SELECT user_id, user_name, result, request_id FROM audit_logs WHERE action = 'sign_in' ORDER BY id"
    )
    told = [(row["user_name"], row["result"]) for row in rows]
    assert told == [("ada", "refused"), ("ada", "done"), ("admin", "done")]
    assert (rows[0]["user_id"], rows[0]["request_id"]) == ("nobody", "r-1")
    assert [row["user_id"].split(":")[0] for row in rows[1:]] == ["user", "token"]


def test_the_examples_fit_their_shapes() -> None:
    for shape in (sessions.SESSION, sessions.SignedIn):
        (example,) = shape.model_json_schema()["examples"]
        assert shape.model_validate(example).model_dump(mode="json") == example
