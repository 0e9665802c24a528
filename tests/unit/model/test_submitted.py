from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hourhand.model.instance import Instance, SubmittedInstance
from hourhand.model.words import Status

NOW = datetime(2026, 11, 15, tzinfo=UTC)
INSTANCE = Instance(
    id=1,
    task_id=1,
    task_name="t",
    task_version=1,
    group_id=1,
    scheduled_time=NOW,
    status=Status.PENDING,
    created_at=NOW,
)


def test_a_submitted_instance_is_equal_to_the_instance_and_says_whether_it_lived_already() -> None:
    made, found = (SubmittedInstance.of(INSTANCE, existing=existing) for existing in (False, True))
    assert (made.existing, found.existing) == (False, True)
    assert made == found == INSTANCE == made
    assert hash(made) == hash(INSTANCE)
    assert made != SubmittedInstance.of(replace(INSTANCE, id=2), existing=False)
    assert made != "an instance"
