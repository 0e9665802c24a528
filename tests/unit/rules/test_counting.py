"""Instants that are counted are as many as those that are gone through, whatever the clock does in between."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hourhand.model.errors import InvalidInput
from hourhand.rules.schedule import Schedule, count_instants, next_instant, parse
from unit.rules.cron_oracle import ZONES, examples, random_moment, random_quartz, random_vixie, seeded

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)


def gone_through(schedule: Schedule, begin: datetime, end: datetime, anchor: datetime | None = None) -> int:
    count, at = 0, next_instant(schedule, begin - TICK, anchor)
    while at is not None and at < end:
        count += 1
        at = next_instant(schedule, at, anchor)
    return count


@given(st.integers(0, 2**32), st.sampled_from(ZONES), st.booleans())
@examples(600)
def test_a_cron_is_counted_as_it_is_gone_through(seed: int, zone: str, quartz: bool) -> None:  # noqa: FBT001
    random = seeded(seed)
    try:
        schedule = parse(random_quartz(random) if quartz else random_vixie(random), zone)
    except InvalidInput:
        assume(condition=False)
    begin = random_moment(random, zone) + timedelta(microseconds=random.choice([0, 0, 1, 999_999]))
    end = begin + timedelta(minutes=random.choice([1, 61, 60 * 23, 60 * 24 * 3]), microseconds=random.choice([0, 1]))
    assert count_instants(schedule, begin, end) == gone_through(schedule, begin, end)


@pytest.mark.parametrize(
    ("text", "day", "count"),
    [
        ("30,45 2 * * *", "2027-03-28", 1),  # both are skipped by the clock, and reached at the same moment
        ("30 2 * * *", "2027-10-31", 1),  # the clock shows it twice
        ("* * * * *", "2027-03-28", 23 * 60),
        ("* * * * *", "2027-10-31", 25 * 60),
        ("* * * * * ?", "2027-06-01", 86_400),
        ("0 12 * * SAT", "2027-06-01", 0),
    ],
)
def test_a_day_on_which_the_clock_changes(text: str, day: str, count: int) -> None:
    schedule = parse(text, "Europe/Berlin")
    begin = datetime.fromisoformat(f"{day}T00:00+0{2 if '-10-' in day or '-06-' in day else 1}:00")
    hours = {"2027-03-28": 23, "2027-10-31": 25}.get(day, 24)
    assert count_instants(schedule, begin, begin + timedelta(hours=hours)) == count


def test_years_are_counted_through() -> None:
    begin, end = datetime(2026, 7, 1, tzinfo=UTC), datetime(2029, 7, 1, tzinfo=UTC)
    assert count_instants(parse("0 0 29 2 *"), begin, end) == 1
    assert count_instants(parse("0 0 1 * *"), begin, end) == 36
    assert count_instants(parse("0 0 * * *"), begin, end) == (end - begin).days
    assert count_instants(parse("0 0 * * *"), datetime(1960, 1, 1, tzinfo=UTC), datetime(1970, 1, 3, tzinfo=UTC)) == 2
    assert count_instants(parse("0 0 * * *"), datetime(1950, 1, 1, tzinfo=UTC), datetime(1960, 1, 1, tzinfo=UTC)) == 0


@given(st.integers(0, 2**32))
@examples(300)
def test_a_fixed_rate_is_counted_as_it_is_gone_through(seed: int) -> None:
    random = seeded(seed)
    schedule = parse(f"@every {random.choice(['1s', '7s', '90s', '1h', '1500ms'])}")
    begin = NOON + timedelta(microseconds=random.randrange(-(10**9), 10**9))
    end = begin + timedelta(microseconds=random.randrange(0, 10**9))
    assert count_instants(schedule, begin, end, NOON) == gone_through(schedule, begin, end, NOON)


def test_other_forms() -> None:
    hour = timedelta(hours=1)
    once = parse("@at 2026-11-15T12:00Z")
    assert [count_instants(once, NOON + n * hour, NOON + (n + 1) * hour) for n in (-1, 0, 1)] == [0, 1, 0]
    assert count_instants(once, NOON, NOON) == 0
    for text in ("@after 1s", "@upstream", "@manual"):
        assert count_instants(parse(text), NOON, NOON + hour) == 0
    with pytest.raises(ValueError, match="anchor"):
        count_instants(parse("@every 1s"), NOON, NOON + hour)
