from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hourhand.model.pause import Pause, PauseScope, Stretch
from hourhand.rules.pausing import closed, closes, covers, rest_at, rests_of

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def at(hour: int) -> datetime:
    return NOON.replace(hour=hour)


def pause(begin: int, end: int | None, scope: PauseScope = PauseScope.ALL, scope_id: int | None = None) -> Pause:
    return Pause(
        id=1,
        scope=scope,
        scope_id=scope_id,
        reason="r",
        owner="ann",
        created_at=at(begin),
        until=None if end is None else at(end),
    )


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
    assert rests_of([*others, *(pause(*one) for one in pauses)], task_id=1, group_id=2) == rests


def test_a_stretch_holds_its_beginning_and_not_its_end() -> None:
    rests = (Stretch(at(1), at(2)), Stretch(at(3)))
    moment = timedelta(microseconds=1)
    assert rest_at(rests, at(1) - moment) is None
    assert rest_at(rests, at(1)) == rest_at(rests, at(2) - moment) == rests[0]
    assert rest_at(rests, at(2)) is None
    assert rest_at(rests, at(23)) == rests[1]
