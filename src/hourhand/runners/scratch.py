"""Runners: a private folder for each attempt, gone when the attempt is over, or its executor."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

from hourhand.runners.accounts import Account

_LOCK = "lock"


@dataclass(frozen=True, slots=True)
class Folders:
    """What one attempt may write to."""

    work: Path
    """Its working folder, empty at the start."""
    private: Path
    """What the runner gives it."""
    user: Account

    @property
    def progress(self) -> Path:
        """Where it reports its progress."""
        return self.private / "progress"

    def file(self, name: str, text: str) -> Path:
        """Leave a text for it to read."""
        path = self.private / name
        path.write_text(text, "utf-8")
        self.give(path)
        return path

    def give(self, path: Path) -> None:
        """Make something its user's."""
        if self.user.other:
            os.chown(path, self.user.uid, self.user.gid)


class Scratch:
    """The folders of one executor's attempts.

    They lie in the data folder or, where commands run as a user who cannot look in there, in the machine's folder for
    temporary files. Each executor holds a lock in its own; one without belongs to an executor that was killed, and is
    removed by the next one that starts.
    """

    def __init__(self, data_dir: Path, user: Account) -> None:
        self._user = user
        self._above = Path(tempfile.gettempdir()) / f"hourhand-{os.geteuid()}" if user.other else data_dir / "scratch"
        self._mine: Path | None = None
        self._lock = -1

    @contextlib.asynccontextmanager
    async def folders(self, name: str) -> AsyncIterator[Folders]:
        """Make the folders of one attempt; they are removed with all that was written there."""
        outer = self._own() / f"{name}-{secrets.token_hex(4)}"
        made = Folders(outer / "work", outer / "private", self._user)
        try:
            for folder in (outer, made.work, made.private):
                folder.mkdir(mode=0o700)
                made.give(folder)
            yield made
        finally:
            # In a thread: it may be a large tree. The thread goes on when the attempt is cancelled, and its outcome
            # is known by now.
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.to_thread(shutil.rmtree, outer, ignore_errors=True)

    def close(self) -> None:
        """Remove this executor's folder."""
        if self._mine is not None:
            shutil.rmtree(self._mine, ignore_errors=True)
            os.close(self._lock)
            self._mine = None

    def _own(self) -> Path:
        """This executor's folder, made at the first attempt."""
        if self._mine is None:
            self._make_above()
            with self._alone():
                self._sweep()
                mine = self._above / f"{os.getpid()}-{secrets.token_hex(4)}"
                mine.mkdir()
                mine.chmod(0o711)  # its attempts' user may pass through to what is its own, and see nothing else
                self._lock = os.open(mine / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
                fcntl.flock(self._lock, fcntl.LOCK_EX)
                self._mine = mine
        return self._mine

    def _make_above(self) -> None:
        self._above.mkdir(parents=True, exist_ok=True)
        # In a folder that everybody may write to, the name may have been taken by somebody else.
        if self._above.is_symlink() or self._above.stat().st_uid != os.geteuid():
            raise PermissionError(f"{self._above} belongs to somebody else: remove it, or set another TMPDIR")
        self._above.chmod(0o711)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other executors from sweeping a folder that is being made."""
        with (self._above / _LOCK).open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _sweep(self) -> None:
        for folder in self._above.iterdir():
            with contextlib.suppress(OSError), (folder / _LOCK).open("r+b") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
