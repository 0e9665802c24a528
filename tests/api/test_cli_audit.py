"""`hourhand audit` against a real server, and against somebody who meddles with its database."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from api.cli import Terminal
from serving import Served


@pytest.fixture(scope="module")
def hourhand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    with Served(tmp_path_factory.mktemp("audit")) as served:
        terminal = Terminal(served)
        terminal.done("task", "add", "books", "--command", "true")
        terminal.done("task", "edit", "books", "--priority", "1")
        terminal("task", "add", "books", "--command", "true")
        terminal.done("group", "add", "billing")
        yield terminal


def sealed(hourhand: Terminal) -> Any:
    deadline = time.monotonic() + 60
    while (found := hourhand.done("audit", "verify", "--json").json)["unsealed"]:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return found


def actions(hourhand: Terminal, *options: str) -> list[tuple[str, str]]:
    items = hourhand.done("audit", "list", *options, "--json").json["items"]
    return [(one["action"], one["resource_type"]) for one in items]


def test_who_did_what_newest_first(hourhand: Terminal) -> None:
    assert actions(hourhand, "--result", "done") == [("create", "group"), ("edit", "task"), ("create", "task")]
    table = hourhand.done("audit", "list").out
    assert "admin (token:1)" in table
    assert "refused" in table


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--resource", "group"], [("create", "group")]),
        (["--resource", "task", "--id", "1", "--action", "edit"], [("edit", "task")]),
        (["--resource", "task", "--id", "books", "--action", "edit"], [("edit", "task")]),
        (["--resource", "group", "--id", "billing"], [("create", "group")]),
        (["--task", "books"], [("edit", "task"), ("create", "task")]),
        (["--task", "1", "--action", "edit"], [("edit", "task")]),
        (["--task", "99"], []),
        (["--resource", "token", "--id", "admin"], []),
        (["--resource", "session", "--id", "books"], []),
        (["--result", "refused"], [("create", "task")]),
        (["--user", "admin", "--action", "edit"], [("edit", "task")]),
        (["--user", "token:1", "--action", "edit", "--since", "1h"], [("edit", "task")]),
        (["--user", "token:9"], []),
        (["--before", "2001-01-01"], []),
    ],
)
def test_filters(hourhand: Terminal, options: list[str], found: list[tuple[str, str]]) -> None:
    assert actions(hourhand, *options) == found


def test_one_entry_with_what_changed(hourhand: Terminal) -> None:
    (edited,) = hourhand.done("audit", "list", "--action", "edit", "--json").json["items"]
    said = hourhand.done("audit", "show", str(edited["id"])).out
    assert "task 1" in said
    assert '{"priority": 1, "version": 2}' in said
    assert "books" in said
    assert hourhand.done("audit", "show", str(edited["id"]), "--json").json["before"]["name"] == "books"
    assert "there is no audit entry 999" in hourhand.refused("audit", "show", "999", code=1)


def test_a_limit_says_that_there_is_more(hourhand: Terminal) -> None:
    ran = hourhand("audit", "list", "--limit", "1")
    assert len(ran.out.splitlines()) == 2
    assert "there are more" in ran.err


def test_what_is_wrong_is_said_of_the_option(hourhand: Terminal) -> None:
    assert "--id: needs --resource" in hourhand.refused("audit", "list", "--id", "7", code=2)
    unknown = hourhand.refused("audit", "list", "--resource", "task", "--id", "book", code=2)
    assert "--id: there is no task 'book'; did you mean 'books'? (of one that is no more, write the id)" in unknown
    assert "--task: there is no task 'book'" in hourhand.refused("audit", "list", "--task", "book", code=2)
    for kind in ("group", "user", "token", "alert-rule", "calendar", "maintenance-window"):
        named = hourhand.refused("audit", "list", "--resource", kind, "--id", "unheard-of", code=2)
        assert f"--id: there is no {kind.replace('-', ' ')} 'unheard-of'" in named
    assert "--user: there is no user and no token 'ada'" in hourhand.refused("audit", "list", "--user", "ada", code=2)
    assert "--head: " in hourhand.refused("audit", "verify", "--head", "nonsense", code=2)


def test_a_whole_chain_and_then_a_broken_one(hourhand: Terminal) -> None:
    noted = sealed(hourhand)["head"]
    said = hourhand.done("audit", "verify", "--head", noted).out
    assert "whole" in said
    assert noted in said
    assert "not sealed yet" in said
    with closing(sqlite3.connect(hourhand.served.folder / "hourhand-data" / "hourhand.db", timeout=30)) as meddler:
        meddler.execute("UPDATE audit_logs SET user_name = 'somebody else' WHERE sealed_no = 2")
        meddler.commit()
    ran = hourhand("audit", "verify")
    assert ran.code == 1
    assert "broken" in ran.out
    assert ran.err.startswith("Error: the chain is broken at entry 2 (changed): ")
    as_json = hourhand("audit", "verify", "--json")
    assert (as_json.code, as_json.err) == (1, "")
    assert as_json.json["fault"]["number"] == 2
