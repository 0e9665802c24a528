"""Arguments fill places, and never become shell text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.commands import attempt, command_runner
from hourhand.model.words import OutcomeKind
from hourhand.runners.command import CommandRunner

INJECTION = "x; echo INJECTED; $(echo INJECTED) `echo INJECTED` '\" && echo INJECTED | sh #"

OPTION = "payload.command[1]: would become an option of a program that starts others: write the option itself"
VARIABLE = "payload.command[1]: would become a variable of a program that starts others: write the variable itself"


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[CommandRunner]:
    made = command_runner(tmp_path)
    yield made
    made.close()


async def output(runner: CommandRunner, command: list[str] | str, args: dict[str, Any], **payload: Any) -> str:
    outcome = await runner.run(attempt(command, args=args, **payload))
    assert outcome.error_message is None
    return str((outcome.result or {})["output"])


async def test_places_are_filled_in_arguments_variables_cwd_and_stdin(runner: CommandRunner, tmp_path: Path) -> None:
    (tmp_path / "eu").mkdir()
    args = {"region": "eu", "n": 3, "flag": True}
    assert await output(runner, ["printf", "%s|%s", "r=${region}${n}", "${flag}"], args) == "r=eu3|true"
    assert "ZONE=eu-3\n" in await output(runner, ["env"], args, env={"ZONE": "${region}-${n}"})
    assert (await output(runner, ["pwd"], args, cwd=f"{tmp_path}/${{region}}")).endswith("/eu\n")
    assert await output(runner, ["cat"], args, stdin="${n} of ${region}") == "3 of eu"
    assert await output(runner, ["${program}", "hi"], {"program": "echo"}) == "hi\n"


async def test_an_argument_that_looks_like_shell_is_one_word_to_the_program(runner: CommandRunner) -> None:
    assert await output(runner, ["printf", "<%s>", "${name}"], {"name": INJECTION}) == f"<{INJECTION}>"
    assert await output(runner, ["printenv", "NAME"], {"name": INJECTION}, env={"NAME": "${name}"}) == f"{INJECTION}\n"


async def test_a_shell_string_is_passed_untouched(runner: CommandRunner) -> None:
    args = {"name": INJECTION}
    assert await output(runner, 'name=own; echo "${name} ${name:-other}"', args) == "own own\n"
    assert await output(runner, 'echo "${name}"', args, env={"name": "${name}"}) == f"{INJECTION}\n"
    assert await output(runner, 'echo "[${other}]"', args) == "[]\n"
    assert await output(runner, 'echo "$NAME"', args, env={"NAME": "${name}"}) == f"{INJECTION}\n"


@pytest.mark.parametrize(
    "command",
    [
        ["sh", "-c", "echo [${name}]"],
        ["/bin/sh", "-ec", "echo [${name}]"],
        ["bash", "-c", "--", "echo [${name}]"],
        ["bash", "-euo", "pipefail", "-c", "name=; echo [${name}]"],
        ["bash", "-c", "-o", "posix", "echo [${name}]"],
        ["bash", "--rcfile", "/dev/null", "-c", "echo [${name}]"],
        ["env", "sh", "-c", "echo [${name}]"],
        ["timeout", "20", "sh", "-c", "echo [${name}]"],
        ["${shell}", "-c", "echo [${name}]"],
        ["sh", "-c", 'sh -c "$1"', "x", "echo [$name]"],
    ],
)
async def test_what_a_shell_is_given_to_run_is_passed_untouched_and_refused_where_an_argument_is_meant(
    runner: CommandRunner, command: list[str]
) -> None:
    assert await output(runner, command, {"shell": "/bin/sh"}) == "[]\n"
    if "name=;" not in command[-1] and "${name}" in command[-1]:
        outcome = await runner.run(attempt(command, args={"name": INJECTION, "shell": "/bin/sh"}))
        assert (outcome.kind, outcome.retryable, outcome.result) == (OutcomeKind.FAILED, False, None)
        assert (outcome.error_message or "").startswith(
            f"payload.command[{len(command) - 1}]: has the place ${{name}} in what a shell runs, which is never"
        )


@pytest.mark.parametrize(
    "command",
    [
        ["flock", "/dev/null", "-c", "echo day ${name}"],
        ["su", "root", "-c", "echo ${name}"],
        ["script", "-qc", "echo ${name}", "/dev/null"],
        ["ssh", "localhost", "echo ${name}"],
        ["ssh", "localhost", "echo", "${name}"],
        ["env", "-S", "sh -c 'echo ${name}'"],
        ["env", "-S", "sh -c", "${name}"],
        ["xargs", "-a", "/dev/null", "python3", "-c", "print('${name}')"],
        ["find", "/dev/null", "-exec", "${name}", ";"],
        ["python3", "-c", "print('${name}')"],
        ["python3", "-c", "${name}"],
        ["perl", "-e", "print '${name}'"],
        ["awk", 'BEGIN { print "${name}" }'],
        ["psql", "-c", "SELECT '${name}'"],
        ["unheard-of", "--eval=f('${name}')"],
        ["unheard-of", "-c", "ls", "and ${name}"],
        ["unheard-of", "-cls ${name}"],
        ["bash", "--rcfile", "${name}"],
    ],
)
async def test_what_anything_else_may_run_is_refused_for_good_with_what_to_do_instead(
    runner: CommandRunner, command: list[str]
) -> None:
    outcome = await runner.run(attempt(command, args={"name": INJECTION}))
    assert (outcome.kind, outcome.retryable, outcome.result) == (OutcomeKind.FAILED, False, None)
    message = outcome.error_message or ""
    assert message.startswith("payload.command[")
    assert "has a place in" in message
    assert '("$NAME" in a shell), or as a word of its own behind' in message or "write the option itself" in message


async def test_find_gives_a_shell_no_argument_to_run(runner: CommandRunner) -> None:
    command = ["find", "/dev/null", "-exec", "sh", "-c", "echo ${name}", ";"]
    outcome = await runner.run(attempt(command, args={"name": INJECTION}))
    assert (outcome.retryable, outcome.result) == (False, None)
    safe = ["find", "/dev/null", "-exec", "sh", "-c", 'printf "<%s>" "$1"', "sh", "${name}", ";"]
    assert await output(runner, safe, {"name": INJECTION}) == f"<{INJECTION}>"


async def test_ordinary_words_are_filled_whatever_is_beside_them(runner: CommandRunner, tmp_path: Path) -> None:
    job = tmp_path / "job.py"
    job.write_text("import sys; print(sys.argv[1:])")
    args = {"day": "2026-11-15", "x": "'"}
    assert await output(runner, ["python3", str(job), "--day", "${day}", "--to=${x}"], args) == (
        "['--day', '2026-11-15', '--to=\\'']\n".replace("'--to=\\''", '"--to=\'"')
    )
    program = "import sys; print(sys.argv[1])"
    assert await output(runner, ["python3", "-c", program, "--day=${day}"], args) == "--day=2026-11-15\n"
    assert await output(runner, ["env", "DAY=${day}", "printenv", "DAY"], args) == "2026-11-15\n"
    assert await output(runner, ["awk", "-v", "day=${day}", "BEGIN { print day }"], args) == "2026-11-15\n"
    assert await output(runner, ["flock", "/dev/null", "echo", "on ${day}"], args) == "on 2026-11-15\n"


@pytest.mark.parametrize("program", [["python3"], ["python3", "-"], ["sqlite3", "books.db"], ["psql"]])
async def test_a_program_given_to_an_interpreter_by_stdin_is_not_filled(
    runner: CommandRunner, program: list[str]
) -> None:
    outcome = await runner.run(attempt(program, args={"name": INJECTION}, stdin="print('${name}')"))
    assert (outcome.kind, outcome.retryable, outcome.result) == (OutcomeKind.FAILED, False, None)
    assert (outcome.error_message or "").startswith("payload.stdin: has a place, and may be read as a program")


async def test_behind_its_program_a_shells_arguments_are_filled(runner: CommandRunner) -> None:
    command = ["sh", "-c", 'printf "<%s>" "$1"', "sh", "${name}"]
    assert await output(runner, command, {"name": INJECTION}) == f"<{INJECTION}>"


async def test_a_program_given_to_a_shell_by_stdin_is_passed_untouched(runner: CommandRunner) -> None:
    for command in (["sh"], "sh -s"):
        assert await output(runner, command, {"other": INJECTION}, stdin="echo [${name}]") == "[]\n"
        outcome = await runner.run(attempt(command, args={"name": INJECTION}, stdin="echo [${name}]"))
        assert (outcome.error_message or "").startswith("payload.stdin: has the place ${name} in what a shell runs")


@pytest.mark.parametrize("option", ["-c", "-cecho INJECTED", "+x"])
async def test_an_argument_cannot_become_an_option_of_a_shell(runner: CommandRunner, option: str) -> None:
    outcome = await runner.run(
        attempt(["sh", "${script}", "${name}"], args={"script": option, "name": "echo INJECTED"})
    )
    assert outcome.error_message == OPTION
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, False)


@pytest.mark.parametrize(
    ("command", "given", "message"),
    [
        (["python3", "${x}"], "-cimport os", OPTION),
        (["ssh", "${x}", "uptime"], "-oProxyCommand=id", OPTION),
        (["env", "${x}", "true"], "-Sid", OPTION),
        (["env", "${x}", "true"], "LD_PRELOAD=/tmp/evil.so", VARIABLE),
        (["env", "${x}=/tmp/evil.so", "true"], "LD_PRELOAD", VARIABLE),
    ],
)
async def test_an_argument_cannot_become_what_makes_a_program_run_something_else(
    runner: CommandRunner, command: list[str], given: str, message: str
) -> None:
    outcome = await runner.run(attempt(command, args={"x": given}))
    assert (outcome.error_message, outcome.retryable) == (message, False)


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (
            {"command": ["echo", "a-${day}"]},
            "payload.command[1]: needs the argument 'day' as text or a number; arguments given: ['list', 'other']",
        ),
        (
            {"command": ["echo"], "env": {"SECRET": "hunter2-${day}"}},
            "payload.env.SECRET: needs the argument 'day' as text or a number; arguments given: ['list', 'other']",
        ),
        (
            {"command": ["echo"], "stdin": "hunter2 ${list}"},
            "payload.stdin: needs the argument 'list' as text or a number; arguments given: ['list', 'other']",
        ),
        (
            {"command": ["echo"], "cwd": "/tmp/${a-b}"},  # noqa: S108
            "payload.cwd: has a place that is malformed: write ${arg}, a letter first, then letters, digits or _",
        ),
    ],
)
async def test_a_missing_argument_fails_for_good_and_says_which_but_not_where_it_would_stand(
    runner: CommandRunner, payload: dict[str, Any], message: str
) -> None:
    outcome = await runner.run(attempt(**payload, args={"other": 1, "list": [1]}))
    assert (outcome.kind, outcome.retryable, outcome.error_message) == (OutcomeKind.FAILED, False, message)
