"""`hourhand instance explain` and `attempts`, and what `task run` tells at the end, against a real server."""

from __future__ import annotations

import pytest

from api.cli import Terminal
from serving import Served


@pytest.fixture(scope="module")
def hourhand(served: Served) -> Terminal:
    terminal = Terminal(served)
    terminal.done("group", "add", "explained")
    terminal.done("task", "add", "ex-idle", "--command", "true", "--group", "explained")
    terminal.done(
        *("task", "add", "ex-bad", "--command", "sh -c 'echo oops >&2; exit 3'", "--retries", "1", "--retry-delay", "0")
    )
    terminal.done("task", "add", "ex-good", "--command", "sh -c 'seq 30'")
    return terminal


def test_why_it_does_not_run(hourhand: Terminal) -> None:
    instance = str(hourhand.done("task", "run", "ex-idle", "--json").json["id"])
    sentence, first, *_ = hourhand.done("instance", "explain", instance).out.splitlines()
    found = hourhand.done("instance", "explain", instance, "--json").json
    assert sentence == found["summary"]
    assert "explained" in sentence
    assert first.startswith(f"- {found['reasons'][0]['code']}")
    ran = hourhand("instance", "attempts", instance)
    assert (ran.code, ran.out) == (0, "")
    assert "has not been attempted" in ran.err
    hourhand.done("instance", "cancel", instance)
    assert "there is no instance 999999" in hourhand.refused("instance", "explain", "999999", code=1)


def test_why_it_failed_and_how_often_it_was_tried(hourhand: Terminal) -> None:
    instance = str(hourhand("task", "run", "ex-bad", "--wait", "--json").json["id"])
    assert "exit code 3" in hourhand.done("instance", "explain", instance).out
    lines = hourhand.done("instance", "attempts", instance).out.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["1", "failed"], ["2", "failed"]]
    assert len(hourhand.done("instance", "attempts", instance, "--json").json["items"]) == 2


def test_the_end_of_what_it_wrote_is_told(hourhand: Terminal) -> None:
    lines = hourhand.done("task", "run", "ex-good", "--wait").out.splitlines()
    assert "success" in lines[0]
    assert [line.split()[-1] for line in lines[1:]] == ["…", *map(str, range(21, 31))]
    assert "error  oops" in hourhand("task", "run", "ex-bad", "--wait").out


def test_a_key_that_lives_already_is_told(hourhand: Terminal) -> None:
    first = hourhand.done("task", "run", "ex-idle", "--key", "k").out.split()[1]
    again = hourhand("task", "run", "ex-idle", "--key", "k")
    assert (again.code, again.out) == (0, f"Instance {first} of task 'ex-idle' is pending.\n")
    assert again.err == f"This is the living instance {first} with that key: no new one was made.\n"
    hourhand.done("instance", "cancel", first)
    assert hourhand.done("task", "run", "ex-idle", "--key", "k").out.split()[1] != first
