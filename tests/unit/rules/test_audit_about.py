"""Which task an entry of the audit concerns."""

from __future__ import annotations

from typing import Any

import pytest

from hourhand.model.audit import Change
from hourhand.rules.audit_about import concerned_task


def change(resource_type: str, resource_id: str | None = "3", **more: Any) -> Change:
    return Change(action="edit", resource_type=resource_type, resource_id=resource_id, **more)


@pytest.mark.parametrize(
    ("given", "task"),
    [
        (change("task", "7"), 7),
        (change("task", None), None),
        (change("task", "99999999999999999999"), None),
        (change("task", "+7"), None),
        (change("instance", after={"task_id": 7}), 7),
        (change("instance", before={"task_id": 7}), 7),
        (change("instance", before={"task_id": 7}, after={"task_id": 8}), 8),
        (change("instance", after={}), None),
        (change("instance"), None),
        (change("pause", after={"scope": "task", "scope_id": 7}), 7),
        (change("maintenance-window", before={"scope": "task", "scope_id": 7}), 7),
        (change("pause", after={"scope": "group", "scope_id": 7}), None),
        (change("pause"), None),
        (change("group", "7", after={"task_id": 7}), None),
    ],
)
def test_the_task_that_a_change_concerns(given: Change, task: int | None) -> None:
    assert concerned_task(given) == task
