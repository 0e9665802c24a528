from __future__ import annotations

from hourhand.model.words import DependencyMode, UpstreamFailurePolicy
from hourhand.rules.impact import Dependent, blocked_by

WAIT, FAIL, RUN = UpstreamFailurePolicy
ALL, ANY = DependencyMode


def dependent(policy: UpstreamFailurePolicy = WAIT, *needs: int, alive: bool = True) -> Dependent:
    return Dependent(ANY if needs else ALL, policy, alive, frozenset(needs))


def test_what_depends_on_it_is_blocked_and_so_is_what_depends_on_that() -> None:
    tasks = {2: dependent(), 3: dependent(FAIL), 4: dependent(), 5: dependent()}
    edges = [(2, 1), (3, 2), (4, 3), (4, 1), (5, 9)]
    assert blocked_by(1, tasks, edges) == {2: 1, 4: 1, 3: 2}
    assert blocked_by(3, tasks, edges) == {4: 1}
    assert blocked_by(4, tasks, edges) == {}


def test_what_runs_anyway_is_not_blocked_and_stops_it() -> None:
    tasks = {2: dependent(RUN), 3: dependent(), 4: dependent(alive=False), 5: dependent()}
    assert blocked_by(1, tasks, [(2, 1), (3, 2), (4, 1), (5, 4), (6, 1)]) == {}


def test_what_needs_any_is_blocked_once_all_that_would_do_are() -> None:
    tasks = {2: dependent(), 3: dependent(WAIT, 1, 2), 4: dependent(WAIT, 2, 9), 5: dependent()}
    edges = [(2, 1), (3, 1), (3, 2), (4, 2), (5, 3)]
    assert blocked_by(1, tasks, edges) == {2: 1, 3: 2, 5: 3}
