"""A small language for tests of commands: what to run, and what is still running."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.attempts import PATIENCE, Recorded
from hourhand.model.instance import Outcome
from hourhand.model.words import TaskType
from hourhand.runners.command import CommandRunner
from hourhand.settings import Settings

ROOT = os.geteuid() == 0


def command_runner(data_dir: Path, **changes: Any) -> CommandRunner:
    """Make a runner whose folders are the test's."""
    return CommandRunner(Settings(data_dir=data_dir, **{"grace_seconds": 5, **changes}))


def attempt(command: list[str] | str, *, args: dict[str, Any] | None = None, **payload: Any) -> Recorded:
    """Make an attempt at a command."""
    return Recorded(TaskType.COMMAND, {"command": command, **payload}, args=args)


class Family:
    """Processes that can be found wherever they went: all of them inherit one variable."""

    def __init__(self) -> None:
        self.env = {"FAMILY": secrets.token_hex(8)}

    def pids(self) -> list[int]:
        """Who is alive; a zombie has no environment any more."""
        word = f"FAMILY={self.env['FAMILY']}".encode()
        found = []
        for path in Path("/proc").iterdir():
            if path.name.isdigit():
                try:
                    variables = (path / "environ").read_bytes().split(b"\0")
                except OSError:
                    continue
                if word in variables:
                    found.append(int(path.name))
        return found

    async def grown_to(self, count: int) -> None:
        """Wait until so many are there."""
        await until(lambda: len(self.pids()) >= count)

    async def gone(self) -> None:
        """Wait until nobody is left."""
        await until(lambda: not self.pids())


async def until(condition: Callable[[], bool]) -> None:
    """Wait for it."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # other processes raise no event here
            await asyncio.sleep(0.02)


async def cancelled(running: asyncio.Task[Outcome]) -> Outcome:
    """Cancel it, and return what it made of that."""
    running.cancel()
    async with asyncio.timeout(PATIENCE):
        return await running
