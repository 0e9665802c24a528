"""What holds for every command of the CLI, also for those that are yet to come: found by walking the tree of them."""

from __future__ import annotations

import io
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.cli import Ran, built, run_here
from serving import Served

PROCESSES = ("serve", "scheduler", "executor", "api")
"""They go on until they are stopped."""
WITHOUT_JSON = {*PROCESSES, "export"}
"""Commands that do not answer in one go, or whose answer is a document of another form."""
WITHOUT_SERVER = {*PROCESSES, "schedule preview", "db upgrade", "db check", "doctor", "secrets rotate"}
WRONG = "hh_wrong"
WORDS: dict[str, str] = {
    "NAME": "unheard-of",
    "TASK": "unheard-of",
    "ID": "987654321",
    "ID...": "987654321",
    "EXPR": "@daily",
    "KIND": "statistics_update",
}
"""What to write for an argument, by its metavar."""
NEEDED = {
    "--reason": "because",
    "--role": "viewer",
    "--from": "2026-01-01",
    "--to": "2026-01-02",
    "--data-source": "unheard-of",
}
"""And for an option that must be given."""
BESIDE: dict[str, tuple[str, ...]] = {
    "task add": ("--command", "true"),
    "task edit": ("--priority", "1"),
    "calendar edit": ("--rename", "x"),
    "window add": ("--all", "--schedule", "@daily", "--for", "2h", "--reason", "because"),
    "window edit": ("--for", "2h"),
    "group edit": ("--title", "x"),
    "user add": ("--password-stdin",),
    "user edit": ("--role", "viewer"),
    "user password": ("--password-stdin",),
    "alert add": ("--when", "failed"),
    "alert edit": ("--when", "failed"),
    "datasource add": ("postgresql://127.0.0.1:9/shop",),
    "datasource edit": ("--host", "127.0.0.1"),
    "operation preview": ("--set", "data_source=unheard-of"),
    "operation sample": ("--yes",),
    "operation start": ("--set", "data_source=unheard-of", "--yes"),
    "operation undo": ("--yes",),
    "token create": ("--role", "viewer"),
}
"""What a command wants beside its arguments."""


def walked(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, below in getattr(node, "commands", {}).items():
        here = f"{path} {name}".strip()
        if hasattr(below, "commands"):
            yield from walked(below, here)
        else:
            yield here, below


COMMANDS = dict(walked(built()))
OURS = [path for path in COMMANDS if path.split()[0] not in ("import", "demo", "apply", "export")]
"""Those that can be given something by `usual`: the others read files, or need none of it."""


def usual(path: str) -> list[str]:
    """The command with everything that it must be given."""
    words = path.split()
    for one in COMMANDS[path].params:
        if one.param_type_name == "argument" and (one.required or one.metavar in WORDS):
            words.append(WORDS[one.metavar])
        elif one.required:
            words += [one.opts[0], NEEDED[one.opts[0]]]
    return [*words, *BESIDE.get(path, ())]


@pytest.fixture(autouse=True)
def a_password_for_those_that_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("seven-quiet-otters\n"))


def nobody_there() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}"


def checked(ran: Ran, code: int) -> str:
    assert ran.code == code, ran
    assert ran.err.startswith("Error: "), ran
    assert "Traceback" not in ran.err
    assert "fault of Hourhand" not in ran.err
    return ran.err


@pytest.mark.parametrize("path", sorted(set(COMMANDS) - WITHOUT_JSON))
def test_every_command_takes_json(path: str) -> None:
    assert any("--json" in one.opts for one in COMMANDS[path].params), f"`hourhand {path}` has no --json"


@pytest.mark.parametrize("path", ["", *sorted({path.split()[0] for path in COMMANDS}), *sorted(COMMANDS)])
def test_every_help_fits_into_80_columns(path: str, tmp_path: Path) -> None:
    ran = run_here(tmp_path, *path.split(), "--help", COLUMNS="80", TERM="dumb")
    assert (ran.code, ran.err) == (0, "")
    assert max(map(len, ran.out.split("\n"))) <= 80
    assert "Usage: hourhand" in ran.out


@pytest.mark.parametrize("width", ["40", "80", "200"])
@pytest.mark.parametrize("path", sorted(COMMANDS))
def test_no_help_cuts_a_name_or_shows_a_type_of_ours(path: str, width: str, tmp_path: Path) -> None:
    said = run_here(tmp_path, *path.split(), "--help", COLUMNS=width, TERM="dumb").out
    shown = [one for one in COMMANDS[path].params if not one.hidden]
    assert all(re.search(rf"{re.escape(name)}(?![\w-])", said) for one in shown for name in names_of(one))
    assert not re.search(r"<[\w|\[\]]+>|xxl", said)


def names_of(param: Any) -> list[str]:
    return [*param.opts, *param.secondary_opts] if param.param_type_name == "option" else [param.display_name_raw]


@pytest.mark.parametrize("path", sorted(COMMANDS))
def test_wrong_usage_ends_with_2(path: str, tmp_path: Path) -> None:
    said = checked(run_here(tmp_path, *path.split(), "--nonsense"), 2)
    assert "--nonsense" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("path", sorted(set(OURS) - WITHOUT_SERVER))
def test_without_a_server_it_ends_with_1_and_says_what_to_start(path: str, tmp_path: Path) -> None:
    said = checked(run_here(tmp_path, *usual(path), HOURHAND_URL=nobody_there(), HOURHAND_TOKEN=WRONG), 1)
    assert "no Hourhand answers at" in said
    assert "hourhand serve" in said


@pytest.mark.parametrize("path", sorted(set(OURS) - WITHOUT_SERVER))
def test_with_a_wrong_token_it_ends_with_1_and_says_so(path: str, served: Served, tmp_path: Path) -> None:
    said = checked(run_here(tmp_path, *usual(path), HOURHAND_URL=served.address, HOURHAND_TOKEN=WRONG), 1)
    assert "token" in said


NAMED = [
    path
    for path in OURS
    if path.split()[-1] not in ("add", "create")
    and any(
        one.param_type_name == "argument" and one.metavar in ("NAME", "TASK", "ID", "ID...")
        for one in COMMANDS[path].params
    )
]


@pytest.mark.parametrize("path", sorted(NAMED))
def test_what_is_unknown_ends_with_1_and_is_named(path: str, served: Served, tmp_path: Path) -> None:
    arguments = [*usual(path), *(["--json"] if path in COMMANDS and path not in WITHOUT_JSON else [])]
    ran = run_here(tmp_path, *arguments, HOURHAND_URL=served.address, HOURHAND_TOKEN=served.token)
    # A group's name is an input of `pause group`, as it is of `task add`.
    said = checked(ran, 2 if path == "pause group" else 1)
    assert ran.out == ""
    assert "unheard-of" in said or "987654321" in said
