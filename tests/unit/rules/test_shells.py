from __future__ import annotations

import pytest

from hourhand.rules.shells import ShellReading, Word, is_option, program_name

A, P, T, X = Word.ARGUMENT, Word.OPTION, Word.TEXT, Word.PROGRAM


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
        ("bash - TEXT", [A, P, A]),
        ("python3 -c TEXT arg -x", [A, P, X, A, A]),
        ("python3.12 -W ignore -Ic TEXT", [A, P, P, P, X]),
        ("python3 -u job.py -c arg", [A, P, A, A, A]),
        ("python3 - arg", [A, A, A]),
        ("perl -lane TEXT file", [A, P, X, A]),
        ("perl -E TEXT", [A, P, X]),
        ("ruby -r json -e TEXT", [A, P, P, P, X]),
        ("node -r ./hook.js --print TEXT", [A, P, P, P, X]),
        ("node --eval=text arg", [A, P, A]),
        ("php -r TEXT", [A, P, X]),
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
    ("command", "shell", "text", "stdin"),
    [
        ("echo hi", False, False, False),
        ("sh script.sh", True, False, True),
        ("sh -s", True, False, True),
        ("sh -c x", True, True, True),
        ("fish --command=x", True, True, True),
        ("fish -cx", True, True, True),
        ("env zsh -ic x", True, True, True),
        ("python3 -c x", False, False, False),
        ("python3 job.py", False, False, False),
        ("python3 -u", False, False, True),
        ("python3 - arg", False, False, False),
        ("python3 -", False, False, True),
    ],
)
def test_a_reading_knows_whether_there_was_a_shell_and_a_text_and_what_stdin_may_be(
    command: str, *, shell: bool, text: bool, stdin: bool
) -> None:
    reading = ShellReading()
    for word in command.split():
        reading.take(word)
    assert (reading.has_shell, reading.has_text, reading.reads_stdin) == (shell, text, stdin)


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("/usr/bin/python3.12", "python"),
        ("node", "node"),
        ("ruby3.1", "ruby"),
        ("/bin/ksh93", "ksh93"),
        ("7z", "7z"),
        ("sha256sum", "sha256sum"),
        ("log4", "log4"),
        ("", ""),
    ],
)
def test_a_program_is_known_by_its_name_and_an_interpreter_without_its_version(word: str, name: str) -> None:
    assert program_name(word) == name


def test_options_begin_with_a_minus_or_a_plus() -> None:
    assert is_option("-c")
    assert is_option("+x")
    assert not is_option("")
    assert not is_option("c")
