"""Commands of the CLI that change many at once: counted first, and never without a yes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from api.at_a_terminal import asked
from api.cli import Terminal
from serving import Served


@pytest.fixture(scope="module")
def hourhand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    with Served(tmp_path_factory.mktemp("many")) as served:
        terminal = Terminal(served)
        terminal.done("group", "add", "nobody")
        yield terminal


@pytest.fixture
def task(hourhand: Terminal, request: pytest.FixtureRequest) -> str:
    """Add a task of a group without executors, and three instances of it."""
    name = str(request.node.name)
    hourhand.done("task", "add", name, "--command", "true", "--group", "nobody")
    for _ in range(3):
        hourhand.done("task", "run", name)
    return name


def statuses(hourhand: Terminal, task: str) -> list[str]:
    return [one["status"] for one in hourhand.done("instance", "list", "--task", task, "--json").json["items"]]


def test_a_dry_run_counts_and_changes_nothing(hourhand: Terminal, task: str) -> None:
    said = hourhand.done("instance", "cancel", "--task", task, "--status", "pending", "--dry-run").out
    assert said == "3 instances would be cancelled or asked to stop.\n"
    assert statuses(hourhand, task) == ["pending"] * 3


def test_cancel_and_retry_by_filter(hourhand: Terminal, task: str) -> None:
    cancel = ("instance", "cancel", "--task", task, "--since", "1h", "--group", "nobody", "--yes")
    assert hourhand.done(*cancel, "--reason", "enough").out == "3 instances cancelled or asked to stop.\n"
    assert statuses(hourhand, task) == ["cancelled"] * 3
    assert hourhand.done(*cancel).out.startswith("There is nothing to cancel")
    retried = hourhand.done("instance", "retry", "--task", task, "--status", "cancelled", "--yes", "--json").json
    assert retried == {"dry_run": False, "matched": 3, "done": 3, "refused": [], "more": False}
    assert statuses(hourhand, task) == ["pending"] * 3


def test_without_a_terminal_and_without_a_yes_nothing_is_changed(hourhand: Terminal, task: str) -> None:
    assert "--yes: is missing" in hourhand.refused("instance", "cancel", "--task", task, code=2)
    assert "--yes: is missing" in hourhand.refused("task", "delete", "--search", task, code=2)
    assert statuses(hourhand, task) == ["pending"] * 3


def test_at_a_terminal_it_asks_with_the_count(hourhand: Terminal, task: str) -> None:
    no = asked(hourhand, "instance", "cancel", "--task", task, answers=[("Cancel 3 instances? [y/N]", "n")])
    assert no.code == 1
    assert "Nothing was changed." in no.screen
    assert statuses(hourhand, task) == ["pending"] * 3
    yes = asked(hourhand, "instance", "cancel", "--task", task, answers=[("Cancel 3 instances? [y/N]", "y")])
    assert yes.code == 0
    assert "3 instances cancelled" in yes.screen
    assert statuses(hourhand, task) == ["cancelled"] * 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["instance", "cancel"], "--all: is missing: name one instance"),
        (["task", "delete", "--yes"], "--all: is missing: name one task"),
        (["instance", "cancel", "7", "--yes", "--all"], "ID: is given together with options for many"),
        (["task", "disable", "x", "--group", "nobody"], "NAME: is given together with options for many"),
        (["instance", "cancel", "--status", "success", "--yes"], "--status: to cancel success ones is no use"),
        (["instance", "retry", "--all", "--yes", "--args", "{}"], "--args: is for one instance"),
        (["instance", "cancel", "--since", "soon", "--yes"], "--since: 'soon' is not a time"),
        (["instance", "cancel", "--error", "disk", "--yes"], "--error: what has not ended has no error"),
        (["task", "enable", "--group", "unheard-of", "--yes"], "--group: there is no group 'unheard-of'"),
    ],
)
def test_what_cannot_be_meant_is_refused(hourhand: Terminal, arguments: list[str], said: str) -> None:
    assert said in hourhand.refused(*arguments, code=2)


def test_tasks_are_disabled_and_enabled_by_filter(hourhand: Terminal, task: str) -> None:
    hourhand.done("task", "add", f"{task}-2", "--command", "true")
    assert hourhand.done("task", "disable", "-q", task, "--yes").out == "2 tasks disabled.\n"
    assert hourhand.done("task", "disable", "-q", task, "--yes").out.startswith("There is nothing to disable")
    assert hourhand.done("task", "enable", "-q", task, "--group", "nobody", "--yes").out == "1 task enabled.\n"
    assert hourhand.done("task", "show", f"{task}-2", "--json").json["enabled"] is False
    assert hourhand.done("task", "enable", "-q", task, "--type", "http", "--yes").out.startswith("There is nothing")
    assert hourhand.done("task", "enable", "--all", "--dry-run").out == "1 task would be enabled.\n"


def test_the_searches_of_the_lists_choose_what_is_changed(hourhand: Terminal, task: str) -> None:
    hourhand.done("task", "add", f"{task}-2", "--command", "true", "--owner", "ada", "--tag", "eu", "--group", "nobody")
    hourhand.done("task", "run", f"{task}-2", "--args", '{"day": "Sunday"}')
    for options in (["--owner", "ada"], ["--tag", "eu"], ["-q", task, "--exclude", "-2"]):
        listed = hourhand.done("task", "list", *options, "--json").json["items"]
        assert len([one for one in listed if one["name"].startswith(task)]) == 1
        assert hourhand.done("task", "disable", *options, "--dry-run").out == "1 task would be disabled.\n"
    for options in (["--owner", "ada"], ["--with-args", "SUN", "-q", task], ["-q", f"{task}-2"]):
        (found,) = hourhand.done("instance", "list", *options, "--json").json["items"]
        assert found["args"] == {"day": "Sunday"}
        assert hourhand.done("instance", "cancel", *options, "--dry-run").out.startswith("1 instance would be")
    assert hourhand.done("instance", "list", "-q", task, "--exclude", "-2", "--json").json["items"]
    assert hourhand.done("instance", "list", "--error", "disk", "--json").json["items"] == []
    assert "no data source 'x'" in hourhand.refused("instance", "list", "--data-source", "x", code=1)


def test_what_is_left_as_it_is_is_named_and_ends_with_1(hourhand: Terminal, task: str) -> None:
    hourhand.done("task", "add", "needs-it", "--command", "true", "--depends-on", task)
    ran = hourhand("task", "delete", "-q", task, "--yes")
    assert (ran.code, ran.out) == (1, "0 tasks deleted.\n")
    assert "needed by needs-it" in ran.err
    assert hourhand.done("task", "delete", "-q", task, "--force", "--yes").out == "1 task deleted.\n"
