"""Every route is tried with every role, and with a token that is limited to another group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute, APIRouter, iter_route_contexts

from api.answers import API, ok, problem
from hourhand.api.app import create_app
from hourhand.api.gate import PUBLIC, ROUTED, SIGNED, is_page
from hourhand.api.guarding import Guarded, guarded_router
from hourhand.api.permissions import PERMISSIONS, Extent
from hourhand.model.access import Principal
from hourhand.model.words import Role
from hourhand.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from contracts.world import World
    from hourhand.store import Store

ENDLESS = frozenset({"GET /events", "GET /instances/{instance_id}/stream"})
"""They answer until somebody stops: what is let through is tried with a server that is stopping."""


WINDOW: dict[str, Any] = {"name": "w", "schedule": "@yearly", "duration_seconds": 1, "reason": "none of mine"}


class Holders:
    """A token is its holder's role, and the group it is limited to if any: `editor` or `editor@group`."""

    async def holder(self, token: str) -> Principal | None:
        role, _, group = token.partition("@")
        groups = frozenset({group}) if group else None
        return Principal(id=f"token:{role}", name=token, role=Role(role), groups=groups) if role in set(Role) else None


@dataclass
class Rest:
    """The API with one task, instance and so on in the group `secret`."""

    app: FastAPI
    client: httpx.AsyncClient
    ids: dict[str, str]

    async def ask(self, route: str, token: str | None, **more: Any) -> httpx.Response:
        method, path = route.split(" ")
        for name, value in self.ids.items():
            path = path.replace(f"{{{name}}}", value)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return await self.client.request(method, f"{API}{path}", headers=headers, **more)


@pytest.fixture
async def api(store: Store, world: World) -> AsyncIterator[Rest]:
    app = create_app(store, Settings(), Holders())
    app.state.streams.stop()  # so that streams end at once
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test", timeout=10) as client:
        group = await store.add_group("secret")
        await store.add_group("open")
        task = await world.task("hidden", group="secret")
        instance = await world.submit(task)
        rest = Rest(app, client, {"task_id": str(task.id), "instance_id": str(instance), "group_id": str(group.id)})
        paused = await rest.ask(
            "POST /pauses", "admin", json={"scope": "group", "group": "secret", "reason": "a migration"}
        )
        rest.ids["pause_id"] = str(ok(paused, 201)["id"])
        window = {"scope": "group", "group": "secret", **WINDOW}
        rest.ids["window_id"] = str(ok(await rest.ask("POST /maintenance-windows", "admin", json=window), 201)["id"])
        rest.ids["calendar_id"] = "999"
        rest.ids |= {"rule_id": "999", "source_id": "999", "user_id": "999", "token_id": "999", "session_id": "999"}
        rest.ids["entry_id"] = "999"
        yield rest


def routes(app: FastAPI) -> list[tuple[str, APIRoute]]:
    """Every route, with its whole path."""
    found = [(str(each.path), each.original_route) for each in iter_route_contexts(app.routes)]
    return [(path, route) for path, route in found if isinstance(route, APIRoute)]


def test_every_route_is_public_by_name_or_guarded(api: Rest) -> None:
    open_routes = {path for path, route in routes(api.app) if not isinstance(route, Guarded)}
    assert len(routes(api.app)) > 60
    known = {path for path in open_routes if path in PUBLIC or path.startswith((SIGNED, "/docs", "/metrics"))}
    assert open_routes - known <= {f"{API}/sessions"}


def test_no_route_is_at_the_path_of_a_page_which_anybody_may_read(api: Rest) -> None:
    paths = {path for path, _ in routes(api.app)}
    assert not {path for path in paths if is_page(path)}
    assert {path.split("/")[1] for path in paths} == ROUTED


def test_every_permission_is_of_a_route_and_every_route_has_one(api: Rest) -> None:
    served = {
        f"{method} {path.removeprefix(API)}"
        for path, route in routes(api.app)
        if isinstance(route, Guarded)
        for method in route.methods or ()
    }
    assert served == PERMISSIONS.keys()


def test_a_route_that_nobody_allowed_cannot_be_made() -> None:
    router: APIRouter = guarded_router()
    with pytest.raises(LookupError, match="GET /back-door is in no row"):
        router.get("/back-door")(lambda: None)


async def test_every_route_is_refused_to_roles_below_its_own_and_to_no_other(api: Rest) -> None:
    pairs = 0
    for route, needs in PERMISSIONS.items():
        for role in Role:
            answer = await api.ask(route, role.value)
            if role.includes(needs.role):
                assert answer.status_code not in (401, 403, 500), (route, role, answer.text)
            else:
                refusal = problem(answer, 403)
                assert needs.role.value in refusal["detail"], (route, role)
                assert role.value in refusal["detail"], (route, role)
            pairs += 1
    assert pairs == len(PERMISSIONS) * len(Role)
    assert pairs > 200


async def test_every_route_is_refused_without_a_token_and_with_a_wrong_one(api: Rest) -> None:
    for route in PERMISSIONS:
        problem(await api.ask(route, None), 401)
        problem(await api.ask(route, "hh_guessed"), 401)


OBJECTS = {route: needs for route, needs in PERMISSIONS.items() if "_id}" in route}


