"""Tasks of operations: those that are built in, and what may not be made of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hourhand.model.errors import Conflict, InvalidInput, PlanRefused
from hourhand.model.instance import Submission
from hourhand.model.operation import Start
from hourhand.model.task import TaskDefinition
from hourhand.model.words import TaskType
from hourhand.rules.definition import check
from hourhand.rules.operation_tasks import (
    BUILT_IN,
    built_in_task,
    check_submission,
    first_lines,
    kind_of,
    refuse_args,
    refuse_change,
    source_key,
    source_name,
    submission_of,
)
from hourhand.rules.redaction import redacted
from hourhand.rules.substitution import substitute

START = Start(
    kind="sample",
    data_source_id=7,
    place="shop/orders",
    config={"data_source": "shop"},
    plan_hash="abc",
    plan={},
    script="one\ntwo\nthree\n",
    requested_by="ann",
)


def task(**changes: Any) -> TaskDefinition:
    given: dict[str, Any] = {"name": "t", "type": TaskType.OPERATION, "payload": {"kind": "sample"}}
    return TaskDefinition(**{**given, **changes})


def test_the_built_in_task_is_right_and_its_key_is_that_of_the_data_source() -> None:
    made = built_in_task("sample")
    check(made)
    assert (made.name, made.managed_by, made.schedule) == ("operation:sample", BUILT_IN, "@manual")
    assert substitute(str(made.concurrency_key), submission_of(1, START).args, "key") == source_key(7) == "datasource:7"


@pytest.mark.parametrize(
    ("name", "kind"), [("operation:sample", "sample"), ("operation:", None), ("sample", None), ("operations", None)]
)
def test_the_kind_is_in_the_name(name: str, kind: str | None) -> None:
    assert kind_of(name) == kind


@pytest.mark.parametrize(
    ("payload", "name"),
    [
        ({"kind": "sample", "config": {"data_source": "shop"}}, "shop"),
        ({"kind": "sample", "config": {"data_source": 7}}, None),
        ({"kind": "sample", "config": {"data_source": "a\0b"}}, None),
        ({"kind": "sample", "config": {}}, None),
        ({"kind": "sample", "config": None}, None),
        ({"kind": "sample"}, None),
    ],
)
def test_the_data_source_is_that_of_the_configuration(payload: dict[str, Any], name: str | None) -> None:
    assert source_name(task(payload=payload)) == name


def test_what_is_built_in_stays_as_it_is() -> None:
    refuse_change(task())
    with pytest.raises(Conflict, match="task 'operation:sample' is built in"):
        refuse_change(built_in_task("sample"))


def test_only_a_plan_makes_instances_of_what_is_built_in() -> None:
    check_submission(built_in_task("sample"), submission_of(1, START))
    with pytest.raises(InvalidInput, match="hourhand operation start sample"):
        check_submission(built_in_task("sample"), Submission(task_id=1))
    with pytest.raises(InvalidInput, match="hourhand operation start renamed"):
        check_submission(task(name="renamed", managed_by=BUILT_IN), Submission(task_id=1))


def test_operations_take_no_arguments() -> None:
    check_submission(task(), Submission(task_id=1))
    check_submission(task(), Submission(task_id=1, args={}))
    check_submission(task(type=TaskType.COMMAND), Submission(task_id=1, args={"day": 1}))
    refuse_args({"day": 1}, operation=False)
    with pytest.raises(InvalidInput, match="an operation takes no arguments"):
        check_submission(task(), Submission(task_id=1, args={"config": {}}))


def test_the_instance_is_what_was_approved() -> None:
    made = submission_of(3, START)
    assert (made.task_id, made.operation_kind, made.data_source_id) == (3, "sample", 7)
    assert made.args == {"config": {"data_source": "shop"}, "plan_hash": "abc", "plan": {}, "data_source_id": 7}


def test_the_log_begins_with_the_script_in_pieces() -> None:
    first, *pieces = first_lines(START, 8)
    assert first == "sample on shop/orders, asked for by ann: plan abc"
    assert pieces == ["one\ntwo\n", "three\n"]
    (only,) = first_lines(replace(START, script="", held=True), 8)
    assert only.endswith("plan abc, held until it is dispatched")


def test_the_columns_of_a_key_are_no_secret() -> None:
    assert redacted({"config": {"key_columns": ["id"]}}) == {"config": {"key_columns": ["id"]}}


def test_a_refused_plan_tells_each_reason_and_the_hash_of_the_plan_as_it_is_now() -> None:
    refused = PlanRefused("it has changed", ["step 'a' is new"], "abc")
    assert (str(refused), refused.reasons, refused.plan_hash) == ("it has changed", ("step 'a' is new",), "abc")
    assert isinstance(refused, Conflict)
