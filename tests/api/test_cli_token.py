"""`hourhand token` against a real server."""

from __future__ import annotations

import os
import pwd
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from api.cli import Terminal, run_here
from serving import Served


@pytest.fixture(scope="module")
def hourhand(served: Served) -> Terminal:
    return Terminal(served)


def test_a_token_is_all_that_is_printed_and_works(hourhand: Terminal) -> None:
    hourhand("group", "add", "tok")
    options = ("--role", "viewer", "--groups", "default,tok", "--expires", "90d")
    made = hourhand("token", "create", "looks", *options)
    assert made.code == 0
    (secret,) = made.out.split()
    assert "never shown again" in made.err
    assert secret not in made.err
    assert hourhand.done("task", "list", "--json", HOURHAND_TOKEN=secret).json.keys() == {"items", "next_cursor"}
    refused = hourhand("task", "add", "no", "--command", "true", HOURHAND_TOKEN=secret)
    assert (refused.code, refused.out) == (1, "")
    assert "needs the role editor" in refused.err
    listed = hourhand.done("token", "list").out
    assert secret not in listed
    (row,) = [line for line in listed.splitlines() if " looks " in line]
    assert "default, tok" in row
    assert " valid " in row


def test_a_revoked_token_is_worthless(hourhand: Terminal) -> None:
    made = hourhand.done("token", "create", "gone", "--role", "viewer", "--json").json
    assert hourhand.done("token", "revoke", str(made["id"])).out == f"Token {made['id']} is revoked.\n"
    refused = hourhand("task", "list", HOURHAND_TOKEN=made["token"])
    assert refused.code == 1
    assert "refuses the token" in refused.err
    assert made["token"] not in refused.err
    (row,) = [line for line in hourhand.done("token", "list").out.splitlines() if " gone " in line]
    assert " revoked " in row


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "NAME: is missing"),
        (["x"], "--role: is missing: one of viewer, operator, editor, admin"),
        (["x", "--role", "viewer", "--expires", "soon"], "--expires: 'soon' is not a time"),
        (["x", "--role", "viewer", "--expires", "2001-01-01"], "--expires: "),
        (["x", "--role", "viewer", "--groups", "unheard-of"], "--groups: "),
        (["x", "--role", "viewer", "--groups", ","], "--groups: names no group"),
        (["x", "--local"], "NAME: is given together with --local"),
        (["--local", "--role", "viewer"], "--role: is given together with --local"),
        (["x", "--role", "viewer", "--data-dir", "d"], "--data-dir: is for --local"),
    ],
)
def test_what_is_wrong_is_said_of_the_option(hourhand: Terminal, arguments: list[str], said: str) -> None:
    assert said in hourhand.refused("token", "create", *arguments, code=2)


def test_a_lost_admin_token_is_made_anew_without_a_server(tmp_path: Path) -> None:
    made = run_here(tmp_path, "token", "create", "--local")
    assert (made.code, made.err) == (0, "")
    assert str(tmp_path / "hourhand-data" / "admin-token") in made.out
    with closing(sqlite3.connect(next((tmp_path / "hourhand-data").glob("*.db")))) as store:
        rows = store.execute("SELECT action, resource_type, user_id, user_name FROM audit_logs").fetchall()
    assert rows == [("create", "token", "local", pwd.getpwuid(os.getuid()).pw_name)]
    again = run_here(tmp_path, "token", "create", "--local")
    assert again.code == 2
    assert "holds a token already" in again.err
