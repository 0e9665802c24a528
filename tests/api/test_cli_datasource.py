"""`hourhand datasource` against a real server."""

from __future__ import annotations

import io
import sqlite3
from pathlib import Path
from unittest.mock import patch

import pytest

from api.cli import Ran, Terminal
from postgres import free_port
from serving import Served

CANARY = "canary7f3a"


@pytest.fixture(scope="module")
def hourhand(served: Served) -> Terminal:
    return Terminal(served)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)[:60]


def typed(hourhand: Terminal, text: str, *arguments: str) -> Ran:
    with patch("sys.stdin", io.StringIO(text)):
        return hourhand.done(*arguments)


def test_one_is_added_shown_tried_changed_and_deleted(hourhand: Terminal, name: str, file: Path) -> None:
    url = f"sqlite:///{file}"
    assert hourhand.done("datasource", "add", name, url).out == f"Data source {name!r} is added: {url}.\n"
    assert hourhand.done("datasource", "show", name, "--json").json["database"] == str(file)
    shown = hourhand.done("datasource", "show", name).out
    assert "password    none" in shown
    (row,) = [line for line in hourhand.done("datasource", "list").out.splitlines() if line.startswith(name)]
    assert "sqlite" in row
    assert url in row
    tried = hourhand.done("datasource", "test", name).out
    assert tried.startswith(f"{url} answers: SQLite {sqlite3.sqlite_version} (")
    assert hourhand.done("datasource", "test", name, "--json").json["ok"] is True
    changed = hourhand.done("datasource", "edit", name, "--rename", f"{name}-2").out
    assert changed == f"Data source '{name}-2' is changed (name): {url}.\n"
    file.unlink()
    failed = hourhand("datasource", "test", f"{name}-2")
    assert (failed.code, failed.err) == (1, "")
    assert "there is no file" in failed.out
    assert hourhand("datasource", "test", f"{name}-2", "--json").json["ok"] is False
    said = hourhand.done("datasource", "delete", f"{name}-2").out
    assert said == f"Data source '{name}-2' is deleted; the database itself is as it was.\n"
    assert "there is no data source" in hourhand.refused("datasource", "show", f"{name}-2", code=1)


def test_a_password_comes_from_standard_input_and_is_never_shown(hourhand: Terminal, name: str) -> None:
    place = ["--dialect", "postgresql", "--host", "db.example.com", "--database", "shop", "--username", "ann"]
    options = ["--option", "sslmode=verify-full", "--option", "search_path=a,b"]
    made = typed(
        hourhand, f"{CANARY}\n", "datasource", "add", name, *place, *options, "--password-stdin", "--no-test", "--json"
    ).json
    assert made["has_password"] is True
    assert made["port"] == 5432
    assert made["options"] == {"sslmode": "verify-full", "search_path": "a,b"}
    shown = hourhand.done("datasource", "show", name).out
    assert "sealed" in shown
    assert "sslmode=verify-full, search_path=a,b" in shown
    assert CANARY not in shown + hourhand.done("datasource", "list").out
    assert "--password-stdin: is needed again" in hourhand.refused("datasource", "edit", name, "--host", "x", code=2)
    moved = typed(
        hourhand, f"{CANARY}\n", "datasource", "edit", name, "--host", "x", "--password-stdin", "--no-test"
    ).out
    assert moved == f"Data source {name!r} is changed (host, password): postgresql://ann@x:5432/shop.\n"
    without = hourhand.done("datasource", "edit", name, "--no-password", "--no-test", "--json").json
    assert without["has_password"] is False
    assert hourhand.done("datasource", "delete", name, "--json").json["deleted"] is True


def test_a_password_in_the_url_works_and_is_warned_of(hourhand: Terminal, name: str) -> None:
    ran = hourhand("datasource", "add", name, f"mysql://ann:{CANARY}@db.example.com/shop", "--no-test")
    assert (ran.code, ran.out) == (0, f"Data source {name!r} is added: mysql://ann@db.example.com:3306/shop.\n")
    assert "stays in your shell's record" in ran.err
    assert f"hourhand datasource test {name}" in ran.err
    assert CANARY not in ran.out + ran.err
    assert hourhand.done("datasource", "show", name, "--json").json["has_password"] is True
    other = hourhand("datasource", "edit", name, "--url", f"mysql://ann:{CANARY}2@db2/shop", "--no-test")
    assert other.code == 0
    assert "stays in your shell's record" in other.err
    hourhand.done("datasource", "delete", name)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "URL: is missing"),
        ([f"oracle://ann:{CANARY}@db/shop"], "URL: begins with none of postgresql://"),
        ([f"postgresql://ann:{CANARY}/x@db/shop"], "URL: has a # or, behind the host, an @"),
        (["sqlite:///shop.db"], "URL: names no absolute path"),
        (["postgresql://ann@db/shop", "--host", "x"], "--host: is given together with url"),
        (["--dialect", "postgresql", "--database", "shop"], "--host: is required"),
        (["--dialect", "sqlite", "--database", "shop.db"], "--database: is relative"),
        (["--dialect", "postgresql", "--option", CANARY], "--option: is no NAME=VALUE"),
        (["--dialect", "postgresql", "--option", "="], "--option: is no NAME=VALUE"),
        (["mysql://ann@db/shop?x=1", "--no-test"], "URL: one of its options is not known of mysql"),
        (["--dialect", "sqlite", "--database", "/none/shop.db"], "--database: there is no file /none/shop.db"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_of_the_option(hourhand: Terminal, arguments: list[str], said: str) -> None:
    refusal = hourhand.refused("datasource", "add", "wrong", *arguments, code=2)
    assert said in refusal
    assert CANARY not in refusal


def test_who_cannot_be_reached_is_told_with_what_to_do(hourhand: Terminal) -> None:
    port = free_port()
    refusal = hourhand.refused("datasource", "add", "gone", f"postgresql://ann@127.0.0.1:{port}/shop", code=2)
    assert f"URL: postgresql://ann@127.0.0.1:{port}/shop cannot be reached" in refusal
    assert "--no-test" in refusal


def test_an_edit_needs_something_to_change(hourhand: Terminal, name: str, file: Path) -> None:
    hourhand.done("datasource", "add", name, f"sqlite:///{file}")
    assert "NAME: is all that is given" in hourhand.refused("datasource", "edit", name, code=2)
    with patch("sys.stdin", io.StringIO("x\n")):
        both = hourhand.refused("datasource", "edit", name, "--password-stdin", "--no-password", code=2)
    assert "--no-password: is given together" in both
    assert "did you mean" in hourhand.refused("datasource", "show", name[:-1], code=1)
    hourhand.done("datasource", "delete", name)
