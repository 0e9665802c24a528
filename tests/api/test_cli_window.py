"""`hourhand window` and `hourhand calendar` against a real server."""

from __future__ import annotations

import pytest

from api.cli import Terminal
from serving import Served

WHY = ("--reason", "the ledger is backed up")


@pytest.fixture(scope="module")
def hourhand(served: Served) -> Terminal:
    terminal = Terminal(served)
    terminal.done("task", "add", "windowed", "--command", "true")
    return terminal


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)[:60]


def row(hourhand: Terminal, noun: str, name: str) -> str:
    (found,) = [line for line in hourhand.done(noun, "list").out.splitlines() if line.startswith(f"{name} ")]
    return found


def test_a_window_is_added_shown_changed_and_deleted(hourhand: Terminal, name: str) -> None:
    arguments = ("--task", "windowed", "--schedule", "0 2 1 1 *", "--for", "2h", "--timezone", "Asia/Shanghai")
    said = hourhand.done("window", "add", name, *arguments, *WHY).out
    assert said.startswith(
        f"Maintenance window {name!r} is added: task 'windowed' rests for 2 h 0 min from '0 2 1 1 *'"
    )
    assert "It opens next at " in said
    window = hourhand.done("window", "show", name, "--json").json
    assert (window["scope"], window["duration_seconds"], window["timezone"]) == ("task", 7_200, "Asia/Shanghai")
    assert window["reason"] == WHY[1]
    shown = hourhand.done("window", "show", name).out
    assert "-12-31 18:00:00Z to " in shown
    assert "closed" in row(hourhand, "window", name)
    changed = hourhand("window", "edit", name, "--group", "default", "--for", "90m", "--disable")
    assert "group 'default' rests for 1 h 30 min" in changed.out
    assert "does not open" in changed.err
    assert "disabled" in row(hourhand, "window", name)
    edited = hourhand.done(
        "window", "edit", name, "--rename", f"{name}-2", "--reason", "else", "--enable", "--json"
    ).json
    assert (edited["name"], edited["reason"], edited["enabled"]) == (f"{name}-2", "else", True)
    assert hourhand.done("window", "delete", f"{name}-2").out == f"Maintenance window '{name}-2' is deleted.\n"
    assert "there is no maintenance window" in hourhand.refused("window", "show", f"{name}-2", code=1)


def test_a_window_that_is_open_says_until_when(hourhand: Terminal, name: str) -> None:
    said = hourhand.done(
        "window", "add", name, "--task", "windowed", "--schedule", "* * * * *", "--for", "7d", *WHY
    ).out
    assert "It is open now, until " in said
    assert " open " in row(hourhand, "window", name)
    hourhand.done("window", "delete", name)


def test_a_window_opens_on_the_days_of_a_calendar(hourhand: Terminal, name: str) -> None:
    hourhand.done("calendar", "add", name, "--weekday", "sat", "--weekday", "7")
    arguments = ("--all", "--calendar", name, "--disabled", *WHY)
    added = hourhand("window", "add", name, *arguments)
    assert f"everything rests on the days of {name!r}" in added.out
    assert name in hourhand.refused("calendar", "delete", name, code=1)
    hourhand("window", "edit", name, "--schedule", "@yearly", "--for", "1h")
    window = hourhand.done("window", "show", name, "--json").json
    assert (window["calendar"], window["schedule"]) == (None, "@yearly")
    hourhand.done("window", "delete", name)
    assert hourhand.done("calendar", "delete", name).out == f"Calendar {name!r} is deleted.\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--schedule", "@daily", "--for", "1h"], "--task: is missing"),
        (["--all", "--schedule", "@daily", "--for", "1h"], "--reason: is missing"),
        (["--all", "--group", "default", *WHY], "--all: is given together with --group"),
        (["--all", "--schedule", "@daily", "--for", "soon", *WHY], "--for: 'soon' is not a length of time"),
        (["--all", "--schedule", "@daily", "--for", "9w", *WHY], "--for: "),
        (["--all", "--schedule", "61 * * * *", "--for", "1h", *WHY], "--schedule: "),
        (["--all", "--schedule", "@daily", "--for", "1h", "--timezone", "Mars/Olympus", *WHY], "--timezone: "),
        (["--all", "--calendar", "no such", *WHY], "--calendar: "),
        (["--group", "no such", "--schedule", "@daily", "--for", "1h", *WHY], "--group: "),
    ],
)
def test_what_is_wrong_with_a_window_is_said_of_the_option(hourhand: Terminal, options: list[str], said: str) -> None:
    assert said in hourhand.refused("window", "add", "wrong", *options, code=2)


