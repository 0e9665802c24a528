"""Types, as a user's project sees them: in a folder of its own, with the strictest settings of both type checkers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAMS = Path(__file__).parent / "typed"
BIN = Path(sys.executable).parent
CACHE = Path(__file__).resolve().parents[2] / ".mypy_cache" / "users"
PATIENCE = 300


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for file in PROGRAMS.glob("*.py.txt"):  # not *.py: our own checks would find the mistakes too
        shutil.copy(file, folder / file.stem)
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict"}))
    return folder


def checked(command: list[str | Path], folder: Path) -> str:
    """What a checker says, of which nothing is on standard error."""
    # Its wheel would ask PyPI whether it is the newest.
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return ran.stdout


def mypy(folder: Path) -> dict[str, set[int]]:
    """The lines with errors, by file."""
    command: list[str | Path] = [
        BIN / "mypy",
        "--strict",
        "--config-file=",
        "--cache-dir",
        CACHE,
        *sorted(_names(folder)),
    ]
    said = checked(command, folder)
    found: dict[str, set[int]] = {name: set() for name in _names(folder)}
    for name, line in re.findall(r"^(\w+\.py):(\d+): error:", said, flags=re.MULTILINE):
        found[name].add(int(line))
    assert re.search(r"Found \d+ errors? in 1 file", said), said  # in one of ours, and not in Hourhand's own
    return found


def pyright(folder: Path) -> dict[str, set[int]]:
    """The same."""
    said = json.loads(checked([BIN / "pyright", "--outputjson", "--pythonpath", sys.executable], folder))
    found: dict[str, set[int]] = {name: set() for name in _names(folder)}
    for one in said["generalDiagnostics"]:
        found[Path(one["file"]).name].add(one["range"]["start"]["line"] + 1)
    return found


def _names(folder: Path) -> set[str]:
    return {file.name for file in folder.glob("*.py")}


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_program_is_right_and_every_mistake_is_found(
    checker: Callable[[Path], dict[str, set[int]]], project: Path
) -> None:
    lines = (project / "mistakes.py").read_text().splitlines()
    mistakes = {number for number, line in enumerate(lines, 1) if line.endswith("# mistake")}
    found = checker(project)
    assert found["program.py"] == set()
    assert found["mistakes.py"] == mistakes


def test_the_package_says_that_it_is_typed() -> None:
    import hourhand  # noqa: PLC0415 - the installed one

    assert (Path(hourhand.__file__).parent / "py.typed").exists()
