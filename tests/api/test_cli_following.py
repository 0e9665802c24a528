"""Following an instance over a connection that is refused, cut, or gone for a while: no line is lost or doubled."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from api.cli import Ran, Terminal, environment, run_together
from serving import Served

TESTS = Path(__file__).resolve().parents[1]
LINES = 400
QUICK = {"HOURHAND_LEASE_SECONDS": "1.5", "HOURHAND_HEARTBEAT_SECONDS": "0.3"}


def said(numbers: range) -> list[str]:
    return [f"line {number}\u2028still {number}" for number in numbers]


def talking(gate: Path) -> tuple[str, ...]:
    return ("task", "run", "talks", "--follow", "--args", json.dumps({"lines": LINES, "gate": str(gate)}))


def served(folder: Path, *arguments: str, **more: str) -> Served:
    return Served(folder, "api.steps:app", *arguments, PYTHONPATH=str(TESTS), **more)


@contextmanager
def following(folder: Path, address: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "hourhand", *arguments],
        cwd=folder,
        env=environment(HOURHAND_URL=address, PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ended(process: subprocess.Popen[str]) -> Ran:
    out, err = process.communicate(timeout=120)
    return Ran(process.returncode, out, err)


def test_where_streams_are_refused_it_asks_instead(tmp_path: Path) -> None:
    (tmp_path / "gate").write_text("")
    with served(tmp_path, HOURHAND_MAX_STREAMS="0") as process:
        ran = Terminal(process)(*talking(tmp_path / "gate"))
    assert ran.code == 0
    assert ran.out.split("\n") == [*said(range(LINES)), ""]
    assert "connection" not in ran.err


class Cutter:
    """A way to a server that is cut again and again: each connection lets only so many bytes through."""

    def __init__(self, address: str, most: int) -> None:
        self._port = int(address.rpartition(":")[2])
        self._most = most
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                ours, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._pass_on, args=(ours,), daemon=True).start()

    def _pass_on(self, ours: socket.socket) -> None:
        with ours, socket.create_connection(("127.0.0.1", self._port)) as theirs:
            threading.Thread(target=self._ask, args=(ours, theirs), daemon=True).start()
            left = self._most
            while left > 0 and (piece := theirs.recv(min(left, 1_000))):
                ours.sendall(piece)
                left -= len(piece)
            self.cuts += left <= 0
            for one in (ours, theirs):  # to close is not enough while the other thread reads
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def _ask(ours: socket.socket, theirs: socket.socket) -> None:
        try:
            while piece := ours.recv(65_536):
                theirs.sendall(piece)
        except OSError:
            return


def test_a_stream_that_is_cut_goes_on_where_it_was(tmp_path: Path) -> None:
    with served(tmp_path) as process:
        way = Cutter(process.address, most=30_000)
        try:
            (tmp_path / "gate").write_text("")
            with following(tmp_path, way.address, *talking(tmp_path / "gate")) as follower:
                ran = ended(follower)
        finally:
            way.close()
    assert ran.code == 0
    assert ran.out.split("\n") == [*said(range(LINES)), ""]
    assert way.cuts >= 2


def test_a_server_that_is_restarted_is_waited_for(tmp_path: Path) -> None:
    with served(tmp_path, **QUICK) as first:
        port = first.address.rpartition(":")[2]
        terminal = Terminal(first)
        terminal.done("group", "add", "nobody")
        terminal.done("task", "add", "idle", "--command", "echo hi", "--group", "nobody")
        instance = str(terminal.done("task", "run", "idle", "--json").json["id"])
        with (
            following(tmp_path, first.address, "instance", "follow", instance) as follower,
            following(tmp_path, first.address, "instance", "logs", instance, "--follow") as other,
        ):
            assert follower.stderr is not None
            assert other.stderr is not None
            _until_streams(first, 2)
            first.stop()
            for one in (follower, other):
                assert "The connection is lost" in (one.stderr.readline() if one.stderr else "")
            with served(tmp_path, "--port", port, "--group", "nobody", **QUICK):
                for one in (follower, other):
                    ran = ended(one)
                    assert (ran.code, ran.out) == (0, "hi\n")
                    assert ran.err.startswith("The connection is back.\n")
                    assert ran.err.count("connection") == 1


def _until_streams(process: Served, count: int) -> None:
    deadline = time.monotonic() + 60
    with process.client() as client:
        while f"hourhand_streams_open {count}.0" not in client.get("/metrics").text:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_an_attempt_that_was_lost_is_said(tmp_path: Path) -> None:
    with served(tmp_path, **QUICK) as first:
        port = first.address.rpartition(":")[2]
        with following(tmp_path, first.address, *talking(tmp_path / "gate")) as follower:
            assert follower.stdout is not None
            early = [follower.stdout.readline() for _ in range(LINES // 2)]
            first.stop(signal.SIGKILL)
            (tmp_path / "gate").write_text("")
            with served(tmp_path, "--port", port, **QUICK):
                ran = ended(follower)
    assert ran.code == 0
    assert "".join(early).split("\n")[:-1] == said(range(LINES // 2))
    assert ran.out.split("\n") == [*said(range(LINES)), ""]
    assert "its executor was lost, and it is attempted again" in ran.err


@pytest.mark.parametrize("streams", ["10", "0"])
def test_an_attempt_that_failed_is_said_after_what_it_wrote_and_before_what_the_next_writes(
    tmp_path: Path, streams: str
) -> None:
    with served(tmp_path, HOURHAND_MAX_STREAMS=streams) as process:
        retrying = ("--shell", "--retries", "2", "--retry-delay", "2")
        Terminal(process).done("task", "add", "trips", "--command", "echo it trips; exit 3", *retrying)
        ran = run_together(tmp_path, "task", "run", "trips", "--follow", HOURHAND_URL=process.address)
    assert ran.code == 1
    lines = [re.sub(r"[\d.]+ (m?s)\b", "N s", line) for line in ran.out.splitlines()]
    assert lines == [
        "it trips",
        "Instance 1: attempt 1 of 3 failed: exit code 3; the next in N s",
        "it trips",
        "Instance 1: attempt 2 of 3 failed: exit code 3; the next in N s",
        "it trips",
        "Instance 1 of task 'trips': failed after 3 attempts (the last took N s): exit code 3",
    ]
