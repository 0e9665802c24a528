"""The command `hourhand` as a person runs it, in the folder of a served process.

Most commands run in this process: starting one for each would take longer than all that they do.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hourhand.cli.main import main
from serving import Served


@dataclass(frozen=True)
class Ran:
    """What one command printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def environment(**more: str) -> dict[str, str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("HOURHAND_", "COLUMNS"))}
    return clean | {"NO_COLOR": "1"} | more


def run_here(folder: Path, *arguments: str, **more: str) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.dict(os.environ, environment(**more), clear=True),
        chdir(folder),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main(list(arguments))
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int)
    return Ran(code, out.getvalue(), err.getvalue())


def run(folder: Path, *arguments: str, **more: str) -> Ran:
    """In a process of its own."""
    return _run(folder, arguments, more, errors=subprocess.PIPE)


def run_together(folder: Path, *arguments: str, **more: str) -> Ran:
    """The same; all that it prints is in `out`, in the order in which it was printed."""
    return _run(folder, arguments, more, errors=subprocess.STDOUT)


def _run(folder: Path, arguments: tuple[str, ...], more: dict[str, str], *, errors: int) -> Ran:
    done = subprocess.run(
        [sys.executable, "-m", "hourhand", *arguments],
        cwd=folder,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr or "")


class Terminal:
    """Somebody in the folder of a served process."""

    def __init__(self, served: Served) -> None:
        self.served = served

    def __call__(self, *arguments: str, **more: str) -> Ran:
        return run_here(self.served.folder, *arguments, HOURHAND_URL=self.served.address, **more)

    def done(self, *arguments: str, **more: str) -> Ran:
        """Run what must succeed."""
        ran = self(*arguments, **more)
        assert (ran.code, ran.err) == (0, ""), ran
        return ran

    def refused(self, *arguments: str, code: int) -> str:
        """Run what must be refused, without a word on standard output; what was said."""
        ran = self(*arguments)
        assert (ran.code, ran.out) == (code, ""), ran
        assert "Traceback" not in ran.err
        assert ran.err.startswith("Error: ")
        return ran.err
