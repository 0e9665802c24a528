"""Lists take the same number of statements, however many items they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from api.answers import API, ok
from hourhand.model.words import OutcomeKind
from hourhand.store.statements import Statement

if TYPE_CHECKING:
    import httpx

    from contracts.world import World

LISTS = (
    "/tasks?limit=200",
    "/tasks?limit=200&group=default",
    "/instances?limit=200&status=pending",
    "/instances?limit=200&status=failed",
    "/execution-logs?limit=200",
    "/audit-logs?limit=200",
    "/users?limit=200",
    "/tokens?limit=200",
    "/groups",
    "/executors",
    "/pauses",
    "/alert-rules",
    "/data-sources",
    "/tasks/graph",
)
MANY = 40


async def _add(rest: httpx.AsyncClient, world: World, first: int, last: int) -> None:
    """Some more of everything that is listed."""
    await world.executor()
    above = await world.task(f"above {first}")
    for number in range(first, last):
        task = await world.task(f"t{number}", schedule="@upstream", dependency_ids=(above.id,))
        await world.submit(task)
        await world.executor(f"other {number}", group="other")
        ok(await rest.post(f"{API}/groups", json={"name": f"g{number}"}), 201)
        ok(await rest.post(f"{API}/tokens", json={"name": f"k{number}", "role": "viewer"}), 201)
        body = {"scope": "task", "task_id": task.id, "reason": "later"}
        ok(await rest.post(f"{API}/pauses", json=body), 201)
        source = {"name": f"d{number}", "dialect": "sqlite", "database": "/none/shop.db", "test": False}
        ok(await rest.post(f"{API}/data-sources", json=source), 201)
    await world.run_all(kind=OutcomeKind.FAILED)
    for number in range(first, last):
        await world.submit(await world.store.find_task(f"t{number}"))


async def _statements(rest: httpx.AsyncClient, path: str, counted: list[str]) -> tuple[int, int]:
    """How many statements a list took, and how many items it has."""
    await rest.get(f"{API}{path}")  # names of groups are remembered
    counted.clear()
    answer = ok(await rest.get(f"{API}{path}"))
    return len(counted), len(answer.get("items", answer.get("nodes", ())))


async def test_a_list_of_many_takes_as_many_statements_as_a_list_of_one(
    rest: httpx.AsyncClient, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[str] = []
    compiled = Statement.compiled

    def counting(self: Statement, dialect: str) -> object:
        counted.append(str(self.clause))
        return compiled(self, dialect)

    monkeypatch.setattr(Statement, "compiled", counting)
    await _add(rest, world, 0, 1)
    few = {path: await _statements(rest, path, counted) for path in LISTS}
    await _add(rest, world, 1, MANY)
    many = {path: await _statements(rest, path, counted) for path in LISTS}
    assert {path: count for path, (count, _) in many.items()} == {path: count for path, (count, _) in few.items()}
    assert min(many[path][1] for path in LISTS[:6]) >= MANY - 1
