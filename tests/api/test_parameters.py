"""Parameters and values that are wrong are refused in Hourhand's words, never in a library's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from api.answers import API, ok, refused

if TYPE_CHECKING:
    import httpx

LISTS = [f"{API}/{name}" for name in ("tasks", "instances", "execution-logs")]
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("path", LISTS)
def test_an_unknown_parameter_is_refused_and_the_known_ones_are_named(client: httpx.Client, path: str) -> None:
    found = refused(client.get(path, params={"stauts": "failed", "page": 2, "limit": 5}))
    assert found.keys() == {"stauts", "page"}
    for known in ("group", "type", "limit", "cursor"):
        assert known in found["stauts"]


@pytest.mark.parametrize("path", [f"{API}/groups", f"{API}/executors", f"{API}/version", f"{API}/tasks/1"])
def test_what_takes_no_parameters_takes_none(client: httpx.Client, path: str) -> None:
    assert refused(client.get(path, params={"q": "x"})) == {"q": "is not a known parameter; there are none here"}


def test_a_parameter_is_given_once(client: httpx.Client) -> None:
    found = refused(client.get(f"{API}/instances?status=failed&status=success"))
    assert found == {"status": "is given 2 times: give it once"}


@pytest.mark.parametrize("path", LISTS)
def test_a_parameter_with_a_nul_is_refused(client: httpx.Client, path: str) -> None:
    assert "NUL" in refused(client.get(f"{path}?group=a%00b"))["group"]


@pytest.mark.parametrize("path", [*LISTS, f"{API}/tasks/1/versions"])
@pytest.mark.parametrize("cursor", ["", "x", "bmFtZQ", "WyJuYW1lIl0", "WyJsaXZpbmciLCAxZTk5XQ", "ü", "a" * 5000])
def test_a_cursor_of_nothing_is_refused(client: httpx.Client, path: str, cursor: str) -> None:
    assert refused(client.get(path, params={"cursor": cursor})).keys() == {"cursor"}


@pytest.mark.parametrize(
    ("query", "field", "message"),
    [
        ("limit=0", "limit", "'0' is out of range: give at least 1"),
        ("limit=201", "limit", "'201' is out of range: give at most 200"),
        ("limit=ten", "limit", "'ten' is not a whole number"),
        ("limit=2.5", "limit", "'2.5' is not a whole number"),
        ("status=done", "status", "'done' is not one of: planned, pending, running, success, failed, cancelled"),
        ("type=shell", "type", "'shell' is not one of: command, http, python, operation, xxl"),
        ("triggered_by=me", "triggered_by", "'me' is not one of: scheduler, manual, api, dependency, backfill"),
        ("task_id=0", "task_id", "'0' is out of range: give at least 1"),
        (f"task_id={2**63}", "task_id", f"'{2**63}' is out of range: give at most {2**63 - 1}"),
        ("data_source_id=-1", "data_source_id", "'-1' is out of range: give at least 1"),
        ("group=strangers", "group", "there is no group 'strangers'; there are: "),
        ("from=now", "from", "'now' is not a time with its offset, such as 2026-11-15T09:00:00Z"),
        ("from=2026-11-15", "from", "'2026-11-15' is not a time with its offset"),
        ("to=2026-11-15T09:00:00", "to", "'2026-11-15T09:00:00' is not a time with its offset"),
        ("to=9999-12-31T23:59:59Z", "to", "the year 9999 is out of range: give 1970 to 2199"),
        ("from=2026-11-15T09:00:00Z&to=2026-11-14T09:00:00Z", "from", "is after `to`"),
    ],
)
def test_wrong_filters_are_refused_in_words(client: httpx.Client, query: str, field: str, message: str) -> None:
    found = refused(client.get(f"{API}/instances?{query}"))
    assert found.keys() == {field}
    assert message in found[field]


def test_what_has_not_ended_is_in_no_execution_log(client: httpx.Client) -> None:
    found = refused(client.get(f"{API}/execution-logs?status=running"))
    assert found["status"] == "'running' is not one of: success, failed, cancelled"


def test_all_filters_may_be_given_together(client: httpx.Client) -> None:
    filters: dict[str, str | int] = {
        "task_id": 1,
        "status": "failed",
        "group": "default",
        "type": "http",
        "executor_id": "x",
        "data_source_id": 2**63 - 1,
        "triggered_by": "api",
        "q": "%_/",
        "exclude": "%",
        "owner": "ada",
        "args": '{"a": "%',
        "error": "_/",
        "from": "1970-01-01T00:00:00Z",
        "to": "2199-12-31T23:59:59+14:00",
        "limit": 200,
    }
    for path in LISTS[1:]:
        assert ok(client.get(path, params=filters)) == {"items": [], "next_cursor": None}
    of_tasks = {
        "q": "%_/",
        "name": "x",
        "enabled": "true",
        "group": "default",
        "exclude": "a",
        "owner": "b",
        "tag": "c",
    }
    assert ok(client.get(LISTS[0], params=of_tasks))["items"] == []


@pytest.mark.parametrize(
    ("path", "body", "field", "message"),
    [
        ("instances", {}, "task_id", "is missing: it is required"),
        ("instances", {"task_id": "1"}, "task_id", "'1' is not a whole number"),
        ("instances", {"task_id": True}, "task_id", "True is not a whole number"),
        ("instances", {"task_id": 1, "args": []}, "args", "[] is not an object"),
        ("instances", {"task_id": 1, "priority": 10}, "priority", "10 is out of range: give at most 9"),
        ("instances", {"task_id": 1, "dispatch": "no"}, "dispatch", "'no' is not true or false"),
        ("instances", {"task_id": 1, "key": 7}, "key", "7 is not a text"),
        ("instances", {"task_id": 1, "nots": "x"}, "nots", "is not a known key (its value: 'x'): remove it"),
        ("instances", {"task_id": 1, "notes": "x" * 10_001}, "notes", "it has more than 10000 characters: shorten it"),
        ("instances", {"task_id": 1, "args": {"a": "\0"}}, "body", "args.a holds a NUL character: remove it"),
        ("instances", {"task_id": 1, "run_at": 5}, "run_at", "5 is refused: it is not a time: write one such as"),
        ("instances/dispatch", {"ids": []}, "ids", "[] is refused: it has 0 items; at least 1 are needed"),
        ("instances/dispatch", {"ids": 1}, "ids", "1 is not a list"),
        ("instances/dispatch", {"ids": [1, 0]}, "ids.1", "0 is out of range: give at least 1"),
        ("instances/dispatch", [], "body", "[] is not an object"),
        ("instances/1/cancel", {"reason": ["x"]}, "reason", "['x'] is not a text"),
        ("instances/1/cancel", {"reason": "\ud800"}, "reason", "'\\ud800' is not Unicode text"),
        ("groups", {"name": ""}, "name", "'' is refused: it has fewer than 1 characters: give more"),
        ("groups", {"name": " a"}, "name", "' a' is refused: it begins or ends with a space: remove it"),
        ("groups", {"name": "a\nb"}, "name", "it contains the control character '\\n': remove it"),
        ("groups", {"name": "a", "address_type": "x"}, "address_type", "'x' is not one of: auto, manual"),
        ("groups", {"name": "a", "address_list": ["ftp://x"]}, "address_list.0", "it is not an address"),
        ("groups", {"name": "a", "address_list": ["http://[x"]}, "address_list.0", "it is not an address"),
    ],
)
def test_wrong_bodies_are_refused_in_words(
    client: httpx.Client, path: str, body: Any, field: str, message: str
) -> None:
    found = refused(client.post(f"{API}/{path}", content=json.dumps(body), headers=JSON))
    assert found.keys() == {field}
    assert message in found[field]
