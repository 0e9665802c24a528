from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hourhand.model.pause import PauseScope, Stretch
from hourhand.model.window import Recurrence, Rest
from hourhand.model.words import SkipReason
from hourhand.rules.pausing import NOTHING, Rests, closed, closes, covers, rests_of, stretch_at

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)


def at(hour: int) -> datetime:
    return NOON.replace(hour=hour)


def pause(begin: int, end: int | None, scope: PauseScope = PauseScope.ALL, scope_id: int | None = None) -> Rest:
    return Rest(scope=scope, scope_id=scope_id, begin=at(begin), end=None if end is None else at(end))


def window(schedule: str, hours: int, begin: int = 0, end: int | None = None) -> Rest:
    recurrence = Recurrence(schedule=schedule, duration_seconds=hours * 3600)
    ends = None if end is None else at(end)
    return Rest(scope=PauseScope.ALL, scope_id=None, begin=at(begin), end=ends, recurrence=recurrence, name="w")


def opened(begin: int, end: int) -> Stretch:
    return Stretch(at(begin), at(end), SkipReason.WINDOW, "w")


@pytest.mark.parametrize(
    ("scope", "scope_id", "of_task", "of_group"),
    [
        (PauseScope.ALL, None, True, True),
        (PauseScope.GROUP, 2, True, True),
        (PauseScope.GROUP, 1, False, False),
        (PauseScope.TASK, 1, True, False),
        (PauseScope.TASK, 2, False, False),
    ],
)
def test_what_a_pause_covers(scope: PauseScope, scope_id: int | None, *, of_task: bool, of_group: bool) -> None:
    assert covers(pause(1, None, scope, scope_id), task_id=1, group_id=2) is of_task
    assert closes((scope.value, scope_id), group_id=2) is of_group
    assert closed([("task", 2), (scope, scope_id)], group_id=2) is of_group


@pytest.mark.parametrize(
    ("pauses", "rests"),
    [
        ([], ()),
        ([(1, 2)], (Stretch(at(1), at(2)),)),
        ([(3, 4), (1, 2)], (Stretch(at(1), at(2)), Stretch(at(3), at(4)))),
        ([(1, 3), (2, 4)], (Stretch(at(1), at(4)),)),
        ([(1, 4), (2, 3)], (Stretch(at(1), at(4)),)),
        ([(1, 2), (2, 3)], (Stretch(at(1), at(3)),)),
        ([(1, None), (2, 3)], (Stretch(at(1), None),)),
        ([(1, 3), (2, None)], (Stretch(at(1), None),)),
    ],
)
def test_pauses_add_up(pauses: list[tuple[int, int | None]], rests: tuple[Stretch, ...]) -> None:
    others = [pause(0, None, PauseScope.TASK, 9), pause(0, None, PauseScope.GROUP, 9)]
    assert rests_of([*others, *(pause(*one) for one in pauses)], task_id=1, group_id=2) == Rests(rests)


def test_what_nothing_covers_does_not_rest() -> None:
    assert rests_of([pause(1, None, PauseScope.TASK, 9)], task_id=1, group_id=2) is NOTHING


def test_a_stretch_holds_its_beginning_and_not_its_end() -> None:
    rests = Rests((Stretch(at(1), at(2)), Stretch(at(3))))
    assert rests.at(at(1) - MOMENT) is None
    assert rests.at(at(1)) == rests.at(at(2) - MOMENT) == rests.pauses[0]
    assert rests.at(at(2)) is None
    assert rests.at(at(23)) == rests.pauses[1]


@pytest.mark.parametrize(
    ("one", "hour", "found"),
    [
        (window("0 4 * * *", 2), 3, None),
        (window("0 4 * * *", 2), 4, opened(4, 6)),
        (window("0 4 * * *", 2), 5, opened(4, 6)),
        (window("0 4 * * *", 2), 6, None),
        (window("0 4 * * *", 4, begin=5), 4, None),
        (window("0 4 * * *", 4, begin=5), 6, opened(5, 8)),
        (window("0 4 * * *", 4, end=6), 5, opened(4, 6)),
        (window("0 4 * * *", 4, end=6), 6, None),
        (pause(4, 6), 5, Stretch(at(4), at(6))),
        (pause(4, None), 3, None),
    ],
)
def test_a_window_rests_while_it_is_open_and_in_force(one: Rest, hour: int, found: Stretch | None) -> None:
    assert stretch_at(one, at(hour)) == found


def test_of_windows_that_overlap_the_one_counts_that_is_open_longest_and_a_pause_comes_first() -> None:
    short, long = window("0 4 * * *", 2), window("0 3 * * *", 9)
    assert rests_of([short, long, short], 1, 2).at(at(5)) == opened(3, 12)
    assert rests_of([short], 1, 2).at(at(7)) is None
    assert rests_of([short, long, pause(5, 6)], 1, 2).at(at(5)) == Stretch(at(5), at(6))
    assert rests_of([short, long, pause(5, 6)], 1, 2).at(at(6)) == opened(3, 12)


@pytest.mark.parametrize(
    ("rests", "begin"),
    [
        ([], 20),
        ([pause(9, 10)], 20),
        ([pause(12, 13)], 12),
        ([pause(21, None)], 20),
        ([window("0 4,14 * * *", 2)], 14),
        ([window("0 4 * * *", 2)], 20),
        ([window("0 4 * * *", 2, begin=11)], 11),
        ([window("0 14 * * *", 2, end=10)], 20),
        ([window("@at 2020-01-01T00:00Z", 2)], 20),
        ([window("0 14 * * *", 2), window("0 13 * * *", 2), pause(15, None)], 13),
    ],
)
def test_where_the_next_stretch_begins(rests: list[Rest], begin: int) -> None:
    assert rests_of(rests, 1, 2).next_begin(at(10), before=at(20)) == at(begin)
