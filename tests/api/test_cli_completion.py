"""Completion in a shell: by the protocol that the installed scripts speak, and in a real Bash."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from api.cli import Terminal, environment
from hourhand.cli.main import app
from serving import Served

BASH = shutil.which("bash")
HOURHAND = Path(sys.executable).parent / "hourhand"
NOT_COMPLETED = {
    ("token create", "name"),  # of something new
    ("user add", "name"),
    ("group add", "name"),
    ("task edit", "rename"),
    ("alert edit", "rename"),
    ("datasource edit", "rename"),
    ("audit list", "resource_id"),  # of whatever --resource says
}
NOUNS_NOT_COMPLETED = ("calendar", "window", "import")


@pytest.fixture(scope="module")
def hourhand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    with Served(tmp_path_factory.mktemp("completed")) as served:
        terminal = Terminal(served)
        for name in ("books", "bills due", "$(touch owned)", "other"):
            terminal.done("task", "add", name, "--command", "true")
        terminal.done("group", "add", "billing")
        terminal.done("task", "run", "other", "--wait")
        terminal.done("instance", "plan", "other")
        terminal.done("alert", "add", "nightly", "--when", "failed", "--json")
        yield terminal


def asked(hourhand: Terminal, words: str, shell: str = "bash", **more: str) -> list[str]:
    """What the installed script gets when somebody presses Tab after these words."""
    split = shlex.split(words) + ([""] if words.endswith(" ") else [])
    protocol = {
        "bash": {"COMP_WORDS": "\n".join(split), "COMP_CWORD": str(len(split) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": words},
        "fish": {"_TYPER_COMPLETE_ARGS": words, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    where = {"HOURHAND_URL": hourhand.served.address, "_HOURHAND_COMPLETE": f"complete_{shell}"}
    done = subprocess.run(
        [sys.executable, "-m", "hourhand"],
        cwd=hourhand.served.folder,
        env=environment(**(where | protocol | more)),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("hourhand task show bo", ["books"]),
        ("hourhand task show bil", [r"bills\ due"]),
        ("hourhand task add x --depends-on bo", ["books"]),
        ("hourhand instance list --task bo", ["books"]),
        ("hourhand pause task bo", ["books"]),
        ("hourhand task list --group bil", ["billing"]),
        ("hourhand group show bil", ["billing"]),
        ("hourhand user add ada --groups default,bil", ["default,billing"]),
        ("hourhand instance dispatch ", ["2"]),
        ("hourhand alert show ni", ["nightly"]),
        ("hourhand task list --type co", ["command"]),
        ("hourhand instance list --status suc", ["success"]),
        ("hourhand task add x --timezone Europe/Berl", ["Europe/Berlin"]),
        ("hourhand schedule preview @ho", ["@hourly"]),
        ("hourhand task edit books --clear desc", ["description"]),
        ("hourhand task backf", ["backfill"]),
        ("hourhand task backfill books --wa", ["--wait"]),
    ],
)
def test_words_are_completed(hourhand: Terminal, words: str, completed: list[str]) -> None:
    assert asked(hourhand, words) == completed


def test_instances_are_completed_with_what_they_are(hourhand: Terminal) -> None:
    assert asked(hourhand, "hourhand instance show ") == ["2", "1"]
    assert asked(hourhand, "hourhand instance show ", "fish") == ["2\tplanned, other", "1\tsuccess, other"]
    assert asked(hourhand, "hourhand instance show ", "zsh")[0] == """_arguments '*: :(("2":"planned, other\""""


def test_what_a_shell_would_evaluate_is_not_completed(hourhand: Terminal) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "owned" not in "".join(asked(hourhand, "hourhand task show ", shell))


@pytest.mark.parametrize("where", ["nobody", "silent", "wrong token", "wrong setting"])
def test_without_an_answer_nothing_is_completed_and_nothing_said(hourhand: Terminal, where: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        more = {
            "nobody": {"HOURHAND_URL": "http://127.0.0.1:1"},
            "silent": {"HOURHAND_URL": f"http://127.0.0.1:{port}"},
            "wrong token": {"HOURHAND_TOKEN": "hh_wrong"},
            "wrong setting": {"HOURHAND_PORT": "abc", "HOURHAND_PROT": "1"},
        }[where]
        begin = time.monotonic()
        assert not any(asked(hourhand, "hourhand task show bo", **more))
        assert time.monotonic() - begin < 20


def test_in_a_real_bash(hourhand: Terminal, tmp_path: Path) -> None:
    script = """
        hourhand --install-completion
        source ~/.bashrc
        complete -p hourhand
        COMP_WORDS=(hourhand task show b); COMP_CWORD=3
        _hourhand_completion hourhand
        printf '<%s>\\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        [str(BASH), "--norc", "-c", script],
        cwd=hourhand.served.folder,
        env=environment(
            HOME=str(tmp_path),
            PATH=f"{HOURHAND.parent}:{os.environ['PATH']}",
            HOURHAND_URL=hourhand.served.address,
        ),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done
    assert "complete -o default -F _hourhand_completion hourhand\n" in done.stdout
    assert done.stdout.endswith("<bills\\ due>\n<books>\n")


def parameters() -> Iterator[tuple[str, Any]]:
    def walked(node: Any, path: str) -> Iterator[tuple[str, Any]]:
        for name, below in getattr(node, "commands", {}).items():
            here = f"{path} {name}".strip()
            yield from walked(below, here)
            if not hasattr(below, "commands"):
                yield from ((here, one) for one in below.params)

    yield from walked(typer.main.get_command(app), "")


NAMES = ("NAME", "TASK", "ID", "ID...")


def test_every_name_and_id_can_be_completed() -> None:
    missing = [
        (path, one.name)
        for path, one in parameters()
        if getattr(one, "metavar", None) in NAMES
        and path.split()[0] not in NOUNS_NOT_COMPLETED
        and (path, one.name) not in NOT_COMPLETED
        and one._custom_shell_complete is None  # noqa: SLF001 - Typer has no other way to see it
    ]
    assert missing == []
