"""What an executor's settings forbid commands, and how much they may use."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.commands import ROOT, Family, attempt, command_runner
from hourhand.model.errors import InvalidInput
from hourhand.model.instance import Outcome
from hourhand.model.words import OutcomeKind

NOBODY = "nobody" if ROOT else None
"""Whom a command can run as: somebody else if the tests may become somebody else, or their own user."""


async def run(tmp_path: Path, command: list[str] | str, settings: dict[str, Any], **payload: Any) -> Outcome:
    runner = command_runner(tmp_path, **settings)
    try:
        return await runner.run(attempt(command, **payload))
    finally:
        runner.close()


@pytest.mark.parametrize("command", ["echo hi", ["sh", "-c", "echo hi"], ["env", "bash", "-lc", "echo hi"]])
async def test_without_shells_a_text_for_one_is_refused_for_good(tmp_path: Path, command: list[str] | str) -> None:
    outcome = await run(tmp_path, command, {"command_shell": False})
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, False)
    assert (outcome.error_message or "").startswith(
        "payload.command: is a text for a shell, which this executor refuses"
    )
    assert "HOURHAND_COMMAND_SHELL=true" in (outcome.error_message or "")


async def test_without_shells_arguments_still_run(tmp_path: Path) -> None:
    assert (await run(tmp_path, ["echo", "hi"], {"command_shell": False})).kind is OutcomeKind.SUCCESS


@pytest.mark.parametrize(
    ("allow", "command"),
    [
        (("echo",), ["echo", "hi"]),
        (("echo",), ["/bin/echo", "hi"]),
        (("/usr/bin/echo",), ["echo", "hi"]),
        (("/bin/echo", "true"), ["/usr/bin/../bin/echo", "hi"]),
        (("sh",), "echo hi"),
    ],
)
async def test_a_program_on_the_list_runs_however_it_is_named(
    tmp_path: Path, allow: tuple[str, ...], command: list[str] | str
) -> None:
    assert (await run(tmp_path, command, {"command_allow": allow})).result == {
        "output": "hi\n",
        "error": "",
        "exit_code": 0,
    }


@pytest.mark.parametrize("command", [["cat", "/etc/passwd"], ["/bin/cat"], "echo hi", ["no-such-program"], ["./echo"]])
async def test_a_program_that_is_not_on_the_list_is_refused_for_good(tmp_path: Path, command: list[str] | str) -> None:
    outcome = await run(tmp_path, command, {"command_allow": ("echo", "/bin/true")})
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, False)
    assert "is not a program this executor allows: use one of echo, /bin/true" in (outcome.error_message or "")


async def test_a_path_of_its_own_does_not_put_another_program_on_the_list(tmp_path: Path) -> None:
    imposter = tmp_path / "echo"
    imposter.write_text("#!/bin/sh\nid\n")
    imposter.chmod(0o755)
    outcome = await run(tmp_path, ["echo"], {"command_allow": ("echo",)}, env={"PATH": str(tmp_path)})
    assert "is not a program this executor allows" in (outcome.error_message or "")


def test_a_user_that_does_not_exist_is_refused_when_the_executor_starts(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no user 'no-such-user' on this machine"):
        command_runner(tmp_path, command_user="no-such-user")


async def test_a_command_runs_as_the_user_it_shall_run_as_and_can_use_all_it_is_given(tmp_path: Path) -> None:
    script = (
        "id -un; cat /dev/stdin > file; cat file; echo $USER > /dev/stdout; echo 0.5 done > $HOURHAND_PROGRESS;"
        "stat -c '%U %a' . $HOURHAND_PROGRESS; pwd -P"
    )
    runner = command_runner(tmp_path, command_user=NOBODY)
    one = attempt(script, stdin="given\n")
    outcome = await runner.run(one)
    runner.close()
    name, given, user, folder, pipe, where = (outcome.result or {})["output"].splitlines()
    assert outcome.error_message is None
    assert {name, user} == {NOBODY or name}
    assert (given, folder, pipe) == ("given", f"{name} 700", f"{name} 600")
    assert [report.phase for report in one.reports] == ["done"]
    assert not Path(where).exists()  # noqa: ASYNC240


async def test_a_command_gets_no_new_privileges_and_leaves_no_core(tmp_path: Path) -> None:
    outcome = await run(tmp_path, "grep NoNewPrivs /proc/self/status; ulimit -c; ulimit -Hc", {"command_user": NOBODY})
    assert (outcome.result or {})["output"].split() == ["NoNewPrivs:", "1", "0", "0"]


async def test_a_command_finds_signals_as_at_a_terminal(tmp_path: Path) -> None:
    outcome = await run(tmp_path, ["grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"], {})
    _, blocked, _, ignored = (outcome.result or {})["output"].split()
    of_the_c_library = 1 << 31 | 1 << 32  # its own two, which nobody can set
    assert (int(blocked, 16) & ~of_the_c_library, int(ignored, 16) & ~of_the_c_library) == (0, 0)


async def test_a_command_that_wants_more_memory_than_allowed_fails_by_itself(tmp_path: Path) -> None:
    hungry = [sys.executable, "-c", "print(len(bytearray(400_000_000)))"]
    outcome = await run(tmp_path, hungry, {"command_memory_mb": 200})
    assert outcome.error_message == "exit code 1: MemoryError"
    fed = await run(tmp_path, hungry, {})
    assert fed.kind is OutcomeKind.SUCCESS


async def test_a_fork_bomb_is_bounded_and_ends_with_its_attempt(tmp_path: Path) -> None:
    # The limit counts all that its user runs; root is exempt, so there it runs as somebody else.
    most = 40 + _threads_of(65534 if ROOT else os.geteuid())
    family = Family()
    # It stops at some number by itself, so that a broken limit does not take the machine along.
    bomb = "i=0; while [ $i -lt 400 ]; do i=$((i+1)); sleep 20 & done; echo unbounded"
    settings = {"command_user": NOBODY, "command_processes": most}
    outcome = await run(tmp_path, ["sh", "-c", bomb], settings, env=family.env)
    assert outcome.kind is OutcomeKind.FAILED
    assert "fork" in (outcome.error_message or "").lower()
    assert "unbounded" not in (outcome.result or {})["output"]
    assert family.pids() == []


def _threads_of(uid: int) -> int:
    count = 0
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                if path.stat().st_uid == uid:
                    count += len(list((path / "task").iterdir()))
            except OSError:
                continue
    return count
