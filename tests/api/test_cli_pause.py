"""`hourhand pause` against a real server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from api.cli import Terminal
from serving import Served


@pytest.fixture(scope="module")
def hourhand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    with Served(tmp_path_factory.mktemp("pause")) as served:
        terminal = Terminal(served)
        terminal.done("task", "add", "books", "--command", "true", "--schedule", "@yearly")
        terminal.done("group", "add", "elsewhere")
        terminal.done("task", "add", "other", "--command", "true", "--group", "elsewhere")
        yield terminal


@pytest.fixture(autouse=True)
def resumed(hourhand: Terminal) -> Iterator[None]:
    yield
    for pause in hourhand.done("pause", "list", "--json").json["items"]:
        hourhand.done("pause", "resume", str(pause["id"]))


def test_a_paused_task_can_still_be_run_by_hand(hourhand: Terminal) -> None:
    said = hourhand.done("pause", "task", "books", "--reason", "the ledger moves").out
    assert "Task 'books' is paused. " in said
    assert "`hourhand task run books` still runs it" in said
    assert hourhand.done("task", "run", "books", "--wait", "--json").json["status"] == "success"
    listed = hourhand.done("pause", "list").out
    assert "task 'books'" in listed
    assert "the ledger moves" in listed
    assert "it is resumed" in listed


def test_a_group_rests_for_a_while(hourhand: Terminal) -> None:
    hourhand.done("group", "add", "nobody")
    hourhand.done("task", "add", "idle", "--command", "true", "--group", "nobody")
    made = hourhand.done("pause", "group", "nobody", "--reason", "x", "--for", "2h", "--json").json
    assert (made["scope"], made["group"]) == ("group", "nobody")
    away = datetime.fromisoformat(made["until"]) - datetime.now(UTC)
    assert timedelta(hours=1, minutes=50) < away <= timedelta(hours=2)
    instance = hourhand.done("task", "run", "idle", "--json").json
    assert "paused" in hourhand.done("instance", "explain", str(instance["id"])).out
    assert hourhand.done("pause", "resume", str(made["id"])).out == f"Pause {made['id']} is over.\n"
    assert "there is no pause" in hourhand.refused("pause", "resume", str(made["id"]), code=1)


def test_everything_rests_until_a_time(hourhand: Terminal) -> None:
    said = hourhand.done("pause", "all", "--reason", "moving", "--until", "2100-01-01").out
    assert said.startswith("Everything is paused until 2100-01-01 00:00:00Z. ")
    assert "everything" in hourhand.done("pause", "list").out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--reason", "x", "--for", "soon"], "--for: 'soon' is not a length of time"),
        (["--reason", "x", "--until", "soon"], "--until: 'soon' is not a time"),
        (["--reason", "x", "--until", "2001-01-01"], "--until: "),
        (["--reason", ""], "--reason: "),
        (["--reason", "x", "--for", "1h", "--until", "2100-01-01"], "--for: is given together with --until"),
    ],
)
def test_what_is_wrong_is_said_of_the_option(hourhand: Terminal, options: list[str], said: str) -> None:
    assert said in hourhand.refused("pause", "all", *options, code=2)


@pytest.mark.parametrize(
    ("pause", "also"),
    [
        (["task", "books"], ""),
        (["group", "default"], ", as is all of the group 'default'"),
        (["all"], ", as is everything"),
    ],
)
def test_a_pause_is_seen_where_tasks_are_shown(hourhand: Terminal, pause: list[str], also: str) -> None:
    assert "paused" not in hourhand.done("task", "list").out
    hourhand.done("pause", *pause, "--reason", "the ledger moves", "--until", "2100-01-01")
    told = f"until 2100-01-01 00:00:00Z by admin (the ledger moves){also}"
    assert re.search(rf"^paused +{re.escape(told)}$", hourhand.done("task", "show", "books").out, re.MULTILINE)
    assert f"Note: it is paused {told}\n" in hourhand.done("task", "upcoming", "books").out
    states = {line.split()[0]: line.split() for line in hourhand.done("task", "list").out.splitlines()}
    assert "paused" in states["books"]
    assert ("paused" in states["other"]) == (also == ", as is everything")


def test_a_maintenance_window_that_is_open_is_seen_too(hourhand: Terminal) -> None:
    task_id = hourhand.done("task", "show", "books", "--json").json["id"]
    window = {"scope": "task", "task_id": task_id, "reason": "backup", "duration_seconds": 7_200}
    with hourhand.served.client() as client:
        for name, schedule in (("always", "0 * * * *"), ("hardly", "@yearly")):
            made = client.post("/api/v1/maintenance-windows", json=window | {"name": name, "schedule": schedule})
            assert made.status_code == 201, made.text
        shown = hourhand.done("task", "show", "books").out
        assert re.search(r"^maintenance +'always' until .*Z \(backup\)$", shown, re.MULTILINE)
        assert "hardly" not in shown
        assert "maintenance" in hourhand.done("task", "list", "-q", "books").out
        assert "Note: it rests in the maintenance window 'always'" in hourhand.done("task", "upcoming", "books").out
        for one in client.get("/api/v1/maintenance-windows").json()["items"]:
            client.delete(f"/api/v1/maintenance-windows/{one['id']}").raise_for_status()


def test_a_second_pause_says_that_there_is_one(hourhand: Terminal) -> None:
    first = hourhand.done("pause", "task", "books", "--reason", "x", "--json").json["id"]
    hourhand.done("pause", "task", "other", "--reason", "x")
    again = hourhand("pause", "task", "books", "--reason", "y", "--for", "1h")
    assert again.code == 0
    assert again.err == (
        f"Pause {first} of it is in force already, until it is resumed, by admin (x): it rests until both are over.\n"
    )
    assert hourhand.done("pause", "list").out.count("task 'books'") == 2


def test_what_there_is_not_cannot_be_paused(hourhand: Terminal) -> None:
    assert "did you mean 'books'?" in hourhand.refused("pause", "task", "book", "--reason", "x", code=1)
    assert "NAME: there is no group 'x'" in hourhand.refused("pause", "group", "x", "--reason", "x", code=2)
    ran = hourhand("pause", "list")
    assert (ran.code, ran.out, ran.err) == (0, "", "Nothing is paused.\n")
