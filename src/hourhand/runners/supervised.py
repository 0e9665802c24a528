"""Runners: the executor's side of a supervised process, for commands and for handlers in a child.

Nothing here has to succeed for the process to end: should the executor die, the control pipe ends with it and
`supervisor.py` ends everything below itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hourhand.model.errors import InvalidInput
from hourhand.runners import supervisor
from hourhand.runners.accounts import account

MARK = "HOURHAND_SUPERVISED"
"""Set to something unique in the environment of each supervised process, and so of all that it starts."""
_BUFFER = 256 * 1024
_FOLDER = str(Path(supervisor.__file__).parent)
# Imported, not run as a file, so that its compiled form is used: 4 of 20 ms. Behind everything else on the path, so
# that no neighbour of it can stand in for a module of the standard library.
_PROGRAM = f"import sys; sys.path.append({_FOLDER!r}); import supervisor; supervisor.main(*map(int, sys.argv[1:4]))"
_NEEDED_TO_START = ("LD_LIBRARY_PATH",)
"""What an interpreter may need to start at all; the supervisor gets it, the command does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a process may use; None: as much as the executor may."""

    memory_mb: int | None = None
    """Address space of each process."""
    processes: int | None = None
    """Processes and threads of its user, all together; root is exempt."""
    user: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a process ended: one of code, signal and failure is set."""

    code: int | None = None
    signal: int | None = None
    failure: str | None = None
    """Why it could not be started, or that it was lost."""
    started: bool = True
    left_behind: int = 0
    """How many processes it left running, which were then ended."""

    @property
    def returncode(self) -> int | None:
        """The exit code; a signal as a negative number."""
        return -self.signal if self.signal is not None else self.code


class Supervised:
    """A running process tree, with what it writes; `start` makes it."""

    def __init__(self) -> None:
        self.stdout = asyncio.StreamReader(_BUFFER)
        self.stderr = asyncio.StreamReader(_BUFFER)
        self._status = asyncio.StreamReader()
        self._mark = secrets.token_hex(16)
        self._control = -1
        self._transports: list[asyncio.BaseTransport] = []
        self._process: subprocess.Popen[bytes]
        self._ended: asyncio.Task[Exit]

    @property
    def pid(self) -> int:
        """The process id of the supervisor."""
        return self._process.pid

    async def wait(self) -> Exit:
        """Return how it ended, once all of it has; being cancelled stops nothing."""
        return await asyncio.shield(self._ended)

    async def stop(self) -> Exit:
        """Ask all of it to end, after the grace by force; being cancelled does not take that back."""
        self._tell(supervisor.STOP)
        return await self.wait()

    async def kill(self) -> Exit:
        """End all of it by force, now."""
        self._tell(supervisor.KILL)
        return await self.wait()

    def close(self) -> None:
        """Read no more; what still runs is ended."""
        self._hang_up()
        for transport in self._transports:
            transport.close()

    async def launch(self, order: supervisor.Order, stdin: bytes | None) -> None:
        """Start the supervisor with its order."""
        order.env[MARK.encode()] = self._mark.encode()
        with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
            ours.callback(self.close)
            out, err = await self._pipe(self.stdout, theirs), await self._pipe(self.stderr, theirs)
            status = await self._pipe(self._status, theirs)
            listening = self._transports.pop()
            ours.callback(listening.close)
            control, self._control = os.pipe()
            theirs.callback(os.close, control)
            order_from = _in_memory(order.pack(), theirs)
            self._process = subprocess.Popen(  # noqa: S603, ASYNC220  # returns at exec, within a millisecond
                [sys.executable, "-I", "-S", "-E", "-c", _PROGRAM, str(control), str(status), str(order_from)],
                stdin=subprocess.DEVNULL if stdin is None else _in_memory(stdin, theirs),
                stdout=out,
                stderr=err,
                cwd="/",
                env={name: os.environ[name] for name in _NEEDED_TO_START if name in os.environ},
                pass_fds=(control, status, order_from, *order.descriptors),
                start_new_session=True,
            )
            # From here on nothing waits, so that nothing can be cancelled before somebody looks after the process.
            self._ended = asyncio.create_task(self._end(listening))
            _ending.add(self._ended)
            self._ended.add_done_callback(_ending.discard)
            ours.pop_all()

    async def _pipe(self, reader: asyncio.StreamReader, closing: contextlib.ExitStack) -> int:
        """A pipe that ends in the reader; its end for writing is returned, and is the caller's to close."""
        read_end, write_end = os.pipe()
        closing.callback(os.close, write_end)
        with contextlib.suppress(OSError):  # larger ones save switches, but a user may have used up what it may have
            fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, _BUFFER)
        file = os.fdopen(read_end, "rb", buffering=0)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
        self._transports.append(transport)
        return write_end

    def _tell(self, word: bytes) -> None:
        if self._control >= 0:
            with contextlib.suppress(BrokenPipeError):
                os.write(self._control, word)

    def _hang_up(self) -> None:
        if self._control >= 0:
            os.close(self._control)
            self._control = -1

    async def _end(self, listening: asyncio.BaseTransport) -> Exit:
        try:
            said = await self._status.read()
            while self._process.poll() is None:  # noqa: ASYNC110  # its pipe ends a moment before the process does
                await asyncio.sleep(0.002)
            return _read_ending(said.decode()) or await self._lost()
        finally:
            self._hang_up()
            listening.close()

    async def _lost(self) -> Exit:
        """The supervisor was killed: nothing that it started may outlive it either (guarantee 10)."""
        killed = await asyncio.to_thread(kill_marked, self._mark)
        how = self._process.returncode
        by = f"was killed by {signal_name(-how)}" if how < 0 else f"ended with exit code {how}"
        return Exit(failure=f"the command's supervisor {by}; {killed} of the command's processes were killed")


