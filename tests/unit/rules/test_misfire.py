from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.pause import PauseScope, Stretch
from hourhand.model.window import Recurrence, Rest
from hourhand.model.words import MisfirePolicy, SkipReason
from hourhand.rules.misfire import COUNT_LIMIT, STRETCH_LIMIT, Due, SkipRun, due
from hourhand.rules.pausing import Rests
from hourhand.rules.schedule import Schedule, next_instant, parse
from unit.rules.cron_oracle import examples

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
ANCHOR = datetime(2026, 1, 1, tzinfo=UTC)
HOURLY = parse("0 * * * *")


def at(hour: int, minute: int = 0) -> datetime:
    return NOW.replace(hour=hour, minute=minute)


def look(schedule: Schedule, next_fire_at: datetime, **changes: Any) -> Due:
    given: dict[str, Any] = {
        "now": NOW,
        "horizon": NOW + timedelta(seconds=10),
        "policy": MisfirePolicy.FIRE_ONCE,
        "grace_seconds": 60,
        "catch_up_limit": 100,
        **changes,
    }
    return due(schedule, ANCHOR, next_fire_at, **given)


def instants(schedule: Schedule, first: datetime, until: datetime) -> list[datetime]:
    """Return what is due, by the schedule alone."""
    found = []
    instant: datetime | None = first
    while instant is not None and instant <= until:
        found.append(instant)
        instant = next_instant(schedule, instant, ANCHOR)
    return found


def run(first: datetime, last: datetime, count: int, *, more: bool = False) -> SkipRun:
    return SkipRun(SkipReason.MISFIRE, first, last, count, more)


def test_nothing_is_due_before_its_time() -> None:
    assert look(HOURLY, at(13)) == Due((), (), at(13))


def test_an_instant_within_the_look_ahead_fires_early() -> None:
    assert look(HOURLY, at(13), horizon=at(13)) == Due((at(13),), (), at(14))


def test_an_instant_within_the_grace_simply_fires() -> None:
    found = look(HOURLY, at(11), now=at(11, 1), horizon=at(11, 1))
    assert found == Due((at(11),), (), at(12))


def test_an_instant_is_missed_when_it_is_older_than_the_grace_by_a_microsecond() -> None:
    late = at(11, 1) + timedelta(microseconds=1)
    assert look(HOURLY, at(11), now=late, horizon=late, policy=MisfirePolicy.SKIP) == Due(
        (), (run(at(11), at(11), 1),), at(12)
    )


def test_without_grace_an_instant_fires_at_its_very_moment_only() -> None:
    exact = look(HOURLY, at(12), grace_seconds=0, policy=MisfirePolicy.SKIP)
    late = look(HOURLY, at(12), grace_seconds=0, policy=MisfirePolicy.SKIP, now=NOW + timedelta(microseconds=1))
    assert (exact.fire, late.fire) == ((at(12),), ())


def test_fire_once_fires_the_latest_missed_instant_and_skips_the_rest_as_one_run() -> None:
    found = look(HOURLY, at(6), now=at(11, 30), horizon=at(11, 30))
    assert found == Due((at(11),), (run(at(6), at(10), 5),), at(12))


def test_fire_once_skips_nothing_when_only_one_was_missed() -> None:
    assert look(HOURLY, at(11), now=at(11, 30), horizon=at(11, 30)) == Due((at(11),), (), at(12))


def test_skip_fires_none_of_the_missed_but_all_of_the_fresh() -> None:
    found = look(HOURLY, at(6), policy=MisfirePolicy.SKIP)
    assert found == Due((at(12),), (run(at(6), at(11), 6),), at(13))


def test_catch_up_fires_the_oldest_first_and_skips_what_is_over_its_limit() -> None:
    found = look(HOURLY, at(6), policy=MisfirePolicy.CATCH_UP, catch_up_limit=2)
    assert found == Due((at(6), at(7), at(12)), (run(at(8), at(11), 4),), at(13))


def test_catch_up_within_its_limit_fires_all() -> None:
    found = look(HOURLY, at(6), policy=MisfirePolicy.CATCH_UP, catch_up_limit=6)
    assert found == Due(tuple(at(hour) for hour in range(6, 13)), (), at(13))


@pytest.mark.parametrize("policy", [MisfirePolicy.FIRE_ONCE, MisfirePolicy.CATCH_UP])
def test_a_missed_single_instant_fires_late_and_is_the_last(policy: MisfirePolicy) -> None:
    once = parse("@at 2026-11-15T06:00:00Z")
    assert look(once, at(6), policy=policy) == Due((at(6),), (), None)


def test_a_missed_single_instant_is_recorded_when_misses_are_skipped() -> None:
    once = parse("@at 2026-11-15T06:00:00Z")
    assert look(once, at(6), policy=MisfirePolicy.SKIP) == Due((), (run(at(6), at(6), 1),), None)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (MisfirePolicy.FIRE_ONCE, Due((at(6),), (), None)),
        (MisfirePolicy.CATCH_UP, Due((at(6),), (), None)),
        (MisfirePolicy.SKIP, Due((), (run(at(6), at(6), 1),), None)),
    ],
)
def test_after_has_only_the_instant_that_was_armed(policy: MisfirePolicy, expected: Due) -> None:
    assert look(parse("@after 30s"), at(6), policy=policy) == expected