def test_an_edit_needs_something_to_change(hourhand: Terminal) -> None:
    assert "is all that is given" in hourhand.refused("window", "edit", "x", code=2)
    assert "is all that is given" in hourhand.refused("calendar", "edit", "x", code=2)
    assert "there is no maintenance window 'x'" in hourhand.refused("window", "edit", "x", "--enable", code=1)


def test_a_calendar_is_added_shown_previewed_changed_and_deleted(hourhand: Terminal, name: str) -> None:
    said = hourhand.done(
        "calendar", "add", name, "--country", "US", "--subdivision", "CA", "--include", "2027-03-03"
    ).out
    assert said.startswith(f"Calendar {name!r} is added: ")
    definition = hourhand.done("calendar", "show", name, "--json").json["definition"]
    assert definition == {"country": "US", "subdivision": "CA", "include": ["2027-03-03"]}
    days = hourhand.done("calendar", "preview", name, "--year", "2027").out
    assert "2027-01-01  New Year's Day" in days
    assert "2027-03-03  included" in days
    hourhand.done("calendar", "edit", name, "--clear", "subdivision", "--clear", "include", "--weekday", "sunday")
    hourhand.done("calendar", "edit", name, "--exclude", "2027-01-01", "--rename", f"{name}-2")
    edited = hourhand.done("calendar", "show", f"{name}-2", "--json").json["definition"]
    assert edited == {"country": "US", "weekdays": [7], "exclude": ["2027-01-01"]}
    assert "sun" in hourhand.done("calendar", "show", f"{name}-2").out
    assert "country US; weekdays sun; exclude 2027-01-01" in row(hourhand, "calendar", f"{name}-2")
    again = hourhand.done("calendar", "preview", f"{name}-2", "--year", "2027", "--json").json
    assert "2027-01-01" not in [one["date"] for one in again["items"]]
    hourhand.done("calendar", "delete", f"{name}-2")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "--country: has no days"),
        (["--country", "XX"], "--country: 'XX' is no country"),
        (["--country", "US", "--subdivision", "ZZ"], "--subdivision: "),
        (["--market", "none"], "--market: "),
        (["--weekday", "someday"], "--weekday: 'someday' is no weekday"),
        (["--weekday", "8"], "--weekday: '8' is no weekday"),
        (["--include", "soon"], "--include"),
    ],
)
def test_what_is_wrong_with_a_calendar_is_said_of_the_option(hourhand: Terminal, options: list[str], said: str) -> None:
    assert said in hourhand.refused("calendar", "add", "wrong", *options, code=2)


def test_what_cannot_be_cleared_is_said(hourhand: Terminal, name: str) -> None:
    assert "'name' cannot be cleared" in hourhand.refused("calendar", "edit", name, "--clear", "name", code=2)
    both = ("--clear", "country", "--country", "CN")
    assert "given together with --country" in hourhand.refused("calendar", "edit", name, *both, code=2)


def test_lists_are_what_the_api_answers(hourhand: Terminal) -> None:
    for noun in ("window", "calendar"):
        assert hourhand.done(noun, "list", "--json").json.keys() == {"items", "next_cursor"}
