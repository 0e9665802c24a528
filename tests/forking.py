"""Processes of `hourhand` that begin where its imports end: one process imports it, and forks whoever is to be it.

They are processes of their own, with their folder, environment, output, signals and end. Only what every start does
alike was done before, as it takes longer than all the rest of a start.
"""

from __future__ import annotations

import gc
import json
import os
import random
import select
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from functools import cache
from io import TextIOWrapper
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
READ_LATER = ("HOURHAND_", "PYTEST_", "COLUMNS", "NO_COLOR", "TMPDIR")
"""How variables begin that nothing looks at while it is imported. Others, as FORCE_COLOR, must be there before."""


class Forked:
    """One process, as `subprocess.Popen` shows one; unless they are `apart`, both its outputs are in `stdout`."""

    def __init__(self, arguments: list[str], folder: Path, environment: dict[str, str], *, apart: bool = False) -> None:
        pipes = [os.pipe() for _ in range(1 + apart)]
        readers = [os.fdopen(reading, encoding="utf-8", errors="replace") for reading, _ in pipes]
        self.returncode: int | None = None
        self._from = _origin()
        try:
            asked = {"arguments": arguments, "folder": str(folder), "environment": environment}
            self.pid: int = self._from.ask(asked, pipes[0][1], pipes[-1][1])
            self._handle = os.pidfd_open(self.pid)
        except BaseException:
            for one in readers:
                one.close()
            raise
        finally:
            for _, writing in pipes:
                os.close(writing)
        self.stdout: IO[str] = readers[0]
        self.stderr: IO[str] | None = readers[1] if apart else None

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Return all that it said on each of its outputs, once it has ended."""
        deadline = time.monotonic() + timeout
        said = {"stdout": b"", "stderr": b""}
        with selectors.DefaultSelector() as speaking, self.stdout, self.stderr or self.stdout:
            speaking.register(self.stdout, selectors.EVENT_READ, "stdout")
            if self.stderr:
                speaking.register(self.stderr, selectors.EVENT_READ, "stderr")
            while speaking.get_map():
                ready = speaking.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    raise subprocess.TimeoutExpired(f"hourhand, process {self.pid}", timeout, *said.values())
                for key, _ in ready:
                    piece = os.read(key.fd, MOST_BYTES)
                    said[key.data] += piece
                    if not piece:
                        speaking.unregister(key.fileobj)
        self.wait(max(0.0, deadline - time.monotonic()))
        return _text(said["stdout"]), _text(said["stderr"])

    def poll(self) -> int | None:
        """Return how it ended, or None."""
        if self.returncode is None and select.select([self._handle], [], [], 0)[0]:
            self.returncode = self._from.ask({"ended": self.pid})
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


def _text(said: bytes) -> str:
    return said.decode().replace("\r\n", "\n").replace("\r", "\n")  # as `subprocess` has it


def completed(
    arguments: list[str], folder: Path, environment: dict[str, str], *, apart: bool = True, timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Return how `hourhand` ended and what it said, with nothing to read; forked if that is the same as a start."""
    if not _origin().begins_as(environment):
        return subprocess.run(
            [sys.executable, "-m", "hourhand", *arguments],
            cwd=folder, env=environment, check=False, text=True, timeout=timeout,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE if apart else subprocess.STDOUT,
        )  # fmt: skip
    process = Forked(arguments, folder, environment, apart=apart)
    try:
        out, err = process.communicate(timeout)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return subprocess.CompletedProcess(arguments, process.wait(), out, err)


class _Origin:
    """The process that has imported everything, as this one speaks to it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._environment = {key: value for key, value in os.environ.items() if not key.startswith("HOURHAND_")}
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  # as long as it
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()], env=self._environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._said,
            )  # fmt: skip
        self._one_at_a_time = threading.Lock()

    def begins_as(self, environment: dict[str, str]) -> bool:
        """Whether all that was done before a fork would have been the same in this environment."""
        changed = dict(environment.items() ^ self._environment.items())
        return all(name.startswith(READ_LATER) for name in changed)

    def ask(self, asked: dict[str, Any], *handed: int) -> int:
        with self._one_at_a_time:
            try:
                socket.send_fds(self._socket, [json.dumps(asked).encode()], handed)
                answer = self._socket.recv(MOST_BYTES)
            except ConnectionError:
                answer = b""
        if not answer:
            code = self._process.wait()
            self._said.seek(0)
            raise RuntimeError(f"the process that forks others ended with {code}:\n{self._said.read()}")
        return int(answer)


@cache
def _origin() -> _Origin:
    return _Origin()


def _asked_for(control: socket.socket) -> list[str]:
    """Fork for whoever asks; return in the process that is to be it, as that."""
    while True:
        message, handed, _, _ = socket.recv_fds(control, MOST_BYTES, 2)
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
            _become(asked["folder"], asked["environment"], handed)
            arguments: list[str] = asked["arguments"]
            return arguments
        for one in handed:
            os.close(one)
        control.send(str(pid).encode())


def _become(folder: str, environment: dict[str, str], outputs: list[int]) -> None:
    for number, output in enumerate(outputs, 1):
        os.dup2(output, number)
        os.close(output)
    sys.stdout = sys.__stdout__ = _opened_again(sys.stdout)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _opened_again(sys.stderr)  # type: ignore[misc]
    os.chdir(folder)
    sys.path.insert(0, folder)  # as with `python -m`
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    random.seed()


def _opened_again(stream: Any) -> TextIOWrapper:
    """Return what the interpreter would have made of the file that is there now."""
    raw = open(stream.fileno(), "wb", buffering=0 if stream.write_through else -1, closefd=False)  # noqa: SIM115
    return TextIOWrapper(raw, stream.encoding, stream.errors, "\n", stream.line_buffering, stream.write_through)


if __name__ == "__main__":
    from importlib import import_module

    sys.path.pop(0)  # this folder: what is forked is no test
    for name in IMPORTED:
        import_module(name)
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "something that was imported has started a thread"
    assert tempfile.tempdir is None, "something that was imported has looked at TMPDIR"
    gc.collect()
    gc.freeze()  # else each would look through all of it at its end, which takes longer than all that most do
    sys.argv[1:] = _asked_for(socket.socket(fileno=int(sys.argv[1])))
    sys.argv[0] = import_module("hourhand.__main__").__file__ or ""
    import_module("hourhand.cli.main").main(sys.argv[1:])
