"""`/api/v1/tasks/graph` on both stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from api.answers import API, ok, problem
from hourhand.model.words import OutcomeKind

if TYPE_CHECKING:
    import httpx

    from contracts.world import World
    from hourhand.model.task import Task


def _pairs(graph: dict[str, Any]) -> set[tuple[str, str]]:
    names = {node["id"]: node["name"] for node in graph["nodes"]}
    return {(names[edge["task_id"]], names[edge["depends_on_id"]]) for edge in graph["edges"]}


async def _diamond(world: World) -> dict[str, Task]:
    await world.store.add_group("other")
    tasks = {"a": await world.task("a"), "alone": await world.task("alone")}
    for name, above, group in (("b", "a", "default"), ("c", "a", "other"), ("e", "a", "default")):
        tasks[name] = await world.task(name, schedule="@upstream", dependency_ids=(tasks[above].id,), group=group)
    both = (tasks["b"].id, tasks["c"].id)
    tasks["d"] = await world.task("d", schedule="@upstream", dependency_ids=both)
    return tasks


async def test_all_dependencies_are_told_but_not_tasks_without_any(rest: httpx.AsyncClient, world: World) -> None:
    await _diamond(world)
    graph = ok(await rest.get(f"{API}/tasks/graph"))
    assert _pairs(graph) == {("b", "a"), ("c", "a"), ("e", "a"), ("d", "b"), ("d", "c")}
    assert [node["name"] for node in graph["nodes"]] == ["a", "b", "c", "d", "e"]
    assert graph["truncated"] is False


async def test_around_one_task_is_what_leads_to_it_and_from_it(rest: httpx.AsyncClient, world: World) -> None:
    tasks = await _diamond(world)
    assert _pairs(ok(await rest.get(f"{API}/tasks/graph?task_id={tasks['b'].id}"))) == {("b", "a"), ("d", "b")}
    alone = ok(await rest.get(f"{API}/tasks/graph?task_id={tasks['alone'].id}"))
    assert ([node["name"] for node in alone["nodes"]], alone["edges"]) == (["alone"], [])
    problem(await rest.get(f"{API}/tasks/graph?task_id=999999"), 404)
    await world.store.delete_task(tasks["e"].id, by="somebody")
    problem(await rest.get(f"{API}/tasks/graph?task_id={tasks['e'].id}"), 404)
    assert ("e", "a") not in _pairs(ok(await rest.get(f"{API}/tasks/graph")))


async def test_within_a_group_are_dependencies_inside_it(rest: httpx.AsyncClient, world: World) -> None:
    await _diamond(world)
    graph = ok(await rest.get(f"{API}/tasks/graph?group=default"))
    assert _pairs(graph) == {("b", "a"), ("e", "a"), ("d", "b")}
    assert "there is no group" in problem(await rest.get(f"{API}/tasks/graph?group=none"), 422)["errors"][0]["message"]


async def test_a_node_tells_how_its_task_stands(rest: httpx.AsyncClient, world: World) -> None:
    above = await world.task("above")
    await world.task("below", schedule="@upstream", dependency_ids=(above.id,))
    await world.executor()
    await world.submit(above)
    (claimed,) = await world.claim()
    running = ok(await rest.get(f"{API}/tasks/graph"))["nodes"][0]
    assert (running["running"], running["last_outcome"]) == (True, None)
    await world.end([claimed], OutcomeKind.FAILED)
    ended = ok(await rest.get(f"{API}/tasks/graph"))["nodes"][0]
    assert (ended["running"], ended["last_outcome"]) == (False, "failed")
    assert ended["last_time"].endswith("Z")
