"""`hourhand stats` against a real server."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from api.cli import Terminal
from serving import Served


@pytest.fixture(scope="module")
def hourhand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    with Served(tmp_path_factory.mktemp("stats")) as served:
        terminal = Terminal(served)
        terminal.done("group", "add", "nobody")
        terminal.done("task", "add", "good", "--command", "true")
        terminal.done("task", "add", "bad", "--command", "sh -c 'echo oops >&2; exit 3'")
        terminal.done("task", "add", "slow", "--command", "sleep 600")
        terminal.done("task", "add", "idle", "--command", "true", "--group", "nobody")
        terminal.done("task", "run", "good", "--wait")
        for _ in range(3):
            assert terminal("task", "run", "bad", "--wait").code == 1
        terminal.done("task", "run", "idle")
        assert terminal("task", "run", "slow", "--run-at", "2100-01-01").code == 0
        yield terminal


def rows(table: str) -> list[dict[str, str]]:
    """Read a table by the places of its titles; those of figures end where their figures do."""
    titles, *lines = table.splitlines()
    return [dict(zip(titles.replace("FAILURE RATE", "RATE").split(), line.split(), strict=False)) for line in lines]


def test_the_key_figures_by_group(hourhand: Terminal) -> None:
    every, default, nobody = rows(hourhand.done("stats", "--hours", "1").out)
    assert (every["GROUP"], default["GROUP"], nobody["GROUP"]) == ("all", "default", "nobody")
    assert (every["QUEUE"], default["LATER"], nobody["QUEUE"]) == ("1", "1", "1")
    assert (default["SUCCESS"], default["FAILED"], default["RATE"]) == ("1", "3", "75.0%")
    assert (default["EXECUTORS"], nobody["EXECUTORS"]) == ("1", "0")
    assert rows(hourhand.done("stats", "--group", "nobody").out)[0]["QUEUE"] == "1"
    found = hourhand.done("stats", "--json").json
    assert (found["pending_due"], found["failed"], len(found["groups"])) == (1, 3, 2)


def test_failures_by_reason(hourhand: Terminal) -> None:
    (one,) = hourhand.done("stats", "failures", "--days", "1", "--json").json["items"]
    assert one["count"] == 3
    table = hourhand.done("stats", "failures").out
    assert "oops" in table
    assert "bad" in table
    assert hourhand("stats", "failures", "--type", "http").err == "Nothing has failed.\n"


def test_series(hourhand: Terminal) -> None:
    found = hourhand.done("stats", "series", "--from", "2h", "--step", "1h", "--json").json
    assert sum(point["failed"] for point in found["items"]) == 3
    points = rows(hourhand.done("stats", "series", "--from", "2h", "--step", "1h").out)
    assert len(points) == len(found["items"])
    local = hourhand.done(
        "stats", "series", "--from", "2h", "--step", "1h", "--timezone", "Asia/Kathmandu", "--json"
    ).json
    assert {point["at"][13:] for point in local["items"]} == {":15:00Z"}
    assert sum(point["failed"] for point in local["items"]) == 3
    assert "--timezone: 'Mars' is not" in hourhand.refused("stats", "series", "--timezone", "Mars", code=2)
    assert "--step: '1x' is no step" in hourhand.refused("stats", "series", "--step", "1x", code=2)
    assert "--from: 'soon' is not a time" in hourhand.refused("stats", "series", "--from", "soon", code=2)


def test_distribution(hourhand: Terminal) -> None:
    (command,) = rows(hourhand.done("stats", "distribution").out)
    assert (command["TYPE"], command["PENDING"], command["FAILED"]) == ("command", "2", "3")
    assert hourhand.done("stats", "distribution", "--json").json["items"][0]["failed"] == 3
    assert "--group: there is no group 'x'" in hourhand.refused("stats", "distribution", "--group", "x", code=2)


def test_long_running(hourhand: Terminal) -> None:
    assert hourhand("stats", "long-running").err == "Nothing has been running for more than 30 minutes.\n"
    assert hourhand("stats", "long-running", "--minutes", "1").err.endswith(" for more than 1 minute.\n")
    instance = hourhand.done("task", "run", "slow", "--json").json["id"]
    deadline = time.monotonic() + 60
    while not (found := hourhand.done("stats", "long-running", "--minutes", "0", "--json").json["items"]):
        assert time.monotonic() < deadline
    assert [one["instance_id"] for one in found] == [instance]
    assert "slow" in hourhand.done("stats", "long-running", "--minutes", "0").out
    hourhand.done("instance", "cancel", str(instance))
