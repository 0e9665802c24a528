"""`/api/v1/tasks/apply` and the schema of task files, on both stores."""

from __future__ import annotations

import json
import time
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from api.answers import API, ok, problem
from api.in_process import serving
from hourhand.api.task_file_schema import task_file_schema
from hourhand.model.task import TaskDefinition
from hourhand.rules.task_files import ELSEWHERE
from hourhand.store import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from contracts.world import World

APPLY = f"{API}/tasks/apply"
LOAD: dict[str, Any] = {"name": "load", "command": ["true"]}


@pytest.fixture
async def sqlite_rest(sqlite_url: str) -> AsyncIterator[httpx.AsyncClient]:
    """Serve one store, for what the store has no part in."""
    store = await open_store(sqlite_url)
    async with serving(store) as client:
        yield client
    await store.close()


async def _token(rest: httpx.AsyncClient, role: str, *groups: str) -> dict[str, str]:
    asked: dict[str, Any] = {"name": f"{role} {groups}", "role": role, "groups": list(groups) or None}
    return {"Authorization": f"Bearer {ok(await rest.post(f'{API}/tokens', json=asked), 201)['token']}"}


def body(*tasks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "billing", "tasks": list(tasks), **more}


async def test_a_set_is_applied_once_and_told(rest: httpx.AsyncClient, world: World) -> None:
    report = {"name": "report", "url": "http://localhost/", "depends_on": ["load"], "group": "reports"}
    seen = ok(await rest.post(APPLY, json=body(LOAD, report, groups=["reports"], dry_run=True)))
    assert (seen["name"], seen["applied"], seen["groups"]) == ("billing", False, ["reports"])
    nothing: dict[str, Any] = {"action": "create", "fields": [], "drift": None, "reason": None}
    assert seen["changes"] == [{"name": "load", **nothing}, {"name": "report", **nothing}]
    asked = body(LOAD, report, groups=["reports"], plan_hash=seen["plan_hash"])
    done = ok(await rest.post(APPLY, json=asked))
    assert done == {**seen, "applied": True}
    task = await world.store.find_task("report")
    assert (task.managed_by, task.created_by, task.payload) == ("file:billing", "admin", {"url": "http://localhost/"})
    assert "has changed since plan" in problem(await rest.post(APPLY, json=asked), 409)["detail"]
    again = ok(await rest.post(APPLY, json=body(LOAD, report)))
    assert [one["action"] for one in again["changes"]] == ["unchanged", "unchanged"]


async def test_who_manages_a_task_is_left_or_let_go_of_by_hand_and_never_made_up(
    rest: httpx.AsyncClient, world: World
) -> None:
    ok(await rest.post(APPLY, json=body(LOAD)))
    path = f"{API}/tasks/{(await world.store.find_task('load')).id}"
    editor = await _token(rest, "editor")
    for owner in ("file:other", "app:books"):
        for changes in ({"managed_by": owner}, {"managed_by": owner, "payload": {"command": ["x"]}}):
            (error,) = problem(await rest.patch(path, json=changes, headers=editor), 422)["errors"]
            assert error["field"] == "managed_by"
            assert "`hourhand apply`" in error["message"]
    many = {"tasks": [{"name": "a", "type": "command", "payload": {"command": ["x"]}, "managed_by": "file:billing"}]}
    (error,) = problem(await rest.post(f"{API}/tasks/batch", json=many, headers=editor), 422)["errors"]
    assert error["field"] == "tasks.0.managed_by"
    kept = ok(await rest.patch(path, json={"managed_by": "file:billing", "priority": 1}, headers=editor))
    assert (kept["managed_by"], kept["priority"]) == ("file:billing", 1)
    assert ok(await rest.patch(path, json={"managed_by": None}, headers=editor))["managed_by"] is None
    assert ok(await rest.patch(path, json={"managed_by": "the night shift"}, headers=editor))["managed_by"]
    problem(await rest.patch(path, json={"managed_by": "file:billing"}), 422)


async def test_a_dry_run_takes_what_is_expected_to_be_there(rest: httpx.AsyncClient) -> None:
    asked = body({**LOAD, "depends_on": ["extract"], "group": "new"})
    coming = {"expected_tasks": ["extract"], "expected_groups": ["new"]}
    seen = ok(await rest.post(APPLY, json=asked | coming | {"dry_run": True}))
    assert (seen["groups"], [one["action"] for one in seen["changes"]]) == ([], ["create"])
    refused = problem(await rest.post(APPLY, json=asked | coming), 422)["errors"]
    assert [one["field"] for one in refused] == ["tasks.0.group", "tasks.0.depends_on"]


