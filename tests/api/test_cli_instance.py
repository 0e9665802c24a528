"""`hourhand task run` and `hourhand instance`: following real instances of a real server."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from api.cli import Terminal, environment
from serving import Served

NOBODY = "nobody"
"""A group without executors."""


@pytest.fixture(scope="module")
def hourhand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    with Served(tmp_path_factory.mktemp("cli")) as served:
        terminal = Terminal(served)
        terminal.done("group", "add", NOBODY)
        terminal.done("task", "add", "idle", "--command", "true", "--group", NOBODY)
        terminal.done("task", "add", "good", "--command", "sh -c 'echo one; echo two >&2'")
        terminal.done("task", "add", "bad", "--command", "sh -c 'echo oops >&2; exit 3'")
        yield terminal


def submitted(hourhand: Terminal, task: str, *options: str) -> int:
    return int(hourhand.done("task", "run", task, *options, "--json").json["id"])


def test_run_answers_at_once(hourhand: Terminal) -> None:
    said = hourhand.done("task", "run", "idle").out
    assert said.startswith("Instance ")
    assert said.endswith(" of task 'idle' is pending.\n")


def test_run_says_what_it_was_told(hourhand: Terminal) -> None:
    options = ("--args", '{"day": "ä"}', "--priority", "0", "--key", "k", "--run-at", "2100-01-01T00:00")
    instance = hourhand.done("task", "run", "idle", *options, "--json").json
    told = {name: instance[name] for name in ("args", "priority", "key", "available_at", "triggered_by")}
    assert told == {
        "args": {"day": "ä"},
        "priority": 0,
        "key": "k",
        "available_at": "2100-01-01T00:00:00Z",
        "triggered_by": "manual",
    }
    assert submitted(hourhand, "idle", "--key", "k") == instance["id"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--args", "[1]"], "--args: '[1]' is not a JSON object"),
        (["--args", "day"], "--args: 'day' is not JSON"),
        (["--run-at", "soon"], "--run-at: 'soon' is not a time"),
    ],
)
def test_wrong_values_are_refused(hourhand: Terminal, options: list[str], said: str) -> None:
    assert said in hourhand.refused("task", "run", "idle", *options, code=2)


def test_wait_for_success(hourhand: Terminal) -> None:
    said = hourhand.done("task", "run", "good", "--wait").out
    assert " of task 'good': success after " in said


def test_wait_for_failure_ends_with_1(hourhand: Terminal) -> None:
    ran = hourhand("task", "run", "bad", "--wait")
    assert ran.code == 1
    assert "failed after" in ran.out
    assert "exit code 3" in ran.out
    as_json = hourhand("task", "run", "bad", "--wait", "--json")
    assert (as_json.code, as_json.err) == (1, "")
    assert as_json.json["status"] == "failed"


def test_follow_prints_what_it_writes_and_nothing_else(hourhand: Terminal) -> None:
    ran = hourhand("task", "run", "good", "--follow")
    assert ran.code == 0
    assert sorted(ran.out.splitlines()) == ["one", "two"]
    assert "success" in ran.err


def test_follow_prints_lines_while_it_runs(hourhand: Terminal) -> None:
    hourhand.done("task", "add", "slow", "--command", "sh -c 'echo begun; sleep 600'", "--timeout", "900")
    with following(hourhand, "task", "run", "slow", "--follow") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "begun\n"
        (running,) = hourhand.done("instance", "list", "--task", "slow", "--status", "running", "--json").json["items"]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 1
        said = process.stderr.read()
        assert f"Instance {running['id']} goes on." in said
        assert "Traceback" not in said
    still = hourhand.done("instance", "show", str(running["id"]), "--json").json
    assert still["status"] == "running"
    with following(hourhand, "instance", "logs", str(running["id"]), "--follow") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "begun\n"
        assert (
            "has been asked to stop"
            in hourhand.done("instance", "cancel", str(running["id"]), "--reason", "enough").out
        )
        assert process.wait(timeout=60) == 0
        assert "cancelled" in process.stderr.read()


def following(hourhand: Terminal, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hourhand", *arguments],
        cwd=hourhand.served.folder,
        env=environment(HOURHAND_URL=hourhand.served.address),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_logs(hourhand: Terminal) -> None:
    instance = hourhand("task", "run", "good", "--wait", "--json").json["id"]
    assert sorted(hourhand.done("instance", "logs", str(instance)).out.splitlines()) == ["one", "two"]
    lines = hourhand.done("instance", "logs", str(instance), "--times").out.splitlines()
    assert all(line[:4].isdigit() and line[19] == "Z" for line in lines)
    items = hourhand.done("instance", "logs", str(instance), "--json").json["items"]
    assert {one["stream"] for one in items} == {"stdout", "stderr"}
    assert "there is no instance 999999" in hourhand.refused("instance", "logs", "999999", code=1)
    assert "--follow" in hourhand.refused("instance", "logs", str(instance), "--follow", "--json", code=2)


def test_list_and_its_filters(hourhand: Terminal) -> None:
    instance = hourhand("task", "run", "bad", "--wait", "--json").json["id"]
    found = hourhand.done("instance", "list", "--task", "bad", "--status", "failed", "--since", "1h", "--json").json
    assert instance in [one["id"] for one in found["items"]]
    assert {one["task_name"] for one in found["items"]} == {"bad"}
    table = hourhand.done("instance", "list", "--task", "bad", "--limit", "200").out
    assert "exit code 3" in table
    none = hourhand("instance", "list", "--task", "bad", "--since", "2100-01-01")
    assert (none.code, none.out) == (0, "")
    assert "no such instances" in none.err
    assert "--since: 'soon' is not a time" in hourhand.refused("instance", "list", "--since", "soon", code=2)
    assert "there is no task" in hourhand.refused("instance", "list", "--task", "unheard-of", code=1)


@pytest.mark.parametrize(
    ("options", "tasks"),
    [
        (["--group", NOBODY], {"listed-here"}),
        (["--group", "default"], {"listed-there"}),
        (["--type", "http"], set()),
        (["--type", "command"], {"listed-here", "listed-there"}),
        (["--executor", "EXECUTOR"], {"listed-there"}),
        (["--executor", "unheard-of"], set()),
        (["--triggered-by", "manual"], {"listed-here"}),
        (["--triggered-by", "api"], {"listed-there"}),
        (["--before", "2001-01-01"], set()),
    ],
)
def test_what_is_about_to_be_cancelled_can_be_listed(hourhand: Terminal, options: list[str], tasks: set[str]) -> None:
    if not hourhand.done("task", "list", "-q", "listed-", "--json").json["items"]:
        hourhand.done("task", "add", "listed-here", "--command", "true", "--group", NOBODY)
        hourhand.done("task", "add", "listed-there", "--command", "sleep 900")
        hourhand.done("task", "run", "listed-here")
        hourhand.done("instance", "dispatch", hourhand.done("instance", "plan", "listed-there").out.split()[1])
    there = ("instance", "list", "--task", "listed-there", "--status", "running", "--json")
    deadline = time.monotonic() + 60
    while not (running := hourhand.done(*there).json["items"]):
        assert time.monotonic() < deadline
    executor = running[0]["executor_id"]
    chosen = [executor if one == "EXECUTOR" else one for one in options]
    found = set()
    for task in ("listed-here", "listed-there"):
        items = hourhand.done("instance", "list", "--task", task, *chosen, "--json").json["items"]
        many = hourhand.done("instance", "cancel", "--task", task, *chosen, "--dry-run", "--json").json
        assert many["matched"] == len(items)
        found |= {one["task_name"] for one in items}
    assert found == tasks


def test_cancel_and_retry(hourhand: Terminal) -> None:
    instance = submitted(hourhand, "idle", "--args", '{"n": 1}')
    assert hourhand.done("instance", "cancel", str(instance)).out == f"Instance {instance} is cancelled.\n"
    refused = hourhand.refused("instance", "cancel", str(instance), code=1)
    assert f"instance {instance} was cancelled: there is nothing to cancel\n" in refused
    retried = hourhand.done("instance", "retry", str(instance), "--args", '{"n": 2}', "--json").json
    assert (retried["status"], retried["args"]) == ("pending", {"n": 2})
    hourhand.done("instance", "cancel", str(instance))
    said = f"Instance {instance} is pending again, with version 1 of task 'idle'.\n"
    assert hourhand.done("instance", "retry", str(instance)).out == said


def test_what_cannot_be_retried_says_what_can_be_done_instead(hourhand: Terminal) -> None:
    hourhand.done("task", "add", "well done", "--command", "true")
    instance = hourhand.done("task", "run", "well done", "--wait", "--json").json["id"]
    said = hourhand.refused("instance", "retry", str(instance), code=1)
    assert (
        f"instance {instance} has succeeded: there is nothing to retry; `hourhand task run 'well done'` makes" in said
    )
    said = hourhand.refused("instance", "cancel", str(instance), code=1)
    assert said == f"Error: instance {instance} has succeeded: there is nothing to cancel\n"
    planned = hourhand.done("instance", "plan", "well done", "--json").json["id"]
    said = hourhand.refused("instance", "retry", str(planned), code=1)
    assert f"instance {planned} is planned: it can be retried once it has failed or was cancelled" in said


def test_retry_says_that_it_keeps_its_version(hourhand: Terminal) -> None:
    hourhand.done("task", "add", "edited once", "--command", "true", "--group", NOBODY)
    instance = str(submitted(hourhand, "edited once"))
    hourhand.done("task", "edit", "edited once", "--priority", "1")
    hourhand.done("instance", "cancel", instance)
    first, second = hourhand.done("instance", "retry", instance).out.splitlines()
    assert first.endswith("is pending again, with version 1 of task 'edited once'.")
    assert second.startswith("The task is at version 2 now, but an instance keeps the version")
    assert second.endswith("unless it is retried with --current-version.")
    hourhand.done("instance", "cancel", instance)
    mended = hourhand.done("instance", "retry", instance, "--current-version").out
    assert mended.endswith("is pending again, with version 2 of task 'edited once'.\n")
    refused = hourhand("instance", "retry", "--all", "--current-version", "--yes")
    assert (refused.code, "name it by its ID" in refused.err) == (2, True)


def test_plan_and_dispatch(hourhand: Terminal) -> None:
    planned = hourhand.done("instance", "plan", "idle", "--args", '{"n": 1}', "--json").json
    assert (planned["status"], planned["args"]) == ("planned", {"n": 1})
    assert "waits for dispatch" in hourhand.done("instance", "list", "--task", "idle", "--status", "planned").out
    said = hourhand.done("instance", "plan", "idle").out
    other = said.split()[1]
    assert hourhand.done("instance", "dispatch", str(planned["id"]), other).out == "2 instances dispatched.\n"
    assert "does not wait to be dispatched" in hourhand.refused("instance", "dispatch", other, code=1)


def test_wait_ends_with_1_when_it_is_cancelled(hourhand: Terminal) -> None:
    hourhand.done("task", "add", "waited", "--command", "true", "--group", NOBODY)
    with following(hourhand, "task", "run", "waited", "--wait") as process:
        deadline = time.monotonic() + 60
        while not (found := hourhand.done("instance", "list", "--task", "waited", "--json").json["items"]):
            assert time.monotonic() < deadline
        hourhand.done("instance", "cancel", str(found[0]["id"]))
        assert process.wait(timeout=60) == 1
        assert process.stdout is not None
        said = process.stdout.read()
        assert said.endswith(" of task 'waited': cancelled by admin\n")
        explained = hourhand.done("instance", "explain", str(found[0]["id"])).out
        assert "admin cancelled it before it started" in explained
        assert "cancelled by admin" not in explained


def test_show(hourhand: Terminal) -> None:
    instance = hourhand("task", "run", "bad", "--wait", "--json").json
    shown = hourhand.done("instance", "show", str(instance["id"])).out
    assert "oops" in shown
    assert "failed" in shown
    assert hourhand.done("instance", "show", str(instance["id"]), "--json").json == instance


def test_what_a_task_writes_cannot_take_over_the_terminal(hourhand: Terminal) -> None:
    hourhand.done("task", "add", "rude", "--shell", "--command", r"printf '\033]0;owned\007' >&2; exit 1")
    instance = hourhand("task", "run", "rude", "--wait", "--json").json["id"]
    for arguments in (("instance", "show", str(instance)), ("instance", "list", "--task", "rude")):
        assert "\x1b]" not in hourhand.done(*arguments).out
    said = hourhand("task", "run", "rude", "--wait").out
    assert "owned" in said
    assert "\x1b]" not in said
