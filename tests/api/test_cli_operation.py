"""`hourhand operation` against a real server."""

from __future__ import annotations

import io
import sqlite3
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

from api.cli import Terminal
from serving import Served


@pytest.fixture(scope="module")
def hourhand(served: Served) -> Terminal:
    return Terminal(served)


@pytest.fixture
def shop(hourhand: Terminal, file: Path) -> str:
    """Return the name of a data source of this test's own."""
    name = file.parent.name
    hourhand.done("datasource", "add", name, f"sqlite:///{file}")
    return name


@pytest.fixture
def config(tmp_path: Path, shop: str) -> str:
    path = tmp_path / "statistics.yaml"
    path.write_text(f"# of the shop\ndata_source: {shop}\ntables:\n  - orders\n")
    return str(path)


class AtATerminal(io.StringIO):
    """Somebody who types."""

    def isatty(self) -> bool:
        return True


def rows(file: Path) -> int:
    with closing(sqlite3.connect(file)) as made:
        (number,) = made.execute("SELECT count(*) FROM hourhand_sample_orders").fetchone()
        return int(number)


def test_kinds_are_listed_with_where_they_are_done(hourhand: Terminal) -> None:
    lines = hourhand.done("operation", "kinds").out.splitlines()
    (row,) = [line for line in lines if "statistics_update" in line]
    assert row.split()[0] == "71"
    assert row.split()[-5:] == ["done", "done", "done", "done", "script"]
    found = hourhand.done("operation", "kinds", "--json").json["items"]
    assert {one["role"] for one in found} == {"operation"}
    assert [one["number"] for one in found] == sorted(one["number"] for one in found)


def test_a_preview_shows_the_steps_and_the_script(hourhand: Terminal, shop: str, config: str) -> None:
    seen = hourhand.done("operation", "preview", "statistics_update", "-f", config).out
    assert seen.startswith(f"statistics_update on {shop} (sqlite): plan ")
    assert "ok  ownership: owned" in seen
    assert seen.rstrip().endswith('ANALYZE "orders";')
    answer = hourhand.done("operation", "preview", "statistics_update", "-f", config, "--json").json
    assert answer["plan_hash"] in seen
    piped = Path(config).read_text()
    with patch("sys.stdin", io.StringIO(piped)):
        assert hourhand.done("operation", "preview", "statistics_update", "-f", "-", "--json").json == answer
    given = ["--set", f"data_source={shop}", "--set", 'tables=["orders"]', "--json"]
    assert hourhand.done("operation", "preview", "statistics_update", *given).json == answer


def test_what_is_shown_is_asked_for_and_started(hourhand: Terminal, config: str) -> None:
    with patch("sys.stdin", AtATerminal("n\n")):
        ran = hourhand("operation", "start", "statistics_update", "-f", config)
    assert ran.code == 1
    assert "Nothing was started." in ran.err
    with patch("sys.stdin", AtATerminal("y\n")):
        ran = hourhand("operation", "start", "statistics_update", "-f", config, "--wait")
    assert ran.code == 0, ran
    assert 'ANALYZE "orders";' in ran.out
    assert "of task 'operation:statistics_update': success after" in ran.out
    assert "operation:statistics_update" not in hourhand("export", "--all").out, "every Hourhand makes its own"


def test_without_a_terminal_somebody_must_have_approved_it(hourhand: Terminal, config: str) -> None:
    said = hourhand.refused("operation", "start", "statistics_update", "-f", config, code=2)
    assert "--yes: is needed where nobody can be asked" in said
    seen = hourhand.done("operation", "preview", "statistics_update", "-f", config, "--json").json
    approved = ["--plan-hash", seen["plan_hash"], "--wait", "--json"]
    done = hourhand.done("operation", "start", "statistics_update", "-f", config, *approved).json
    assert (done["status"], done["summary"]["plan_hash"]) == ("success", seen["plan_hash"])
    known = hourhand.done("instance", "show", str(done["id"])).out
    assert "1 of 1 steps done; --json has the plan" in known
    assert "done_check" not in known, "a plan fills screens"
    stale = ["--set", "include_parents=false", "--plan-hash", seen["plan_hash"]]
    said = hourhand.refused("operation", "start", "statistics_update", "-f", config, *stale, code=1)
    assert "is not the one that would be executed now" in said


def test_one_is_held_and_dispatched_and_one_only_looks(hourhand: Terminal, config: str) -> None:
    held = hourhand.done("operation", "start", "statistics_update", "-f", config, "--yes", "--held")
    assert "lets it go on." in held.out
    number = held.out.rsplit("dispatch ", 1)[1].split("`")[0]
    hourhand.done("instance", "dispatch", number)
    looked = ["--dry-run", "--yes", "--wait", "--priority", "1", "--notes", "why", "--at", "2026-01-01T00:00"]
    done = hourhand.done("operation", "start", "statistics_update", "-f", config, *looked, "--json").json
    assert done["summary"]["dry_run"] is True
    assert (done["priority"], done["notes"]) == (1, "why")


def test_a_sample_is_made_and_followed(hourhand: Terminal, shop: str, file: Path) -> None:
    ran = hourhand("operation", "sample", "--data-source", shop, "--rows", "12000", "--yes", "--follow")
    assert ran.code == 0, ran
    assert "fill hourhand_sample_orders …" in ran.out
    assert rows(file) == 12_000
    said = hourhand.refused("operation", "sample", "--data-source", shop, "--yes", code=2)
    assert "give another name, or drop it" in said
    made = ["--table", "other", "--rows", "5", "--yes", "--wait", "--json"]
    done = hourhand.done("operation", "sample", "--data-source", shop, *made).json
    assert done["summary"]["rows"] == 5
    said = hourhand.refused("operation", "undo", str(done["id"]), "--yes", code=1)
    assert f"nothing takes sample back as instance {done['id']} has done it" in said


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("data_source: {shop}\ntables: [orderz]", [], "statistics.yaml:2: tables: there is no table"),
        ("data_source: {shop}\ntables: [orders]", ["--set", "lock_retries=-1"], "--set lock_retries: "),
        ("data_source: {shop}\ntables: [orders]", ["--set", "x"], "--set: 'x' is no NAME=VALUE"),
        ("- 1", [], "write the fields of a configuration"),
        ("tables: [on]", [], "statistics.yaml:1:10: on means true to YAML"),
    ],
)
def test_what_is_wrong_is_told_by_its_line(
    hourhand: Terminal, tmp_path: Path, shop: str, *, text: str, given: list[str], said: str
) -> None:
    path = tmp_path / "statistics.yaml"
    path.write_text(text.format(shop=shop))
    assert said in hourhand.refused("operation", "preview", "statistics_update", "-f", str(path), *given, code=2)


def test_a_configuration_must_be_given(hourhand: Terminal, tmp_path: Path) -> None:
    assert "--file: is missing" in hourhand.refused("operation", "preview", "sample", code=2)
    missing = str(tmp_path / "none.yaml")
    assert "there is no file" in hourhand.refused("operation", "preview", "sample", "-f", missing, code=2)
    unreachable = ["--set", "data_source=nowhere at all"]
    said = hourhand.refused("operation", "preview", "sample", *unreachable, code=2)
    assert "--set data_source: there is no data source 'nowhere at all'" in said
