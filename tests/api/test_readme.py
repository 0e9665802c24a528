"""What the README shows is what happens."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

README = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_python_example_runs_in_an_empty_folder(tmp_path: Path) -> None:
    (example,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert re.fullmatch(r"nightly fires at \S+ 02:30:00\+00:00; instance 1 is pending\n", done.stdout)


def test_the_console_example_prints_what_is_shown(tmp_path: Path) -> None:
    (example,) = blocks("console")
    command, _, shown = example.removeprefix("$ ").partition("\n")
    program, *arguments = shlex.split(command)
    done = subprocess.run(
        [str(Path(sys.executable).parent / program), *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={"COLUMNS": "120", "LANG": "C.UTF-8"},
    )
    assert [line.rstrip() for line in done.stdout.splitlines()] == shown.splitlines()