_ending: set[asyncio.Task[Exit]] = set()
"""Keeps the tasks that reap: a loop holds its tasks weakly."""


async def start(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | None,
    stdin: bytes | None,
    limits: Limits,
    grace_seconds: float,
    pass_fds: Sequence[int] = (),
) -> Supervised:
    """Start a process under a supervisor, with this environment and nothing else.

    Raises InvalidInput for what no process can be given, and OSError if this machine has no room for another process.
    What goes wrong later, also a missing program, is told by `wait`. Whoever starts it reads both streams to their
    end, and calls `close`.
    """
    order = _order(argv, env, cwd, limits)
    order.grace = grace_seconds
    order.descriptors = list(pass_fds)
    supervised = Supervised()
    await supervised.launch(order, stdin)
    return supervised


def _order(argv: Sequence[str], env: Mapping[str, str], cwd: str | None, limits: Limits) -> supervisor.Order:
    order = supervisor.Order()
    order.argv = [_bytes(f"command[{index}]", one) for index, one in enumerate(argv)]
    for name, value in env.items():
        if not name or "=" in name:
            raise InvalidInput.one(
                "env", name, f"{name!r} is not the name of a variable: it must not be empty or hold ="
            )
        order.env[_bytes("env", name)] = _bytes(f"env.{name}", value)
    order.cwd = _bytes("cwd", cwd or "/")
    order.parent = os.getpid()
    order.memory = limits.memory_mb and limits.memory_mb * 1024 * 1024
    order.processes = limits.processes
    user = account(limits.user)
    if user.other:
        order.ids = (user.uid, user.gid)
        order.groups = list(user.groups)
    return order


def _bytes(field: str, text: str) -> bytes:
    try:
        encoded = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise InvalidInput.one(
            field, None, "holds half a character (a lone surrogate), which no process can be given"
        ) from None
    if b"\0" in encoded:
        raise InvalidInput.one(field, None, "holds a NUL character, which no process can be given")
    return encoded


def _in_memory(content: bytes, closing: contextlib.ExitStack) -> int:
    """A file in memory: unlike a pipe it takes everything at once, whether or not anybody reads it."""
    descriptor = os.memfd_create("hourhand")
    closing.callback(os.close, descriptor)
    with os.fdopen(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _read_ending(said: str) -> Exit | None:
    """What the supervisor said, or None if it had no time to."""
    words = dict(line.partition("=")[::2] for line in reversed(said.splitlines()) if "=" in line)
    left = int(words.get("left", 0))
    if "failed" in words:
        return Exit(failure=words["failed"], started=False)
    if "exit" in words:
        return Exit(code=int(words["exit"]), left_behind=left)
    if "signal" in words:
        return Exit(signal=int(words["signal"]), left_behind=left)
    return None


def kill_marked(mark: str) -> int:
    """Kill every process that carries the mark, until none is found twice in a row; how many there were."""
    wanted = f"{MARK}={mark}".encode()
    killed: set[int] = set()
    clean = 0
    while clean < 2:  # noqa: PLR2004  # one that was being forked during the first look is there at the second
        names = (path.name for path in Path("/proc").iterdir())
        found = [int(name) for name in names if name.isdigit() and wanted in _environment(name)]
        clean = 0 if found else clean + 1
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed.update(found)
        time.sleep(0.01)
    return len(killed)


def _environment(pid: str) -> Sequence[bytes]:
    """A process's variables; none if it is dead, or of somebody whose processes this one may not look at."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ()


def hide_process() -> None:
    """Keep other processes of the same user from reading this one's memory and environment.

    What it starts is not concerned, since exec takes it back; root, with all its capabilities, is not kept from it.
    """
    with contextlib.suppress(OSError):  # a sandbox may forbid it, and all else works without
        supervisor.prctl(supervisor.PR_SET_DUMPABLE, 0)


def signal_name(number: int) -> str:
    """SIGTERM for 15."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
