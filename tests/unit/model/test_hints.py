"""Hints that are gathered name what they can, and never less than all of it."""

from __future__ import annotations

from hourhand.model.hints import MOST_IDS, Hint, Round, gather


def test_ids_come_together() -> None:
    heard: Round = {}
    gather(heard, Hint.LINES, frozenset({1, 2}))
    gather(heard, Hint.LINES, frozenset({2, 3}))
    gather(heard, Hint.TASKS, frozenset({7}))
    assert heard == {Hint.LINES: frozenset({1, 2, 3}), Hint.TASKS: frozenset({7})}


def test_too_many_ids_become_a_request_to_look() -> None:
    heard: Round = {}
    gather(heard, Hint.LINES, frozenset(range(MOST_IDS)))
    assert heard == {Hint.LINES: frozenset(range(MOST_IDS))}
    gather(heard, Hint.LINES, frozenset({-1}))
    assert heard == {Hint.LINES: frozenset()}
    gather(heard, Hint.LINES, frozenset({1}))
    assert heard == {Hint.LINES: frozenset()}


def test_a_request_to_look_is_not_forgotten_for_ids_that_follow() -> None:
    heard: Round = {}
    gather(heard, Hint.INSTANCES, frozenset({1}))
    gather(heard, Hint.INSTANCES, frozenset())
    gather(heard, Hint.INSTANCES, frozenset({2}))
    assert heard == {Hint.INSTANCES: frozenset()}
