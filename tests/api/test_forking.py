"""What is forked for a test is what a start would have made: the same process, and the same end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from api.cli import environment
from forking import completed

SEEN = """
import json, os, signal, sys, threading
files = {n: os.readlink(f"/proc/self/fd/{n}").partition(":")[0] for n in os.listdir("/proc/self/fd")
         if os.path.exists(f"/proc/self/fd/{n}")}
seen = {
    "files": files, "read": sys.stdin.read(), "threads": threading.active_count(), "environment": dict(os.environ),
    "signals": [line for line in open("/proc/self/status") if line.startswith(("SigBlk", "SigIgn", "SigCgt"))],
    "streams": [(one.encoding, one.errors, one.line_buffering, one.write_through, one.seekable())
                for one in (sys.stdin, sys.stdout, sys.stderr)],
    "place": [os.getcwd(), sys.path, sys.argv, os.getpgid(0)],
}
print(json.dumps(seen))
"""
ENDS = {
    "raised": "raise RuntimeError('x')",
    "interrupted": "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(60)",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "left at once": "import os; print('kept'); os._exit(3)",
    "left in order": "import atexit; atexit.register(print, 'at the end'); raise SystemExit(4)",
}


def both(folder: Path, program: str) -> list[tuple[int, str, str]]:
    (folder / "looking.py").write_text(program)
    arguments = ["executor", "looking:app"]
    started = subprocess.run(
        [sys.executable, "-m", "hourhand", *arguments],
        cwd=folder, env=environment(), stdin=subprocess.DEVNULL, check=False, capture_output=True, text=True,
    )  # fmt: skip
    forked = completed(arguments, folder, environment())
    return [(one.returncode, one.stdout, one.stderr) for one in (started, forked)]


def test_it_finds_what_a_start_finds(tmp_path: Path) -> None:
    started, forked = (json.loads(out.splitlines()[0]) for _, out, _ in both(tmp_path, SEEN))
    assert forked == started
    assert set(forked["files"]) == {"0", "1", "2"}


@pytest.mark.parametrize("end", ENDS)
def test_it_ends_as_what_was_started_ends(tmp_path: Path, end: str) -> None:
    started, forked = both(tmp_path, ENDS[end])
    assert forked == started
    assert started[0] != 0


def test_what_is_looked_at_during_a_start_has_one(tmp_path: Path) -> None:
    usual = completed(["täglich"], tmp_path, environment())
    other = completed(["täglich"], tmp_path, environment(PYTHONIOENCODING="ascii"))
    assert (usual.returncode, other.returncode) == (2, 2)
    assert "täglich" in usual.stderr
    assert r"t\xe4glich" in other.stderr


def test_what_does_not_end_is_ended(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired) as late:
        completed(["serve", "--port", "0"], tmp_path, environment(), timeout=0.5)
    assert not Path("/proc", str(late.value.cmd).split()[-1]).exists()
