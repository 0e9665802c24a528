"""`/api/v1/tasks` of a real `hourhand serve`."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from api.answers import API, ok, problem, refused
from serving import Served

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from postgres import Cluster

TASKS = f"{API}/tasks"
_numbers = itertools.count()


@pytest.fixture(scope="module")
def cluster_served(tmp_path_factory: pytest.TempPathFactory, cluster: Cluster) -> Iterator[Served]:
    url = cluster.create_database()
    with Served(tmp_path_factory.mktemp("cluster"), "--store", url) as process:
        yield process
    cluster.drop_database(url)


@pytest.fixture(params=["sqlite", "postgresql"])
def rest(request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    """A client of each kind of store, for what the store has a hand in."""
    process: Served = request.getfixturevalue("served" if request.param == "sqlite" else "cluster_served")
    with process.client() as opened:
        yield opened


def body(**changes: Any) -> dict[str, Any]:
    """A task that nobody runs unless asked."""
    return {
        "name": f"task-{next(_numbers)}",
        "type": "command",
        "payload": {"command": ["true"]},
        "group": "default",
    } | changes


def create(client: httpx.Client, **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = ok(client.post(TASKS, json=body(**changes)), 201)
    return made


def test_a_task_is_created_and_read_back_with_all_its_fields(rest: httpx.Client) -> None:
    given = body(schedule="0 2 * * *", timezone="Asia/Shanghai", max_retries=3, tags=["a"], executor_labels={"os": "l"})
    answer = rest.post(TASKS, json=given)
    task = ok(answer, 201)
    assert given.items() <= task.items()
    assert answer.headers["location"] == f"{TASKS}/{task['id']}"
    assert ok(rest.get(answer.headers["location"])) == task
    assert task["version"] == 1
    assert task["created_by"] == task["updated_by"] == "admin"
    assert task["dependency_ids"] == []
    assert task["next_fire_at"].endswith("18:00:00Z")  # 02:00 in Shanghai
    assert task["created_at"].endswith("Z")
    assert not {"wake_at", "anchored_at", "declared_hash"} & task.keys()


def test_everything_that_is_wrong_is_said_at_once(client: httpx.Client) -> None:
    found = refused(client.post(TASKS, json={"type": "commando", "priority": 5.5, "colour": "red"}))
    assert found.keys() == {"name", "type", "priority", "colour"}
    assert "'commando'" in found["type"]
    assert "command" in found["type"]
    assert "not a field of a task" in found["colour"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"name": "\ud800"}, "name"),
        ({"name": 7}, "name"),
        ({"schedule": "61 * * * *"}, "schedule"),
        ({"schedule": "@at 2001-01-01T00:00:00Z"}, "schedule"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"priority": 10}, "priority"),
        ({"priority": 10**400}, "priority"),
        ({"payload": {}}, "payload.command"),
        ({"payload": {"command": ["true"], "shell": True}}, "payload.shell"),
        ({"payload": {"command": ["true"], "env": {"A": "\x00"}}}, "payload"),
        ({"payload": []}, "payload"),
        ({"payload": None}, "payload"),
        ({"group": "nobody-knows"}, "group"),
        ({"dependency_ids": [2**70]}, "dependency_ids"),
        ({"dependency_ids": [10**9]}, "dependency_ids"),
        ({"tags": "a"}, "tags"),
        ({"declared_hash": "1:a"}, "declared_hash"),
        ({"managed_by": "app:hourhand-demo"}, "managed_by"),
        ({"managed_by": "file:billing"}, "managed_by"),
        ({"id": 7}, "id"),
    ],
)
def test_wrong_values_are_refused_by_field(rest: httpx.Client, changes: dict[str, Any], field: str) -> None:
    escaped = json.dumps(body(**changes))  # as it would not be by httpx: half a surrogate pair has no UTF-8
    assert field in refused(rest.post(TASKS, content=escaped, headers={"Content-Type": "application/json"}))


def test_a_value_that_may_be_a_secret_is_not_repeated(client: httpx.Client) -> None:
    answer = client.post(TASKS, json=body(payload={"command": ["true"], "env": {"PASSWORD": ["canary-7"]}}))
    assert "payload.env" in refused(answer)
    assert "canary-7" not in answer.text


@pytest.mark.parametrize("given", ["[]", '"text"', "7", "null"])
def test_a_body_that_is_no_object_is_refused(client: httpx.Client, given: str) -> None:
    found = refused(client.post(TASKS, content=given, headers={"Content-Type": "application/json"}))
    assert found.keys() == {"body"}


def test_a_taken_name_is_a_conflict(rest: httpx.Client) -> None:
    task = create(rest)
    assert task["name"] in problem(rest.post(TASKS, json=body(name=task["name"])), 409)["detail"]


def test_an_edit_makes_a_version_and_a_stale_one_is_a_conflict(rest: httpx.Client) -> None:
    task = create(rest, description="one")
    at = f"{TASKS}/{task['id']}"
    edited = ok(rest.patch(at, json={"description": "two", "version": 1}))
    assert (edited["description"], edited["version"]) == ("two", 2)
    stale = problem(rest.patch(at, json={"description": "three", "version": 1}), 409)
    assert "at version 2, not 1" in stale["detail"]
    assert ok(rest.patch(at, json={"description": None}))["version"] == 3
    versions = ok(rest.get(f"{at}/versions"))
    assert [each["version"] for each in versions["items"]] == [3, 2, 1]
    assert [each["definition"]["description"] for each in versions["items"]] == [None, "two", "one"]
    assert "declared_hash" not in versions["items"][0]["definition"]
    first = ok(rest.get(f"{at}/versions", params={"limit": 2}))
    rest_of_them = ok(rest.get(f"{at}/versions", params={"limit": 2, "cursor": first["next_cursor"]}))
    assert [each["version"] for each in rest_of_them["items"]] == [1]
    assert rest_of_them["next_cursor"] is None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"version": "1"}, "version"),
        ({"version": True}, "version"),
        ({"nme": "x"}, "nme"),
        ({"declared_hash": None}, "declared_hash"),
        ({"managed_by": "app:hourhand-demo"}, "managed_by"),
        ({"managed_by": "file:"}, "managed_by"),
        ({"name": None}, "name"),
        ({"type": "http"}, "payload.url"),
    ],
)
def test_wrong_edits_are_refused_by_field(client: httpx.Client, changes: dict[str, Any], field: str) -> None:
    task = create(client)
    assert field in refused(client.patch(f"{TASKS}/{task['id']}", json=changes))
    assert ok(client.get(f"{TASKS}/{task['id']}"))["version"] == 1


def test_a_deleted_task_is_gone_but_its_versions_stay(rest: httpx.Client) -> None:
    task = create(rest)
    at = f"{TASKS}/{task['id']}"
    deleted = rest.delete(at)
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert f"no task {task['id']}" in problem(rest.get(at), 404)["detail"]
    problem(rest.delete(at), 404)
    problem(rest.post(f"{at}/run"), 404)
    assert len(ok(rest.get(f"{at}/versions"))["items"]) == 1
    assert create(rest, name=task["name"])["id"] != task["id"]


def test_what_others_depend_on_is_deleted_by_force_only(rest: httpx.Client) -> None:
    upstream = create(rest)
    dependent = create(rest, dependency_ids=[upstream["id"]])
    assert dependent["dependency_ids"] == [upstream["id"]]
    conflict = problem(rest.delete(f"{TASKS}/{upstream['id']}"), 409)
    assert conflict["dependents"] == [dependent["name"]]
    cycle = refused(rest.patch(f"{TASKS}/{upstream['id']}", json={"dependency_ids": [dependent["id"]]}))
    assert "cycle" in cycle["dependency_ids"]
    assert rest.delete(f"{TASKS}/{upstream['id']}", params={"force": "true"}).status_code == 204


@pytest.mark.parametrize("task_id", ["0", "-1", "999999999", str(2**63), str(10**30)])
@pytest.mark.parametrize(
    ("method", "path"), [("GET", ""), ("DELETE", ""), ("GET", "/versions"), ("GET", "/upcoming"), ("POST", "/run")]
)
def test_an_unknown_task_is_not_found(rest: httpx.Client, method: str, path: str, task_id: str) -> None:
    assert task_id in problem(rest.request(method, f"{TASKS}/{task_id}{path}"), 404)["detail"]


def test_an_id_is_a_number(client: httpx.Client) -> None:
    assert (
        refused(client.get(f"{TASKS}/close_books"))["task_id"]
        == "'close_books' is not an id: give a whole number, such as 7"
    )


def test_tasks_are_listed_by_name_and_filtered(rest: httpx.Client) -> None:
    mark = f"listed{next(_numbers)}"
    names = [f"{mark}-{letter}" for letter in "abc"]
    for name in reversed(names):
        create(rest, name=name, enabled=not name.endswith("b"), description=mark)
    create(rest, name=f"{mark}-d", type="http", payload={"url": "http://127.0.0.1:1/"})

    def listed(**filters: Any) -> list[str]:
        return [each["name"] for each in ok(rest.get(TASKS, params=filters))["items"]]

    assert listed(q=mark.upper()) == [*names, f"{mark}-d"]
    assert listed(q=mark, enabled="false") == [f"{mark}-b"]
    assert listed(q=mark, type="http") == [f"{mark}-d"]
    assert listed(name=f"{mark}-a") == [f"{mark}-a"]
    assert listed(name=f"{mark}-a", type="http") == []
    assert listed(name=mark) == []
    assert listed(q=mark, group="default", type="command") == names
    pages = []
    params: dict[str, str | int] = {"q": mark, "limit": 3}
    while True:
        page = ok(rest.get(TASKS, params=params))
        pages.append([each["name"] for each in page["items"]])
        if page["next_cursor"] is None:
            break
        params["cursor"] = page["next_cursor"]
    assert pages == [names, [f"{mark}-d"]]


def test_upcoming_instants_are_those_that_will_be_made(rest: httpx.Client) -> None:
    task = create(rest, schedule="0 3 * * *")
    answer = ok(rest.get(f"{TASKS}/{task['id']}/upcoming", params={"count": 3}))
    instants = [datetime.fromisoformat(each) for each in answer["instants"]]
    assert answer["instants"][0] == task["next_fire_at"]
    assert [each - instants[0] for each in instants] == [timedelta(0), timedelta(days=1), timedelta(days=2)]
    assert "03:00" in answer["description"]


def test_a_disabled_task_has_nothing_to_come(client: httpx.Client) -> None:
    task = create(client, schedule="0 3 * * *", enabled=False)
    answer = ok(client.get(f"{TASKS}/{task['id']}/upcoming"))
    assert answer["instants"] == []
    assert answer["notes"] == ["it is disabled and does not fire"]


def test_what_fires_once_fires_never_again_after_that(client: httpx.Client) -> None:
    at = (datetime.now(UTC) + timedelta(days=300)).replace(microsecond=0)
    task = create(client, schedule=f"@at {at.isoformat()}")
    answer = ok(client.get(f"{TASKS}/{task['id']}/upcoming"))
    assert [datetime.fromisoformat(each) for each in answer["instants"]] == [at]
    assert "never again" in answer["notes"][0]


@pytest.mark.parametrize("schedule", ["@manual", "@after 1h"])
def test_what_no_clock_decides_has_a_description(client: httpx.Client, schedule: str) -> None:
    task = create(client, schedule=schedule, group="default", enabled=True)
    answer = ok(client.get(f"{TASKS}/{task['id']}/upcoming"))
    assert len(answer["instants"]) <= 1
    assert answer["description"]
    assert not any("never again" in note for note in answer["notes"])
    client.delete(f"{TASKS}/{task['id']}")


def test_an_empty_preview_says_never_again(client: httpx.Client) -> None:
    given = {"schedule": "0 0 2 1 1 ? 2020", "after": "2026-01-01T00:00:00Z"}
    answer = ok(client.post(f"{API}/schedules/preview", json=given))
    assert answer["instants"] == []
    assert answer["notes"] == ["after 2026-01-01T00:00:00Z it fires never again"]


def test_a_range_is_backfilled_once(rest: httpx.Client) -> None:
    task = create(rest, schedule="0 3 * * *", enabled=False)
    # Lately: what is older than retention cannot be backfilled.
    begin = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=5)
    given = {"from": begin.isoformat(), "to": (begin + timedelta(days=2, hours=12)).isoformat()}
    assert ok(rest.post(f"{TASKS}/{task['id']}/backfill", json=given), 202) == {"made": 3}
    assert ok(rest.post(f"{TASKS}/{task['id']}/backfill", json=given), 202) == {"made": 0}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "from"),
        ({"from": "2026-01-01T00:00:00Z"}, "to"),
        ({"from": "2026-01-01", "to": "2026-01-03T12:00:00Z"}, "from"),
        ({"from": "2026-01-01T00:00:00", "to": "2026-01-03T12:00:00Z"}, "from"),
        ({"from": "2026-01-03T12:00:00Z", "to": "2026-01-01T00:00:00Z"}, "from"),
        ({"from": "0001-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, "from"),
        ({"from": "2026-01-01T00:00:00Z", "to": "9999-12-31T23:59:59-14:00"}, "to"),
        ({"begin": "2026-01-01T00:00:00Z", "to": "2026-01-03T12:00:00Z"}, "begin"),
        ({"from": 0, "to": "2026-01-03T12:00:00Z"}, "from"),
    ],
)
def test_a_wrong_range_is_refused(rest: httpx.Client, given: dict[str, Any], field: str) -> None:
    task = create(rest, schedule="0 3 * * *", enabled=False)
    assert field in refused(rest.post(f"{TASKS}/{task['id']}/backfill", json=given))


def test_a_task_without_a_clock_cannot_be_backfilled(client: httpx.Client) -> None:
    task = create(client)
    given = {"from": "2026-01-01T00:00:00Z", "to": "2026-01-03T12:00:00Z"}
    assert "run the task instead" in refused(client.post(f"{TASKS}/{task['id']}/backfill", json=given))["schedule"]


def test_several_are_created_at_once_in_the_order_given(rest: httpx.Client) -> None:
    given = [body(), body(schedule="@daily")]
    made = ok(rest.post(f"{TASKS}/batch", json={"tasks": given}), 201)["items"]
    assert [task["name"] for task in made] == [task["name"] for task in given]
    assert ok(rest.get(f"{TASKS}/{made[1]['id']}"))["schedule"] == "@daily"


def test_of_several_none_is_created_when_one_is_refused(rest: httpx.Client) -> None:
    taken = create(rest)["name"]
    given = [body(), body(name=taken)]
    assert taken in problem(rest.post(f"{TASKS}/batch", json={"tasks": given}), 409)["detail"]
    wrong = [given[0], body(priority=10), body(schedule="never", declared_hash="x")]
    errors = problem(rest.post(f"{TASKS}/batch", json={"tasks": wrong}), 422)["errors"]
    assert [each["field"] for each in errors] == ["tasks.1.priority", "tasks.2.declared_hash"]
    past = [given[0], body(schedule="2001-01-01T00:00:00Z")]
    errors = problem(rest.post(f"{TASKS}/batch", json={"tasks": past}), 422)["errors"]
    assert [each["field"] for each in errors] == ["tasks.1.schedule"]
    for size in (0, 1_001):
        problem(rest.post(f"{TASKS}/batch", json={"tasks": [body()] * size}), 422)
    assert ok(rest.get(TASKS, params={"name": given[0]["name"]}))["items"] == []
