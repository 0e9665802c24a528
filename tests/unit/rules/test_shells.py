from __future__ import annotations

import pytest

from hourhand.rules.shells import ShellReading, Word, is_option, runs_text

A, P, T = Word.ARGUMENT, Word.OPTION, Word.TEXT


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("echo -c hi", [A, A, A]),
        ("sh -c TEXT name arg -x", [A, P, T, A, A, A]),
        ("/usr/bin/bash -lc TEXT", [A, P, T]),
        ("bash -euo pipefail -c TEXT x", [A, P, P, P, T, A]),
        ("bash -c -o posix TEXT x", [A, P, P, P, T, A]),
        ("bash -c -- TEXT", [A, P, P, T]),
        ("bash +x -c TEXT", [A, P, P, T]),
        ("bash -oO posix extglob -c TEXT", [A, P, P, P, P, T]),
        ("bash --rcfile file -c TEXT", [A, P, P, P, T]),
        ("bash --rcfile=file --login -c TEXT", [A, P, P, P, T]),
        ("bash script -c arg", [A, A, A, A]),
        ("fish --command TEXT x", [A, P, T, A]),
        ("fish --command=text x", [A, P, A]),
        ("fish -C TEXT x", [A, P, T, A]),
        ("busybox sh -c TEXT", [A, A, P, T]),
        ("env A=b timeout 5 dash -ec TEXT x", [A, A, A, A, A, P, T, A]),
        ("sh bash -c TEXT", [A, A, P, T]),
        ("sh -c sh -c x", [A, P, T, A, A]),
        ("sh -c TEXT sh -c TEXT", [A, P, T, A, P, T]),
    ],
)
def test_what_a_shell_would_run_is_told_from_its_options_and_arguments(command: str, kinds: list[Word]) -> None:
    reading = ShellReading()
    found = []
    for word in command.split():
        found.append(reading.kind(word))
        reading.take(word)
    assert found == kinds


@pytest.mark.parametrize(
    ("command", "shell", "text"),
    [
        ("echo hi", False, False),
        ("sh script.sh", True, False),
        ("sh -s", True, False),
        ("sh -c x", True, True),
        ("fish --command=x", True, True),
        ("fish -cx", True, True),
        ("env zsh -ic x", True, True),
    ],
)
def test_a_reading_knows_whether_there_was_a_shell_and_a_text_for_it(command: str, *, shell: bool, text: bool) -> None:
    reading = ShellReading()
    for word in command.split():
        reading.take(word)
    assert (reading.has_shell, reading.has_text) == (shell, text)
    assert runs_text(command.split()) is text


def test_options_begin_with_a_minus_or_a_plus() -> None:
    assert is_option("-c")
    assert is_option("+x")
    assert not is_option("")
    assert not is_option("c")
