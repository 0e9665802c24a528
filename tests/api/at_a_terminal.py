"""The command `hourhand` with a real terminal in front of it, for what is asked only there."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from dataclasses import dataclass

from api.cli import Terminal, environment

DEADLINE_SECONDS = 60
# A session's leader gets the first terminal that it opens as its own; passwords are read from there.
_TAKE_TERMINAL = "import os, sys; os.close(os.open(os.ttyname(0), os.O_RDWR)); os.execv(sys.executable, sys.argv[1:])"


@dataclass(frozen=True)
class Asked:
    """Everything that was on the screen, and how it ended."""

    code: int
    screen: str


def asked(hourhand: Terminal, *arguments: str, answers: list[tuple[str, str]]) -> Asked:
    """Run a command, and give each answer once its question is on the screen."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", _TAKE_TERMINAL, sys.executable, "-m", "hourhand", *arguments],
        cwd=hourhand.served.folder,
        env=environment(HOURHAND_URL=hourhand.served.address, TERM="dumb"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    screen = ""
    waiting = list(answers)
    deadline = time.monotonic() + DEADLINE_SECONDS
    seen = 0
    try:
        while (more := _read(ours, deadline)) is not None:
            screen += more
            if waiting and waiting[0][0] in screen[seen:]:
                seen = len(screen)
                os.write(ours, f"{waiting.pop(0)[1]}\n".encode())
        assert not waiting, f"never asked {waiting[0][0]!r}: {screen}"
        return Asked(process.wait(timeout=DEADLINE_SECONDS), screen)
    finally:
        os.close(ours)
        if process.poll() is None:
            process.kill()
            process.wait()


def _read(terminal: int, deadline: float) -> str | None:
    """Read what comes next; None once the other side is gone."""
    ready, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
    assert ready, "the command says nothing more and does not end"
    try:
        return os.read(terminal, 4_096).decode() or None
    except OSError:  # what Linux says of a terminal that nobody has open any more
        return None
