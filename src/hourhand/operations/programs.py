"""Operations: programs that the executor starts: found, in a process group of their own, and ended with the attempt."""

from __future__ import annotations

import asyncio
import ctypes
import glob
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from hourhand.model.operation import Precondition, Side
from hourhand.operations.failures import StatementFailed

_FOLDERS = "/usr/lib/postgresql/*/bin"
_PARENT_DIED = 1
_GRACE_SECONDS = 5.0
_LAST_LINES = 5
_LIBRARY = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True, slots=True)
class Program:
    """One that was found, or that was not."""

    name: str
    package: str
    path: str | None = None
    version: tuple[int, ...] = ()

    @property
    def precondition(self) -> Precondition:
        """That it is there."""
        if self.path is None:
            detail = f"there is no program {self.name} on this machine: install the package {self.package}"
        else:
            detail = f"{self.path}, version {'.'.join(map(str, self.version))}"
        return Precondition(name=f"program {self.name}", ok=self.path is not None, detail=detail, side=Side.EXECUTOR)


async def find_program(name: str, package: str, *, least: int = 0) -> Program:
    """The oldest that is not older than `least`, the server's version; failing that, the newest there is."""
    paths = [one for one in glob.glob(f"{_FOLDERS}/{name}") if os.access(one, os.X_OK)]  # noqa: PTH207
    on_path = shutil.which(name)
    found = [
        Program(name, package, path, await _version(path)) for path in dict.fromkeys([*paths, *filter(None, [on_path])])
    ]
    new_enough = [one for one in found if one.version[:1] >= (least,)]
    if new_enough:
        return min(new_enough, key=lambda one: one.version)
    return max(found, key=lambda one: one.version, default=Program(name, package))


async def _version(path: str) -> tuple[int, ...]:
    said: list[str] = []
    with suppress(StatementFailed, OSError), tempfile.TemporaryFile() as output:
        await run([path, "--version"], log=said.append, output=output)
        output.seek(0)
        numbers = re.search(rb"(\d+(?:\.\d+)+)(?:-MariaDB)?(?=[^.\d]|$)", _told(output.read()))
        return tuple(int(one) for one in numbers[1].split(b".")) if numbers else ()
    return ()


def _told(text: bytes) -> bytes:
    """Of `mariadb-dump  Ver 10.19 Distrib 10.11.19-MariaDB` what comes last counts."""
    return text.rpartition(b"Distrib ")[2]


async def run(
    command: Sequence[str],
    *,
    log: Callable[[str], object],
    environment: Mapping[str, str] | None = None,
    source: IO[bytes] | int | None = None,
    output: IO[bytes] | int | None = None,
) -> None:
    """Run it to its end, its complaints to the log; StatementFailed has the last of them.

    It has a process group of its own, which is killed when the caller is cancelled, and it dies with this process: who
    takes over must not find it still writing.
    """
    child = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL if source is None else source,
        stdout=asyncio.subprocess.DEVNULL if output is None else output,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", **(environment or {})},
        start_new_session=True,
        preexec_fn=_dies_with_parent if _LIBRARY is not None else None,
        limit=2**20,
    )
    last: list[str] = []
    try:
        assert child.stderr is not None  # noqa: S101 - it is a pipe
        async for raw in child.stderr:
            line = raw.decode(errors="replace").rstrip()
            last = [*last, line][-_LAST_LINES:]
            log(f"{Path(command[0]).name}: {line}")
        await child.wait()
    finally:
        if child.returncode is None:
            await asyncio.shield(_ended(child))
    if child.returncode:
        said = "; ".join(last) or "it said nothing"
        raise StatementFailed(f"{Path(command[0]).name} ended with {child.returncode}: {said}")


def _dies_with_parent() -> None:
    if _LIBRARY is not None:
        _LIBRARY.prctl(_PARENT_DIED, signal.SIGKILL)


async def _ended(child: asyncio.subprocess.Process) -> None:
    for how in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(child.pid, how)
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                await child.wait()
                return


@contextmanager
def pipe() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The two ends of a pipe, closed in the end."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as one, os.fdopen(writing, "wb", buffering=0) as other:
        yield one, other


@contextmanager
def secret_file(text: str) -> Iterator[str]:
    """A file that nobody else can read, for as long as a program needs it: what is on a command line, everybody can."""
    handle, path = tempfile.mkstemp(prefix="hourhand-")  # with mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        yield path
    finally:
        Path(path).unlink(missing_ok=True)
