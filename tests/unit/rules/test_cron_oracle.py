"""Our instants against two oracles: cronsim for 5 fields, and every minute tried through zoneinfo for all forms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hourhand.model.errors import InvalidInput
from hourhand.rules.schedule import next_instant, parse, previous_instant
from unit.rules.cron_oracle import (
    ZONES,
    BruteForce,
    cronsim_instants,
    cronsim_is_right,
    examples,
    ours,
    ours_backwards,
    random_moment,
    random_quartz,
    random_vixie,
    seeded,
)


@given(st.integers(0, 2**32), st.sampled_from(ZONES))
@examples(1000)
def test_five_fields_fire_when_cronsim_says(seed: int, zone: str) -> None:
    random = seeded(seed)
    text = random_vixie(random)
    assume(cronsim_is_right(text, zone) and _possible(text))
    after = random_moment(random, zone)
    expected = cronsim_instants(text, zone, after, 8)
    found = []
    moment: datetime | None = after
    for _ in expected:
        assert moment is not None
        moment = next_instant(parse(text, zone), moment)
        found.append(moment)
    assert found == expected


@given(st.integers(0, 2**32), st.sampled_from(ZONES), st.sampled_from((random_vixie, random_quartz)))
@examples(800)
def test_instants_are_those_a_scan_of_every_minute_finds(seed: int, zone: str, kind: object) -> None:
    random = seeded(seed)
    text = random_vixie(random) if kind is random_vixie else random_quartz(random)
    assume(_possible(text))
    start = random_moment(random, zone).replace(second=0, microsecond=0)
    end = start + timedelta(hours=36)
    expected = BruteForce(text, zone).instants(start, end)
    assert ours(text, zone, start, end) == expected
    assert ours_backwards(text, zone, start, end) == expected


@given(st.integers(0, 2**32), st.sampled_from(ZONES))
@examples(300)
def test_previous_is_the_mirror_of_next(seed: int, zone: str) -> None:
    random = seeded(seed)
    text = random_quartz(random)
    assume(_possible(text))
    schedule = parse(text, zone)
    moment = random_moment(random, zone)
    later = next_instant(schedule, moment)
    assert later is not None
    assert later > moment
    assert previous_instant(schedule, later) == later
    earlier = previous_instant(schedule, later - timedelta(microseconds=1))
    assert earlier is None or earlier <= moment
    assert earlier == previous_instant(schedule, moment)
    if earlier is not None:
        assert next_instant(schedule, earlier) == later


@pytest.mark.parametrize("text", ["*/15 * * * * ?", "0 0/10 0-1 * * ?", "30 40-50 0 * * ?"])
def test_an_offset_with_seconds_is_followed_to_the_second(text: str) -> None:
    # Monrovia's clock went from 00:00:00 to 00:44:30 on 1972-01-07, the only change since 1970 that is not on a minute.
    zone = "Africa/Monrovia"
    start = datetime(1972, 1, 7, 0, 0, tzinfo=UTC)
    change = datetime(1972, 1, 7, 0, 44, 30, tzinfo=UTC)
    found = ours(text, zone, start, start + timedelta(hours=2))
    assert found == ours_backwards(text, zone, start, start + timedelta(hours=2))
    if text.startswith("*"):
        assert [f"{moment:%H:%M:%S}" for moment in found[:3]] == ["00:00:15", "00:00:30", "00:00:45"]
        assert change in found
    elif text.startswith("30"):
        # 00:40:30 to 00:43:30 fell into the gap and fire at its end, as does 00:44:30, the gap's end itself.
        assert [f"{moment:%H:%M:%S}" for moment in found[:2]] == ["00:44:30", "00:45:30"]
    else:
        assert [f"{moment:%H:%M:%S}" for moment in found[:2]] == ["00:44:30", "00:50:00"]


def _possible(text: str) -> bool:
    try:
        parse(text)
    except InvalidInput as refused:
        assert "never fires" in str(refused)  # noqa: PT017 — the generators make no other mistake
        return False
    return True
