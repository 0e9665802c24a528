"""What the README shows is what happens."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from serving import Served

if TYPE_CHECKING:
    from collections.abc import Iterator

README = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
BIN = Path(sys.executable).parent


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def run(command: str, folder: Path, **environment: str) -> list[str]:
    program, *arguments = shlex.split(command)
    done = subprocess.run(
        [str(BIN / program), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env={"COLUMNS": "120", "LANG": "C.UTF-8", **environment},
    )
    return [line.rstrip() for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve the README's own app, saved as it says."""
    folder = tmp_path_factory.mktemp("readme")
    app, client = blocks("python")
    (folder / "app.py").write_text(app)
    (folder / "client.py").write_text(client)
    with Served(folder, "app:app") as one:
        yield one


def test_an_instance_of_the_app_is_run_as_shown(served: Served) -> None:
    command, shown = blocks("console")[0].removeprefix("$ ").split("\n", 1)
    printed = run(command, served.folder, HOURHAND_URL=served.address)
    forgiving = [re.sub(r"after [0-9.]+ s", "after N s", line) for line in (*printed, *shown.splitlines())]
    assert forgiving[: len(printed)] == forgiving[len(printed) :]


def test_the_client_of_the_readme_gets_its_result(served: Served) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "client.py"],
        cwd=served.folder,
        capture_output=True,
        text=True,
        check=True,
        env={"HOURHAND_URL": served.address, "LANG": "C.UTF-8"},
    )
    assert done.stdout == "{'value': {'posted': 40}}\n"


def test_the_first_commands_work_in_their_order(served: Served) -> None:
    commands = next(block for block in blocks("sh") if "task add hello" in block).splitlines()
    for command in commands:
        printed = run(command, served.folder, HOURHAND_URL=served.address)
        assert printed
        if "instance list" in command:
            deadline = time.monotonic() + 30
            while not any("success" in line for line in printed) and time.monotonic() < deadline:
                time.sleep(0.2)
                printed = run(command, served.folder, HOURHAND_URL=served.address)
            assert any("success" in line for line in printed)


def test_the_preview_prints_what_is_shown(tmp_path: Path) -> None:
    command, _, shown = blocks("console")[1].removeprefix("$ ").partition("\n")
    assert run(command, tmp_path) == shown.splitlines()