async def test_thousands_of_misspelt_dependencies_do_not_hold_up_others(rest: httpx.AsyncClient) -> None:
    def tasks(many: int) -> list[dict[str, Any]]:
        numbers = [f"{number:05}" for number in range(many)]
        return [{**LOAD, "name": f"report_{one}", "depends_on": [f"rpeort_{one}"]} for one in numbers]

    begun = time.monotonic()
    refused = problem(await rest.post(APPLY, json=body(*tasks(2_000), dry_run=True)), 422)["errors"]
    assert time.monotonic() - begun < 30  # it was minutes, in which nothing else was answered
    assert "did you mean 'report_00000'?" in refused[0]["message"]


async def test_drift_names_who_when_and_what(rest: httpx.AsyncClient, world: World) -> None:
    ok(await rest.post(APPLY, json=body(LOAD)))
    task = await world.store.find_task("load")
    bob = await _token(rest, "editor")
    edited = ok(await rest.patch(f"{API}/tasks/{task.id}", json={"priority": 9}, headers=bob))
    (change,) = ok(await rest.post(APPLY, json=body(LOAD)))["changes"]
    assert change["action"] == "edit"
    assert change["fields"] == [{"field": "priority", "before": 9, "after": 5}]
    assert change["drift"] == {
        "by": "editor ()",
        "at": edited["updated_at"],
        "fields": ["priority"],
        "deleted": False,
    }


async def test_what_is_wrong_is_told_at_once_by_its_place(rest: httpx.AsyncClient) -> None:
    tasks: list[dict[str, Any]] = [
        {"name": "a", "command": [], "schedul": "@daily"},
        {"name": "b", "handler": "h", "schedule": "61 * * * *", "depends_on": ["a", "nobody"]},
        {"name": "c", "command": "ls", "url": "http://x"},
        {"name": "d", "command": "ls", "group": "nowhere"},
        {"name": "d", "command": "ls"},
        {"name": "e", "managed_by": "me", "command": ["ls"], "dependency_ids": [1]},
        {"command": ["ls"]},
        {"name": "f"},
        {"name": "g", "command": ["ls"], "depends_on": ["nobody"]},
    ]
    refused = problem(await rest.post(APPLY, json=body(*tasks)), 422)["errors"]
    told = {one["field"]: one["message"] for one in refused}
    assert told.keys() == {
        "tasks.0.schedul",
        "tasks.0.command",
        "tasks.1.schedule",
        "tasks.2.url",
        "tasks.3.group",
        "tasks.4.name",
        "tasks.5.managed_by",
        "tasks.5.dependency_ids",
        "tasks.6.name",
        "tasks.7.type",
        "tasks.8.depends_on",
    }
    assert "did you mean 'schedule'?" in told["tasks.0.schedul"]
    assert "say what to run by command, url or handler" in told["tasks.7.type"]


async def test_what_is_refused_for_its_state_waits_until_the_values_are_right(
    rest: httpx.AsyncClient, world: World
) -> None:
    await world.store.add_group("alpha")
    alpha = await _token(rest, "editor", "alpha")
    (error,) = problem(await rest.post(APPLY, json=body({"name": "x"}, LOAD), headers=alpha), 422)["errors"]
    assert error["field"] == "tasks.0.type"
    problem(await rest.post(APPLY, json=body(LOAD), headers=alpha), 403)


async def test_groups_are_made_by_admins_alone(rest: httpx.AsyncClient) -> None:
    editor = await _token(rest, "editor")
    asked = body({**LOAD, "group": "new"}, groups=["new"])
    for dry_run in (True, False):
        refused = problem(await rest.post(APPLY, json=asked | {"dry_run": dry_run}, headers=editor), 403)
        assert "only an admin may make groups" in refused["detail"]
    assert "new" not in {one["name"] for one in ok(await rest.get("/api/v1/groups"))["items"]}
    ok(await rest.post(APPLY, json=asked))
    ok(await rest.post(APPLY, json=asked | {"prune": True}, headers=editor))  # it is there now


async def test_only_editors_apply(rest: httpx.AsyncClient) -> None:
    for role in ("viewer", "operator"):
        problem(await rest.post(APPLY, json=body(LOAD, dry_run=True), headers=await _token(rest, role)), 403)
    ok(await rest.post(APPLY, json=body(LOAD), headers=await _token(rest, "editor")))


async def test_what_only_an_admin_may_write_others_may_leave_as_it_is(rest: httpx.AsyncClient) -> None:
    editor = await _token(rest, "editor")
    shell = {"name": "shell", "command": "ls | wc"}
    for dry_run in (True, False):
        refused = problem(await rest.post(APPLY, json=body(shell, dry_run=dry_run), headers=editor), 403)
        assert "only an admin may write a shell string" in refused["detail"]
    ok(await rest.post(APPLY, json=body(shell)))
    done = ok(await rest.post(APPLY, json=body({**shell, "priority": 1}, LOAD), headers=editor))
    assert [one["action"] for one in done["changes"]] == ["edit", "create"]
    problem(await rest.post(APPLY, json=body({**shell, "command": "ls | wc -l"}, LOAD), headers=editor), 403)
    problem(await rest.post(APPLY, json=body(shell, name="other", take_over=True, plan_hash="x"), headers=editor), 409)


