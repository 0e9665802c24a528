from __future__ import annotations

from hourhand.rules.endings import REPLACED, deleted_by, task_deleted, timed_out


def test_who_deleted_the_task_is_read_back() -> None:
    assert deleted_by(task_deleted("ann")) == "ann"
    assert deleted_by(REPLACED) is None
    assert deleted_by(None) is None


def test_a_time_out_says_how_long() -> None:
    assert timed_out(5) == "timed out after 5 s"
