"""What a command that runs as the executor's own user can find out about the executor."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from engine.attempts import PATIENCE
from engine.commands import ROOT, attempt, command_runner

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_CAPABILITIES = """
    import ctypes, os, sys
    # Root may look at everything by its capabilities; from here on it is a user like any other.
    for capability in range(64):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
    os.execv(sys.executable, [sys.executable, "-W", "error", "-c", *sys.argv[1:]])
"""
PROGRAM = """
    import asyncio, os, sys
    from pathlib import Path
    from engine.commands import attempt, command_runner
    from hourhand.runners.supervisor import PR_SET_DUMPABLE, prctl

    runner = command_runner(Path(sys.argv[1]))
    if sys.argv[2] == "shown":
        prctl(PR_SET_DUMPABLE, 1)

    async def main():
        for name in ("environ", "maps", "mem"):
            outcome = await runner.run(attempt(["head", "-c", "0", f"/proc/{os.getpid()}/{name}"]))
            print(name, outcome.result["exit_code"])
        outcome = await runner.run(attempt("setsid sleep 1000 & kill -KILL $PPID; sleep 1000"))
        print(outcome.error_message)
        outcome = await runner.run(attempt("setsid sleep 1000 & echo on"))
        print(outcome.kind.value, outcome.result["output"])

    asyncio.run(main())
    runner.close()
"""


@pytest.mark.parametrize(("how", "code"), [("hidden", 1), ("shown", 0)])
def test_a_command_cannot_read_its_executors_environment_and_memory_and_is_contained_all_the_same(
    tmp_path: Path, how: str, code: int
) -> None:
    """The executor that shows itself proves that the commands would have read it."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(WITHOUT_CAPABILITIES), textwrap.dedent(PROGRAM), str(tmp_path), how],
        env={**os.environ, "PYTHONPATH": "tests"},
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    environment, maps, memory, lost, *left = done.stdout.splitlines()
    assert (environment, maps) == (f"environ {code}", f"maps {code}")
    assert memory == "mem 1" or how == "shown"
    assert lost.startswith("the command's supervisor was killed by SIGKILL; ")
    assert not lost.endswith("; 0 of the command's processes were killed")
    assert left == ["success on", ""]


async def test_that_commands_run_as_root_is_said_once_and_only_where_it_is_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for settings, warnings in (({}, int(ROOT)), ({"command_user": "nobody"} if ROOT else {}, 0)):
        caplog.clear()
        runner = command_runner(tmp_path, **settings)
        assert not caplog.messages
        for _ in range(2):
            await runner.run(attempt(["true"]))
        runner.close()
        assert len([one for one in caplog.messages if one.startswith("commands run as root")]) == warnings


async def test_secrets_are_not_found_by_the_way_back_from_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "admin-token").write_text("hh_canary")
    runner = command_runner(tmp_path)
    outcome = await runner.run(
        attempt("cat ../admin-token ../../admin-token ../../../admin-token ../../../../admin-token")
    )
    runner.close()
    assert (outcome.result or {})["output"] == ""
