"""The command `hourhand` at a terminal that can draw: what came over the line, and what was on the screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from typing import TYPE_CHECKING, Self

from api.cli import environment

if TYPE_CHECKING:
    from pathlib import Path

DEADLINE_SECONDS = 90
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ERASE = "\x1b[2K"
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")


class Screen:
    """A process with a terminal of its own; `text` is everything that was sent to it so far."""

    def __init__(self, folder: Path, *arguments: str, columns: int = 80, **more: str) -> None:
        self._ours, theirs = pty.openpty()
        _resize(theirs, columns)
        wanted = environment(TERM="xterm-256color", **more)
        if "NO_COLOR" not in more:
            wanted.pop("NO_COLOR")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hourhand", *arguments],
            cwd=folder,
            env=wanted,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.text = ""
        self._stopped = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._stopped.set()
        self._reader.join(timeout=10)
        os.close(self._ours)

    @property
    def plain(self) -> str:
        """Line by line, without what moves and colours; what is drawn over another thing begins a line of its own."""
        return re.sub("\n+", "\n", CONTROL.sub("", self.text.replace(ERASE, "\n")).replace("\r", ""))

    def wait_for(self, said: str) -> None:
        """Return once it has been on the screen."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while said not in self.plain:
            assert time.monotonic() < deadline, f"{said!r} never came: {self.plain[-2_000:]}"
            assert self.process.poll() is None or self._reader.is_alive() or said in self.plain, self.plain[-2_000:]
            time.sleep(0.02)

    def resize(self, columns: int) -> None:
        """Make the terminal wider or narrower, as somebody does with a mouse."""
        _resize(self._ours, columns)
        self.process.send_signal(signal.SIGWINCH)

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def end(self) -> int:
        """Return the exit code, once everything is on the screen."""
        code = self.process.wait(timeout=DEADLINE_SECONDS)
        self._reader.join(timeout=10)
        return code

    def _read(self) -> None:
        # A character may come in two pieces: what has not come whole is left for the next time.
        pending = b""
        while not self._stopped.is_set():
            ready, _, _ = select.select([self._ours], [], [], 0.1)
            if not ready:
                continue
            try:
                piece = os.read(self._ours, 65_536)
            except OSError:  # what Linux says of a terminal that nobody has open any more
                return
            pending += piece
            try:
                self.text, pending = self.text + pending.decode(), b""
            except UnicodeDecodeError as cut:
                self.text, pending = self.text + pending[: cut.start].decode(), pending[cut.start :]


def _resize(terminal: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