def test_an_armed_instant_that_the_schedule_no_longer_has_is_still_accounted_for() -> None:
    """A zone may change its rules between arming and firing."""
    found = look(HOURLY, at(6, 30), policy=MisfirePolicy.FIRE_ONCE)
    assert found == Due((at(11), at(12)), (run(at(6, 30), at(10), 5),), at(13))
    assert look(HOURLY, at(10, 30)) == Due((at(11), at(12)), (run(at(10, 30), at(10, 30), 1),), at(13))


def test_fresh_instants_come_in_bursts() -> None:
    every = parse("@every 1s")
    first = NOW - timedelta(seconds=30)
    found = look(every, first, burst=10)
    assert (len(found.fire), found.fire[0], found.next_fire_at) == (10, first, first + timedelta(seconds=10))
    assert not found.skipped


def test_the_missed_do_not_use_up_the_burst_of_the_fresh() -> None:
    found = look(HOURLY, at(6), policy=MisfirePolicy.CATCH_UP, burst=1)
    assert found == Due(tuple(at(hour) for hour in range(6, 13)), (), at(13))


def test_a_long_run_of_skips_is_counted_to_a_limit_only() -> None:
    every = parse("* * * * * *")
    exact = look(every, NOW - timedelta(seconds=60 + COUNT_LIMIT), policy=MisfirePolicy.SKIP)
    assert (exact.skipped[0].count, exact.skipped[0].more) == (COUNT_LIMIT, False)
    over = look(every, NOW - timedelta(seconds=61 + COUNT_LIMIT), policy=MisfirePolicy.SKIP)
    assert (over.skipped[0].count, over.skipped[0].more) == (COUNT_LIMIT, True)


def test_the_skips_of_a_fixed_rate_are_counted_exactly_however_many() -> None:
    found = look(parse("@every 1s"), NOW - timedelta(seconds=60 + 1_000_000), policy=MisfirePolicy.SKIP)
    assert (found.skipped[0].count, found.skipped[0].more) == (1_000_000, False)


@pytest.mark.parametrize("policy", MisfirePolicy)
def test_years_of_downtime_cost_no_more_than_a_moment(policy: MisfirePolicy) -> None:
    begun = time.perf_counter()
    found = look(parse("* * * * * ?"), NOW - timedelta(days=3_650), policy=policy, catch_up_limit=10_000)
    assert time.perf_counter() - begun < 2
    assert len(found.fire) <= 10_000 + 1_000
    assert found.next_fire_at is not None
    assert found.next_fire_at > NOW


def test_a_daily_task_missed_in_the_gap_fires_once() -> None:
    """Guarantee 9: 02:30 does not exist on 2026-03-29 in Berlin; it is due right after the gap, and once."""
    schedule = parse("30 2 * * *", "Europe/Berlin")
    instant = datetime(2026, 3, 29, 1, 0, tzinfo=UTC)
    found = look(schedule, instant, now=instant + timedelta(hours=3), horizon=instant + timedelta(hours=3))
    assert found.fire == (instant,)
    assert found.next_fire_at == datetime(2026, 3, 30, 0, 30, tzinfo=UTC)


SCHEDULES = st.sampled_from(
    [
        parse("*/7 * * * *"),
        parse("30 2 * * *", "Europe/Berlin"),
        parse("*/20 * * * *", "America/New_York"),
        parse("0 0 12 ? * MON-FRI"),
        parse("@every 37m"),
        parse("@at 2026-11-15T06:00:00Z"),
    ]
)


@given(
    schedule=SCHEDULES,
    since=st.datetimes(datetime(2026, 3, 1), datetime(2026, 11, 20)),  # noqa: DTZ001 - made aware below
    elapsed=st.integers(0, 5 * 86_400),
    grace=st.integers(0, 86_400),
    look_ahead=st.integers(0, 3_600),
    policy=st.sampled_from(MisfirePolicy),
    catch_up_limit=st.integers(1, 50),
    burst=st.integers(1, 50),
)
@examples(400)
def test_every_instant_is_fired_or_in_exactly_one_run_of_skips(
    *,
    schedule: Schedule,
    since: datetime,
    elapsed: int,
    grace: int,
    look_ahead: int,
    policy: MisfirePolicy,
    catch_up_limit: int,
    burst: int,
) -> None:
    """Guarantee 2, for the rule: nothing is dropped, nothing is made twice, and the order is that of time."""
    first = next_instant(schedule, since.replace(tzinfo=UTC), ANCHOR)
    if first is None:
        return
    now = first + timedelta(seconds=elapsed)
    horizon = now + timedelta(seconds=look_ahead)
    found = look(
        schedule,
        first,
        now=now,
        horizon=horizon,
        policy=policy,
        grace_seconds=grace,
        catch_up_limit=catch_up_limit,
        burst=burst,
    )
    expected = [
        instant
        for instant in instants(schedule, first, horizon)
        if found.next_fire_at is None or instant < found.next_fire_at
    ]
    skipped = [instant for run in found.skipped for instant in instants(schedule, run.first, run.last)]
    assert sorted([*found.fire, *skipped]) == expected
    assert list(found.fire) == sorted(found.fire)
    assert skipped == sorted(skipped)
    for one in found.skipped:
        assert one.count == len(instants(schedule, one.first, one.last))
        assert one.last < now - timedelta(seconds=grace)
    fresh = [instant for instant in found.fire if instant >= now - timedelta(seconds=grace)]
    assert len(fresh) <= burst
    if len(fresh) < burst and found.next_fire_at is not None:
        assert found.next_fire_at > horizon


