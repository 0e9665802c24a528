from __future__ import annotations

from hourhand.model.words import OutcomeKind, Status
from hourhand.rules.endings import REPLACED, deleted_by, ending_attempt, task_deleted, timed_out


def test_who_deleted_the_task_is_read_back() -> None:
    assert deleted_by(task_deleted("ann")) == "ann"
    assert deleted_by(REPLACED) is None
    assert deleted_by(None) is None


def test_a_time_out_says_how_long() -> None:
    assert timed_out(5) == "timed out after 5 s"


def test_the_last_attempt_of_what_timed_out_has_timed_out() -> None:
    assert ending_attempt(Status.FAILED, timed_out(5)) is OutcomeKind.TIMED_OUT
    assert ending_attempt(Status.FAILED, "exit code 1: timed out after 5 s") is OutcomeKind.FAILED
    assert ending_attempt(Status.FAILED, None) is OutcomeKind.FAILED
    assert ending_attempt(Status.CANCELLED, timed_out(5)) is OutcomeKind.CANCELLED
    assert ending_attempt(Status.SUCCESS, None) is OutcomeKind.SUCCESS
