"""A command's environment is what it is given, and nothing of the executor's own."""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.attempts import Recorded
from engine.commands import attempt, command_runner
from hourhand.model.words import TaskType
from hourhand.runners.command import CommandRunner

SET_BY_US = {
    "HOURHAND_ARGS",
    "HOURHAND_ATTEMPT",
    "HOURHAND_FENCE",
    "HOURHAND_IDEMPOTENCY_KEY",
    "HOURHAND_INSTANCE_ID",
    "HOURHAND_PROGRESS",
    "HOURHAND_RETRY_COUNT",
    "HOURHAND_SCHEDULED_TIME",
    "HOURHAND_SHARD_INDEX",
    "HOURHAND_SHARD_TOTAL",
    "HOURHAND_SUPERVISED",
    "HOURHAND_TASK",
}


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[CommandRunner]:
    made = command_runner(tmp_path)
    yield made
    made.close()


async def environment(runner: CommandRunner, one: Recorded) -> dict[str, str]:
    outcome = await runner.run(one)
    assert outcome.error_message is None
    pairs = (outcome.result or {})["output"].split("\n")[:-1]
    return dict(pair.partition("=")[::2] for pair in pairs)


async def test_nothing_of_the_executors_environment_reaches_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = "canary-4711"
    monkeypatch.setenv("HOURHAND_TOKEN", canary)
    monkeypatch.setenv("HOURHAND_SECRET_KEY", canary)
    monkeypatch.setenv("HOURHAND_STORE", f"postgresql://user:{canary}@host/db")
    for name in ("AWS_SECRET_ACCESS_KEY", "PYTHONPATH", "LD_LIBRARY_PATH", "TZ", "PGPASSWORD"):
        monkeypatch.setenv(name, f"/{canary}")
    runner = command_runner(tmp_path)
    # Of the command itself, and of everything above it that it may look at.
    one = attempt("env; tr '\\0' '\\n' < /proc/$PPID/environ; tr '\\0' ' ' < /proc/$PPID/cmdline; ls -l /proc/self/fd")
    outcome = await runner.run(one)
    runner.close()
    shown = json.dumps(outcome.result) + str(outcome.output_summary) + one.written("stdout")
    assert "HOURHAND_INSTANCE_ID=7" in shown
    assert shown.count(canary) == shown.count(f"LD_LIBRARY_PATH=/{canary}")


async def test_without_any_variable_of_its_own_a_command_finds_exactly_these(
    runner: CommandRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    found = await environment(runner, attempt(["env"]))
    assert set(found) == SET_BY_US | {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG"}
    assert found["PATH"] == "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    assert found["LANG"] == "C.UTF-8"
    assert found["USER"] == found["LOGNAME"] == getpass.getuser()
    assert Path(found["HOME"]).is_absolute()


async def test_the_folder_for_temporary_files_is_handed_on(
    runner: CommandRunner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert (await environment(runner, attempt(["env"])))["TMPDIR"] == str(tmp_path)


async def test_an_attempt_is_told_what_it_is(runner: CommandRunner) -> None:
    one = Recorded(
        TaskType.COMMAND,
        {"command": ["env"]},
        args={"day": "2026-11-15", "n": 2},
        checkpoint={"page": 3},
        instance_id=41,
        fence=5,
        retry_count=2,
        shard_index=1,
        shard_total=4,
        name="close-books",
    )
    found = await environment(runner, one)
    assert json.loads(found.pop("HOURHAND_ARGS")) == {"day": "2026-11-15", "n": 2}
    assert json.loads(found.pop("HOURHAND_CHECKPOINT")) == {"page": 3}
    assert {name: value for name, value in found.items() if name.startswith("HOURHAND_")} == {
        "HOURHAND_INSTANCE_ID": "41",
        "HOURHAND_FENCE": "5",
        "HOURHAND_ATTEMPT": "41-5",
        "HOURHAND_IDEMPOTENCY_KEY": "hourhand-41",
        "HOURHAND_TASK": "close-books",
        "HOURHAND_SCHEDULED_TIME": "2026-11-15T02:00:00Z",
        "HOURHAND_RETRY_COUNT": "2",
        "HOURHAND_SHARD_INDEX": "1",
        "HOURHAND_SHARD_TOTAL": "4",
        "HOURHAND_PROGRESS": found["HOURHAND_PROGRESS"],
        "HOURHAND_SUPERVISED": found["HOURHAND_SUPERVISED"],
    }


async def test_the_payloads_variables_are_above_the_usual_ones_and_below_what_an_attempt_is_told(
    runner: CommandRunner,
) -> None:
    env = {"LANG": "de_DE.UTF-8", "MINE": "a=b", "EMPTY": "", "HOURHAND_FENCE": "99", "TZ": "UTC"}
    found = await environment(runner, attempt(["env"], env=env))
    assert {name: found[name] for name in env} == env | {"HOURHAND_FENCE": "1"}


async def test_arguments_and_a_checkpoint_too_long_for_a_variable_are_in_files(runner: CommandRunner) -> None:
    long: dict[str, Any] = {"text": "x" * 150_000}
    script = 'test -z "$HOURHAND_ARGS$HOURHAND_CHECKPOINT" || exit; wc -c < "$HOURHAND_ARGS_FILE"; '
    script += 'cat "$HOURHAND_CHECKPOINT_FILE"'
    one = Recorded(TaskType.COMMAND, {"command": script}, args=long, checkpoint=["y" * 130_000])
    outcome = await runner.run(one)
    size, checkpoint = one.written("stdout").split("\n")
    assert outcome.error_message is None
    assert int(size) == len(json.dumps(long, separators=(",", ":")))
    assert json.loads(checkpoint) == ["y" * 130_000]
