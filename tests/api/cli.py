"""The command `hourhand` as a person runs it, in the folder of a served process.

Most commands run in this process, and share one tree of commands: starting one for each, or making the tree anew,
would take longer than all that they do.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import typer

from forking import completed
from hourhand.cli.main import app, main
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


@cache
def built() -> Callable[..., Any]:
    """Return the tree of all commands; they keep nothing from one use to the next."""
    return typer.main.get_command(app)


def run_here(folder: Path, *arguments: str, **more: str) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    with (
        patch("hourhand.cli.main.app", built()),
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
    done = completed(list(arguments), folder, environment(**more))
    return Ran(done.returncode, done.stdout, done.stderr)


def run_together(folder: Path, *arguments: str, **more: str) -> Ran:
    """The same; all that it prints is in `out`, in the order in which it was printed."""
    done = completed(list(arguments), folder, environment(**more), apart=False)
    return Ran(done.returncode, done.stdout, "")


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
