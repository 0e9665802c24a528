"""`hourhand alert` against a real server, with a sink of its own."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from unittest.mock import patch

import pytest

from api.cli import Terminal
from serving import Served


@pytest.fixture(scope="module")
def hourhand(served: Served) -> Terminal:
    terminal = Terminal(served)
    terminal.done("task", "add", "alerted", "--command", "true")
    return terminal


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)[:60]


class Sink(BaseHTTPRequestHandler):
    """Takes whatever is posted to /yes."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204 if self.path == "/yes" else 500)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def sink() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Sink) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_rule_is_added_shown_changed_and_deleted(hourhand: Terminal, name: str, sink: str) -> None:
    said = hourhand.done("alert", "add", name, "--when", "failed", "--task", "alerted", "--webhook", f"{sink}/yes").out
    assert said.startswith(f"Alert rule {name!r} is added")
    rule = hourhand.done("alert", "show", name, "--json").json
    assert (rule["condition"], rule["scope"]) == ({"kind": "failed"}, {"task": "alerted"})
    changed = hourhand.done("alert", "edit", name, "--disable", "--when", "running_longer", "--times-median", "3").out
    assert changed == f"Alert rule {name!r} is changed (condition, enabled).\n"
    (row,) = [line for line in hourhand.done("alert", "list").out.splitlines() if line.startswith(f"{name} ")]
    assert "running_longer times_median=3" in row
    assert "disabled" in row
    assert f"{sink}/yes" in row
    hourhand.done("alert", "edit", name, "--rename", f"{name}-2", "--group", "default")
    assert "group 'default'" in hourhand.done("alert", "show", f"{name}-2").out
    assert hourhand.done("alert", "delete", f"{name}-2").out == f"Alert rule '{name}-2' is deleted.\n"
    assert "there is no alert rule" in hourhand.refused("alert", "show", f"{name}-2", code=1)


def test_a_test_goes_to_every_target(hourhand: Terminal, name: str, sink: str) -> None:
    hourhand.done("alert", "add", name, "--when", "executor_lost", "--webhook", f"{sink}/yes")
    assert hourhand.done("alert", "test", name).out == f"{sink}/yes: sent\n"
    hourhand.done("alert", "edit", name, "--webhook", f"{sink}/yes", "--webhook", f"{sink}/no")
    ran = hourhand("alert", "test", name)
    assert ran.code == 1
    assert f"{sink}/no: answered 500" in ran.out
    as_json = hourhand("alert", "test", name, "--json")
    assert as_json.code == 1
    assert [one["ok"] for one in as_json.json["targets"]] == [True, False]
    hourhand.done("alert", "delete", name)


def test_a_rule_comes_from_a_file_or_from_standard_input(hourhand: Terminal, name: str, tmp_path: Path) -> None:
    whole = {"condition": {"kind": "late", "seconds": 60}, "quiet_hours": {"from": "22:00", "to": "07:00"}}
    file = tmp_path / "rule.json"
    file.write_text(json.dumps(whole))
    rule = hourhand.done("alert", "add", name, "-f", str(file), "--task", "alerted", "--json").json
    assert rule["condition"] == whole["condition"]
    assert rule["scope"] == {"task": "alerted"}
    assert rule["quiet_hours"]["from"] == "22:00"
    with patch("sys.stdin", io.StringIO('{"repeat_seconds": 3600}')):
        assert hourhand.done("alert", "edit", name, "-f", "-", "--json").json["repeat_seconds"] == 3600
    hourhand.done("alert", "delete", name)
    assert "--file: " in hourhand.refused("alert", "add", name, "-f", str(tmp_path / "none"), code=2)
    file.write_text("[]")
    assert "holds no JSON object" in hourhand.refused("alert", "add", name, "-f", str(file), code=2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "--when: is missing"),
        (["--count", "3"], "--count: needs --when"),
        (["--when", "failed_in_a_row"], "--count: is required"),
        (["--when", "late", "--seconds", "-1"], "--seconds: -1"),
        (["--when", "failed", "--condition", "{}"], "--condition: is given together with --when"),
        (["--condition", "[]"], "--condition: '[]' is not a JSON object"),
        (["--when", "failed", "--task", "alerted", "--group", "default"], "--group: is given together with --task"),
        (["--when", "failed", "--to", "canary"], "--to: "),
    ],
)
def test_what_is_wrong_is_said_of_the_option(hourhand: Terminal, options: list[str], said: str) -> None:
    refusal = hourhand.refused("alert", "add", "wrong", *options, code=2)
    assert said in refusal
    assert "canary" not in refusal


def test_what_fires_and_what_was_told(hourhand: Terminal) -> None:
    assert hourhand("alert", "firing").code == 0
    assert hourhand.done("alert", "firing", "--json").json.keys() == {"firing", "items", "next_cursor"}
    assert hourhand("alert", "notices").code == 0
    assert hourhand.done("alert", "notices", "--json").json.keys() == {"firing", "items", "next_cursor"}