async def test_what_is_about_everything_is_refused_to_the_limited(api: Rest) -> None:
    for route in (route for route, needs in PERMISSIONS.items() if needs.extent is Extent.WHOLE):
        assert "limited to these groups: open" in problem(await api.ask(route, "admin@open"), 403)["detail"], route


async def test_objects_of_another_group_are_refused_to_the_limited(api: Rest) -> None:
    tried = 0
    for route, needs in OBJECTS.items():
        if needs.extent is Extent.GROUPS:
            refusal = problem(await api.ask(route, "admin@open"), 403)
            assert "out of reach" in refusal["detail"], route
            assert "secret" not in refusal["detail"], route
            within = await api.ask(route, "admin@secret")
            assert within.status_code not in (401, 403, 500), (route, within.text)
            tried += 1
    assert tried > 15


BODIES: list[tuple[str, dict[str, Any]]] = [
    ("POST /tasks", {"name": "x", "type": "command", "payload": {"command": ["ls"]}, "group": "secret"}),
    ("POST /tasks/apply", {"name": "x", "tasks": [{"name": "x", "command": ["ls"], "group": "secret"}]}),
    ("POST /tasks/apply", {"name": "x", "tasks": [{"name": "hidden", "command": ["ls"], "group": "open"}]}),
    ("POST /tasks/apply", {"name": "x", "tasks": [], "groups": ["new"]}),
    (
        "POST /tasks/batch",
        {"tasks": [{"name": "x", "type": "command", "payload": {"command": ["ls"]}, "group": "secret"}]},
    ),
    ("POST /instances", {"task_id": "task_id"}),
    ("POST /instances/dispatch", {"ids": ["instance_id"]}),
    ("POST /instances/bulk", {"action": "cancel", "filter": {"group": "secret"}}),
    ("POST /instances/bulk", {"action": "cancel", "filter": {"task_id": "task_id"}}),
    ("POST /tasks/bulk", {"action": "delete", "filter": {"group": "secret"}}),
    ("POST /pauses", {"scope": "task", "task_id": "task_id", "reason": "none of mine"}),
    ("POST /pauses", {"scope": "group", "group": "secret", "reason": "none of mine"}),
    ("POST /pauses", {"scope": "all", "reason": "none of mine"}),
    ("POST /maintenance-windows", {"scope": "task", "task_id": "task_id", **WINDOW}),
    ("POST /maintenance-windows", {"scope": "group", "group": "secret", **WINDOW}),
    ("POST /maintenance-windows", {"scope": "all", **WINDOW}),
]


async def test_another_group_in_a_body_is_refused_to_the_limited(api: Rest) -> None:
    def filled(value: Any) -> Any:
        match value:
            case dict():
                return {name: filled(one) for name, one in value.items()}
            case list():
                return [filled(one) for one in value]
        return int(api.ids[value]) if value in api.ids else value

    for route, body in BODIES:
        problem(await api.ask(route, "admin@open", json=filled(body)), 403)


async def test_a_task_cannot_be_moved_out_of_reach(api: Rest) -> None:
    problem(await api.ask("PATCH /tasks/{task_id}", "admin@secret", json={"group": "open"}), 403)


LISTS = ("GET /tasks", "GET /instances", "GET /execution-logs", "GET /groups", "GET /executors")
LISTS_OF_RESTS = ("GET /pauses", "GET /maintenance-windows")


async def test_lists_hold_only_what_is_within_reach(api: Rest, world: World) -> None:
    await world.executor("e1", group="secret")
    task = await world.task("ended", group="secret")
    await world.store.cancel(await world.submit(task), reason="no need")
    for route in (*LISTS, *LISTS_OF_RESTS):
        outside = ok(await api.ask(route, "viewer@open"))["items"]
        assert [one for one in outside if one.get("name") != "open"] == [], route
        assert ok(await api.ask(route, "viewer@secret"))["items"], route


async def test_bulk_leaves_alone_what_is_out_of_reach(api: Rest, world: World) -> None:
    await world.task("mine", group="open")
    done = ok(await api.ask("POST /tasks/bulk", "editor@open", json={"action": "delete", "filter": {"all": True}}))
    assert done["done"] == 1
    body = {"action": "cancel", "filter": {"all": True}}
    assert ok(await api.ask("POST /instances/bulk", "operator@open", json=body))["done"] == 0
    assert (await world.store.find_task("hidden")).id == int(api.ids["task_id"])


async def test_a_group_that_is_out_of_reach_is_no_filter(api: Rest) -> None:
    for route in ("GET /tasks", "GET /instances", "GET /execution-logs", "GET /tasks/graph"):
        problem(await api.ask(route, "viewer@open", params={"group": "secret"}), 403)


async def test_who_may_not_write_tasks_does_not_see_the_secrets_in_their_payloads(api: Rest) -> None:
    payload = {"command": ["curl", "--token", "canary-1", "x"], "env": {"API_KEY": "canary-2"}}
    task = {"name": "with secrets", "type": "command", "payload": payload}
    made = ok(await api.ask("POST /tasks", "admin", json=task), 201)
    api.ids["task_id"] = str(made["id"])
    for route in ("GET /tasks", "GET /tasks/{task_id}", "GET /tasks/{task_id}/versions"):
        for role in Role:
            answer = await api.ask(route, role.value)
            seen = "canary" in answer.text
            assert seen is role.includes(Role.EDITOR), (route, role)
            assert "with secrets" in answer.text
