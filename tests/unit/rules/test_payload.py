from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.errors import FieldError, InvalidInput
from hourhand.model.words import TaskType
from hourhand.rules.payload import SHAPES, check_payload
from unit.rules.cron_oracle import examples

SMALLEST: dict[TaskType, dict[str, Any]] = {
    TaskType.COMMAND: {"command": "true"},
    TaskType.HTTP: {"url": "http://localhost"},
    TaskType.PYTHON: {"handler": "close_books"},
    TaskType.OPERATION: {"kind": "data_cleanup"},
    TaskType.XXL: {"handler": "demoJobHandler"},
}


def refusals(kind: TaskType, payload: dict[str, Any]) -> list[tuple[str, object, str]]:
    with pytest.raises(InvalidInput) as refused:
        check_payload(kind, payload)
    return [(error.field, error.value, error.message) for error in refused.value.errors]


def test_every_type_has_a_shape() -> None:
    assert set(SHAPES) == set(TaskType) == set(SMALLEST)
    assert all(set(needed) <= set(known) for needed, known in SHAPES.values())


@pytest.mark.parametrize("kind", TaskType)
def test_the_smallest_payload_of_each_type_is_enough(kind: TaskType) -> None:
    check_payload(kind, SMALLEST[kind])


@pytest.mark.parametrize("kind", TaskType)
def test_every_other_key_may_be_null(kind: TaskType) -> None:
    check_payload(kind, {**dict.fromkeys(SHAPES[kind][1]), **SMALLEST[kind]})


@pytest.mark.parametrize(
    ("kind", "field", "right"),
    [
        (TaskType.COMMAND, "command", 'a list of texts like ["echo", "hi"], or one text for the shell'),
        (TaskType.HTTP, "url", "an http:// or https:// address"),
        (TaskType.PYTHON, "handler", "a text that is not empty"),
        (TaskType.OPERATION, "kind", "a text that is not empty"),
        (TaskType.XXL, "handler", "a text that is not empty"),
    ],
)
def test_what_is_needed_is_named_when_it_is_missing_or_null(kind: TaskType, field: str, right: str) -> None:
    expected = [(f"payload.{field}", None, f"is required for {kind.value} tasks: give {right}")]
    assert refusals(kind, {}) == refusals(kind, {field: None}) == expected


def test_an_unknown_key_is_refused_with_the_closest_or_all_known_ones() -> None:
    assert refusals(TaskType.COMMAND, {"command": "true", "comand": "x", "zzz": "secret"}) == [
        ("payload.comand", None, "is not a key of command tasks; did you mean 'command'?"),
        (
            "payload.zzz",
            None,
            "is not a key of command tasks; known keys are: command, env, cwd, stdin, success_codes",
        ),
    ]


@pytest.mark.parametrize("command", ["echo hi", ["echo"], ("echo", ""), ["echo", "hi"]])
def test_a_command_is_a_list_of_texts_or_one_text(command: object) -> None:
    check_payload(TaskType.COMMAND, {"command": command})


@pytest.mark.parametrize("command", [[], [""], ["echo", 1], 5, {"a": 1}])
def test_a_wrong_command_is_refused_without_being_shown(command: object) -> None:
    right = 'must be a list of texts like ["echo", "hi"], or one text for the shell'
    assert refusals(TaskType.COMMAND, {"command": command}) == [("payload.command", None, right)]


@pytest.mark.parametrize("command", ["", "  \n"])
def test_an_empty_shell_command_is_refused(command: str) -> None:
    assert refusals(TaskType.COMMAND, {"command": command}) == [
        ("payload.command", None, "must be a shell command that is not empty")
    ]


@pytest.mark.parametrize(
    ("kind", "name", "value", "message"),
    [
        (TaskType.COMMAND, "env", ["A=1"], "must be an object of texts"),
        (TaskType.COMMAND, "env", {"TOKEN": "secret", "PORT": 80}, "must be an object of texts, which 'PORT' is not"),
        (TaskType.COMMAND, "env", {1: "x"}, "must be an object of texts, which 1 is not"),
        (TaskType.COMMAND, "stdin", 5, "must be a text"),
        (TaskType.HTTP, "headers", {"Authorization": None}, "must be an object of texts, which 'Authorization' is not"),
        (TaskType.HTTP, "body", {"password": "x"}, "must be a text"),
        (TaskType.HTTP, "url", "ftp://me:secret@host/", "must be an http:// or https:// address"),
    ],
)
def test_what_may_hold_secrets_is_refused_without_being_shown(
    kind: TaskType, name: str, value: object, message: str
) -> None:
    assert refusals(kind, {**SMALLEST[kind], name: value}) == [(f"payload.{name}", None, message)]


