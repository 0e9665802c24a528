"""Guarantee 10: after a stop, whatever asked for it, nothing of a command is left."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.commands import Family, attempt, cancelled, command_runner, until
from hourhand.model.instance import Outcome
from hourhand.model.words import OutcomeKind
from hourhand.runners import supervised
from hourhand.runners.command import CommandRunner

DEAF = "trap '' TERM INT HUP; while :; do sleep 0.2; done"
GRANDCHILD = f'(setsid sh -c "echo ready; {DEAF}" &);'
"""In a session and a group of its own, and an orphan, since its parent has gone: nobody the command knows has it."""


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[CommandRunner]:
    made = command_runner(tmp_path, grace_seconds=1)
    yield made
    made.close()


async def test_a_cancelled_command_is_asked_to_end_and_what_it_wrote_until_then_is_kept(tmp_path: Path) -> None:
    runner = command_runner(tmp_path, grace_seconds=60)
    family = Family()
    one = attempt(
        "exec 2>&-; trap 'echo tidied up; exit 5' TERM; echo ready; while :; do sleep 0.1; done", env=family.env
    )
    running = asyncio.create_task(runner.run(one))
    await one.until_written("ready")
    outcome = await cancelled(running)
    assert family.pids() == []
    assert outcome.kind is OutcomeKind.CANCELLED
    assert outcome.error_message == "stopped: exit code 5"
    assert outcome.result == {"output": "ready\ntidied up\n", "error": "", "exit_code": 5}
    assert outcome.output_summary == "ready\ntidied up\n"
    runner.close()


async def test_a_command_that_does_not_listen_is_killed_after_the_grace(runner: CommandRunner) -> None:
    family = Family()
    one = attempt(f"echo ready; {DEAF}", env=family.env)
    running = asyncio.create_task(runner.run(one))
    await one.until_written("ready")
    began = time.monotonic()
    outcome = await cancelled(running)
    assert time.monotonic() - began >= 1
    assert family.pids() == []
    assert (outcome.kind, outcome.error_message) == (OutcomeKind.CANCELLED, "stopped: killed by SIGKILL")
    assert (outcome.result or {})["exit_code"] == -signal.SIGKILL


async def test_a_stopped_process_is_woken_to_hear_that_it_shall_end(tmp_path: Path) -> None:
    runner = command_runner(tmp_path, grace_seconds=60)
    family = Family()
    one = attempt("trap 'exit 0' TERM; echo ready; kill -STOP $$; echo never", env=family.env)
    running = asyncio.create_task(runner.run(one))
    await one.until_written("ready")
    outcome = await cancelled(running)
    assert family.pids() == []
    assert outcome.kind is OutcomeKind.CANCELLED
    runner.close()


async def test_a_grandchild_in_a_session_of_its_own_dies_with_a_cancelled_command(runner: CommandRunner) -> None:
    family = Family()
    one = attempt(f"{GRANDCHILD} {DEAF}", env=family.env)
    running = asyncio.create_task(runner.run(one))
    await one.until_written("ready")
    await family.grown_to(3)
    assert (await cancelled(running)).kind is OutcomeKind.CANCELLED
    assert family.pids() == []


async def test_a_grandchild_in_a_session_of_its_own_dies_when_the_time_is_up(runner: CommandRunner) -> None:
    family = Family()
    one = attempt(f"{GRANDCHILD} {DEAF}", env=family.env)
    limit = asyncio.timeout(None)

    async def limited() -> Outcome:
        async with limit:
            return await runner.run(one)

    running = asyncio.create_task(limited())
    await one.until_written("ready")
    limit.reschedule(asyncio.get_running_loop().time())
    outcome = await running
    assert outcome.kind is OutcomeKind.CANCELLED
    assert family.pids() == []


async def test_what_a_command_leaves_behind_is_ended_and_the_command_still_counts_as_what_it_was(
    runner: CommandRunner,
) -> None:
    family = Family()
    one = attempt(f"{GRANDCHILD} (sleep 1000; :) & sleep 0.5; exit 0", env=family.env)
    outcome = await runner.run(one)
    assert family.pids() == []
    assert outcome.kind is OutcomeKind.SUCCESS
    (warning,) = one.at_level("warning")
    assert warning.startswith("the command left ")
    assert warning.endswith(" process(es) behind, which were stopped")


async def test_a_second_cancellation_takes_the_grace_away(tmp_path: Path) -> None:
    runner = command_runner(tmp_path, grace_seconds=600)
    family = Family()
    one = attempt(f"echo ready; {GRANDCHILD} {DEAF}", env=family.env)
    running = asyncio.create_task(runner.run(one))
    await family.grown_to(3)
    running.cancel()
    await asyncio.sleep(0.1)
    assert not running.done()
    outcome = await cancelled(running)
    assert outcome.kind is OutcomeKind.CANCELLED
    assert family.pids() == []
    runner.close()


async def test_however_often_and_early_it_is_cancelled_no_process_survives(tmp_path: Path) -> None:
    runner = command_runner(tmp_path, grace_seconds=0.2)
    family = Family()
    for number in range(15):
        running = asyncio.create_task(runner.run(attempt(f"{GRANDCHILD} {DEAF}", env=family.env)))
        await asyncio.sleep(0.004 * number)
        for _ in range(3):
            running.cancel()
            await asyncio.sleep(0)
        await asyncio.wait([running])
    await family.gone()
    await until(lambda: not supervised._ending)  # noqa: SLF001  # nor any supervisor that was left to itself
    runner.close()


EXECUTOR = """
import asyncio, sys
from pathlib import Path
from engine.attempts import Recorded
from engine.commands import command_runner
from hourhand.model.words import TaskType

