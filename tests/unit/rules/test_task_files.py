"""The tasks of a task file, read and written."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from hourhand.model.errors import InvalidInput
from hourhand.model.task import TaskDefinition
from hourhand.model.words import TaskType
from hourhand.rules.declaration import dependency_cycle
from hourhand.rules.task_files import declaration_from, read_tasks, written

BASE: dict[str, Any] = {"name": "load", "command": ["true"]}


@pytest.mark.parametrize(
    ("given", "kind", "payload"),
    [
        ({"command": "ls | wc"}, TaskType.COMMAND, {"command": "ls | wc"}),
        ({"command": ["ls"], "type": "command"}, TaskType.COMMAND, {"command": ["ls"]}),
        ({"url": "http://x", "payload": {"method": "PUT"}}, TaskType.HTTP, {"url": "http://x", "method": "PUT"}),
        ({"handler": "h", "payload": {"args": {"a": 1}}}, TaskType.PYTHON, {"handler": "h", "args": {"a": 1}}),
        ({"type": "xxl", "payload": {"handler": "h"}}, TaskType.XXL, {"handler": "h"}),
    ],
)
def test_what_to_run_is_said_in_short_or_at_length(given: Any, kind: TaskType, payload: Any) -> None:
    definition = declaration_from({"name": "load", **given}).definition
    assert (definition.type, definition.payload) == (kind, payload)


def test_what_is_left_out_has_its_default_and_the_schedule_is_as_it_will_be_stored() -> None:
    declaration = declaration_from({**BASE, "schedule": " 0  2 * * *", "depends_on": ["a", "b"]})
    assert declaration.definition == TaskDefinition(
        name="load", type=TaskType.COMMAND, payload={"command": ["true"]}, schedule="0 2 * * *"
    )
    assert declaration.depends_on == ("a", "b")


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"schedul": "x"}, "schedul", "is not a field of a task; did you mean 'schedule'?"),
        ({"qqqqqqq": "x"}, "qqqqqqq", "is not a field of a task; the fields are: name,"),
        ({"dependency_ids": [1]}, "dependency_ids", "is not for task files: ids differ from store to store"),
        ({"managed_by": "me"}, "managed_by", "is not for task files: the name of the set says"),
        ({"declared_hash": "x"}, "declared_hash", "is not for task files"),
        ({"depends_on": "a"}, "depends_on", "'a' is not a list of texts: write ['a']"),
        ({"depends_on": [1]}, "depends_on", "[1] is not a list of texts: give the names of tasks"),
        ({"depends_on": ["a", "a"]}, "depends_on", "['a'] are named more than once"),
        ({"url": "http://x"}, "url", "is given together with command: a task runs one thing"),
        ({"type": "http"}, "type", "'http' is not what command means: leave it out, or write command"),
        ({"payload": {"command": ["x"]}}, "command", "is given here and in payload"),
        ({"payload": 7}, "payload", "7 is not an object"),
        ({"payload": {"env": 7}}, "payload.env", "must be an object of texts"),
        ({"command": []}, "command", "must be a list of texts"),
        ({"schedule": "@upstream"}, "schedule", "@upstream follows its dependencies: name at least one in depends_on"),
        ({"name": " "}, "name", "' ' is empty"),
    ],
)
def test_what_is_wrong_is_told_in_the_words_of_the_file(given: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        declaration_from({**BASE, **given})
    (error,) = refused.value.errors
    assert error.field == field
    assert error.message.startswith(said)


def test_a_task_that_says_not_what_to_run_is_told_how() -> None:
    with pytest.raises(InvalidInput, match="type: is required: say what to run by command, url or handler"):
        declaration_from({"name": "load"})


def test_unknown_fields_and_wrong_values_are_told_together() -> None:
    with pytest.raises(InvalidInput) as refused:
        declaration_from({**BASE, "schedul": 1, "depends_on": 7, "priority": "high"})
    assert [error.field for error in refused.value.errors] == ["schedul", "depends_on", "priority"]


def test_all_errors_of_all_tasks_are_told_by_their_places() -> None:
    read = read_tasks([BASE, {"name": "bad"}, 7, BASE, {"command": ["x"]}, {"name": 7, "command": ["x"]}])
    assert [error.field for error in read.errors] == [
        "tasks.1.type",
        "tasks.2",
        "tasks.3.name",
        "tasks.4.name",
        "tasks.5.name",
    ]
    assert [one.place for one in read.tasks] == ["tasks.0"]
    assert read.unread == ("bad",)


def plain(definition: TaskDefinition) -> dict[str, Any]:
    """As the API answers."""
    values = asdict(definition)
    return values | {"tags": list(values["tags"]), "dependency_ids": list(values["dependency_ids"])}


def test_only_what_is_not_by_default_is_written() -> None:
    definition = TaskDefinition(name="a", type=TaskType.COMMAND, payload={"command": ["ls"]}, managed_by="x")
    assert written(plain(definition), []) == {"name": "a", "command": ["ls"]}


def test_first_things_are_written_first_and_the_rest_of_a_payload_apart() -> None:
    definition = TaskDefinition(
        name="a",
        type=TaskType.HTTP,
        payload={"method": "PUT", "url": "http://x"},
        description="d",
        schedule="@daily",
        tags=("t",),
    )
    assert list(written(plain(definition), ["up"]).items()) == [
        ("name", "a"),
        ("url", "http://x"),
        ("payload", {"method": "PUT"}),
        ("schedule", "@daily"),
        ("depends_on", ["up"]),
        ("description", "d"),
        ("tags", ["t"]),
    ]


def test_a_type_without_a_shorthand_is_written_at_length() -> None:
    definition = TaskDefinition(name="a", type=TaskType.OPERATION, payload={"kind": "vacuum"})
    assert written(plain(definition), []) == {"name": "a", "type": "operation", "payload": {"kind": "vacuum"}}


def test_every_field_survives_being_written_and_read() -> None:
    definition = TaskDefinition(
        name="a",
        type=TaskType.PYTHON,
        schedule="@daily",
        payload={"handler": "h", "args": {"x": [1, None]}},
        description="d",
        enabled=False,
        group="g",
        timezone="Asia/Tokyo",
        priority=1,
        timeout_seconds=2,
        max_retries=3,
        retry_delay_seconds=4,
        retry_backoff="fixed",  # type: ignore[arg-type]
        misfire_policy="skip",  # type: ignore[arg-type]
        misfire_grace_seconds=5,
        catch_up_limit=6,
        overlap_policy="serial",  # type: ignore[arg-type]
        dependency_mode="any",  # type: ignore[arg-type]
        upstream_failure_policy="run",  # type: ignore[arg-type]
        dependency_timeout_seconds=7,
        executor_loss_policy="fail",  # type: ignore[arg-type]
        broadcast=True,
        concurrency_key="k",
        concurrency_limit=8,
        executor_labels={"l": "m"},
        args_schema={"type": "object"},
        owner="o",
        tags=("t",),
    )
    entry = written(plain(definition), ["up"])
    read = declaration_from(entry)
    assert (read.definition, read.depends_on) == (definition, ("up",))
    default = TaskDefinition(name="a", type=TaskType.PYTHON)
    apart = {"name", "type", "dependency_ids", "managed_by", "declared_hash"}
    same = {name for name, value in asdict(default).items() if asdict(definition)[name] == value}
    assert same == apart


def test_a_circle_of_dependencies_is_named() -> None:
    tasks = read_tasks([{**BASE, "name": "a", "depends_on": ["b"]}, {**BASE, "name": "b", "depends_on": ["a"]}]).tasks
    assert dependency_cycle([one.declaration for one in tasks]) == ("a", "b", "a")
    assert dependency_cycle([tasks[0].declaration]) is None
