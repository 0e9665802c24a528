"""The reference of the CLI names every command there is, and of tasks every option; its examples are run."""

from __future__ import annotations

import io
import re
import shlex
import threading
from collections.abc import Iterator
from dataclasses import fields
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from unittest.mock import patch

import pytest
import typer

from api.cli import Terminal
from hourhand.cli.alert_options import AlertOptions
from hourhand.cli.main import app
from hourhand.cli.many import InstanceFilter, TaskFilter
from hourhand.cli.task_options import TaskOptions, flag
from postgres import Cluster
from serving import Served

REFERENCE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "cli.md").read_text("utf-8")
EXAMPLES = re.findall(r"```sh\n(.*?)```", REFERENCE, re.DOTALL)
SOMEWHERE = "https://example.com/alerts"
SHOP = "postgresql://hourhand@db.example.com/shop"
_PIPED = re.compile(r"printf '(.*)\\n' \| (.*)")
_NAMES = {"everything": "all", "q": "search", "kind": "type"}


def commands(node: object, path: str) -> Iterator[str]:
    below = getattr(node, "commands", None)
    if below is None:
        yield path
    else:
        for name, command in below.items():
            yield from commands(command, f"{path} {name}")


COMMANDS = sorted(commands(typer.main.get_command(app), "hourhand"))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_described(command: str) -> None:
    assert f"`{command}" in REFERENCE


@pytest.mark.parametrize("command", [*COMMANDS, "hourhand stats"])
def test_every_command_has_an_example(command: str) -> None:
    assert re.search(rf"^(printf .* \| )?{command}( |$)", REFERENCE, re.MULTILINE)


@pytest.mark.parametrize(
    "option",
    sorted(
        {
            flag(_NAMES.get(field.name, field.name))
            for options in (TaskOptions, TaskFilter, InstanceFilter, AlertOptions)
            for field in fields(options)
        }
    ),
)
def test_every_option_that_commands_share_is_described(option: str) -> None:
    assert f"`{option}" in REFERENCE


class Sink(BaseHTTPRequestHandler):
    """Takes whatever is posted."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def somewhere() -> Iterator[str]:
    """Stand in for the address of the examples."""
    with HTTPServer(("127.0.0.1", 0), Sink) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def hourhand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """Serve a fresh store, on which somebody has signed in."""
    with Served(tmp_path_factory.mktemp("examples")) as served:
        with served.visitor() as browser:
            assert browser.post("/api/v1/sessions", json={"token": served.token}).status_code == 201
        yield Terminal(served)


def test_the_examples_work_one_after_another(hourhand: Terminal, somewhere: str, cluster: Cluster) -> None:
    shop = cluster.create_database()
    for line in "".join(EXAMPLES).splitlines():
        piped = _PIPED.fullmatch(line)
        text, command = (f"{piped[1]}\n".replace(r"\n", "\n"), piped[2]) if piped else ("", line)
        program, *arguments = shlex.split(command.replace(SOMEWHERE, somewhere).replace(SHOP, shop))
        assert program == "hourhand"
        with patch("sys.stdin", io.StringIO(text)):
            ran = hourhand(*arguments)
        assert ran.code == 0, (line, ran)
        assert ran.out or ran.err, line
        assert "Traceback" not in ran.err
