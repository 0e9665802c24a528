"""What a runner reads of a payload is what the rules let through."""

from __future__ import annotations

from dataclasses import fields

import pytest

from hourhand.model.errors import InvalidInput
from hourhand.model.payload import CommandPayload, HttpPayload, PythonPayload
from hourhand.model.words import TaskType
from hourhand.rules.payload import SHAPES, payload_from


@pytest.mark.parametrize(
    ("kind", "model"),
    [(TaskType.COMMAND, CommandPayload), (TaskType.HTTP, HttpPayload), (TaskType.PYTHON, PythonPayload)],
)
def test_the_keys_that_are_let_through_are_the_fields_of_the_model(kind: TaskType, model: type) -> None:
    assert set(SHAPES[kind][1]) == {field.name for field in fields(model)}


def test_lists_become_tuples_and_null_is_as_good_as_left_out() -> None:
    assert payload_from(TaskType.COMMAND, {"command": ["a", "b"], "cwd": None, "success_codes": [0, 3]}) == (
        CommandPayload(command=("a", "b"), success_codes=(0, 3))
    )


def test_a_shell_text_stays_a_text() -> None:
    assert payload_from(TaskType.COMMAND, {"command": "a | b"}) == CommandPayload(command="a | b")


def test_what_is_wrong_is_refused_as_at_write_time() -> None:
    with pytest.raises(InvalidInput, match=r"payload\.url"):
        payload_from(TaskType.HTTP, {"url": "ftp://example.org"})


def test_a_json_list_stays_a_list() -> None:
    assert payload_from(TaskType.HTTP, {"url": "http://a.example/", "json": [1]}).json == [1]  # type: ignore[union-attr]
