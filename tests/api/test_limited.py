"""Callers who are limited to groups, at the API on both stores: what they are told of what lies beyond."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from api.answers import API, ok, problem

if TYPE_CHECKING:
    import httpx

    from contracts.world import World


@pytest.fixture
async def alpha(rest: httpx.AsyncClient) -> dict[str, str]:
    """Return the headers of an editor of the group alpha."""
    for name in ("alpha", "beta"):
        ok(await rest.post(f"{API}/groups", json={"name": name}), 201)
    return await _limited(rest, "alpha")


async def _limited(rest: httpx.AsyncClient, *groups: str) -> dict[str, str]:
    asked = {"name": "ed", "role": "editor", "groups": list(groups)}
    return {"Authorization": f"Bearer {ok(await rest.post(f'{API}/tokens', json=asked), 201)['token']}"}


async def test_versions_of_a_tasks_time_in_another_group_are_not_shown(
    rest: httpx.AsyncClient, world: World, alpha: dict[str, str]
) -> None:
    task = await world.task(group="beta", description="secret")
    for change in ({"group": "alpha", "description": "open"}, {"priority": 3}):
        await world.store.edit_task(task.id, change, by="admin")
    path = f"{API}/tasks/{task.id}/versions"
    assert [one["version"] for one in ok(await rest.get(path))["items"]] == [3, 2, 1]
    seen = await rest.get(path, headers=alpha)
    assert [one["version"] for one in ok(seen)["items"]] == [3, 2]
    assert "secret" not in seen.text
    pages: list[Any] = []
    cursor = ""
    while len(pages) < 5:
        page = ok(await rest.get(f"{path}?limit=1{cursor}", headers=alpha))
        pages += page["items"]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert [one["version"] for one in pages] == [3, 2]


async def test_the_history_of_a_thing_within_reach_is_told_and_nothing_of_other_groups(
    rest: httpx.AsyncClient, alpha: dict[str, str]
) -> None:
    command = {"type": "command", "payload": {"command": ["true"]}}
    moved = ok(await rest.post(f"{API}/tasks", json={**command, "name": "moved", "group": "beta"}), 201)["id"]
    hidden = ok(await rest.post(f"{API}/tasks/{moved}/run", json={"args": {"of": "beta"}}), 202)["id"]
    resting = {"scope": "task", "task_id": moved, "reason": "a reason of beta"}
    ok(await rest.post(f"{API}/pauses", json=resting), 201)
    for change in ({"group": "alpha", "version": 1}, {"priority": 1, "version": 2}):
        ok(await rest.patch(f"{API}/tasks/{moved}", json=change))
    shown = ok(await rest.post(f"{API}/tasks/{moved}/run", json={"args": {"of": "alpha"}}), 202)["id"]
    problem(await rest.patch(f"{API}/tasks/{moved}", json={"priority": 99, "version": 3}), 422)
    ours = ok(await rest.post(f"{API}/tasks", json={**command, "name": "ours", "group": "alpha"}), 201)["id"]
    ok(await rest.post(f"{API}/pauses", json={**resting, "task_id": ours}), 201)

    async def told(**params: object) -> list[tuple[str, str, str]]:
        found = await rest.get(
            f"{API}/audit-logs", params={key: str(one) for key, one in params.items()}, headers=alpha
        )
        assert "of beta" not in found.text or params.get("task_id") == ours
        assert '"of":"beta"' not in found.text
        return [(one["action"], one["resource_type"], one["resource_id"]) for one in ok(found)["items"]]

    assert await told(task_id=moved) == [("run", "instance", str(shown)), ("edit", "task", str(moved))]
    assert await told(resource_type="task", resource_id=moved) == [("edit", "task", str(moved))]
    assert await told(resource_type="instance", resource_id=shown) == [("run", "instance", str(shown))]
    assert [one[:2] for one in await told(task_id=ours)] == [("create", "pause"), ("create", "task")]
    groups = {one["name"]: one["id"] for one in ok(await rest.get(f"{API}/groups"))["items"]}
    assert await told(resource_type="group", resource_id=groups["alpha"]) == [("create", "group", str(groups["alpha"]))]
    refused: list[dict[str, object]] = [
        {},
        {"resource_type": "task"},
        {"resource_type": "user", "resource_id": 1},
        {"resource_type": "pause", "resource_id": 1},
        {"resource_type": "instance", "resource_id": hidden},
        {"resource_type": "group", "resource_id": groups["beta"]},
        {"resource_type": "task", "resource_id": "1 "},
        {"task_id": moved, "result": "refused"},
    ]
    for params in refused:
        wanted = {key: str(one) for key, one in params.items()}
        problem(await rest.get(f"{API}/audit-logs", params=wanted, headers=alpha), 403)
    problem(await rest.get(f"{API}/audit-logs/1", headers=alpha), 403)


async def test_the_history_of_a_maintenance_window_is_told_from_when_it_was_of_ours(
    rest: httpx.AsyncClient, alpha: dict[str, str]
) -> None:
    given = {"scope": "group", "schedule": "0 3 * * *", "duration_seconds": 60, "timezone": "UTC"}
    beta = {**given, "name": "w", "group": "beta", "reason": "a reason of beta"}
    window = ok(await rest.post(f"{API}/maintenance-windows", json=beta), 201)["id"]
    for change in ({"scope": "group", "group": "alpha", "reason": "moved"}, {"reason": "ours"}):
        ok(await rest.patch(f"{API}/maintenance-windows/{window}", json=change))
    asked = {"resource_type": "maintenance-window", "resource_id": str(window)}
    found = await rest.get(f"{API}/audit-logs", params=asked, headers=alpha)
    assert [one["after"]["reason"] for one in ok(found)["items"]] == ["ours"]
    assert "beta" not in found.text
    assert len(ok(await rest.get(f"{API}/audit-logs", params=asked))["items"]) == 3


async def test_many_deletions_do_not_name_dependents_of_another_group(
    rest: httpx.AsyncClient, world: World, alpha: dict[str, str]
) -> None:
    needed = await world.task("needed", group="alpha")
    await world.task("secret", group="beta", dependency_ids=(needed.id,))
    for force in (False, True):
        body = {"action": "delete", "filter": {"all": True}, "force": force}
        done = await rest.post(f"{API}/tasks/bulk", json=body, headers=alpha)
        assert ok(done)["done"] == 0
        assert "a task of another group" in done.text
        assert "secret" not in done.text
    refused = await rest.delete(f"{API}/tasks/{needed.id}?force=true", headers=alpha)
    assert "secret" not in problem(refused, 403)["detail"]
    ok(await rest.delete(f"{API}/tasks/{needed.id}?force=true"), 204)


async def test_ids_of_another_groups_tasks_cannot_be_tried_out_as_dependencies(
    rest: httpx.AsyncClient, world: World, alpha: dict[str, str]
) -> None:
    foreign = await world.task("secret", group="beta")
    body = {"name": "probe", "type": "command", "group": "alpha", "payload": {"command": ["true"]}}
    said = []
    for one in (foreign.id, foreign.id + 1):
        asked = {**body, "schedule": "@upstream", "dependency_ids": [one]}
        (error,) = problem(await rest.post(f"{API}/tasks", json=asked, headers=alpha), 422)["errors"]
        said.append(error["message"].replace(str(one), "N"))
    assert said == ["there is no task N within your groups"] * 2


async def test_a_token_of_a_deleted_group_sees_nothing_of_the_next_of_that_name(
    rest: httpx.AsyncClient, world: World, alpha: dict[str, str]
) -> None:
    beta = await _limited(rest, "beta")
    groups = {one["name"]: one["id"] for one in ok(await rest.get(f"{API}/groups"))["items"]}
    ok(await rest.delete(f"{API}/groups/{groups['beta']}"), 204)
    ok(await rest.post(f"{API}/groups", json={"name": "beta"}), 201)
    task = await world.task("secret", group="beta")
    instance = await world.submit(task)
    other = await world.submit(await world.task(group="alpha"))
    for path in ("tasks", "instances"):
        assert ok(await rest.get(f"{API}/{path}", headers=beta))["items"] == []
    assert [one["id"] for one in ok(await rest.get(f"{API}/instances", headers=alpha))["items"]] == [other]
    detail = problem(await rest.get(f"{API}/tasks/{task.id}", headers=beta), 403)["detail"]
    assert "limited to these groups: none at all" in detail
    problem(await rest.post(f"{API}/instances/{instance}/cancel", headers=beta), 403)
    body = {"action": "cancel", "filter": {"all": True}}
    assert ok(await rest.post(f"{API}/instances/bulk", json=body, headers=beta))["matched"] == 0


async def test_many_instances_are_dispatched_only_if_all_are_within_reach(
    rest: httpx.AsyncClient, world: World, alpha: dict[str, str]
) -> None:
    mine = await world.submit(await world.task(group="alpha"), held=True)
    foreign = await world.submit(await world.task(group="beta"), held=True)
    path = f"{API}/instances/dispatch"
    detail = problem(await rest.post(path, json={"ids": [mine, foreign]}, headers=alpha), 403)["detail"]
    assert f"instance {foreign} is out of reach" in detail
    problem(await rest.post(path, json={"ids": [mine, 999]}, headers=alpha), 404)
    assert ok(await rest.post(path, json={"ids": [mine]}, headers=alpha)) == {"dispatched": 1}
