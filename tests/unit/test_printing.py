from __future__ import annotations

from collections.abc import Sequence

import pytest
from rich.cells import cell_len

from hourhand.cli import crontab_report, instance, instance_listing, task_listing
from hourhand.cli.main import complain
from hourhand.cli.printing import Column, print_table, say
from hourhand.model.errors import HourhandError

COLUMNS = (Column("ID", right=True), Column("TASK"), Column("EXECUTOR", 1), Column("WHAT", 6, enough=20))
MOMENT = "2026-03-30 09:00:00Z"
HOST = "build-07.example.org:51423:4f2a"
LONG = "no such file or directory: /srv/books/2026/march.csv, and a good deal more than anybody reads " * 2


def printed(capsys: pytest.CaptureFixture[str], what: str) -> list[str]:
    print_table(COLUMNS, [("7", "books", "an-executor", what), ("8", "books", "an-executor", "")])
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_a_long_text_is_cut_to_what_room_there_is_rather_than_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    assert printed(capsys, "x" * 100) == [
        "ID  TASK   WHAT",
        f" 7  books  {'x' * 38}…",
        " 8  books",
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


INSTANCES = [
    ("124", "send-the-invoices-of-the-month", "failed", MOMENT, "1 min 12 s", "schedule", HOST, "exit code 3: " + LONG),
    ("7", "books", "failed", MOMENT, "12 ms", "manual", HOST, ""),
]
ATTEMPTS_AT_IT = [("1", "failure", MOMENT, "12 ms", HOST, "11", LONG), ("2", "success", MOMENT, "9 ms", HOST, "12", "")]
TASKS = [
    ("send-the-invoices", "command", "0 9 * * MON-FRI", "Europe/Berlin", "default", "enabled", MOMENT, "apply:billing"),
    ("books", "python", "0 0,6,12,18 1,15 JAN,APR,JUL,OCT *", "UTC", "default", "paused", MOMENT, ""),
]
LINES = [
    ("3", "usr-local-bin-backup-everything-to-the-other-house", "*/5 * * * *", "UTC", MOMENT, "already there"),
    ("12", "logs", "@daily", "UTC", MOMENT, "to be added"),
]


@pytest.mark.parametrize(
    ("columns", "rows", "there"),
    [
        (
            instance_listing.COLUMNS,
            INSTANCES,
            {40: "ID TASK STATUS", 63: "WHAT", 80: "SCHEDULED WHAT", 180: "EXECUTOR"},
        ),
        (instance.ATTEMPTS, ATTEMPTS_AT_IT, {40: "ATTEMPT OUTCOME WHY", 60: "STARTED", 80: "TOOK", 150: "FENCE"}),
        (task_listing.COLUMNS, TASKS, {40: "NAME SCHEDULE", 63: "NEXT", 80: "STATE"}),
        (crontab_report.COLUMNS, LINES, {40: "LINE TASK SCHEDULE", 80: "STATE NEXT"}),
    ],
)
def test_at_every_width_what_matters_is_there_and_no_text_is_cut_beside_empty_room(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    there: dict[int, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for width in range(40, 201):
        monkeypatch.setenv("COLUMNS", str(width))
        print_table(columns, rows)
        lines = capsys.readouterr().out.splitlines()
        assert max(map(cell_len, lines)) <= width
        assert "…" not in "".join(lines) or {cell_len(line) for line in lines} == {width}, lines
        titles = lines[0].split()
        for enough, wanted in there.items():
            assert width < enough or set(wanted.split()) <= set(titles), (width, lines)
