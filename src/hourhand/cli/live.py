"""The CLI's live display, on standard error: a bar, what is done just now, and the end of what was written."""

from __future__ import annotations

import os
import stat
import sys
from collections import deque
from datetime import timedelta
from typing import Self

from rich.console import Console, Group
from rich.live import Live as Picture
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn
from rich.text import Text

from hourhand.cli.printing import clean

TAIL_LINES = 5
WIDEST_BAR, NARROWEST_BAR, BESIDE_THE_BAR = 40, 8, 20
"""A bar that ends before the terminal does survives a terminal that is made narrower."""
REFRESHES_A_SECOND = 8


def at_a_terminal() -> bool:
    """Whether somebody looks at standard error who can see a picture that changes."""
    return sys.stderr.isatty() and Console(stderr=True).is_interactive


def in_the_way() -> bool:
    """Whether what is printed on standard output may reach the same terminal unseen, as behind `| tee`."""
    if sys.stdout.isatty():
        return False
    try:
        return stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):
        return False


class Live:
    """A picture below what is printed, as long as this is entered."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._bar = BarColumn()
        self._progress = Progress(self._bar, TaskProgressColumn(), _Times(), console=self._console, auto_refresh=False)
        self._task = self._progress.add_task("", total=None)
        self._headline = ""
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._unended = ""
        self._picture = Picture(
            console=self._console,
            get_renderable=self._drawn,
            refresh_per_second=REFRESHES_A_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        """Begin to draw."""
        self._picture.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing of it behind."""
        self._picture.stop()

    def headline(self, text: str) -> None:
        """Say what is done just now."""
        self._headline = clean(text)

    def progress(self, fraction: float | None) -> None:
        """Say how much is done, of 1; None where nobody knows."""
        known = None if fraction is None else 1.0
        self._progress.update(self._task, total=known, completed=fraction or 0.0)

    def begin_again(self) -> None:
        """Forget how fast it went."""
        self._progress.reset(self._task, total=None)

    def above(self, text: str, style: str = "") -> None:
        """Print whole lines, which stay."""
        self._console.print(_text(text, style), soft_wrap=True)

    def below(self, text: str) -> None:
        """Show the end of what is written, in pieces as they come."""
        *whole, self._unended = (self._unended + text).split("\n")
        self._tail.extend(whole)

    def _drawn(self) -> Group:
        room = self._console.width - BESIDE_THE_BAR
        self._bar.bar_width = max(NARROWEST_BAR, min(WIDEST_BAR, room))
        tail = [*self._tail, self._unended] if self._unended else list(self._tail)
        return Group(
            Text(self._headline, no_wrap=True, overflow="ellipsis"),
            self._progress.get_renderable(),
            *[Text(_last_state(line), style="dim", no_wrap=True, overflow="ellipsis") for line in tail[-TAIL_LINES:]],
        )


class _Times(ProgressColumn):
    """How long it will take, where that can be told; else how long it has taken."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        left = task.time_remaining
        if task.total is not None and left is not None:
            return Text(f"ETA {timedelta(seconds=round(left))}", style="progress.remaining")
        return Text(str(timedelta(seconds=round(task.elapsed or 0))), style="progress.elapsed")


def _text(text: str, style: str) -> Text:
    made = Text.from_ansi(clean(text.replace("\r\n", "\n").rstrip("\n")))
    made.stylize(style)
    return made


def _last_state(line: str) -> str:
    """What such a line would look like by now: programs draw their own bars by going back to its beginning."""
    return _text(line.rstrip("\r").rpartition("\r")[2], "").plain
