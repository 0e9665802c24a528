from __future__ import annotations

import pytest

from hourhand.rules.evaluation import ArgumentReading, mistaken_place, runs_text, stands_alone
from hourhand.rules.shells import Word

A, P, T, X, L = Word.ARGUMENT, Word.OPTION, Word.TEXT, Word.PROGRAM, Word.ALONE


def read(command: str) -> tuple[ArgumentReading, list[Word]]:
    reading = ArgumentReading()
    found = []
    for word in command.split():
        found.append(reading.kind(word))
        reading.take(word)
    return reading, found


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("python job.py --day DAY", [A, A, A, A]),
        ("backup --to=TARGET -v", [A, A, A]),
        ("curl -o FILE -c jar -e referer URL", [A, A, A, A, A, A, A, A]),
        ("grep -E -e PATTERN FILE", [A, A, A, A, A]),
        ("tar -c -f FILE folder", [A, A, A, A, A]),
        ("prog -name x -type y", [A, A, A, A, A]),
        ("terraform -chdir=x plan", [A, A, A]),
        ("psql -v day=x -f FILE", [A, A, A, A, A]),
        ("docker run --env DAY=x image", [A, A, A, A, A]),
        ("bash -e script.sh --day=x", [A, P, A, A]),
        ("timeout 5 bash -e script.sh --day=x", [A, A, A, P, A, A]),
        ("python -E job.py --day=x", [A, P, A, A]),
    ],
)
def test_ordinary_arguments_may_be_filled(command: str, kinds: list[Word]) -> None:
    assert read(command)[1] == kinds


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("prog -c TEXT more", [A, A, X, L]),
        ("prog -d name -e TEXT -o file", [A, A, A, A, X, L, L]),
        ("prog -E TEXT", [A, A, X]),
        ("prog --eval TEXT", [A, A, X]),
        ("prog -eval TEXT", [A, A, X]),
        ("prog --eval=TEXT more", [A, X, A]),
        ("prog -lc TEXT", [A, A, X]),
        ("prog -qnc TEXT", [A, A, X]),
        ("prog -c -c TEXT", [A, A, X, L]),
        ("prog -cTEXT more", [A, X, A]),
        ("prog --query TEXT", [A, A, X]),
        ("flock file -c TEXT", [A, A, A, X]),
        ("su root -c TEXT", [A, A, A, X]),
        ("script -qc TEXT file", [A, A, X, L]),
        ("script -c TEXT", [A, A, X]),
        ("psql -d books -c TEXT", [A, A, A, A, X]),
        ("mysql --execute=TEXT", [A, X]),
        ("find . -name x -exec gzip {} ;", [A, A, A, A, A, X, L, L]),
        ("find . -exec sh -c TEXT ;", [A, A, A, X, P, T, L]),
        ("find . -exec ssh HOST TEXT", [A, A, A, X, L, X]),
        ("timeout 5 curl -c TEXT", [A, A, A, A, X]),
        ("rsync -e TEXT from to", [A, A, X, L, L]),
        ("tar -c --to-command=TEXT folder", [A, A, X, A]),
        ("flock /run/node -c TEXT", [A, A, P, X]),
        ("flock /run/sh -c TEXT", [A, A, P, T]),
    ],
)
def test_the_text_behind_an_option_to_run_it_is_told_whatever_the_program(command: str, kinds: list[Word]) -> None:
    assert read(command)[1] == kinds


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("sh -c TEXT name ARG", [A, P, T, A, A]),
        ("xargs sh -c TEXT", [A, A, P, T]),
        ("python -c TEXT --day=x", [A, P, X, A]),
        ("timeout 5 python3 -c TEXT ARG", [A, A, A, P, X, A]),
    ],
)
def test_behind_the_text_of_a_shell_or_a_known_interpreter_are_its_arguments(command: str, kinds: list[Word]) -> None:
    assert read(command)[1] == kinds


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("ssh -p 22 HOST TEXT -c TEXT", [A, X, X, A, X, X, X]),
        ("ssh -oX=y HOST TEXT", [A, X, A, X]),
        ("watch -n 5 TEXT", [A, X, X, X]),
        ("awk -v d=x TEXT FILE", [A, A, A, X, A]),
        ("awk -f program.awk FILE", [A, A, A, A]),
        ("gawk -F, TEXT FILE", [A, A, X, A]),
        ("sed -E TEXT FILE", [A, X, X, A]),
        ("sed -n -e TEXT FILE", [A, X, X, X, A]),
        ("sed -eTEXT FILE", [A, X, A]),
        ("jq TEXT -", [A, X, A]),
        ("sqlite3 FILE TEXT", [A, A, X]),
        ("nice awk TEXT FILE awk", [A, A, X, A, A]),
    ],
)
def test_texts_among_the_operands_of_known_programs_are_told(command: str, kinds: list[Word]) -> None:
    assert read(command)[1] == kinds


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("env A=b -u X -C /x prog -S x", [A, A, A, A, A, A, A, A, A]),
        ("env -S TEXT TEXT", [A, X, X, X]),
        ("env -vSTEXT", [A, X]),
        ("env --split-string=TEXT TEXT", [A, X, X]),
        ("env A=b sh -c TEXT", [A, A, A, P, T]),
        ("prog -S socket", [A, A, A]),
    ],
)
def test_what_env_takes_apart_is_text(command: str, kinds: list[Word]) -> None:
    assert read(command)[1] == kinds