# Pauses


def resting(*pauses: Stretch) -> Rests:
    return Rests(pauses)


def pauses(first: datetime, last: datetime, count: int) -> SkipRun:
    return SkipRun(SkipReason.PAUSED, first, last, count)


def test_what_lies_in_a_rest_is_skipped_and_what_follows_it_is_not() -> None:
    found = look(
        HOURLY, at(3), rests=resting(Stretch(at(4), at(7)), Stretch(at(9), at(10))), policy=MisfirePolicy.CATCH_UP
    )
    assert found.fire == (at(3), at(7), at(8), at(10), at(11), at(12))
    assert found.skipped == (pauses(at(4), at(6), 3), pauses(at(9), at(9), 1))
    assert found.next_fire_at == at(13)


def test_what_has_not_come_is_not_skipped_yet() -> None:
    found = look(HOURLY, at(11), rests=resting(Stretch(at(10))), horizon=at(15))
    assert found == Due((), (pauses(at(11), at(12), 2),), at(13))


@pytest.mark.parametrize(
    ("policy", "fire", "skipped"),
    [
        (MisfirePolicy.SKIP, (), (run(at(3), at(4), 2), run(at(8), at(9), 2))),
        (MisfirePolicy.FIRE_ONCE, (at(9),), (run(at(3), at(4), 2), run(at(8), at(8), 1))),
        (MisfirePolicy.CATCH_UP, (at(3), at(4), at(8)), (run(at(9), at(9), 1),)),
    ],
)
def test_the_policy_counts_what_was_missed_on_either_side_of_a_rest(
    policy: MisfirePolicy, fire: tuple[datetime, ...], skipped: tuple[SkipRun, ...]
) -> None:
    rests = resting(Stretch(at(5), at(8)), Stretch(at(9, 30)))
    found = look(HOURLY, at(3), rests=rests, policy=policy, catch_up_limit=3)
    assert found.fire == fire
    assert tuple(one for one in found.skipped if one.reason is SkipReason.MISFIRE) == skipped
    assert [one for one in found.skipped if one.reason is SkipReason.PAUSED] == [
        pauses(at(5), at(7), 3),
        pauses(at(10), at(12), 3),
    ]


def test_the_limit_of_catching_up_counts_for_all_stretches_together() -> None:
    found = look(HOURLY, at(3), rests=resting(Stretch(at(5), at(8))), policy=MisfirePolicy.CATCH_UP, catch_up_limit=1)
    assert found.fire == (at(3), at(12))
    assert [one for one in found.skipped if one.reason is SkipReason.MISFIRE] == [
        run(at(4), at(4), 1),
        run(at(8), at(11), 4),
    ]


# Windows


def window(schedule: str, seconds: int, begin: datetime = ANCHOR) -> Rests:
    """Return one that opens for so long at each instant of a schedule."""
    recurrence = Recurrence(schedule=schedule, duration_seconds=seconds)
    return Rests(windows=(Rest(scope=PauseScope.ALL, scope_id=None, begin=begin, recurrence=recurrence),))


def in_window(first: datetime, last: datetime, count: int) -> SkipRun:
    return SkipRun(SkipReason.WINDOW, first, last, count)


def test_what_lies_in_a_window_is_skipped_each_time_it_is_open() -> None:
    found = look(HOURLY, at(3), rests=window("0 4,8 * * *", 7200), policy=MisfirePolicy.CATCH_UP)
    assert found.fire == (at(3), at(6), at(7), at(10), at(11), at(12))
    assert found.skipped == (in_window(at(4), at(5), 2), in_window(at(8), at(9), 2))


def test_nothing_is_made_ahead_for_a_window_and_nothing_is_skipped_before_its_time() -> None:
    found = look(HOURLY, at(12), rests=window("0 13 * * *", 7200), horizon=at(16))
    assert found == Due((at(12),), (), at(13))


def test_windows_that_open_all_the_time_are_told_apart_only_so_often() -> None:
    schedule = parse("* * * * * ?")
    found = look(schedule, NOW - timedelta(days=1), rests=window("30 * * * * ?", 1), policy=MisfirePolicy.SKIP)
    assert len(found.skipped) < STRETCH_LIMIT + 10
    assert all(one.second != 30 for one in found.fire), "what is not missed is looked at as ever"
    assert sum(one.count for one in found.skipped if one.reason is SkipReason.WINDOW) > 400
