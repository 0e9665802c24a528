"""`hourhand task` against a real server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from api.cli import Terminal, run
from hourhand.model.task import TaskDefinition
from serving import Served


@pytest.fixture(scope="module")
def hourhand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    with Served(tmp_path_factory.mktemp("cli")) as served:
        yield Terminal(served)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)


def test_a_command_is_added_shown_and_listed(hourhand: Terminal, name: str) -> None:
    said = hourhand.done(
        "task", "add", name, "--schedule", "@yearly", "--command", "echo 'a b' c", "--timezone", "Asia/Tokyo"
    )
    assert said.out.startswith(f"Task {name!r} is added; it fires next at 20")
    task = hourhand.done("task", "show", name, "--json").json
    assert (task["type"], task["payload"]) == ("command", {"command": ["echo", "a b", "c"]})
    assert (task["schedule"], task["timezone"], task["enabled"]) == ("@yearly", "Asia/Tokyo", True)
    assert "@yearly" in hourhand.done("task", "show", name).out
    assert [one["name"] for one in hourhand.done("task", "list", "-q", name, "--json").json["items"]] == [name]


def test_every_option_becomes_its_field(hourhand: Terminal, name: str) -> None:
    hourhand.done("task", "add", f"{name}-up", "--command", "true")
    hourhand("group", "add", "cli")
    task = hourhand.done(
        *("task", "add", name, "--command", "ls | wc", "--shell", "--env", "A=1=2", "--env", "B=", "--cwd", "/srv"),
        *("--schedule", "@daily", "--depends-on", f"{name}-up", "--overlap", "serial", "--misfire", "skip"),
        *("--group", "cli", "--broadcast", "--label", "zone=eu", "--priority", "2", "--timeout", "60"),
        *("--retries", "3", "--retry-delay", "5", "--concurrency-key", "k", "--concurrency-limit", "2"),
        *("--dependency-mode", "any", "--upstream-failure-policy", "run", "--dependency-timeout", "7"),
        *("--misfire-grace", "8", "--catch-up-limit", "9", "--retry-backoff", "fixed"),
        *("--executor-loss-policy", "fail", "--args-schema", '{"type": "object"}'),
        *("--description", "d", "--owner", "o", "--tag", "x", "--tag", "y", "--disabled", "--json"),
    ).json
    (upstream,) = task["dependency_ids"]
    assert upstream == hourhand.done("task", "show", f"{name}-up", "--json").json["id"]
    expected = {
        "payload": {"command": "ls | wc", "env": {"A": "1=2", "B": ""}, "cwd": "/srv"},
        "schedule": "@daily",
        "dependency_mode": "any",
        "upstream_failure_policy": "run",
        "dependency_timeout_seconds": 7,
        "misfire_grace_seconds": 8,
        "catch_up_limit": 9,
        "retry_backoff": "fixed",
        "executor_loss_policy": "fail",
        "args_schema": {"type": "object"},
        "overlap_policy": "serial",
        "misfire_policy": "skip",
        "group": "cli",
        "broadcast": True,
        "executor_labels": {"zone": "eu"},
        "priority": 2,
        "timeout_seconds": 60,
        "max_retries": 3,
        "retry_delay_seconds": 5,
        "concurrency_key": "k",
        "concurrency_limit": 2,
        "description": "d",
        "owner": "o",
        "tags": ["x", "y"],
        "enabled": False,
    }
    assert {field: task[field] for field in expected} == expected
    by_itself = {"name", "type", "timezone", "dependency_ids", "managed_by", "declared_hash"}
    assert {field.name for field in fields(TaskDefinition)} == expected.keys() | by_itself


@pytest.mark.parametrize(
    ("options", "kind", "payload"),
    [
        (["--url", "http://h/p"], "http", {"url": "http://h/p"}),
        (
            ["--url", "http://h/p", "--header", "X-A: b: c", "--json-body", '{"a": [1]}'],
            "http",
            {"url": "http://h/p", "headers": {"X-A": "b: c"}, "json": {"a": [1]}, "method": "POST"},
        ),
        (
            ["--url", "http://h", "--body", "t", "--method", "put"],
            "http",
            {"url": "http://h", "body": "t", "method": "PUT"},
        ),
        (["--handler", "h", "--args", '{"a": 1}'], "python", {"handler": "h", "args": {"a": 1}}),
        (["--type", "xxl", "--payload", '{"handler": "h"}'], "xxl", {"handler": "h"}),
        (["--type", "command", "--command", "true"], "command", {"command": ["true"]}),
    ],
)
def test_the_type_follows_from_what_is_run(
    hourhand: Terminal, name: str, options: list[str], kind: str, payload: dict[str, object]
) -> None:
    task = hourhand.done("task", "add", name, *options, "--disabled", "--json").json
    assert (task["type"], task["payload"]) == (kind, payload)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "--command: is missing"),
        (["--command", "ls | wc"], "--command: contains '|', which only a shell understands: add --shell"),
        (["--command", "a", "--url", "http://h"], "--url: is given together with --command"),
        (["--type", "http", "--command", "a"], "--type: is http, but --command is not"),
        (["--url", "http://h", "--env", "A=b"], "--env: is for tasks of type command"),
        (["--payload", "{}", "--command", "a"], "--payload: is given together with --command"),
        (["--type", "command", "--shell"], "--shell: is given without --command"),
        (["--command", "a", "--env", "canary"], "--env: is not of the form NAME=VALUE"),
        (["--command", "a", "--env", "A=1", "--env", "A=2"], "--env: gives 'A' twice"),
        (["--url", "http://h", "--json-body", "{"], "--json-body: '{' is not JSON"),
        (["--handler", "h", "--args", "[1]"], "--args: '[1]' is not a JSON object"),
        (["--command", "a", "--timeout", "0"], "--timeout: 0 is out of range"),
        (["--command", "a", "--schedule", "61 * * * *"], "--schedule: "),
        (["--command", "a", "--group", "nobody"], "--group: there is no group 'nobody'"),
    ],
)
def test_a_wrong_task_is_refused_by_the_option_that_was_typed(
    hourhand: Terminal, options: list[str], said: str
) -> None:
    refusal = hourhand.refused("task", "add", "wrong", *options, code=2)
    assert said in refusal
    assert "canary" not in refusal


def test_everything_wrong_is_said_at_once(hourhand: Terminal) -> None:
    refusal = hourhand.refused("task", "add", "x", "--command", "a", "--timeout", "0", "--priority", "10", code=2)
    assert refusal.count("Error: ") == 2


def test_edit_changes_what_is_given_and_nothing_else(hourhand: Terminal, name: str) -> None:
    added = hourhand.done("task", "add", name, "--command", "echo a", "--env", "A=1", "--retries", "1", "--json").json
    said = hourhand.done("task", "edit", name, "--command", "echo b", "--schedule", "@yearly").out
    edited = hourhand.done("task", "show", name, "--json").json
    due = edited["next_fire_at"].replace("T", " ")
    assert said == f"Task {name!r} is at version 2 now (schedule, payload); it fires next at {due}.\n"
    assert edited["payload"] == {"command": ["echo", "b"], "env": {"A": "1"}}
    changed = {field for field in added if added[field] != edited[field]}
    assert changed == {"payload", "schedule", "version", "updated_at", "next_fire_at"}
    assert "nothing has changed" in hourhand.done("task", "edit", name, "--schedule", "@yearly").out
    assert "give the options to change" in hourhand.refused("task", "edit", name, code=2)
    assert "--priority" in hourhand.refused("task", "edit", name, "--priority", "10", code=2)


def test_what_a_task_may_be_without_is_cleared(hourhand: Terminal, name: str) -> None:
    hourhand.done("task", "add", f"{name}-up", "--command", "true")
    hourhand.done(
        *("task", "add", name, "--command", "true", "--env", "A=1", "--cwd", "/srv", "--schedule", "@manual"),
        *("--depends-on", f"{name}-up", "--description", "d", "--timeout", "9", "--retries", "2", "--owner", "o"),
        *("--tag", "t", "--label", "zone=eu", "--concurrency-key", "k", "--args-schema", "{}"),
    )
    names = ["description", "timeout-seconds", "max_retries", "--owner", "tags", "label", "concurrency-key", "env"]
    options = [part for one in (*names, "args-schema", "depends-on") for part in ("--clear", one)]
    edited = hourhand.done("task", "edit", name, *options, "--json").json
    emptied = ("description", "timeout_seconds", "max_retries", "owner", "concurrency_key", "args_schema")
    assert [edited[field] for field in emptied] == [None] * len(emptied)
    assert (edited["tags"], edited["executor_labels"], edited["dependency_ids"]) == ([], {}, [])
    assert edited["payload"] == {"command": ["true"], "cwd": "/srv"}
    assert "nothing has changed" in hourhand.done("task", "edit", name, "--clear", "description").out
    both = ("--command", "false", "--clear", "cwd")
    assert hourhand.done("task", "edit", name, *both, "--json").json["payload"] == {"command": ["false"]}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--clear", "schedule"], "--clear: 'schedule' cannot be cleared; what can be: args, args-schema, body"),
        (["--clear", "owner", "--owner", "o"], "--clear: 'owner' is given together with --owner"),
        (["--rename", ""], "--rename: "),
    ],
)
def test_what_cannot_be_cleared_is_refused(hourhand: Terminal, options: list[str], said: str) -> None:
    hourhand("task", "add", "uncleared", "--command", "true")
    assert said in hourhand.refused("task", "edit", "uncleared", *options, code=2)


def test_a_task_is_renamed(hourhand: Terminal, name: str) -> None:
    hourhand.done("task", "add", name, "--command", "true")
    assert hourhand.done("task", "edit", name, "--rename", f"{name}-2").out.endswith("is at version 2 now (name).\n")
    assert hourhand.done("task", "show", f"{name}-2", "--json").json["version"] == 2


def test_it_waits_for_its_dependencies_when_it_is_told_to(hourhand: Terminal, name: str) -> None:
    hourhand.done("task", "add", f"{name}-up", "--command", "true", "--disabled")
    hourhand.done("task", "add", name, "--command", "true", "--depends-on", f"{name}-up")
    waits = hourhand.done("task", "run", name, "--wait-for-dependencies", "--json").json
    assert (waits["status"], waits["blocked_by"]) == ("planned", "dependencies")
    assert hourhand.done("task", "run", name, "--wait", "--json").json["status"] == "success"


def test_a_name_in_a_hint_can_be_pasted_into_a_shell(hourhand: Terminal) -> None:
    assert "`hourhand task run 'bad name!'`" in hourhand.done("task", "add", "bad name!", "--command", "true").out


def test_edit_may_change_the_type(hourhand: Terminal, name: str) -> None:
    hourhand.done("task", "add", name, "--command", "echo a", "--env", "A=1")
    edited = hourhand.done("task", "edit", name, "--url", "http://h", "--json").json
    assert (edited["type"], edited["payload"]) == ("http", {"url": "http://h"})


def test_disable_and_enable(hourhand: Terminal, name: str) -> None:
    hourhand.done("task", "add", name, "--command", "true")
    assert hourhand.done("task", "disable", name).out == f"Task {name!r} is disabled now.\n"
    assert hourhand.done("task", "disable", name).out == f"Task {name!r} is disabled already.\n"
    assert "disabled" in hourhand.done("task", "list", "-q", name).out
    assert hourhand.done("task", "list", "--enabled", "-q", name, "--json").json == {"items": [], "next_cursor": None}
    assert hourhand.done("task", "enable", name).out == f"Task {name!r} is enabled now.\n"


def test_a_task_with_dependencies_and_no_schedule_follows_them(hourhand: Terminal, name: str) -> None:
    hourhand.done("task", "add", f"{name}-up", "--command", "true")
    hourhand.done("task", "add", name, "--command", "true", "--depends-on", f"{name}-up")
    assert hourhand.done("task", "show", name, "--json").json["schedule"] == "@upstream"


def test_delete(hourhand: Terminal, name: str) -> None:
    hourhand.done("task", "add", name, "--command", "true")
    hourhand.done("task", "add", f"{name}-2", "--command", "true", "--depends-on", name)
    assert f"needed by {name}-2" in hourhand.refused("task", "delete", name, code=1)
    assert hourhand.done("task", "delete", name, "--force").out == f"Task {name!r} is deleted.\n"
    assert "there is no task" in hourhand.refused("task", "show", name, code=1)


def test_versions_say_what_each_changed(hourhand: Terminal, name: str) -> None:
    hourhand.done("task", "add", name, "--command", "true")
    hourhand.done("task", "edit", name, "--priority", "1", "--retries", "2")
    lines = hourhand.done("task", "versions", name).out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["2", "1"]
    assert "priority, max_retries" in lines[1]
    assert lines[2].rstrip().endswith("added")
    assert len(hourhand.done("task", "versions", name, "--limit", "1").out.splitlines()) == 2
    assert len(hourhand.done("task", "versions", name, "--json").json["items"]) == 2


def test_upcoming(hourhand: Terminal, name: str) -> None:
    hourhand.done("task", "add", name, "--command", "true", "--schedule", "0 9 * * *", "--timezone", "Asia/Shanghai")
    found = hourhand.done("task", "upcoming", name, "--count", "3", "--json").json
    assert [instant[11:] for instant in found["instants"]] == ["01:00:00Z"] * 3
    assert hourhand.done("task", "upcoming", name, "--count", "2").out.count("01:00:00Z") == 2
    hourhand.done("task", "disable", name)
    assert "Note: it is disabled" in hourhand.done("task", "upcoming", name).out


def test_backfill_reads_times_in_the_zone_of_the_task(hourhand: Terminal, name: str) -> None:
    options = ("--schedule", "0 9 * * *", "--timezone", "Asia/Shanghai", "--command", "true")
    hourhand.done("task", "add", name, *options)
    coming = hourhand.done("task", "upcoming", name, "--count", "1", "--json").json["instants"][0]
    day = (datetime.fromisoformat(coming) - timedelta(days=2)).date().isoformat()
    bounds = ("--from", f"{day}T08:59", "--to", f"{day}T09:01")
    assert hourhand.done("task", "backfill", name, *bounds).out.startswith("1 instance made")
    assert hourhand.done("task", "backfill", name, *bounds, "--json").json == {"made": 0}
    assert "--from: 'soon' is not a time" in hourhand.refused(
        "task", "backfill", name, "--from", "soon", "--to", day, code=2
    )


def test_a_name_that_is_nearly_right_is_suggested(hourhand: Terminal) -> None:
    hourhand.done("task", "add", "close_books", "--command", "true")
    assert "did you mean 'close_books'?" in hourhand.refused("task", "show", "close_book", code=1)
    assert "did you mean 'close_books'?" in hourhand.refused(
        "task", "add", "x", "--command", "true", "--depends-on", "closebooks", code=1
    )


@pytest.mark.parametrize("width", [40, 80])
def test_a_list_fits_the_terminal_and_is_never_cut_when_piped(hourhand: Terminal, width: int) -> None:
    long = "long-" + "x" * 60
    hourhand("task", "add", long, "--command", "true", "--schedule", "0 0 1,2,3,4,5,6,7,8,9,10 1,2,3,4,5,6 *")
    narrow = hourhand.done("task", "list", COLUMNS=str(width)).out.splitlines()
    assert max(len(line) for line in narrow) <= width
    assert "NAME" in narrow[0]
    piped = hourhand.done("task", "list").out
    assert any(long in line and "1,2,3,4,5,6,7,8,9,10" in line and "enabled" in line for line in piped.splitlines())


def test_lists_of_many_pages_are_one_list(hourhand: Terminal) -> None:
    with hourhand.served.client() as client:
        for number in range(205):
            body = {"name": f"many-{number:03}", "type": "command", "payload": {"command": ["true"]}}
            assert client.post("/api/v1/tasks", json=body).status_code == 201
    found = hourhand.done("task", "list", "-q", "many-", "--limit", "1000", "--json").json
    assert [one["name"] for one in found["items"]] == [f"many-{number:03}" for number in range(205)]
    assert found["next_cursor"] is None
    some = hourhand("task", "list", "-q", "many-", "--limit", "3")
    assert len(some.out.splitlines()) == 4
    assert "there are more" in some.err


def test_without_a_server_it_says_what_to_start(tmp_path: Path) -> None:
    ran = run(tmp_path, "task", "list", HOURHAND_URL="http://127.0.0.1:9")
    assert (ran.code, ran.out) == (1, "")
    assert len(ran.err.splitlines()) == 1
    assert "start one with `hourhand serve`" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_without_a_token_it_says_which_to_set(hourhand: Terminal, tmp_path: Path) -> None:
    ran = run(tmp_path, "task", "list", HOURHAND_URL=hourhand.served.address)
    assert (ran.code, ran.out) == (1, "")
    assert "set HOURHAND_TOKEN" in ran.err
    wrong = run(tmp_path, "task", "list", HOURHAND_URL=hourhand.served.address, HOURHAND_TOKEN="hh_canary")  # noqa: S106
    assert wrong.code == 1
    assert "refuses the token" in wrong.err
    assert "canary" not in wrong.err


def test_the_folder_of_the_server_is_enough(hourhand: Terminal) -> None:
    port = hourhand.served.address.rpartition(":")[2]
    ran = run(hourhand.served.folder, "group", "list", "--json", HOURHAND_PORT=port)
    assert "default" in {one["name"] for one in ran.json["items"]}


def test_groups_and_executors(hourhand: Terminal) -> None:
    assert hourhand.done("group", "add", "billing", "--title", "Bills", "--json").json["title"] == "Bills"
    assert "exists already" in hourhand.refused("group", "add", "billing", code=1)
    assert "Bills" in hourhand.done("group", "list").out
    executors = hourhand("executors", "--json").json
    assert executors.keys() == {"items", "next_cursor"}
    alive = hourhand.done("executors").out.splitlines()
    assert alive[0].split()[:3] == ["ID", "GROUP", "STATE"]
    assert alive[1].split()[2] == "alive"
