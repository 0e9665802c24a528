"""`--wait` and `--follow` at a terminal: a live display, whatever the terminal's width, and nothing left of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.cli import Terminal, run
from api.screen import COLOUR, Screen
from serving import Served

TESTS = Path(__file__).resolve().parents[1]
SHOW_CURSOR = "\x1b[?25h"


@pytest.fixture(scope="module")
def hourhand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    with Served(tmp_path_factory.mktemp("live"), "api.steps:app", PYTHONPATH=str(TESTS)) as served:
        terminal = Terminal(served)
        terminal.done("group", "add", "nobody")
        terminal.done("task", "add", "idle", "--command", "true", "--group", "nobody")
        yield terminal


def at(hourhand: Terminal, *arguments: str, columns: int = 80, **more: str) -> Screen:
    return Screen(hourhand.served.folder, *arguments, columns=columns, HOURHAND_URL=hourhand.served.address, **more)


def open_gate(path: Path) -> None:
    path.write_text("")


def gated(gate: Path) -> str:
    return json.dumps({"gate": str(gate)})


def test_wait_shows_phase_progress_and_the_last_lines(hourhand: Terminal, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with at(hourhand, "task", "run", "phases", "--wait", "--args", gated(gate)) as screen:
        screen.wait_for("is running: reading")
        screen.wait_for("25%")
        screen.wait_for("first line")
        open_gate(tmp_path / "gate-1")
        screen.wait_for("is running: posting")
        screen.wait_for("50%")
        screen.wait_for("second line")
        open_gate(tmp_path / "gate-2")
        assert screen.end() == 0
        assert re.search(r"^reading: [0-9.]+ s$", screen.plain, re.MULTILINE)
        assert re.search(r"^posting: [0-9.]+ s$", screen.plain, re.MULTILINE)
        assert re.search(r"Instance \d+ of task 'phases': success after .*\nvalue +{\"posted\": 40}\n$", screen.plain)
        assert SHOW_CURSOR in screen.text


def test_with_follow_the_lines_stay_above_the_bar(hourhand: Terminal, tmp_path: Path) -> None:
    with at(hourhand, "task", "run", "phases", "--follow", "--args", gated(tmp_path / "gate")) as screen:
        screen.wait_for("first line\n")
        screen.wait_for("━")
        open_gate(tmp_path / "gate-1")
        open_gate(tmp_path / "gate-2")
        assert screen.end() == 0
        # Printed once, where what is drawn is drawn many times.
        assert screen.plain.count("first line") == screen.plain.count("second line") == 1
        assert 'It returned {"posted": 40}' in screen.plain


def test_without_reported_progress_the_bar_only_pulses(hourhand: Terminal) -> None:
    with at(hourhand, "task", "run", "idle", "--wait") as screen:
        screen.wait_for("is pending")
        screen.wait_for("━")
        screen.wait_for("0:00:01")
        assert "%" not in screen.plain
        screen.interrupt()
        assert screen.end() == 1
        (instance,) = set(re.findall(r"Instance (\d+) goes on", screen.plain))
        assert f"`hourhand instance logs {instance} --follow` follows it" in screen.plain.replace("\n", "")
        assert "Traceback" not in screen.plain
    assert hourhand.done("instance", "show", instance, "--json").json["status"] == "pending"


def test_a_retry_is_said_with_its_number_and_its_reason(hourhand: Terminal) -> None:
    with at(hourhand, "task", "run", "stumbles", "--wait", columns=120) as screen:
        assert screen.end() == 0
        failed = r"attempt 1 of 4 failed: RuntimeError: the ledger is closed; the next in 2\.\d s"
        assert re.search(failed, screen.plain)


def test_a_narrow_terminal_that_is_made_narrower_and_wider(hourhand: Terminal, tmp_path: Path) -> None:
    with at(hourhand, "task", "run", "phases", "--wait", "--args", gated(tmp_path / "gate"), columns=40) as screen:
        screen.wait_for("first line")
        assert max(map(len, screen.plain.split("\n"))) <= 40
        screen.resize(25)
        before = len(screen.text)
        open_gate(tmp_path / "gate-1")
        screen.wait_for("second line")
        drawn = screen.text[before:].split("second line", 1)[1]
        screen.resize(200)
        open_gate(tmp_path / "gate-2")
        assert screen.end() == 0
        assert "Traceback" not in screen.plain
        assert "success" in screen.plain
        assert max(map(len, re.findall("━+", drawn)), default=0) <= 25


def test_no_colour_where_none_is_wanted(hourhand: Terminal, tmp_path: Path) -> None:
    open_gate(tmp_path / "gate-1")
    open_gate(tmp_path / "gate-2")
    arguments = ("task", "run", "phases", "--wait", "--args", gated(tmp_path / "gate"))
    with at(hourhand, *arguments) as coloured, at(hourhand, *arguments, NO_COLOR="1") as plain:
        assert (coloured.end(), plain.end()) == (0, 0)
        assert COLOUR.search(coloured.text)
        assert not COLOUR.search(plain.text)


@pytest.mark.parametrize("forced", [{}, {"FORCE_COLOR": "1"}])
def test_piped_there_is_no_picture_and_no_colour_unless_it_is_forced(
    hourhand: Terminal, tmp_path: Path, forced: dict[str, str]
) -> None:
    open_gate(tmp_path / "gate-1")
    open_gate(tmp_path / "gate-2")
    where = {"HOURHAND_URL": hourhand.served.address, **forced}
    for option in ("--wait", "--follow"):
        arguments = ("task", "run", "phases", option, "--args", gated(tmp_path / "gate"))
        ran = run(hourhand.served.folder, *arguments, **where)
        assert ran.code == 0
        assert "━" not in ran.out + ran.err
        assert "\x1b[?25" not in ran.err
        assert ("\x1b" in ran.out + ran.err) == bool(forced)


def test_wait_and_json_print_the_ended_instance_and_nothing_else(hourhand: Terminal, tmp_path: Path) -> None:
    open_gate(tmp_path / "gate-1")
    open_gate(tmp_path / "gate-2")
    for option in ("--wait", "--follow"):
        ran = hourhand("task", "run", "phases", option, "--json", "--args", gated(tmp_path / "gate"))
        assert ran.code == 0
        assert ran.json == hourhand.done("instance", "show", str(ran.json["id"]), "--json").json
