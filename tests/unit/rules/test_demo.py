"""Which tasks are the demo's."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hourhand.model.task import Task
from hourhand.model.words import TaskType
from hourhand.rules.demo import DEMO_OWNER, is_sample

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
SAMPLE = Task(
    id=1,
    group_id=1,
    version=1,
    name="demo-backup",
    type=TaskType.COMMAND,
    payload={"command": "true"},
    created_at=NOW,
    updated_at=NOW,
    anchored_at=NOW,
    created_by=DEMO_OWNER,
    updated_by=DEMO_OWNER,
    managed_by=DEMO_OWNER,
    declared_hash="1:x",
)


def test_what_the_demo_declared_is_a_sample_whoever_edits_it() -> None:
    assert is_sample(SAMPLE)
    assert is_sample(replace(SAMPLE, updated_by="ada", group="default"))


def test_a_mark_makes_no_sample() -> None:
    assert not is_sample(replace(SAMPLE, created_by="ada"))
    assert not is_sample(replace(SAMPLE, declared_hash=None))
    assert not is_sample(replace(SAMPLE, created_by="ada", declared_hash=None))


def test_what_somebody_has_taken_over_is_none_any_more() -> None:
    assert not is_sample(replace(SAMPLE, managed_by=None))
