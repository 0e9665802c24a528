"""The command line, without a server: the preview, the exit codes, and how it says that something is wrong."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from hourhand import __version__
from hourhand.cli.main import app, main

WEEKDAYS = ["schedule", "preview", "0 9 * * MON-FRI", "--timezone", "Europe/Berlin", "--after", "2026-03-27T12:00:00Z"]


@pytest.fixture(autouse=True)
def plain_wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)


def ended(*arguments: str) -> int | str | None:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return caught.value.code


def test_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"hourhand {__version__}\n"


def test_preview_shows_local_time_and_utc_and_says_it_in_words() -> None:
    result = CliRunner().invoke(app, [*WEEKDAYS, "--count", "2"])
    assert result.exit_code == 0
    assert "09:00" in result.output.splitlines()[0]
    assert "Mon 2026-03-30 09:00:00 CEST" in result.output
    assert "2026-03-30 07:00:00Z" in result.output
    assert "2026-04-01" not in result.output


def test_preview_as_json_is_what_the_api_answers() -> None:
    result = CliRunner().invoke(app, [*WEEKDAYS, "--count", "1", "--json"])
    answer = json.loads(result.output)
    assert answer.keys() == {"instants", "description", "notes"}
    assert answer["instants"] == ["2026-03-30T07:00:00Z"]


def test_preview_notes_what_daylight_saving_does() -> None:
    arguments = ["schedule", "preview", "30 2 * * *", "--timezone", "Europe/Berlin", "--after", "2026-03-28T12:00"]
    assert "Note: " in CliRunner().invoke(app, arguments).output


def test_a_time_without_an_offset_is_read_in_the_zone() -> None:
    arguments = ["schedule", "preview", "@every 1h", "--timezone", "Asia/Shanghai", "--after", "2026-01-01T08:00"]
    answer = json.loads(CliRunner().invoke(app, [*arguments, "--json", "--count", "1"]).output)
    assert answer["instants"] == ["2026-01-01T01:00:00Z"]


@pytest.mark.parametrize("schedule", ["@manual", "@upstream", "@after 30s"])
def test_a_schedule_without_instants_has_a_description_and_no_table(schedule: str) -> None:
    result = CliRunner().invoke(app, ["schedule", "preview", schedule])
    assert result.exit_code == 0
    assert result.output.strip()
    assert "UTC" not in result.output.splitlines()[1:]


@pytest.mark.parametrize("width", ["40", "80", "200"])
def test_preview_fits_the_terminal(width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", width)
    lines = CliRunner().invoke(app, WEEKDAYS).output.splitlines()
    assert max(len(line) for line in lines) <= int(width)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["schedule", "preview", "61 * * * *"], "61"),
        (["schedule", "preview", "@daily", "--timezone", "Mars/Olympus"], "Mars/Olympus"),
        (["schedule", "preview", "@daily", "--after", "soon"], "'soon' is not a time"),
        (["schedule", "preview", "@daily", "--after", "9999-12-31T23:59:59-14:00"], "is not a time"),
        (["serve", "--port", "70000"], "--port: 70000 is refused"),
        (["serve", "--host", "192.0.2.1"], "--allow-remote"),
        (["db", "check", "--store", "mysql://me:canary@h/d"], "me:***@h"),
    ],
)
def test_wrong_values_end_with_2_and_a_line_on_standard_error(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(*arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("Error: ")
    assert said in printed.err
    assert "canary" not in printed.err


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["schedule", "preview"], ["schedule", "preview", "@daily", "--count", "0"]]
)
def test_wrong_usage_ends_with_2(arguments: list[str]) -> None:
    assert ended(*arguments) == 2


def test_done_ends_with_0() -> None:
    assert ended("schedule", "preview", "@daily") == 0


def test_what_is_piped_is_not_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")
    arguments = ["schedule", "preview", "30 2 * * *", "--timezone", "Europe/Berlin", "--after", "2026-03-28T12:00"]
    lines = CliRunner().invoke(app, arguments).output.splitlines()
    assert lines[-1].startswith("Note: ")
    assert len(lines[-1]) > 80


def test_help_calls_a_default_a_default_and_an_edit_has_none() -> None:
    added = " ".join(CliRunner().invoke(app, ["task", "add", "--help"]).output.replace("│", " ").split())
    assert "0 (highest) to 9. [default: 5]" in added
    assert (
        "--upstream-failure-policy WORD When one of them has failed. One of wait, fail, run. [default: wait]" in added
    )
    assert "[default" not in CliRunner().invoke(app, ["task", "edit", "--help"]).output
