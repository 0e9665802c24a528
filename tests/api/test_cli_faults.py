"""However the CLI ends, it ends with a line: broken pipes, strange encodings, misspelt variables, its own faults."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from api.cli import Terminal, environment, run, run_here
from serving import Served

PREVIEW = ("schedule", "preview", "@daily")


@pytest.fixture(scope="module")
def hourhand(served: Served) -> Terminal:
    terminal = Terminal(served)
    if terminal("task", "show", "täglich").code:
        terminal.done("task", "add", "täglich", "--command", "true", "--description", "größer ☃")
    return terminal


@pytest.mark.parametrize("arguments", [PREVIEW, (*PREVIEW, "--json"), ("--help",), ("--version",)])
def test_who_reads_no_further_is_told_nothing(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "hourhand", *arguments],
            cwd=tmp_path,
            env=environment(),
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        for arguments in (PREVIEW, (*PREVIEW, "--json")):
            done = subprocess.run(
                [sys.executable, "-m", "hourhand", *arguments],
                cwd=tmp_path,
                env=environment(),
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                timeout=60,
            )
            assert (done.returncode, done.stderr) == (1, "Error: it cannot be written: No space left on device\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_what_the_encoding_does_not_have_is_escaped(hourhand: Terminal, encoding: str) -> None:
    where = {"HOURHAND_URL": hourhand.served.address, "PYTHONIOENCODING": encoding}
    arguments = ("task", "show", "täglich")
    for more in ((), ("--json",)):
        done = subprocess.run(
            [sys.executable, "-m", "hourhand", *arguments, *more],
            cwd=hourhand.served.folder,
            env=environment(**where),
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        out = done.stdout.decode(encoding)
        if more:
            assert json.loads(out)["description"] == "größer ☃"
        else:
            assert ("☃" if encoding == "utf-8" else r"\u2603") in out


def test_an_argument_that_is_no_text_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable.encode(), b"-m", b"hourhand", b"task", b"show", b"\xff"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == r"Error: argument 3: '\udcff' is not text: write it in UTF-8" + "\n"


class Stranger(BaseHTTPRequestHandler):
    """Answers as no Hourhand would."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b"[]")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def stranger() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Stranger) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_fault_of_ours_is_one_line_that_says_where_the_details_are(stranger: str, tmp_path: Path) -> None:
    ran = run(tmp_path, "task", "show", "x", HOURHAND_URL=stranger, HOURHAND_TOKEN="x", TMPDIR=str(tmp_path))  # noqa: S106
    assert (ran.code, ran.out) == (1, "")
    found = re.fullmatch(
        r"Error: this is a fault of Hourhand: TypeError: .*; the details are in (\S+) \(HOURHAND_DEBUG=1 .*\)\n",
        ran.err,
    )
    assert found, ran.err
    kept = Path(found[1])
    assert kept.parent == tmp_path
    assert kept.stat().st_mode & 0o077 == 0
    assert "Traceback (most recent call last)" in kept.read_text()


def test_whoever_wants_the_traceback_gets_it(stranger: str, tmp_path: Path) -> None:
    ran = run(tmp_path, "task", "show", "x", HOURHAND_URL=stranger, HOURHAND_TOKEN="x", HOURHAND_DEBUG="1")  # noqa: S106
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("Traceback (most recent call last)")
    assert "Error: this is a fault of Hourhand: TypeError" in ran.err


def test_a_misspelt_variable_is_warned_of_once(tmp_path: Path) -> None:
    ran = run_here(tmp_path, *PREVIEW, HOURHAND_PROT="8421", HOURHAND_DEBUG="0", HOURHAND_MINE="x")
    assert ran.code == 0
    assert ran.err == "Warning: HOURHAND_PROT is no setting and has no effect: did you mean HOURHAND_PORT?\n"


def test_a_role_warns_of_it_too(tmp_path: Path) -> None:
    with Served(tmp_path, HOURHAND_TOKN="x") as served:
        served.stop()
        assert served.output.count("did you mean HOURHAND_TOKEN?") == 1


def test_a_wrong_setting_is_refused_in_our_words(tmp_path: Path) -> None:
    ran = run_here(tmp_path, "task", "list", HOURHAND_PORT="abc")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "Error: HOURHAND_PORT: 'abc' is refused: it is not a whole number; give one, such as 8420\n"
