from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hourhand.model.pause import PauseScope, Stretch
from hourhand.model.window import Recurrence, Rest
from hourhand.rules.pausing import NOTHING, Rests
from hourhand.rules.schedule import parse
from hourhand.rules.upcoming import MOST_STRETCHES, upcoming

DAY = datetime(2026, 11, 15, tzinfo=UTC)
HOURLY = parse("0 * * * *")


def at(hour: int) -> datetime:
    return DAY + timedelta(hours=hour)


def window(schedule: str, seconds: int) -> Rest:
    recurrence = Recurrence(schedule=schedule, duration_seconds=seconds)
    return Rest(scope=PauseScope.ALL, scope_id=None, begin=DAY, recurrence=recurrence, name="nightly backup")


def test_without_rests_the_next_instants_fire() -> None:
    found = upcoming(HOURLY, at(1), 3, DAY, NOTHING)
    assert (found.instants, found.notes) == ((at(1), at(2), at(3)), ())


def test_instants_in_a_window_are_left_out_and_counted() -> None:
    rests = Rests(windows=(window("0 2 * * *", 7200),))
    found = upcoming(HOURLY, at(1), 3, DAY, rests)
    assert found.instants == (at(1), at(4), at(5))
    assert found.notes == ("2 instants fall into the maintenance window 'nightly backup' and are skipped",)
    over = upcoming(HOURLY, at(1), 24, DAY, rests)
    assert over.notes == ("4 instants fall into the maintenance window 'nightly backup' and are skipped",)


def test_an_instant_that_stands_alone_is_one() -> None:
    rests = Rests((Stretch(at(2), at(3)),))
    found = upcoming(HOURLY, at(1), 2, DAY, rests)
    assert found.instants == (at(1), at(3))
    assert found.notes == ("1 instant falls into the pause until 2026-11-15T03:00:00Z and is skipped",)


def test_what_is_paused_until_it_is_resumed_fires_no_more() -> None:
    rests = Rests((Stretch(at(3)),), (window("0 2 * * *", 60),))
    found = upcoming(HOURLY, at(1), 5, DAY, rests)
    assert found.instants == (at(1),)
    assert found.notes == (
        "1 instant falls into the maintenance window 'nightly backup' and is skipped",
        "it is paused until somebody resumes it",
    )


def test_a_schedule_that_always_rests_is_looked_at_only_so_far() -> None:
    found = upcoming(HOURLY, at(1), 5, DAY, Rests(windows=(window("@hourly", 3600),)))
    assert found.instants == ()
    counted, end = found.notes
    assert counted.startswith(f"{MOST_STRETCHES + 5:,} instants fall")
    assert "it rests too often" in end


def test_so_many_instants_that_nobody_counts_them() -> None:
    found = upcoming(parse("* * * * * ?"), at(2), 1, DAY, Rests(windows=(window("0 2 * * *", 7200),)))
    assert found.instants == (at(4),)
    assert found.notes[0].startswith("at least 1,000 instants fall")


def test_a_schedule_of_one_instant_may_have_none_left() -> None:
    found = upcoming(parse("@at 2026-11-15T02:30:00Z"), at(2) + timedelta(minutes=30), 5, DAY, NOTHING)
    assert len(found.instants) == 1
    gone = upcoming(
        parse("@at 2026-11-15T02:30:00Z"), at(2) + timedelta(minutes=30), 5, DAY, Rests((Stretch(at(2), at(3)),))
    )
    assert gone.instants == ()


def test_what_the_clock_does_not_know_counts_as_one() -> None:
    found = upcoming(parse("@after 60s"), at(2), 5, DAY, Rests((Stretch(at(2), at(3)),)))
    assert found.notes == ("1 instant falls into the pause until 2026-11-15T03:00:00Z and is skipped",)
