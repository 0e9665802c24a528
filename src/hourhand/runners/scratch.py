"""Runners: a private folder for each attempt, gone when the attempt is over, or its executor."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from hourhand.runners.accounts import Account

_LOCK = "lock"
_PREFIX = "hourhand-{}-"


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

    They lie in the machine's folder for temporary files, far from the data folder and its secrets, in one that nobody
    else can have made before. Each executor holds a lock in its own; one whose lock is free belongs to an executor that
    was killed, and is removed by the next one that starts.
    """

    def __init__(self, user: Account) -> None:
        self._user = user
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
            above = Path(tempfile.gettempdir())
            _sweep(above)
            mine = Path(tempfile.mkdtemp(prefix=_PREFIX.format(os.geteuid()), dir=above))
            if self._user.other:
                mine.chmod(0o711)  # its attempts' user may pass through to what is its own, and see nothing else
            self._lock = _locked(mine)
            self._mine = mine
        return self._mine


def _locked(folder: Path) -> int:
    """Lock a folder; the lock gets its name only once it is held, so that nobody takes it for a dead executor's."""
    making = folder / f"{_LOCK}.making"
    lock = os.open(making, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    making.rename(folder / _LOCK)
    return lock


def _sweep(above: Path) -> None:
    """Remove what executors of the same user left behind; everybody may write here, so what others made is let be."""
    me = os.geteuid()
    for folder in above.glob(_PREFIX.format(me) + "*"):
        with contextlib.suppress(OSError):
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != me:
                continue
            with (folder / _LOCK).open("r+b") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
