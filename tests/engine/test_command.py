"""Commands run, and their ends are told apart."""

from __future__ import annotations

import asyncio
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.commands import attempt, command_runner
from hourhand.contracts.runner import Runner
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.runners.command import CommandRunner


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which executors of this test make theirs."""
    folder = tmp_path.resolve() / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[CommandRunner]:
    made = command_runner(tmp_path)
    yield made
    made.close()


def test_it_is_the_runner_of_commands(runner: CommandRunner) -> None:
    promised: Runner = runner
    assert promised.type is TaskType.COMMAND


async def test_a_command_that_exits_with_zero_is_a_success_and_what_it_wrote_is_its_result(
    runner: CommandRunner,
) -> None:
    one = attempt(["sh", "-c", "echo out; echo err >&2"])
    outcome = await runner.run(one)
    assert outcome.kind is OutcomeKind.SUCCESS
    assert outcome.result == {"output": "out\n", "error": "err\n", "exit_code": 0}
    assert outcome.error_message is None
    assert sorted((outcome.output_summary or "").split()) == ["err", "out"]
    assert (one.written("stdout"), one.written("stderr")) == ("out\n", "err\n")


async def test_a_text_is_run_by_the_shell(runner: CommandRunner) -> None:
    outcome = await runner.run(attempt("printf a; X=b; printf $X | tr b c"))
    assert outcome.result == {"output": "ac", "error": "", "exit_code": 0}


async def test_arguments_are_passed_as_they_are(runner: CommandRunner) -> None:
    words = ["*", "$HOME", "a b", "", "'\"", "$(id)", "; id", "ü\n"]
    outcome = await runner.run(attempt(["printf", "<%s>", *words]))
    assert (outcome.result or {})["output"] == "".join(f"<{word}>" for word in words)


async def test_a_failed_command_says_its_code_and_the_last_line_of_what_it_complained(runner: CommandRunner) -> None:
    outcome = await runner.run(attempt("echo first >&2; echo 'no such table  ' >&2; echo >&2; exit 3"))
    assert (outcome.kind, outcome.error_message) == (OutcomeKind.FAILED, "exit code 3: no such table")
    assert (outcome.result or {})["exit_code"] == 3
    assert outcome.retryable
    silent = await runner.run(attempt("exit 4"))
    assert silent.error_message == "exit code 4"


async def test_success_codes_are_successes_and_zero_is_not_one_of_them_unless_listed(runner: CommandRunner) -> None:
    outcome = await runner.run(attempt("exit 3", success_codes=[3, 4]))
    assert (outcome.kind, (outcome.result or {})["exit_code"]) == (OutcomeKind.SUCCESS, 3)
    outcome = await runner.run(attempt("exit 0", success_codes=[3, 4]))
    assert (outcome.kind, outcome.error_message) == (OutcomeKind.FAILED, "exit code 0")


async def test_a_command_killed_by_a_signal_says_which(runner: CommandRunner) -> None:
    outcome = await runner.run(attempt("kill -SEGV $$"))
    assert (outcome.kind, outcome.error_message) == (OutcomeKind.FAILED, "killed by SIGSEGV")
    assert (outcome.result or {})["exit_code"] == -11


async def test_exit_code_127_of_a_command_is_not_mistaken_for_a_missing_program(runner: CommandRunner) -> None:
    outcome = await runner.run(attempt("exit 127"))
    assert outcome.error_message == "exit code 127"


async def test_a_missing_program_is_named(runner: CommandRunner) -> None:
    outcome = await runner.run(attempt(["no-such-program-here", "x"]))
    assert outcome.kind is OutcomeKind.FAILED
    assert (outcome.error_message or "").startswith("no such program: 'no-such-program-here' on the command's PATH")
    assert outcome.result is None


async def test_what_cannot_be_executed_is_told_apart_from_what_is_missing(
    runner: CommandRunner, tmp_path: Path
) -> None:
    plain, unmarked, lonely = tmp_path / "plain", tmp_path / "unmarked", tmp_path / "lonely"
    plain.write_text("#!/bin/sh\n")
    unmarked.write_text("echo hi\n")
    lonely.write_text("#!/no/such/interpreter\n")
    for script in (unmarked, lonely):
        script.chmod(0o755)
    told = {
        path.name: (await runner.run(attempt([str(path)]))).error_message or "" for path in (plain, unmarked, lonely)
    }
    assert told["plain"].startswith(f"not executable: '{plain}'")
    assert told["unmarked"] == f"'{unmarked}' is not a program; a script begins with a line such as #!/bin/sh"
    assert told["lonely"].startswith(f"'{lonely}' exists, but the interpreter named in its first line")


async def test_a_program_is_never_looked_for_in_the_working_folder(runner: CommandRunner, tmp_path: Path) -> None:
    script = tmp_path / "here"
    script.write_text("#!/bin/sh\necho run\n")
    script.chmod(0o755)
    for path in ("", ":", "/usr/bin::/bin"):
        outcome = await runner.run(attempt(["here"], cwd=str(tmp_path), env={"PATH": path}))
        assert (outcome.error_message or "").startswith("no such program: 'here'")
    assert (await runner.run(attempt(["./here"], cwd=str(tmp_path)))).kind is OutcomeKind.SUCCESS


async def test_a_cwd_must_be_an_absolute_path_of_a_folder(runner: CommandRunner, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    missing = await runner.run(attempt(["true"], cwd=str(tmp_path / "gone")))
    assert (missing.error_message or "").startswith(f"cwd does not exist: '{tmp_path}/gone'")
    assert (await runner.run(attempt(["true"], cwd=str(file)))).error_message == f"cwd is not a folder: '{file}'"
    relative = await runner.run(attempt(["true"], cwd="here"))
    assert "'here' is not an absolute path" in (relative.error_message or "")
    assert not relative.retryable


async def test_a_command_runs_in_the_cwd_it_is_given(runner: CommandRunner, tmp_path: Path) -> None:
    outcome = await runner.run(attempt(["pwd", "-P"], cwd=str(tmp_path)))
    assert (outcome.result or {})["output"] == f"{os.path.realpath(tmp_path)}\n"  # noqa: ASYNC240


async def test_by_default_each_attempt_has_an_empty_private_folder_that_is_gone_afterwards(
    runner: CommandRunner,
) -> None:
    folders = set()
    for _ in range(2):
        outcome = await runner.run(attempt("pwd; ls -A; stat -c %a . ; mkdir -p deep/er; echo x > deep/er/file"))
        folder, mode = (outcome.result or {})["output"].splitlines()
        assert mode == "700"
        assert not Path(folder).parent.exists()
        folders.add(folder)
    assert len(folders) == 2


async def test_folders_of_a_killed_executor_are_removed_by_the_next_and_those_of_a_living_one_are_not(
    tmp_path: Path, scratch: Path, runner: CommandRunner
) -> None:
    living = attempt("touch file; echo ready; read line < $HOURHAND_PROGRESS")
    running = asyncio.create_task(runner.run(living))
    await living.until_written("ready")
    dead, unlocked, link = (scratch / f"hourhand-{os.geteuid()}-{name}" for name in ("dead", "unlocked", "link"))
    (dead / "1-1" / "work").mkdir(parents=True)
    (dead / "lock").touch()
    unlocked.mkdir()
    link.symlink_to(tmp_path)
    other = command_runner(tmp_path)
    await other.run(attempt(["true"]))
    assert not dead.exists()
    assert unlocked.exists()  # it is just being made
    assert link.exists()
    (alive,) = _all_below(scratch, "file")
    assert stat.S_IMODE((scratch / alive.relative_to(scratch).parts[0]).stat().st_mode) == 0o700
    running.cancel()
    await running
    other.close()


async def test_an_executors_folders_are_not_in_the_data_folder_and_end_with_it(tmp_path: Path, scratch: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    runner = command_runner(data)
    where = Path((((await runner.run(attempt(["pwd", "-P"]))).result) or {})["output"].strip())
    assert where.is_relative_to(scratch)
    assert not _all_below(data)
    assert _all_below(scratch)
    runner.close()
    assert not _all_below(scratch)


def _all_below(folder: Path, name: str = "*") -> list[Path]:
    return list(folder.rglob(name))


async def test_stdin_is_empty_unless_given(runner: CommandRunner) -> None:
    assert ((await runner.run(attempt(["cat"]))).result or {})["output"] == ""
    assert (await runner.run(attempt(["cat"], stdin="ü\n"))).result == {
        "output": "ü\n",
        "error": "",
        "exit_code": 0,
    }
    again = await runner.run(attempt(["cat", "/dev/stdin"], stdin="by name"))
    assert (again.result or {})["output"] == "by name"


async def test_more_stdin_than_a_pipe_holds_does_not_wait_for_a_command_that_never_reads_it(
    runner: CommandRunner,
) -> None:
    text = "x" * 1_000_000
    assert (await runner.run(attempt(["true"], stdin=text))).kind is OutcomeKind.SUCCESS
    counted = await runner.run(attempt(["wc", "-c"], stdin=text))
    assert (counted.result or {})["output"].strip() == "1000000"


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({"command": ["echo", "a\0b"]}, "command[1]: holds a NUL character, which no process can be given"),
        ({"command": ["true"], "env": {"A": "\0"}}, "env.A: holds a NUL character, which no process can be given"),
        (
            {"command": ["true"], "env": {"A=B": "c"}},
            "env: 'A=B' is not the name of a variable: it must not be empty or hold =",
        ),
        (
            {"command": ["echo", "\ud800"]},
            "command[1]: holds half a character (a lone surrogate), which no process can be given",
        ),
        ({"command": []}, 'payload.command: must be a list of texts like ["echo", "hi"], or one text for the shell'),
    ],
)
async def test_what_no_process_can_be_given_fails_for_good(
    runner: CommandRunner, payload: dict[str, object], message: str
) -> None:
    outcome = await runner.run(attempt(**payload))  # type: ignore[arg-type]  # wrong on purpose
    assert (outcome.kind, outcome.retryable, outcome.error_message) == (OutcomeKind.FAILED, False, message)


async def test_an_argument_longer_than_the_system_takes_is_a_failure_that_says_so(runner: CommandRunner) -> None:
    outcome = await runner.run(attempt(["true", "x" * 200_000]))
    assert outcome.error_message == "'true' got too many or too long arguments and variables; one may have 128 KiB"


async def test_many_commands_at_once_do_not_mix(runner: CommandRunner) -> None:
    outcomes = await asyncio.gather(*(runner.run(attempt(["echo", str(number)])) for number in range(20)))
    assert [(outcome.result or {})["output"] for outcome in outcomes] == [f"{number}\n" for number in range(20)]
