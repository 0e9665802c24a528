"""What was done lately is claimed ahead, and nothing when nothing was."""

from __future__ import annotations

from hourhand.executor.pace import WINDOW_SECONDS, Pace


class Clock:
    def __init__(self) -> None:
        self.now = 100.5 * WINDOW_SECONDS

    def __call__(self) -> float:
        return self.now


def test_nothing_is_claimed_ahead_before_anything_was_done() -> None:
    assert Pace(Clock()).ahead() == 0


def test_what_was_done_in_this_stretch_or_the_one_before_is_claimed_ahead() -> None:
    clock = Clock()
    pace = Pace(clock)
    for _ in range(7):
        pace.done()
    assert pace.ahead() == 7
    clock.now += WINDOW_SECONDS
    pace.done()
    assert pace.ahead() == 7
    clock.now += WINDOW_SECONDS
    assert pace.ahead() == 1


def test_after_a_pause_it_begins_anew() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.done()
    clock.now += 2 * WINDOW_SECONDS
    assert pace.ahead() == 0
