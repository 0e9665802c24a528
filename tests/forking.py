"""Processes of `hourhand` that begin where its imports end: one process imports it, and forks whoever is to be it.

They are processes of their own, with their folder, environment, output, signals and end. Only what every start does
alike was done before, as it takes longer than all the rest of a start.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import IO, Any

MOST_BYTES = 1 << 20
IMPORTED = (
    "hourhand.api.server",
    "hourhand.bootstrap.engine",
    "hourhand.cli.main",
    "hourhand.cli.roles",
    "hourhand.demo.app",
    "hourhand.operations.catalogue",
)
"""But no kind of operation: some bring libraries that start threads, which no fork has."""


class Forked:
    """One process, as `subprocess.Popen` shows one; what it says on both its outputs is in `stdout`."""

    def __init__(self, arguments: list[str], folder: Path, environment: dict[str, str]) -> None:
        reading, writing = os.pipe()
        self.returncode: int | None = None
        try:
            asked = {"arguments": arguments, "folder": str(folder), "environment": environment}
            self.pid: int = _origin().ask(asked, writing)
            self._handle = os.pidfd_open(self.pid)
        finally:
            os.close(writing)
        self.stdout: IO[str] = os.fdopen(reading, encoding="utf-8", errors="replace")

    def poll(self) -> int | None:
        """Return how it ended, or None."""
        if self.returncode is None and select.select([self._handle], [], [], 0)[0]:
            self.returncode = _origin().ask({"ended": self.pid})
            os.close(self._handle)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return how it ended, once it has."""
        if self.returncode is None and not select.select([self._handle], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(f"hourhand, process {self.pid}", timeout or 0)
        code = self.poll()
        assert code is not None
        return code

    def send_signal(self, number: int) -> None:
        """Signal it, unless it has ended."""
        if self.poll() is None:
            signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


class _Origin:
    """The process that has imported everything, as this one speaks to it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        clean = {key: value for key, value in os.environ.items() if not key.startswith("HOURHAND_")}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()], env=clean, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            )  # fmt: skip
        self._one_at_a_time = threading.Lock()

    def ask(self, asked: dict[str, Any], *handed: int) -> int:
        with self._one_at_a_time:
            socket.send_fds(self._socket, [json.dumps(asked).encode()], handed)
            answer = self._socket.recv(MOST_BYTES)
        if not answer:
            raise RuntimeError(f"the process that forks others ended with {self._process.wait()}")
        return int(answer)


@cache
def _origin() -> _Origin:
    return _Origin()


def _asked_for(control: socket.socket) -> list[str]:
    """Fork for whoever asks; return in the process that is to be it, as that."""
    while True:
        message, handed, _, _ = socket.recv_fds(control, MOST_BYTES, 1)
        if not message:
            sys.exit(0)
        asked = json.loads(message)
        if "ended" in asked:
            _, status = os.waitpid(asked["ended"], 0)
            control.send(str(os.waitstatus_to_exitcode(status)).encode())
            continue
        pid = os.fork()
        if pid == 0:
            control.close()
            _become(asked["folder"], asked["environment"], handed[0])
            arguments: list[str] = asked["arguments"]
            return arguments
        os.close(handed[0])
        control.send(str(pid).encode())


def _become(folder: str, environment: dict[str, str], output: int) -> None:
    os.chdir(folder)
    sys.path.insert(0, folder)  # as with `python -m`
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    random.seed()
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)  # type: ignore[misc]  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # type: ignore[misc]  # noqa: SIM115


if __name__ == "__main__":
    from importlib import import_module

    sys.path.pop(0)  # this folder: what is forked is no test
    for name in IMPORTED:
        import_module(name)
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "something that was imported has started a thread"
    sys.argv[1:] = _asked_for(socket.socket(fileno=int(sys.argv[1])))
    sys.argv[0] = import_module("hourhand.__main__").__file__ or ""
    import_module("hourhand.cli.main").main(sys.argv[1:])
