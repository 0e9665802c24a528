from __future__ import annotations

from typing import Any

import pytest

from hourhand.model.task import TaskDefinition
from hourhand.model.words import TaskType
from hourhand.store.instants import concurrency_key


def key(text: str | None, args: Any, payload: dict[str, Any] | None = None) -> str | None:
    task = TaskDefinition(name="t", type=TaskType.PYTHON, payload=payload or {}, concurrency_key=text)
    return concurrency_key(task, args)


def test_a_task_without_a_key_has_none() -> None:
    assert key(None, {"x": 1}) is None


def test_arguments_make_keys_of_their_own() -> None:
    assert key("tenant-${x}", {"x": 7}) == "tenant-7"
    assert key("tenant-${x}", None, {"args": {"x": "all"}}) == "tenant-all"


@pytest.mark.parametrize("args", [None, {}, {"x": None}, {"x": [1]}])
def test_one_that_cannot_be_filled_in_is_shared_by_all_such_instances(args: Any) -> None:
    assert key("tenant-${x}", args) == "tenant-${x}"


def test_a_very_long_key_stays_short_enough_for_an_index_and_different() -> None:
    one, other = (key("tenant-${x}", {"x": "中" * 50_000 + end}) for end in "ab")
    assert one is not None
    assert other is not None
    assert one != other
    assert len(one.encode()) < 500
    assert one.startswith("tenant-中")
