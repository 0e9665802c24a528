"""`/audit-logs`: what was done and what was refused, by whom, and whether the record of it is whole."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from api.answers import API, ok, problem, refused
from hourhand.api import refusals
from hourhand.api.app import create_app
from hourhand.model.access import Principal
from hourhand.model.words import Role
from hourhand.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from contracts.world import World

CANARY = "swordfish"
TASK = {"name": "nightly", "type": "command", "payload": {"command": ["true"]}}


async def entries(rest: httpx.AsyncClient, **wanted: Any) -> list[dict[str, Any]]:
    """What the audit has, oldest first."""
    found = ok(await rest.get(f"{API}/audit-logs", params={"limit": 200, **wanted}))
    assert found["next_cursor"] is None
    return list(reversed(found["items"]))


async def test_a_change_is_listed_with_who_made_it_and_its_request(rest: httpx.AsyncClient) -> None:
    answer = await rest.post(f"{API}/tasks", json=TASK)
    task = ok(answer, 201)
    ok(await rest.patch(f"{API}/tasks/{task['id']}", json={"priority": 1}))
    instance = ok(await rest.post(f"{API}/tasks/{task['id']}/run", json={"args": {"day": "x"}}), 202)
    ok(await rest.post(f"{API}/instances/{instance['id']}/cancel", json={"reason": "no"}))
    ok(await rest.post(f"{API}/instances/{instance['id']}/retry"))
    held = ok(await rest.post(f"{API}/instances", json={"task_id": task["id"]}), 201)
    ok(await rest.post(f"{API}/instances/{held['id']}/dispatch"))
    ok(await rest.post(f"{API}/groups", json={"name": "billing"}), 201)
    ok(await rest.delete(f"{API}/tasks/{task['id']}"), 204)
    found = await entries(rest)
    assert [(each["action"], each["resource_type"], each["resource_id"]) for each in found] == [
        ("create", "task", str(task["id"])),
        ("edit", "task", str(task["id"])),
        ("run", "instance", str(instance["id"])),
        ("cancel", "instance", str(instance["id"])),
        ("retry", "instance", str(instance["id"])),
        ("plan", "instance", str(held["id"])),
        ("dispatch", "instance", str(held["id"])),
        ("create", "group", found[7]["resource_id"]),
        ("delete", "task", str(task["id"])),
    ]
    assert {(each["user_id"], each["user_name"], each["result"]) for each in found} == {("token:1", "admin", "done")}
    assert found[0]["request_id"] == answer.headers["x-request-id"]
    assert found[0]["occurred_at"].endswith("Z")
    assert (found[1]["before"]["priority"], found[1]["after"]["priority"]) == (5, 1)


async def test_entries_are_paged_and_filtered(rest: httpx.AsyncClient) -> None:
    for number in range(3):
        ok(await rest.post(f"{API}/groups", json={"name": f"g{number}"}), 201)
    problem(await rest.post(f"{API}/groups", json={"name": "g0"}), 409)
    first = ok(await rest.get(f"{API}/audit-logs", params={"limit": 3}))
    rest_of = ok(await rest.get(f"{API}/audit-logs", params={"limit": 3, "cursor": first["next_cursor"]}))
    assert [each["result"] for each in first["items"]] == ["refused", "done", "done"]
    assert (len(rest_of["items"]), rest_of["next_cursor"]) == (1, None)
    done = await entries(rest, resource_type="group", user_id="token:1", action="create", result="done")
    assert [each["summary"] for each in done] == ["group 'g0'", "group 'g1'", "group 'g2'"]
    one = await entries(rest, resource_type="group", resource_id=done[1]["resource_id"])
    assert one == [done[1]]
    assert await entries(rest, **{"from": done[1]["occurred_at"], "to": done[2]["occurred_at"]}) == [done[1]]


async def test_one_entry_is_read_by_its_number(rest: httpx.AsyncClient) -> None:
    ok(await rest.post(f"{API}/groups", json={"name": "g"}), 201)
    (entry,) = await entries(rest)
    assert ok(await rest.get(f"{API}/audit-logs/{entry['id']}")) == entry
    assert "there is no audit entry 99" in problem(await rest.get(f"{API}/audit-logs/99"), 404)["detail"]
    assert "entry_id" in refused(await rest.get(f"{API}/audit-logs/x"))


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"resource_type": "task", "resource_id": "7", "task_id": "7"}, "task_id"),
        ({"task_id": "x"}, "task_id"),
        ({"from": "2026-11-15T00:00:00Z", "to": "2026-11-14T00:00:00Z"}, "from"),
        ({"resource_id": "7"}, "resource_id"),
        ({"result": "perhaps"}, "result"),
        ({"user": "x"}, "user"),
        ({"cursor": "x"}, "cursor"),
        ({"limit": "201"}, "limit"),
    ],
)
async def test_wrong_parameters_are_refused(rest: httpx.AsyncClient, params: dict[str, str], field: str) -> None:
    assert field in refused(await rest.get(f"{API}/audit-logs", params=params))


async def test_refusals_are_kept_without_their_secrets(rest: httpx.AsyncClient) -> None:
    secret = {"command": ["x"], "env": {"A": CANARY}}
    ok(await rest.post(f"{API}/tasks", json={**TASK, "name": f"postgresql://me:{CANARY}@db/"}), 201)
    problem(await rest.post(f"{API}/tasks", json={**TASK, "name": f"postgresql://me:{CANARY}@db/"}), 409)
    problem(await rest.post(f"{API}/tasks", json={**TASK, "payload": {**secret, "stdin": 7}, "password": CANARY}), 422)
    problem(await rest.post(f"{API}/tasks/1/run", json={"args": {"token": CANARY}, "password": CANARY}), 422)
    problem(await rest.patch(f"{API}/tasks/99", json={"payload": secret}), 404)
    found = await entries(rest, result="refused")
    assert [(each["action"], each["resource_type"], each["resource_id"]) for each in found] == [
        ("create", "task", None),
        ("create", "task", None),
        ("run", "task", "1"),
        ("edit", "task", "99"),
    ]
    assert all(each["summary"] for each in found)
    assert CANARY not in (await rest.get(f"{API}/audit-logs")).text


class Holders:
    """Everybody holds the role that is their token."""

    async def holder(self, token: str) -> Principal | None:
        return Principal(id=f"token:{token}", name=token, role=Role(token))


@asynccontextmanager
async def everybody(world: World) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(world.store, Settings(), Holders()))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


async def test_a_preview_that_is_wrong_is_no_refused_change(rest: httpx.AsyncClient) -> None:
    for typed in ("0", "0 2", "0 25 * * *"):
        assert "schedule" in refused(await rest.post(f"{API}/schedules/preview", json={"schedule": typed}))
    assert await entries(rest) == []


async def test_whoever_is_refused_without_end_is_kept_by_number(
    rest: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusals, "MOST", 3)
    monkeypatch.setattr(refusals, "SECONDS", 3_600.0)
    for _ in range(10):
        problem(await rest.delete(f"{API}/tasks/99"), 404)
    assert len(await entries(rest)) == 3
    monkeypatch.setattr(refusals, "SECONDS", 0.0)  # their time has passed
    problem(await rest.delete(f"{API}/tasks/99"), 404)
    assert [each["summary"] for each in await entries(rest)][3:] == ["and 7 more were refused", "there is no task 99"]
    problem(await rest.delete(f"{API}/tasks/99"), 404)
    assert len(await entries(rest)) == 6


async def test_what_a_role_forbids_is_kept_and_the_audit_is_not_for_everybody(world: World) -> None:
    async with everybody(world) as client:

        def holding(role: str) -> dict[str, str]:
            return {"Authorization": f"Bearer {role}"}

        secret = {**TASK, "payload": {"command": ["x"], "env": {"A": CANARY}}}
        problem(await client.post(f"{API}/tasks", json=secret, headers=holding("viewer")), 403)
        for role in ("viewer", "operator"):
            problem(await client.get(f"{API}/audit-logs", headers=holding(role)), 403)
            problem(await client.get(f"{API}/audit-logs/verify", headers=holding(role)), 403)
        found = ok(await client.get(f"{API}/audit-logs", headers=holding("editor")))["items"]
        assert {(each["user_id"], each["action"], each["result"]) for each in found} == {
            ("token:viewer", "create", "refused"),
            ("token:viewer", "read", "refused"),
            ("token:viewer", "verify", "refused"),
            ("token:operator", "read", "refused"),
            ("token:operator", "verify", "refused"),
        }
        assert CANARY not in repr(found)


async def test_the_chain_is_verified_and_a_fault_is_told(rest: httpx.AsyncClient, world: World) -> None:
    for number in range(3):
        ok(await rest.post(f"{API}/groups", json={"name": f"g{number}"}), 201)
    before = ok(await rest.get(f"{API}/audit-logs/verify"))
    assert (before["ok"], before["checked"], before["unsealed"]) == (True, 0, 3)
    await world.store.seal_audit()
    whole = ok(await rest.get(f"{API}/audit-logs/verify"))
    assert (whole["ok"], whole["checked"], whole["fault"], whole["unsealed"]) == (True, 3, None, 0)
    assert ok(await rest.get(f"{API}/audit-logs/verify", params={"head": whole["head"]}))["ok"]
    number, colon, digest = whole["head"].partition(":")
    forged = ok(await rest.get(f"{API}/audit-logs/verify", params={"head": f"{number}{colon}{digest[::-1]}"}))
    assert (forged["ok"], forged["fault"]["kind"]) == (False, "not_as_noted")
    assert "head" in refused(await rest.get(f"{API}/audit-logs/verify", params={"head": "x"}))
    await world.execute("UPDATE audit_logs SET user_name = 'eve' WHERE sealed_no = 2")
    broken = ok(await rest.get(f"{API}/audit-logs/verify"))
    assert (broken["ok"], broken["checked"]) == (False, 1)
    assert (broken["fault"]["number"], broken["fault"]["kind"]) == (2, "changed")


async def test_a_request_that_comes_again_creates_nothing_again(rest: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "close-books-1"}
    first, second = [await rest.post(f"{API}/tasks", json=TASK, headers=key) for _ in range(2)]
    assert ok(first, 201) == ok(second, 201)
    path = f"{API}/tasks/{ok(first, 201)['id']}/run"
    runs = await asyncio.gather(*[rest.post(path, json={"args": {"n": 1}}, headers=key) for _ in range(4)])
    assert len({ok(each, 202)["id"] for each in runs}) == 1
    plans = [await rest.post(f"{API}/instances", json={"task_id": 1}, headers=key) for _ in range(2)]
    assert ok(plans[0], 201)["id"] == ok(plans[1], 201)["id"] != ok(runs[0], 202)["id"]
    groups = [await rest.post(f"{API}/groups", json={"name": "billing"}, headers=key) for _ in range(2)]
    assert ok(groups[0], 201) == ok(groups[1], 201)
    assert "Idempotency-Key" in refused(await rest.post(path, json={"args": {"n": 2}}, headers=key))
    assert "Idempotency-Key" in refused(await rest.post(f"{API}/groups", json={"name": "other"}, headers=key))
    done = [(each["action"], each["resource_type"]) for each in await entries(rest, result="done")]
    assert done == [("create", "task"), ("run", "instance"), ("plan", "instance"), ("create", "group")]
