"""`hourhand schedule upcoming` and `hourhand task impact` against a real server."""

from __future__ import annotations

import pytest

from api.cli import Terminal
from serving import Served


@pytest.fixture(scope="module")
def hourhand(served: Served) -> Terminal:
    terminal = Terminal(served)
    terminal.done("group", "add", "agenda")
    for name, *more in (
        ("i-load", "--schedule", "0 9 * * *", "--timezone", "Asia/Shanghai"),
        ("i-check", "--depends-on", "i-load", "--schedule", "30 9 * * *"),
        ("i-report", "--depends-on", "i-check", "--upstream-failure-policy", "fail"),
        ("i-alone",),
    ):
        terminal.done("task", "add", name, "--command", "true", "--group", "agenda", *more)
    return terminal


def test_what_fires_next_is_shown_by_time(hourhand: Terminal) -> None:
    period = ("--from", "2100-01-01", "--to", "2100-01-02", "--group", "agenda")
    lines = hourhand.done("schedule", "upcoming", *period).out.splitlines()
    assert [line.split()[:4] for line in lines[1:]] == [
        ["2100-01-01", "01:00:00Z", "i-load", "agenda"],
        ["2100-01-01", "09:30:00Z", "i-check", "agenda"],
    ]
    found = hourhand.done("schedule", "upcoming", *period, "--task", "i-check", "--json").json
    assert [(one["task_name"], one["at"]) for one in found["items"]] == [("i-check", "2100-01-01T09:30:00Z")]
    cut = hourhand("schedule", "upcoming", *period, "--limit", "1")
    assert (cut.code, len(cut.out.splitlines())) == (0, 2)
    assert "there are more (--limit)" in cut.err
    assert "Nothing fires" in hourhand("schedule", "upcoming", "--task", "i-alone").err
    wrong = ("--from", "2100-01-02", "--to", "2100-01-01")
    assert "--from" in hourhand.refused("schedule", "upcoming", *wrong, code=2)


def test_what_is_paused_says_so(hourhand: Terminal) -> None:
    paused = hourhand.done("pause", "task", "i-load", "--reason", "the ledger moves", "--json").json
    try:
        out = hourhand.done("schedule", "upcoming", "--task", "i-load", "--from", "7d", "--to", "9d").out
    finally:
        hourhand.done("pause", "resume", str(paused["id"]))
    assert out.count("it falls into a pause and is skipped") == 2


def test_what_a_failure_would_block(hourhand: Terminal) -> None:
    lines = hourhand.done("task", "impact", "i-load").out.splitlines()
    assert [line.split()[:4] for line in lines[1:]] == [
        ["i-check", "agenda", "1", "waits"],
        ["i-report", "agenda", "2", "fails"],
    ]
    found = hourhand.done("task", "impact", "i-check", "--json").json
    assert ([one["name"] for one in found["items"]], found["hidden"]) == (["i-report"], 0)
    none = hourhand("task", "impact", "i-alone")
    assert (none.code, none.out) == (0, "")
    assert "blocks no other" in none.err
    assert "did you mean" in hourhand.refused("task", "impact", "i-lod", code=1)
