"""`hourhand serve --reload`: the server is a process of its own, stopped in good order and started at each change."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import FrameType

import typer

from hourhand.settings import Settings, misspelt_variables

FLAG = "--reload"
LOOK_MILLISECONDS = 300


class Reloading:
    """Watches the programs of a folder, and looks after one server."""

    def __init__(self, settings: Settings, arguments: list[str], folder: Path) -> None:
        self._folder = folder
        # With a port of its own each time, nobody would find the server again.
        port = ["--port", str(_free_port(settings.host))] if settings.port == 0 else []
        start = [sys.executable, "-P", "-m", "hourhand.cli.reloaded", str(os.getpid())]
        self._command = [*start, *_without_flag(arguments), *port]
        self._stopping = threading.Event()
        self._server: subprocess.Popen[bytes] | None = None
        self._told_to_stop = False
        self._told_of_its_end = False

    def run(self) -> int:
        """Serve until a signal comes; the exit code of the server."""
        from watchfiles import PythonFilter, watch

        before = {number: signal.signal(number, self._pass_on) for number in _heard()}
        try:
            for changes in watch(
                self._folder,
                watch_filter=PythonFilter(),
                stop_event=self._stopping,
                rust_timeout=LOOK_MILLISECONDS,
                yield_on_timeout=True,
            ):
                if changes:
                    names = sorted({os.path.relpath(path, self._folder) for _, path in changes})
                    typer.echo(f"{', '.join(names)} changed: Hourhand is started again.")
                    self._stop()
                    self._start()
                elif self._server is None:  # only now, so that no change is missed
                    typer.echo(f"Hourhand is started again whenever a .py file in {self._folder} changes.")
                    self._start()
                self._tell_of_its_end()
            return self._stop()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _start(self) -> None:
        if self._stopping.is_set():
            return
        environment = {name: value for name, value in os.environ.items() if name not in misspelt_variables(os.environ)}
        self._told_to_stop = self._told_of_its_end = False
        # In a group of its own: else Ctrl-C would reach it twice, and the second time means without patience.
        self._server = subprocess.Popen(self._command, env=environment, process_group=0)  # noqa: S603 - this very program

    def _stop(self) -> int:
        """Let it finish what it has in hand."""
        if self._server is None:
            return 0
        if not self._told_to_stop:
            self._told_to_stop = True
            self._server.send_signal(signal.SIGTERM)
        return max(0, self._server.wait())

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        self._stopping.set()
        if self._server is not None:
            self._told_to_stop = True
            # It knows how to stop by two signals; that the terminal is gone is not one of them.
            self._server.send_signal(signal.SIGTERM if number == signal.SIGHUP else number)

    def _tell_of_its_end(self) -> None:
        """It has said itself why it could not start, such as a syntax error."""
        code = None if self._server is None else self._server.poll()
        if code is not None and not self._told_to_stop and not self._told_of_its_end:
            self._told_of_its_end = True
            typer.echo(f"Hourhand has ended with {code}: it is started again when a .py file changes.", err=True)


def _heard() -> list[signal.Signals]:
    """What ends it: also a terminal that is closed, unless `nohup` says otherwise."""
    found = [signal.SIGINT, signal.SIGTERM]
    return found if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [*found, signal.SIGHUP]


def _without_flag(arguments: list[str]) -> list[str]:
    return [one for one in arguments if one != FLAG]


def _free_port(host: str) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as one:
        one.bind((host.strip("[]"), 0))
        return int(one.getsockname()[1])
