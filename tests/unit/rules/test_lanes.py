from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.registry import BUILTIN, Executor, Lane
from hourhand.model.task import TaskDefinition
from hourhand.model.words import TaskType
from hourhand.rules.lanes import able, labels_text, lane_of, requires, serves
from unit.rules.cron_oracle import examples

labels = st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=4)


def task(**changes: Any) -> TaskDefinition:
    return TaskDefinition(**{"name": "t", "type": TaskType.COMMAND, **changes})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"type": TaskType.COMMAND}, BUILTIN),
        ({"type": TaskType.HTTP}, BUILTIN),
        ({"type": TaskType.OPERATION}, BUILTIN),
        ({"type": TaskType.XXL}, "xxl"),
        ({"type": TaskType.PYTHON, "group": "billing"}, "python:billing"),
        ({"type": TaskType.PYTHON, "payload": {"app": "books"}}, "python:books"),
        ({"type": TaskType.PYTHON, "group": "billing", "payload": {"app": None}}, "python:billing"),
    ],
)
def test_what_an_executor_must_provide(changes: dict[str, Any], expected: str) -> None:
    assert requires(task(**changes)) == expected


def test_an_instance_s_lane_holds_its_demands_and_its_target() -> None:
    assert lane_of(task(executor_labels={"b": "2", "a": "1"}), 7, "e1") == Lane(7, BUILTIN, '{"a":"1","b":"2"}', "e1")
    assert lane_of(task(), 7) == Lane(7, BUILTIN, "{}", "")


@given(labels)
@examples(100)
def test_equal_labels_are_one_lane_in_whatever_order_they_were_written(given: dict[str, str]) -> None:
    assert labels_text(given) == labels_text(dict(reversed(given.items())))


EXECUTOR = Executor(id="e1", group="default", labels={"zone": "eu", "gpu": "yes"}, provides=(BUILTIN, "python:books"))


@pytest.mark.parametrize(
    ("lane", "expected"),
    [
        (Lane(1, BUILTIN, "{}"), True),
        (Lane(1, "python:books", "{}"), True),
        (Lane(1, BUILTIN, '{"zone":"eu"}'), True),
        (Lane(1, BUILTIN, "{}", "e1"), True),
        (Lane(2, BUILTIN, "{}"), False),
        (Lane(1, "xxl", "{}"), False),
        (Lane(1, BUILTIN, '{"zone":"us"}'), False),
        (Lane(1, BUILTIN, '{"disk":"ssd"}'), False),
        (Lane(1, BUILTIN, "{}", "e2"), False),
    ],
)
def test_an_executor_serves_a_lane_that_asks_for_nothing_it_lacks(lane: Lane, *, expected: bool) -> None:
    assert serves(EXECUTOR, 1, lane) is expected


def test_the_labels_of_lanes_that_are_not_for_it_are_not_even_read() -> None:
    """There may be a lane for every executor, and each is asked about all of them."""
    unreadable = "no JSON"
    assert not serves(EXECUTOR, 2, Lane(1, BUILTIN, unreadable))
    assert not serves(EXECUTOR, 1, Lane(1, BUILTIN, unreadable, "e2"))
    assert not serves(EXECUTOR, 1, Lane(1, "xxl", unreadable))


@given(labels, labels)
@examples(200)
def test_labels_are_demands_and_more_of_them_never_hurt(wanted: dict[str, str], more: dict[str, str]) -> None:
    lane = lane_of(task(executor_labels=wanted), 1)
    assert serves(Executor(id="e", group="g", labels={**more, **wanted}), 1, lane)


def test_a_broadcast_s_targets_are_named_in_a_stable_order() -> None:
    executors = [(Executor(id=name, group="g"), group) for name, group in [("c", 1), ("a", 1), ("b", 2)]]
    assert able(executors, Lane(1, BUILTIN, "{}")) == ("a", "c")
