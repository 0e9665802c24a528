from __future__ import annotations

from hourhand.rules.reach import limited, of_others, out_of_reach


def test_a_refusal_says_what_is_out_of_whose_reach() -> None:
    said = out_of_reach("task 7", "ed", {"beta", "alpha"})
    assert said == "task 7 is out of reach: 'ed' is limited to these groups: alpha, beta"


def test_limits_without_a_group_are_nothing() -> None:
    assert limited("ed", ()) == "'ed' is limited to these groups: none at all"


def test_tasks_of_others_are_counted_and_not_named() -> None:
    assert of_others(1) == "a task of another group"
    assert of_others(3) == "3 tasks of other groups"
