"""Wrong usage of the CLI is said in one line, as everything else that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.cli import run_here


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["serve", "--port", "abc"],
            "--port: is not a whole number: write one, such as 5 (see `hourhand serve --help`)",
        ),
        (["alert", "add", "x", "--minutes", "y"], "--minutes: is not a number: write one, such as 2.5"),
        (["task", "list", "--limit", "0"], "--limit: is too small: give at least 1 (see `hourhand task list --help`)"),
        (["stats", "failures", "--days", "400"], "--days: is too large: give at most 366"),
        (["task", "list", "--type", "bad"], "--type: 'bad' is not one of 'command', 'http', 'python'"),
        (["task", "run"], "NAME: is missing (see `hourhand task run --help`)"),
        (["pause", "all"], "--reason: is missing"),
        (["task", "list", "--nonsense"], "no such option: --nonsense"),
        (["task", "lst"], "no such command 'lst'. Did you mean 'list'?"),
        (["task", "rm", "x"], "no such command 'rm'. Did you mean `hourhand task delete`?"),
        (["token", "rm"], "no such command 'rm'. Did you mean `hourhand token revoke`?"),
        (["pause", "rm"], "no such command 'rm'. Did you mean `hourhand pause resume`?"),
        (["group", "ls"], "no such command 'ls'. Did you mean `hourhand group list`?"),
        (["ls"], "no such command 'ls'. Did you mean `hourhand task list`?"),
        (["ps"], "no such command 'ps'. Did you mean `hourhand instance list`?"),
        (["db", "ps"], "no such command 'ps' (see `hourhand db --help`)"),
        (["instance", "list", "--status", "failed", "--status", "success"], "--status: is given twice: give it once"),
        (["task", "list", "-q", "a", "--search=b"], "--search / --q / -q: is given twice: give it once"),
        (["task", "list", "--enabled", "--disabled"], "--enabled: is given twice, or together with --disabled"),
        (["serve", "--port", "1", "--port", "x"], "--port: is not a whole number"),  # of a process the last one holds
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    ran = run_here(tmp_path, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"Error: {said}")
    assert len(ran.err.splitlines()) == 1


def test_a_group_of_commands_alone_shows_its_help(tmp_path: Path) -> None:
    ran = run_here(tmp_path, "task")
    assert (ran.code, ran.err) == (2, "")
    assert "Usage: hourhand task " in ran.out


@pytest.mark.parametrize("arguments", [["--version"], ["task", "--help"]])
def test_what_was_asked_for_ends_with_0(tmp_path: Path, arguments: list[str]) -> None:
    ran = run_here(tmp_path, *arguments)
    assert (ran.code, ran.err) == (0, "")
    assert "hourhand" in ran.out


def test_what_says_nothing_else_the_second_time_may_be_said_twice(tmp_path: Path) -> None:
    ran = run_here(tmp_path, "schedule", "preview", "@daily", "--json", "--json", "--count", "1")
    assert (ran.code, ran.err) == (0, "")
