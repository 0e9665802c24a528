"""`hourhand group` against a real server."""

from __future__ import annotations

import pytest

from api.cli import Terminal
from serving import Served


@pytest.fixture(scope="module")
def hourhand(served: Served) -> Terminal:
    return Terminal(served)


def test_a_group_is_added_shown_changed_and_deleted(hourhand: Terminal) -> None:
    hourhand.done("group", "add", "grp", "--title", "First", "--address-type", "manual", "--address", "http://h:1/")
    group = hourhand.done("group", "show", "grp", "--json").json
    assert (group["title"], group["address_type"], group["address_list"]) == ("First", "manual", ["http://h:1/"])
    said = hourhand.done("group", "edit", "grp", "--title", "Second", "--address", "http://h:2/").out
    assert said == "Group 'grp' is changed (title, address_list).\n"
    shown = hourhand.done("group", "show", "grp").out
    assert "Second" in shown
    assert "http://h:2/" in shown
    assert hourhand.done("group", "delete", "grp").out == "Group 'grp' is deleted.\n"
    assert "there is no group 'grp'" in hourhand.refused("group", "show", "grp", code=1)


def test_what_is_wrong_is_said_of_the_option(hourhand: Terminal) -> None:
    hourhand.done("group", "add", "grp-wrong")
    assert "--address: 'nonsense'" in hourhand.refused("group", "edit", "grp-wrong", "--address", "nonsense", code=2)
    assert "give the options to change" in hourhand.refused("group", "edit", "grp-wrong", code=2)
    assert "did you mean 'grp-wrong'?" in hourhand.refused("group", "show", "grp-wron", code=1)


def test_a_group_with_tasks_stays(hourhand: Terminal) -> None:
    hourhand.done("group", "add", "grp-busy")
    hourhand.done("task", "add", "grp-task", "--command", "true", "--group", "grp-busy")
    assert "grp-task" in hourhand.refused("group", "delete", "grp-busy", code=1)


def test_an_access_token_is_all_that_is_printed(hourhand: Terminal) -> None:
    hourhand.done("group", "add", "grp-xxl")
    first = hourhand("group", "access-token", "grp-xxl")
    assert first.out.startswith("xxl_")
    assert len(first.out.split()) == 1
    assert "never shown again" in first.err
    assert hourhand.done("group", "access-token", "grp-xxl", "--json").json["access_token"] != first.out.strip()
    assert first.out.strip() not in hourhand.done("group", "show", "grp-xxl").out


def test_kinds(hourhand: Terminal) -> None:
    assert "command" in {one["name"] for one in hourhand.done("kinds", "--json").json["items"]}
    assert "runner" in hourhand.done("kinds").out
