from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from dataclasses import fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import pytest

import hourhand.model
from hourhand.model import words
from hourhand.model.answers import Aftermath, Flush, Materialised, Reaped
from hourhand.model.instance import Assignment, Instance, Outcome, Submission
from hourhand.model.page import Page
from hourhand.model.task import Task, TaskDefinition
from hourhand.model.words import BlockedBy, OutcomeKind, Status, TaskType, TriggeredBy

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
MODULES = [
    importlib.import_module(f"hourhand.model.{one.name}") for one in pkgutil.iter_modules(hourhand.model.__path__)
]
GATHERED = {Aftermath, Flush, Materialised}
"""Answers that are filled while a verb is at work."""
NOUNS = sorted(
    {
        one
        for module in MODULES
        for _, one in inspect.getmembers(module, inspect.isclass)
        if dataclasses.is_dataclass(one) and one.__module__ == module.__name__
    },
    key=lambda one: str(one.__name__),
)
VOCABULARIES = [one for _, one in inspect.getmembers(words, inspect.isclass) if issubclass(one, StrEnum)]


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.__name__)
def test_every_noun_is_frozen_documented_and_without_surprises(noun: Any) -> None:
    assert noun.__dataclass_params__.frozen == (noun not in GATHERED)
    assert noun.__doc__
    assert "__dict__" not in dir(noun), "slots keep typing mistakes from becoming fields"


@pytest.mark.parametrize(
    "vocabulary", [one for one in VOCABULARIES if one is not StrEnum], ids=lambda one: one.__name__
)
def test_every_word_is_written_as_it_is_stored(vocabulary: type[StrEnum]) -> None:
    assert vocabulary.__doc__
    assert [word.value for word in vocabulary] == [word.name.lower() for word in vocabulary]


def test_what_has_ended_is_success_failed_or_cancelled() -> None:
    assert [status for status in Status if status.ended] == [Status.SUCCESS, Status.FAILED, Status.CANCELLED]


def test_obstacles_are_listed_in_the_order_in_which_they_are_cleared() -> None:
    assert list(BlockedBy) == [BlockedBy.DISPATCH, BlockedBy.DEPENDENCIES, BlockedBy.PERMIT]


def test_a_task_is_its_definition_and_where_its_schedule_stands() -> None:
    assert issubclass(Task, TaskDefinition)
    own = {field.name for field in fields(Task)} - {field.name for field in fields(TaskDefinition)}
    assert {"id", "version", "next_fire_at", "wake_at", "anchored_at", "deleted_at"} <= own


def test_definitions_do_not_share_what_they_hold() -> None:
    one, other = (TaskDefinition(name=name, type=TaskType.COMMAND) for name in "ab")
    assert one.payload is not other.payload


def test_an_instance_is_alike_alive_and_ended() -> None:
    needed = {field.name for field in fields(Instance) if field.default is dataclasses.MISSING}
    assert "log_id" not in needed
    instance = Instance(
        id=1,
        task_id=2,
        task_name="books",
        task_version=1,
        group_id=1,
        scheduled_time=NOW,
        status=Status.PENDING,
        created_at=NOW,
    )
    assert (instance.log_id, instance.retry_count, instance.shard_total) == (None, 0, 1)


def test_every_attempt_at_an_instance_has_the_same_idempotency_key() -> None:
    def attempt(fence: int) -> Assignment:
        return Assignment(
            instance_id=7,
            fence=fence,
            task_id=1,
            task_version=1,
            scheduled_time=NOW,
            priority=5,
            available_at=NOW,
            lease_until=NOW,
            triggered_by=TriggeredBy.API,
            retry_count=0,
            loss_count=0,
            args=None,
            checkpoint=None,
            shard_index=0,
            shard_total=1,
            data_source_id=None,
            operation_kind=None,
            operation_config_id=None,
            lane_id=1,
        )

    assert attempt(1).idempotency_key == attempt(9).idempotency_key == "hourhand-7"


def test_a_submission_is_queued_at_once_unless_told_otherwise() -> None:
    submission = Submission(task_id=1)
    assert (submission.held, submission.wait, submission.triggered_by) == (False, False, TriggeredBy.API)


def test_an_outcome_is_retryable_unless_told_otherwise() -> None:
    assert Outcome(kind=OutcomeKind.FAILED).retryable


def test_an_aftermath_is_true_while_something_is_left_to_look_after() -> None:
    assert not Aftermath()
    assert Aftermath(unsettled={(1, NOW)})
    assert Aftermath(freed_keys={"k"})
    assert Aftermath(waiting={7})


def test_aftermaths_add_up() -> None:
    one = Aftermath(unsettled={(1, NOW)}, freed_keys={"a"}, waiting={1})
    one.add(Aftermath(unsettled={(2, NOW)}, freed_keys={"b"}, waiting={1, 2}))
    assert one == Aftermath(unsettled={(1, NOW), (2, NOW)}, freed_keys={"a", "b"}, waiting={1, 2})


def test_what_is_only_to_be_counted_leaves_nothing_to_look_after() -> None:
    one = Aftermath(ended=[(1, 1, Status.SUCCESS, 5)])
    one.add(Aftermath(ended=[(2, 1, Status.CANCELLED, None)], repeated=[(3, 1, OutcomeKind.LOST)]))
    assert (len(one.ended), len(one.repeated)) == (2, 1)
    assert not one


def test_answers_begin_empty() -> None:
    assert not Flush().finished
    assert not Flush().aftermath
    assert (Materialised().tasks, Materialised().instants, Materialised().skipped) == (0, 0, 0)
    assert Reaped() == Reaped(requeued=0, ended=0)


def test_a_page_without_a_cursor_is_the_last() -> None:
    assert Page((1, 2)).next_cursor is None