async def main() -> None:
    folder, family, script = sys.argv[1:]
    runner = command_runner(Path(folder), grace_seconds=600)
    await runner.run(Recorded(TaskType.COMMAND, {"command": script, "env": {"FAMILY": family}}))

asyncio.run(main())
"""


async def test_a_killed_executor_takes_everything_it_started_along(tmp_path: Path) -> None:
    family = Family()
    tests = Path(__file__).resolve().parents[1]  # noqa: ASYNC240
    executor = subprocess.Popen(  # noqa: ASYNC220  # it must be killed like any other process
        [sys.executable, "-c", EXECUTOR, str(tmp_path), family.env["FAMILY"], f"{GRANDCHILD} {DEAF}"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), os.environ.get("PYTHONPATH", "")])},
    )
    try:
        await family.grown_to(3)
        executor.kill()
        await family.gone()
    finally:
        executor.kill()
        await asyncio.to_thread(executor.wait)


async def test_a_supervisor_that_is_told_to_end_ends_the_command_gently(tmp_path: Path) -> None:
    runner = command_runner(tmp_path, grace_seconds=60)
    one = attempt("exec 2>&-; trap 'echo tidied up; exit 5' TERM; echo ready $PPID; while :; do sleep 0.1; done")
    running = asyncio.create_task(runner.run(one))
    await one.until_written("ready")
    os.kill(int(one.written("stdout").split()[1]), signal.SIGTERM)
    outcome = await running
    assert (outcome.kind, outcome.error_message) == (OutcomeKind.FAILED, "exit code 5")
    assert (outcome.result or {})["output"].endswith("tidied up\n")
    runner.close()


async def test_when_the_supervisor_is_killed_nothing_survives_and_the_outcome_says_so(runner: CommandRunner) -> None:
    family = Family()
    one = attempt(f"echo $PPID; {GRANDCHILD} {DEAF}", env=family.env)
    running = asyncio.create_task(runner.run(one))
    await family.grown_to(3)
    await one.until_written("ready")
    os.kill(int(one.written("stdout").split()[0]), signal.SIGKILL)
    outcome = await running
    assert family.pids() == []
    assert outcome.kind is OutcomeKind.FAILED
    assert (outcome.error_message or "").startswith("the command's supervisor was killed by SIGKILL; ")
    assert "ready" in (outcome.result or {})["output"]
    assert outcome.retryable


async def test_no_supervisor_is_left_when_commands_have_ended(runner: CommandRunner) -> None:
    await runner.run(attempt(["true"]))

    def children() -> list[str]:
        tasks = Path(f"/proc/{os.getpid()}/task").iterdir()
        pids = " ".join((task / "children").read_text() for task in tasks).split()
        return [pid for pid in pids if b"supervisor" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    await until(lambda: not children())
