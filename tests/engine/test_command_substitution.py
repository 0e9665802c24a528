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
async def test_what_a_shell_is_given_to_run_is_passed_untouched(runner: CommandRunner, command: list[str]) -> None:
    assert await output(runner, command, {"name": INJECTION, "shell": "/bin/sh"}) == "[]\n"


async def test_behind_its_program_a_shells_arguments_are_filled(runner: CommandRunner) -> None:
    command = ["sh", "-c", 'printf "<%s>" "$1"', "sh", "${name}"]
    assert await output(runner, command, {"name": INJECTION}) == f"<{INJECTION}>"


async def test_a_program_given_to_a_shell_by_stdin_is_passed_untouched(runner: CommandRunner) -> None:
    assert await output(runner, ["sh"], {"name": INJECTION}, stdin="echo [${name}]") == "[]\n"
    assert await output(runner, "sh -s", {"name": INJECTION}, stdin="echo [${name}]") == "[]\n"


@pytest.mark.parametrize("option", ["-c", "-cecho INJECTED", "+x"])
async def test_an_argument_cannot_become_an_option_of_a_shell(runner: CommandRunner, option: str) -> None:
    outcome = await runner.run(
        attempt(["sh", "${script}", "${name}"], args={"script": option, "name": "echo INJECTED"})
    )
    assert outcome.error_message == "payload.command[1]: would become an option of a shell: write the option itself"
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, False)


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
