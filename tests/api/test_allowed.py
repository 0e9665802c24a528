"""What only an admin may put into a task is refused to everybody else, in the one place that knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from api.answers import API, ok, problem
from hourhand.api.allowed import refuse_privileged
from hourhand.api.app import create_app
from hourhand.model.access import Principal
from hourhand.model.errors import Forbidden
from hourhand.model.words import Role, TaskType
from hourhand.settings import Settings

if TYPE_CHECKING:
    from contracts.world import World

SHELL = {"command": "echo hi | wc"}
HARMLESS = {"command": ["echo", "hi"]}


def token(role: str) -> Principal:
    return Principal(id="token:1", name="t", role=Role(role))


class Holders:
    """Everybody holds the role that is their token."""

    async def holder(self, token: str) -> Principal | None:
        return Principal(id="token:1", name="somebody", role=Role(token))


def test_an_admin_may_write_what_nobody_else_may() -> None:
    refuse_privileged(token("admin"), TaskType.COMMAND, SHELL)
    refuse_privileged(token("editor"), TaskType.COMMAND, HARMLESS)
    for role in ("editor", "operator", "viewer"):
        with pytest.raises(Forbidden) as refused:
            refuse_privileged(token(role), TaskType.COMMAND, SHELL | {"env": {"LD_PRELOAD": "x.so"}})
        assert "shell" in str(refused.value)
        assert "LD_PRELOAD" in str(refused.value)
        assert f"the role of 't' is {role}" in str(refused.value)


async def test_neither_a_new_task_nor_an_edit_gets_round_it(world: World) -> None:
    transport = httpx.ASGITransport(create_app(world.store, Settings(), Holders()))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:

        async def ask(role: str, method: str, path: str, **body: Any) -> httpx.Response:
            return await client.request(method, f"{API}{path}", json=body, headers={"Authorization": f"Bearer {role}"})

        named = {"name": "a", "type": "command"}
        refusal = problem(await ask("editor", "POST", "/tasks", **named, payload=SHELL), 403)
        assert "only an admin may write a shell string" in refusal["detail"]
        task = ok(await ask("editor", "POST", "/tasks", **named, payload=HARMLESS), 201)
        path = f"/tasks/{task['id']}"
        problem(await ask("editor", "PATCH", path, payload=SHELL), 403)
        assert ok(await ask("editor", "PATCH", path, payload={"command": ["ls"]}))["version"] == 2
        assert ok(await ask("admin", "PATCH", path, payload=SHELL))["version"] == 3
        problem(await ask("editor", "PATCH", path, type="command"), 403)
        assert ok(await ask("editor", "PATCH", path, description="what it does"))["payload"] == SHELL
        problem(await ask("editor", "PATCH", path, payload=HARMLESS, version=1), 409)
