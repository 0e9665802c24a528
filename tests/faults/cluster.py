"""Processes of a cluster under test: real schedulers, executors and servers, started, killed, frozen, by their pid.

What each of them says goes to a file of its own in `logs`, which outlives the test.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from faults.marks import FOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping

TESTS = Path(__file__).resolve().parents[1]
APP, APP_NAME = "faults.handlers:app", "faults"
HEARTBEAT_SECONDS, LEASE_SECONDS = 0.5, 3.0
"""Short, so that a lost lease is noticed within seconds; long enough for a busy machine to beat in time."""
STOP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Form:
    """How a process is started, and started again."""

    role: str
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    mutant: str | None = None


class Process:
    """One process of the cluster."""

    def __init__(self, form: Form, arguments: list[str], environment: Mapping[str, str], log: Path) -> None:
        self.form = form
        self.log = log
        program = ["faults.mutants", form.mutant, "--"] if form.mutant else ["hourhand"]
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *program, form.role, *arguments],
                cwd=log.parent,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self.killed_at: float | None = None

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended; a frozen one has not."""
        return self._process.poll() is None

    @property
    def output(self) -> str:
        """Everything it has said so far."""
        return self.log.read_text("utf-8", errors="replace")

    def kill(self) -> None:
        """End it as a power cut would."""
        self.killed_at = time.time()
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        """Stop it in its tracks, as a suspended machine would be."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on as if no time had passed."""
        self._process.send_signal(signal.SIGCONT)

    def ask_to_stop(self) -> None:
        """Ask it to end, also if it is frozen."""
        self.thaw()
        self._process.terminate()

    def ended(self) -> int:
        """Wait until it has ended after it was asked to; its exit code."""
        try:
            return self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            late = f"{self.form.role} {self.pid} did not stop within {STOP_SECONDS:g} s; its log is {self.log}"
            raise RuntimeError(late) from None


@dataclass
class Processes:
    """All processes of one store; whatever happens, none survives the `with` block."""

    url: str
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    started: list[Process] = field(default_factory=list)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        for folder in (self.logs, self.marks):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def logs(self) -> Path:
        """Where the processes' logs are."""
        return self.folder / "logs"

    @property
    def marks(self) -> Path:
        """Where the work writes its marks."""
        return self.folder / "marks"

    @property
    def alive(self) -> list[Process]:
        return [process for process in self.started if process.alive]

    def start(self, form: Form) -> Process:
        """Start one more process."""
        number = next(self._numbers)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("HOURHAND_")}
        environment = inherited | {
            "PYTHONPATH": str(TESTS),
            "PYTHONUNBUFFERED": "1",
            FOLDER: str(self.marks),
            "HOURHAND_DATA_DIR": str(self.folder / "data"),
            "HOURHAND_HEARTBEAT_SECONDS": str(HEARTBEAT_SECONDS),
            "HOURHAND_LEASE_SECONDS": str(LEASE_SECONDS),
            "HOURHAND_GRACE_SECONDS": "1",
            **self.environment,
            **dict(form.environment),
        }
        arguments = [*form.arguments, "--store", self.url]
        process = Process(form, arguments, environment, self.logs / f"{number:03}-{form.role}.log")
        self.started.append(process)
        return process

    def scheduler(self, *, mutant: str | None = None) -> Process:
        return self.start(Form("scheduler", mutant=mutant))

    def executor(self, *, labels: str = "", mutant: str | None = None, concurrency: int = 16) -> Process:
        environment = (("HOURHAND_LABELS", labels),) if labels else ()
        return self.start(Form("executor", (APP, "--concurrency", str(concurrency)), environment, mutant))

    def serve(self) -> Process:
        return self.start(Form("serve", (APP, "--port", "0")))

    def replace(self, process: Process) -> Process:
        """Kill a process and start another one like it."""
        process.kill()
        return self.start(process.form)

    def stop(self) -> None:
        """Ask all of them to end, and wait until they have."""
        alive = self.alive
        for process in alive:
            process.ask_to_stop()
        for process in alive:
            process.ended()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.alive:
            process.kill()
