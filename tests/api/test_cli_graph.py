"""`hourhand task graph` against a real server."""

from __future__ import annotations

import pytest

from api.cli import Terminal
from serving import Served


@pytest.fixture(scope="module")
def hourhand(served: Served) -> Terminal:
    terminal = Terminal(served)
    terminal.done("group", "add", "graph")
    for name, *upstream in (("g-a",), ("g-b", "g-a"), ("g-c", "g-a"), ("g-d", "g-c", "g-b"), ("g-e", "g-d"), ("g-f",)):
        needs = [word for one in upstream for word in ("--depends-on", one)]
        terminal.done("task", "add", name, "--command", "true", "--group", "graph", *needs)
    return terminal


def test_each_task_stands_below_what_it_depends_on(hourhand: Terminal) -> None:
    lines = hourhand.done("task", "graph", "--group", "graph").out.splitlines()
    tasks = [line.partition("graph")[0].rstrip() for line in lines[1:]]
    assert tasks == ["g-a", "  g-b", "    g-d", "      g-e", "  g-c", "    g-d (see above)"]


def test_one_task_with_what_leads_to_it_and_from_it(hourhand: Terminal) -> None:
    found = hourhand.done("task", "graph", "g-c", "--json").json
    assert {node["name"] for node in found["nodes"]} == {"g-a", "g-b", "g-c", "g-d", "g-e"} - {"g-b"}
    assert found.keys() == {"nodes", "edges", "truncated"}
    assert "g-c" in hourhand.done("task", "graph", "g-c").out


def test_a_task_alone_is_said_to_be_so(hourhand: Terminal) -> None:
    ran = hourhand("task", "graph", "g-f")
    assert (ran.code, ran.out) == (0, "")
    assert "depends on none" in ran.err
    assert "did you mean" in hourhand.refused("task", "graph", "g-ff", code=1)