@pytest.mark.parametrize(
    ("kind", "name", "value", "message"),
    [
        (TaskType.COMMAND, "cwd", "", "'' is not an absolute path, such as /srv/reports"),
        (TaskType.COMMAND, "cwd", "reports", "'reports' is not an absolute path, such as /srv/reports"),
        (TaskType.COMMAND, "success_codes", [], "[] is not a list of numbers from 0 to 255"),
        (TaskType.COMMAND, "success_codes", [0, 256], "[0, 256] is not a list of numbers from 0 to 255"),
        (TaskType.COMMAND, "success_codes", [True], "[True] is not a list of numbers from 0 to 255"),
        (TaskType.COMMAND, "success_codes", 0, "0 is not a list of numbers from 0 to 255"),
        (TaskType.HTTP, "method", "get", "'get' is not one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
        (TaskType.HTTP, "method", [], "[] is not one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
        (TaskType.HTTP, "expected_status", [99], "[99] is not a list of numbers from 100 to 599"),
        (TaskType.HTTP, "connect_timeout_seconds", 0, "0 is not a number of seconds above 0, at most a day"),
        (TaskType.HTTP, "connect_timeout_seconds", True, "True is not a number of seconds above 0, at most a day"),
        (
            TaskType.HTTP,
            "connect_timeout_seconds",
            float("nan"),
            "nan is not a number of seconds above 0, at most a day",
        ),
        (TaskType.HTTP, "connect_timeout_seconds", "5", "'5' is not a number of seconds above 0, at most a day"),
        (TaskType.PYTHON, "handler", " ", "' ' is not a text that is not empty"),
        (TaskType.PYTHON, "args", [1], "[1] is not an object"),
        (TaskType.PYTHON, "app", 5, "5 is not a text that is not empty"),
        (TaskType.OPERATION, "config", "x", "'x' is not an object"),
        (TaskType.XXL, "params", 5, "5 is not a text"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_right(kind: TaskType, name: str, value: object, message: str) -> None:
    ((field, _, told),) = refusals(kind, {**SMALLEST[kind], name: value})
    assert (field, told) == (f"payload.{name}", message)


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (TaskType.COMMAND, {"env": {"A": "1"}, "cwd": "/tmp", "stdin": "", "success_codes": [0, 255]}),  # noqa: S108
        (TaskType.HTTP, {"method": "POST", "headers": {}, "json": [1], "expected_status": (200, 204)}),
        (TaskType.HTTP, {"body": "", "connect_timeout_seconds": 0.5}),
        (TaskType.PYTHON, {"args": {"day": None}, "app": "books"}),
        (TaskType.OPERATION, {"config": {}}),
        (TaskType.XXL, {"params": "", "route_strategy": "FIRST", "glue_type": "BEAN", "glue_updatetime": 0}),
    ],
)
def test_right_values_pass(kind: TaskType, more: dict[str, Any]) -> None:
    check_payload(kind, {**SMALLEST[kind], **more})


@pytest.mark.parametrize(
    "url", ["http://a", "https://a.b/c?d=e#f", "http://[::1]:8080/", "HTTP://A", "http://me@host", "http://h/${day}"]
)
def test_an_address_of_the_web_is_allowed(url: str) -> None:
    check_payload(TaskType.HTTP, {"url": url})


@pytest.mark.parametrize(
    "url",
    [
        "", "host", "//host", "ftp://host", "http://", "http://:80", "http://[::1", "http://h:99999", "http://h:0",
        "http://h:x", "http://a b", "http://a\n.b", "javascript:alert(1)", 5,
    ],
)  # fmt: skip
def test_anything_else_is_no_address(url: object) -> None:
    assert refusals(TaskType.HTTP, {"url": url}) == [("payload.url", None, "must be an http:// or https:// address")]


def test_a_request_has_one_body() -> None:
    assert refusals(TaskType.HTTP, {"url": "http://a", "body": "x", "json": {}}) == [
        ("payload.body", None, "give either body or json, not both")
    ]
    check_payload(TaskType.HTTP, {"url": "http://a", "body": None, "json": {}})


values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.lists(st.text(max_size=3))


@given(st.sampled_from(TaskType), st.dictionaries(st.sampled_from(["command", "env", "url", "kind", "x"]), values))
@examples(300)
def test_whatever_comes_in_is_accepted_or_refused_by_field(kind: TaskType, payload: dict[str, Any]) -> None:
    needed, known = SHAPES[kind]
    fits = all(payload.get(name) is not None for name in needed) and set(payload) <= set(known)
    errors: tuple[FieldError, ...] = ()
    try:
        check_payload(kind, payload)
    except InvalidInput as refused:
        errors = refused.errors
    assert fits or errors
    assert all(error.field.startswith("payload.") and error.message for error in errors)
