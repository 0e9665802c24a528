"""`hourhand user` and `hourhand sessions` against a real server."""

from __future__ import annotations

import io
from unittest.mock import patch

import pytest

from api.at_a_terminal import asked
from api.cli import Ran, Terminal
from serving import Served

PASSWORD, OTHER = "canary-otters-swim", "canary-otters-sleep"


@pytest.fixture(scope="module")
def hourhand(served: Served) -> Terminal:
    return Terminal(served)


def with_password(hourhand: Terminal, *arguments: str, password: str = PASSWORD) -> Ran:
    with patch("sys.stdin", io.StringIO(f"{password}\n")):
        return hourhand("user", *arguments, "--password-stdin")


def signs_in(hourhand: Terminal, name: str, password: str = PASSWORD) -> bool:
    with hourhand.served.visitor() as browser:
        return browser.post("/api/v1/sessions", json={"name": name, "password": password}).status_code == 201


def test_a_user_is_added_changed_and_removed(hourhand: Terminal) -> None:
    added = with_password(hourhand, "add", "ada", "--role", "editor", "--groups", "default")
    assert (added.code, added.out, added.err) == (0, "User 'ada' is added (editor, groups: default).\n", "")
    assert signs_in(hourhand, "ada")
    changed = hourhand.done("user", "edit", "ada", "--role", "operator", "--all-groups").out
    assert changed == "User 'ada' is changed (operator, groups: all).\n"
    (row,) = [line for line in hourhand.done("user", "list").out.splitlines() if line.startswith("ada ")]
    assert row.split()[1:4] == ["operator", "all", "enabled"]
    assert hourhand.done("user", "edit", "ada", "--disable", "--json").json["disabled_at"]
    assert not signs_in(hourhand, "ada")
    hourhand.done("user", "edit", "ada", "--enable")
    assert hourhand.done("user", "delete", "ada").out == "User 'ada' is removed.\n"
    assert "there is no user 'ada'" in hourhand.refused("user", "delete", "ada", code=1)


def test_a_new_password_ends_the_old_one_and_its_sessions(hourhand: Terminal) -> None:
    with_password(hourhand, "add", "bob", "--role", "viewer")
    assert signs_in(hourhand, "bob")
    assert "bob" in hourhand.done("sessions", "list").out
    changed = with_password(hourhand, "password", "bob", password=OTHER)
    assert (changed.code, changed.err) == (0, "")
    assert "bob" not in {one["name"] for one in hourhand("sessions", "list", "--json").json["items"]}
    assert not signs_in(hourhand, "bob")
    assert signs_in(hourhand, "bob", OTHER)


def test_a_session_is_closed(hourhand: Terminal) -> None:
    with_password(hourhand, "add", "eve", "--role", "viewer")
    with hourhand.served.visitor() as browser:
        browser.post("/api/v1/sessions", json={"name": "eve", "password": PASSWORD})
        assert browser.get("/api/v1/sessions/current").status_code == 200
        (session,) = [one for one in hourhand.done("sessions", "list", "--json").json["items"] if one["name"] == "eve"]
        assert hourhand.done("sessions", "close", str(session["id"])).out == f"Session {session['id']} is closed.\n"
        assert browser.get("/api/v1/sessions/current").status_code == 401
    assert "there is no session" in hourhand.refused("sessions", "close", str(session["id"]), code=1)


def test_at_a_terminal_a_password_is_asked_for_twice_and_not_shown(hourhand: Terminal) -> None:
    # To the space at its end: only then is the terminal silent, and what was typed before is thrown away.
    first, again = "Password (12 characters or more): ", "Repeat for confirmation: "
    answers = [(first, PASSWORD), (again, OTHER), (first, PASSWORD), (again, PASSWORD)]
    added = asked(hourhand, "user", "add", "cyd", "--role", "viewer", answers=answers)
    assert added.code == 0, added.screen
    assert "canary" not in added.screen
    assert signs_in(hourhand, "cyd")


@pytest.mark.parametrize(
    ("arguments", "password", "said"),
    [
        (["add", "dan", "--role", "viewer"], "canary", "password: it has 6 characters"),
        (["add", "dan", "--role", "viewer"], "", "--password-stdin: found no password"),
        (["add", "dan", "--role", "viewer", "--groups", "unheard-of"], PASSWORD, "--groups: there is no group"),
        (["add", " ", "--role", "viewer"], PASSWORD, "NAME: "),
    ],
)
def test_what_is_wrong_is_said_without_the_password(
    hourhand: Terminal, arguments: list[str], password: str, said: str
) -> None:
    ran = with_password(hourhand, *arguments, password=password)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "canary" not in ran.err


def test_what_cannot_be_meant_is_refused(hourhand: Terminal) -> None:
    with_password(hourhand, "add", "fay", "--role", "viewer")
    assert "--password-stdin: is missing" in hourhand.refused("user", "add", "x", "--role", "viewer", code=2)
    assert "give the options to change" in hourhand.refused("user", "edit", "fay", code=2)
    assert "--all-groups: is given" in hourhand.refused("user", "edit", "fay", "--groups", "a", "--all-groups", code=2)
    assert "did you mean 'fay'?" in hourhand.refused("user", "edit", "faye", "--disable", code=1)
