from __future__ import annotations

import pytest

from hourhand.cli.main import complain
from hourhand.cli.printing import Column, print_table, say
from hourhand.model.errors import HourhandError

COLUMNS = (Column("ID", right=True), Column("TASK"), Column("EXECUTOR", 1), Column("WHAT", 6, enough=20))


def printed(capsys: pytest.CaptureFixture[str], what: str) -> list[str]:
    print_table(COLUMNS, [("7", "books", "an-executor", what), ("8", "books", "an-executor", "")])
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_a_long_text_is_cut_to_what_room_there_is_rather_than_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    assert printed(capsys, "x" * 100) == [
        "ID  TASK   EXECUTOR     WHAT",
        f" 7  books  an-executor  {'x' * 25}…",
        " 8  books  an-executor",
    ]


def test_what_matters_less_goes_before_a_text_is_cut_too_short(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert printed(capsys, "x" * 100)[:2] == ["ID  TASK   WHAT", f" 7  books  {'x' * 28}…"]


def test_where_there_is_no_room_at_all_it_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert printed(capsys, "x" * 100)[:2] == ["ID  TASK", " 7  books"]


def test_a_short_text_is_whole(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert printed(capsys, "exit code 1")[1] == " 7  books  an-executor  exit code 1"


def test_what_is_piped_is_never_cut(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert printed(capsys, "x" * 300)[1].endswith("x" * 300)


def test_words_that_others_wrote_may_colour_a_terminal_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    say("a\x1b[31mb\x1b[0m\x1b]0;c\x07\x1b[2Jd\x9b1me\nf")
    assert capsys.readouterr().out == "ab�]0;c��[2Jd�1me\nf\n"  # and piped not even that


def test_a_refusal_may_do_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    complain(HourhandError("\x1b]0;owned\x07[bold]"))
    assert capsys.readouterr().err == "Error: �]0;owned�[bold]\n"
