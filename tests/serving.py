"""A real `hourhand serve` process in a folder of its own, for tests."""

from __future__ import annotations

import os
import queue
import re
import signal
import ssl
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Self

import httpx

from forking import Forked

if TYPE_CHECKING:
    from pathlib import Path

START_SECONDS = 30
NOTHING_LOADED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # no TLS here, and the usual one takes 20 ms to make


class Served:
    """One process; its printed lines are in `lines`, its address in `address`."""

    python: str | None = None
    """The interpreter that starts it; without one, it is forked from a process that has imported everything."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self.folder = folder
        self.lines: list[str] = []
        self._arriving: queue.Queue[str | None] = queue.Queue()
        clean = {key: value for key, value in os.environ.items() if not key.startswith("HOURHAND_")}
        self.process = self._start(["serve", "--port", "0", *arguments], clean | environment)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self.address = self._wait_for_address()
        except BaseException:
            self.stop()
            raise

    def _start(self, arguments: list[str], environment: dict[str, str]) -> Forked | subprocess.Popen[str]:
        # What is meant for the interpreter must be there when it starts.
        meant = {key: value for key, value in environment.items() if key.startswith("PYTHON")}
        if self.python is None and meant.items() <= os.environ.items():
            return Forked(arguments, self.folder, environment)
        return subprocess.Popen(
            [self.python or sys.executable, "-m", "hourhand", *arguments],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    @property
    def token_file(self) -> Path:
        return self.folder / "hourhand-data" / "admin-token"

    @property
    def token(self) -> str:
        return self.token_file.read_text().strip()

    @property
    def output(self) -> str:
        return "".join(self.lines)

    def client(self, token: str | None = None) -> httpx.Client:
        """Return a client that sends the admin token, or the one given."""
        headers = {"Authorization": f"Bearer {self.token if token is None else token}"}
        return self._client(headers=headers)

    def visitor(self) -> httpx.Client:
        """Return a client without a token."""
        return self._client()

    def _client(self, **more: Any) -> httpx.Client:
        return httpx.Client(base_url=self.address, timeout=10, trust_env=False, verify=NOTHING_LOADED, **more)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Signal the process, and return its exit code once it has ended and everything it said was read."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self._reader.join(timeout=10)
        if self.process.stdout:
            self.process.stdout.close()
        while not self._arriving.empty():
            line = self._arriving.get()
            self.lines += [line] if line else []
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self._arriving.put(line)
        self._arriving.put(None)

    def _wait_for_address(self) -> str:
        deadline = time.monotonic() + START_SECONDS
        address = ""
        while not address or not ("sign in" in self.output or re.search("admin token(?!.*just now)", self.output)):
            line = self._arriving.get(timeout=max(0.1, deadline - time.monotonic()))
            if line is None:
                raise RuntimeError(f"hourhand serve ended with {self.process.wait()}:\n{self.output}")
            self.lines.append(line)
            if " is serving http" in line:
                address = line.split(" is serving ")[1].split()[0]
        return address


class FromTheStart(Served):
    """One that was started as a user does it, imports and all."""

    python = sys.executable
