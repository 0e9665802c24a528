"""An operation in a process of its own, which is killed while it is at work; its last checkpoint is kept in a file.

dead = await run_and_kill(kind, config, sources, tmp_path, when=lambda told: told.checkpoints == 3)
ran = await run(kind, config, sources, checkpoint=dead.checkpoint)
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hourhand.model.data_source import Address, Dialect
from hourhand.model.task import TaskDefinition
from hourhand.model.words import TaskType
from hourhand.operations.runner import OperationRunner
from hourhand.testing.attempts import FakeAttempt
from operations.running import Sources, desk

PATIENCE = 120.0
"""Far longer than it takes, so that a slow machine fails nothing."""
TESTS = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the process has just told."""

    line: str | None = None
    """A line of the instance log."""
    phase: str | None = None
    fraction: float | None = None
    checkpoints: int = 0
    """How many it has stored so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dead:
    """What is left of it."""

    checkpoint: Any
    """The last one that it stored."""
    killed: bool
    """False: it had ended by itself before anything was told that it should be killed at."""
    lines: Sequence[str]
    outcome: Mapping[str, Any] | None = None
    """Of one that ended by itself."""


async def run_and_kill(
    kind: str,
    config: Mapping[str, Any],
    sources: Sources,
    folder: Path,
    *,
    when: Callable[[Told], bool],
    after_seconds: float = 0.0,
    checkpoint: object = None,
    extra: Sequence[str] = (),
) -> Dead:
    """Run one attempt in a child process, and kill it at what it tells.

    Args:
        kind: The operation's.
        config: Its configuration; `data_source` may be left out.
        sources: The data sources that it may ask for.
        folder: Where the checkpoint is kept.
        when: Whether to kill it now.
        after_seconds: How much later than that, so that the kill may fall anywhere.
        checkpoint: Where the attempt before was.
        extra: Kinds beside the built-in ones, as `module:Class`.
    """
    file = folder / "checkpoint.json"
    file.write_text(json.dumps(checkpoint))
    order = {
        "kind": kind,
        "config": {"data_source": next(iter(sources)), **config},
        "sources": {name: asdict(source) for name, source in sources.items()},
        "file": str(file),
        "extra": list(extra),
    }
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "operations.killing",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TESTS)}, limit=2**26,
    )  # fmt: skip
    try:
        async with asyncio.timeout(PATIENCE):
            killed, lines, outcome = await _watch(child, order, when, after_seconds)
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()
    assert killed or outcome is not None, f"the process died by itself, with {child.returncode}: {lines}"
    return Dead(checkpoint=json.loads(file.read_text()), killed=killed, lines=lines, outcome=outcome)


async def _watch(
    child: asyncio.subprocess.Process, order: Mapping[str, Any], when: Callable[[Told], bool], after_seconds: float
) -> tuple[bool, list[str], Mapping[str, Any] | None]:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(json.dumps(order).encode() + b"\n")
    await child.stdin.drain()
    lines: list[str] = []
    async for raw in child.stdout:
        said = json.loads(raw)
        if "outcome" in said:
            return False, lines, said["outcome"]
        told = Told(**said)
        lines += [told.line] if told.line is not None else []
        if when(told):
            await asyncio.sleep(after_seconds)
            child.kill()
            await child.wait()
            return True, lines, None
    return False, lines, None


class KeptAttempt(FakeAttempt):
    """An attempt of the child: what it says goes to the parent, and its checkpoint to a file."""

    def __init__(self, definition: TaskDefinition, file: Path) -> None:
        super().__init__(definition, checkpoint=json.loads(file.read_text()))
        self._file = file
        self._stored = 0

    def log(
        self, message: str, *, level: str = "info", stream: str | None = None, exception: str | None = None
    ) -> None:
        """Tell the parent."""
        super().log(message, level=level, stream=stream, exception=exception)
        _say(line=message, checkpoints=self._stored)

    async def progress(
        self, fraction: float | None = None, *, phase: str | None = None, checkpoint: object = None
    ) -> None:
        """Store a checkpoint whole or not at all, and tell the parent."""
        await super().progress(fraction, phase=phase, checkpoint=checkpoint)
        if checkpoint is not None:
            fresh = self._file.with_suffix(".tmp")
            fresh.write_text(json.dumps(checkpoint))
            fresh.replace(self._file)
            self._stored += 1
        _say(phase=phase, fraction=fraction, checkpoints=self._stored)


def _say(**what: object) -> None:
    sys.stdout.write(json.dumps(what, default=str) + "\n")
    sys.stdout.flush()


async def _child() -> None:
    order = json.loads(sys.stdin.readline())
    sources = {
        name: Address(**{**fields, "dialect": Dialect(fields["dialect"])}) for name, fields in order["sources"].items()
    }
    payload = {"kind": order["kind"], "config": order["config"]}
    definition = TaskDefinition(name=order["kind"], type=TaskType.OPERATION, payload=payload)
    attempt = KeptAttempt(definition, Path(order["file"]))
    attempt.begins()
    outcome = await OperationRunner(desk(sources, order["extra"])).run(attempt)
    _say(outcome=asdict(outcome))


if __name__ == "__main__":
    asyncio.run(_child())