def test_a_program_that_an_argument_names_is_not_trusted() -> None:
    for name, option in (("curl", "-c"), ("node", "-c"), ("sh", "-e"), ("/x/python3", "-e")):
        reading = ArgumentReading()
        reading.take(name, filled=True)
        reading.take(option)
        assert reading.kind("TEXT") is X


@pytest.mark.parametrize(
    ("before", "word", "given", "becomes"),
    [
        ("prog", "${x}", "-c", None),
        ("sh", "${x}", "-c", "an option"),
        ("sh", "${x}", "script", None),
        ("sh script", "${x}", "-c", None),
        ("python3", "${x}", "-cx", "an option"),
        ("ssh", "${x}", "-oProxyCommand=x", "an option"),
        ("ssh", "${x}", "host", None),
        ("awk -v", "${x}", "-x", None),
        ("awk text", "${x}", "-x", None),
        ("env", "${x}", "-S", "an option"),
        ("env", "${x}", "A=b", "a variable"),
        ("env", "${x}=b", "A=b", "a variable"),
        ("env", "A=${x}", "A=-b", None),
        ("env", "${x}", "prog", None),
        ("env prog", "${x}", "A=b", None),
    ],
)
def test_what_a_word_would_turn_into_by_being_filled(before: str, word: str, given: str, becomes: str | None) -> None:
    assert read(before)[0].becomes(word, given) == becomes


@pytest.mark.parametrize(
    ("command", "text", "shell", "stdin"),
    [
        ("echo hi", False, False, False),
        ("sh script.sh", False, True, True),
        ("env zsh -ic x", True, True, True),
        ("fish -cx", True, True, True),
        ("flock file -c x", True, False, False),
        ("flock file echo x", False, False, False),
        ("su -cx", True, False, False),
        ("script --command=x", True, False, False),
        ("env -S x", True, False, False),
        ("watch x", True, False, False),
        ("sg group x", True, False, False),
        ("sg group", False, False, False),
        ("ssh host x", False, False, True),
        ("python3 -c x", False, False, False),
        ("python3 -", False, False, True),
        ("prog -c x", False, False, False),
        ("psql books", False, False, True),
    ],
)
def test_a_reading_knows_what_a_shell_was_given_and_what_stdin_may_be(
    command: str, *, text: bool, shell: bool, stdin: bool
) -> None:
    reading, _ = read(command)
    assert (reading.has_text, reading.has_shell, reading.reads_program) == (text, shell, stdin)
    assert runs_text(command.split()) is text


@pytest.mark.parametrize(("word", "alone"), [("${x}", True), ("a${x}", False), ("${x}${y}", False), ("${x} ", False)])
def test_a_place_stands_alone_or_not(word: str, *, alone: bool) -> None:
    assert stands_alone(word) is alone


@pytest.mark.parametrize(
    ("text", "mistaken"),
    [
        ("echo ${day}", "day"),
        ("echo ${home} ${day}", "day"),
        ("echo ${home} $day ${day:-x} ${days}", None),
        ("day=$(date); echo ${day}", None),
        ("day+=x; echo ${day}", None),
        ("for day in a b; do echo ${day}; done", None),
        ("while read -r a day; do echo ${day}; done", None),
        ("echo read; echo ${day}", "day"),
        ("echo ${day} ${zone}", "day"),
        ("day=x; echo ${day} ${zone}", "zone"),
    ],
)
def test_a_place_in_a_shells_text_is_a_mistake_if_it_names_an_argument(text: str, mistaken: str | None) -> None:
    assert mistaken_place(text, {"day", "zone"}) == mistaken