async def test_a_body_of_two_thousand_tasks_is_taken(rest: httpx.AsyncClient) -> None:
    tasks = [{**LOAD, "name": f"t{number}", "description": "x" * 600} for number in range(2_000)]
    done = ok(await rest.post(APPLY, json=body(*tasks, dry_run=True)))
    assert len(done["changes"]) == 2_000


# The schema


def test_the_schema_is_public_and_that_of_the_command_line(visitor: httpx.Client) -> None:
    answer = visitor.get(f"{API}/task-file.schema.json")
    assert ok(answer) == json.loads(json.dumps(task_file_schema()))
    assert answer.headers["content-type"].startswith("application/schema+json")
    Draft202012Validator.check_schema(task_file_schema())


def test_the_schema_describes_every_field() -> None:
    task = task_file_schema()["$defs"]["task"]
    known = {field.name for field in fields(TaskDefinition)} - ELSEWHERE.keys()
    assert task["properties"].keys() == known | {"depends_on", "command", "url", "handler"}
    assert all(one["description"] for one in task["properties"].values())
    assert task["properties"]["priority"]["default"] == 5
    assert task["properties"]["overlap_policy"]["enum"] == ["skip", "serial", "replace", "parallel"]


GOOD: list[dict[str, Any]] = [
    {"name": "a", "command": "ls"},
    {"name": "a", "command": ["ls"], "payload": {"env": {"A": "b"}, "cwd": "/srv"}, "depends_on": ["b"]},
    {"name": "a", "type": "command", "command": ["ls"]},
    {"name": "a", "type": "command", "payload": {"command": ["ls"]}, "description": None},
    {"name": "a", "url": "https://example.com/", "payload": {"method": "POST", "json": {"a": 1}}},
    {"name": "a", "handler": "close", "timeout_seconds": 3, "tags": ["x"], "enabled": False},
    {"name": "a", "type": "operation", "payload": {"kind": "sample", "config": {"data_source": "shop"}}},
]
BAD: list[dict[str, Any]] = [
    {},
    {"name": "a"},
    {"command": "ls"},
    {"name": "a", "command": "ls", "url": "http://x"},
    {"name": "a", "command": []},
    {"name": "a", "command": ["ls"], "payload": {"command": ["ls"]}},
    {"name": "a", "command": ["ls"], "payload": {"url": "http://x"}},
    {"name": "a", "type": "http", "command": ["ls"]},
    {"name": "a", "type": "command", "payload": {}},
    {"name": "a", "command": "ls", "dependency_ids": [1]},
    {"name": "a", "command": "ls", "managed_by": "me"},
    {"name": "a", "command": "ls", "priority": 10},
    {"name": "a", "command": "ls", "enabled": "yes"},
    {"name": "a", "command": "ls", "overlap_policy": "sometimes"},
    {"name": "a", "command": "ls", "schedul": "@daily"},
    {"name": "a", "command": "ls", "depends_on": "b"},
    {"name": "a", "url": "ftp://x"},
]


@pytest.mark.parametrize("task", GOOD, ids=str)
async def test_what_the_schema_allows_is_applied(sqlite_rest: httpx.AsyncClient, task: dict[str, Any]) -> None:
    there = {"name": "b", "command": ["true"]}
    shop = {"name": "shop", "dialect": "sqlserver", "host": "db.example.com", "database": "shop"}
    ok(await sqlite_rest.post(f"{API}/data-sources", json=shop), 201)
    Draft202012Validator(task_file_schema()).validate({"name": "x", "groups": ["g"], "tasks": [task, there]})
    ok(await sqlite_rest.post(APPLY, json=body(task, there)))


@pytest.mark.parametrize("task", BAD, ids=str)
async def test_what_the_schema_forbids_is_refused(sqlite_rest: httpx.AsyncClient, task: dict[str, Any]) -> None:
    assert not Draft202012Validator(task_file_schema()).is_valid({"tasks": [task]})
    problem(await sqlite_rest.post(APPLY, json=body(task)), 422)


@pytest.mark.parametrize("file", [{}, {"tasks": None}, {"tasks": [], "x": 1}, {"tasks": [], "name": ""}, []], ids=str)
def test_what_is_no_file_is_none_to_the_schema(file: Any) -> None:
    assert not Draft202012Validator(task_file_schema()).is_valid(file)
