from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.errors import InvalidInput
from hourhand.rules.schedule import next_instant, parse, previous_instant
from unit.rules.cron_oracle import DAYS, day_matches, examples, ours, ours_backwards, random_quartz_days, seeded

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)  # a Sunday


def upcoming(text: str, count: int = 3, after: datetime = START) -> list[str]:
    found: list[str] = []
    moment: datetime | None = after
    while moment is not None and len(found) < count:
        moment = next_instant(parse(text), moment)
        if moment is not None:
            found.append(f"{moment:%Y-%m-%d %H:%M:%S}")
    return found


VIXIE = {
    "* * * * *": ["2026-11-15 12:01:00", "2026-11-15 12:02:00"],
    "*/20 * * * *": ["2026-11-15 12:20:00", "2026-11-15 12:40:00", "2026-11-15 13:00:00"],
    "10-30/10 * * * *": ["2026-11-15 12:10:00", "2026-11-15 12:20:00", "2026-11-15 12:30:00", "2026-11-15 13:10:00"],
    "35/15 * * * *": ["2026-11-15 12:35:00", "2026-11-15 12:50:00", "2026-11-15 13:35:00"],
    "5,1,3 13 * * *": ["2026-11-15 13:01:00", "2026-11-15 13:03:00", "2026-11-15 13:05:00", "2026-11-16 13:01:00"],
    "0 9-10 * * *": ["2026-11-16 09:00:00", "2026-11-16 10:00:00", "2026-11-17 09:00:00"],
    "00 02 01 01 *": ["2027-01-01 02:00:00", "2028-01-01 02:00:00"],
    "0 0 1 jan,Mar *": ["2027-01-01 00:00:00", "2027-03-01 00:00:00", "2028-01-01 00:00:00"],
    "0 0 1 JAN-FEB *": ["2027-01-01 00:00:00", "2027-02-01 00:00:00", "2028-01-01 00:00:00"],
    "0 0 * * 0": ["2026-11-22 00:00:00", "2026-11-29 00:00:00"],
    "0 0 * * 7": ["2026-11-22 00:00:00", "2026-11-29 00:00:00"],
    "0 0 * * sun": ["2026-11-22 00:00:00", "2026-11-29 00:00:00"],
    "0 0 * * MON-FRI/2": ["2026-11-16 00:00:00", "2026-11-18 00:00:00", "2026-11-20 00:00:00", "2026-11-23 00:00:00"],
    "0 0 * * SAT-SUN": ["2026-11-21 00:00:00", "2026-11-22 00:00:00", "2026-11-28 00:00:00"],
    "0 0 * * 5-0": ["2026-11-20 00:00:00", "2026-11-21 00:00:00", "2026-11-22 00:00:00", "2026-11-27 00:00:00"],
    "0 0 13 * 5": ["2026-11-20 00:00:00", "2026-11-27 00:00:00", "2026-12-04 00:00:00"],
    "0 0 */2 * 1": ["2026-11-23 00:00:00", "2026-12-07 00:00:00", "2026-12-21 00:00:00"],
    "0 0 L * *": ["2026-11-30 00:00:00", "2026-12-31 00:00:00", "2027-01-31 00:00:00", "2027-02-28 00:00:00"],
    "0 0 LW * *": ["2026-11-30 00:00:00", "2026-12-31 00:00:00", "2027-01-29 00:00:00", "2027-02-26 00:00:00"],
    "0 0 15W * *": ["2026-11-16 00:00:00", "2026-12-15 00:00:00", "2027-01-15 00:00:00"],
    "0 0 L-3 * *": ["2026-11-27 00:00:00", "2026-12-28 00:00:00"],
    "0 0 * * 5L": ["2026-11-27 00:00:00", "2026-12-25 00:00:00"],
    "0 0 * * friL": ["2026-11-27 00:00:00", "2026-12-25 00:00:00"],
    "0 0 * * 5#2": ["2026-12-11 00:00:00", "2027-01-08 00:00:00"],
    "0 0 * * 7#5": ["2026-11-29 00:00:00", "2027-01-31 00:00:00"],
    "0 0 * * 1,5#2": ["2026-11-16 00:00:00", "2026-11-23 00:00:00", "2026-11-30 00:00:00", "2026-12-07 00:00:00"],
    "0 0 29 2 *": ["2028-02-29 00:00:00", "2032-02-29 00:00:00"],
    "\t0  0 29 2 * ": ["2028-02-29 00:00:00"],
    "@hourly": ["2026-11-15 13:00:00", "2026-11-15 14:00:00"],
    "@daily": ["2026-11-16 00:00:00", "2026-11-17 00:00:00"],
    "@Midnight": ["2026-11-16 00:00:00", "2026-11-17 00:00:00"],
    "@weekly": ["2026-11-22 00:00:00", "2026-11-29 00:00:00"],
    "@monthly": ["2026-12-01 00:00:00", "2027-01-01 00:00:00"],
    "@yearly": ["2027-01-01 00:00:00", "2028-01-01 00:00:00"],
    "@annually": ["2027-01-01 00:00:00", "2028-01-01 00:00:00"],
}
QUARTZ = {
    "*/20 * * * * ?": ["2026-11-15 12:00:20", "2026-11-15 12:00:40", "2026-11-15 12:01:00"],
    "0 0 2 ? * MON-FRI": ["2026-11-16 02:00:00", "2026-11-17 02:00:00"],
    "0 0 2 * * *": ["2026-11-16 02:00:00", "2026-11-17 02:00:00"],
    "0 0 2 ? * ?": ["2026-11-16 02:00:00", "2026-11-17 02:00:00"],
    "0 0 2 ? * 1": ["2026-11-22 02:00:00", "2026-11-29 02:00:00"],
    "0 0 2 ? * 7": ["2026-11-21 02:00:00", "2026-11-28 02:00:00"],
    "0 0 2 ? * L": ["2026-11-21 02:00:00", "2026-11-28 02:00:00"],
    "0 0 2 ? * 6L": ["2026-11-27 02:00:00", "2026-12-25 02:00:00"],
    "0 0 2 ? * 6#3": ["2026-11-20 02:00:00", "2026-12-18 02:00:00"],
    "0 0 2 ? * FRI#3": ["2026-11-20 02:00:00", "2026-12-18 02:00:00"],
    "0 0 2 ? * FRI-MON": ["2026-11-16 02:00:00", "2026-11-20 02:00:00", "2026-11-21 02:00:00", "2026-11-22 02:00:00"],
    "0 0 22-2/2 * * ?": ["2026-11-15 22:00:00", "2026-11-16 00:00:00", "2026-11-16 02:00:00", "2026-11-16 22:00:00"],
    "0 0 2 L * ?": ["2026-11-30 02:00:00", "2026-12-31 02:00:00"],
    "0 0 2 L-3 * ?": ["2026-11-27 02:00:00", "2026-12-28 02:00:00"],
    "0 0 2 L-30 * ?": ["2026-12-01 02:00:00", "2027-01-01 02:00:00", "2027-03-01 02:00:00"],
    "0 0 2 L-3W * ?": ["2026-11-27 02:00:00", "2026-12-28 02:00:00", "2027-01-28 02:00:00"],
    "0 0 2 LW * ?": ["2026-11-30 02:00:00", "2026-12-31 02:00:00", "2027-01-29 02:00:00"],
    "0 0 2 15W * ?": ["2026-11-16 02:00:00", "2026-12-15 02:00:00"],
    "0 0 2 1W 8 ?": ["2027-08-02 02:00:00", "2028-08-01 02:00:00", "2029-08-01 02:00:00"],
    "0 0 2 1W 5 ? 2027": ["2027-05-03 02:00:00"],
    "0 0 2 31W * ?": ["2026-12-31 02:00:00", "2027-01-29 02:00:00", "2027-03-31 02:00:00"],
    "0 0 2 L 1 ? 2027": ["2027-01-31 02:00:00"],
    "0 0 2 1 1 ? 2025,2028-2032/2": ["2028-01-01 02:00:00", "2030-01-01 02:00:00", "2032-01-01 02:00:00"],
    "0 0 2 1 1 ? *": ["2027-01-01 02:00:00", "2028-01-01 02:00:00"],
    "0 0 2 1 1 ? 2025": [],
    "59 59 23 31 12 ? 2199": ["2199-12-31 23:59:59"],
}


@pytest.mark.parametrize(("text", "expected"), [*VIXIE.items(), *QUARTZ.items()])
def test_each_token_fires_when_it_says(text: str, expected: list[str]) -> None:
    found = upcoming(text, len(expected) + (not expected))
    assert found == expected


FIELDS_FOUND = "found; a cron expression has 5 (minute hour day-of-month month day-of-week), 6 (second first) or 7"
REFUSED = {
    "": "it is empty; write a cron expression (0 2 * * *) or one of @hourly",
    " \t": "it is empty",
    "*": f"1 field {FIELDS_FOUND}",
    "* * * *": f"4 fields {FIELDS_FOUND}",
    "* * * * * * * *": f"8 fields {FIELDS_FOUND}",
    "60 * * * *": "minute: '60' is out of range; allowed are 0-59, *, lists (a,b), ranges (a-b) and steps",
    "* 24 * * *": "hour: '24' is out of range; allowed are 0-23",
    "* * 0 * *": "day-of-month: '0' is out of range; allowed are 1-31, L, L-n, nW, LW, *",
    "* * 3-32 * *": "day-of-month: '32' in '3-32' is out of range",
    "* * * 13 *": "month: '13' is out of range; allowed are 1-12 or JAN-DEC",
    "* * * FOO *": "month: 'FOO' is not understood; allowed are 1-12 or JAN-DEC",
    "* * * * 8": "day-of-week: '8' is out of range; allowed are 0-7 or SUN-SAT",
    "* * * * MONDAY": "day-of-week: 'MONDAY' is not understood",
    "* * * * L": "day-of-week: 'L' is not understood",
    "* * * * 8L": "day-of-week: '8' in '8L' is out of range",
    "* * * * 5#6": "day-of-week: '5#6' asks for occurrence '6' in the month; #1 to #5 exist",
    "* * * * #2": "day-of-week: '' in '#2' is not understood",
    "*/0 * * * *": "minute: '*/0' has the step '0'; a step is a number from 1 to 59",
    "*/90 * * * *": "minute: '*/90' has the step '90'; a step is a number from 1 to 59",
    "* */x * * *": "hour: '*/x' has the step 'x'; a step is a number from 1 to 23",
    "1,,2 * * * *": "minute: '' is not understood",
    "1- * * * *": "minute: '' in '1-' is not understood",
    "* 22-2 * * *": "hour: the range '22-2' runs backwards from 22 to 2; write it as two",
    "* * * * FRI-MON": "day-of-week: the range 'FRI-MON' runs backwards from 5 to 1",
    "* * ? * *": "day-of-month: '?' belongs to the 6 or 7 fields of Quartz; with 5 fields write * instead",
    "* * L-0 * *": "day-of-month: 'L-0' counts back 0 days from the last; L-1 to L-30 are allowed",
    "* * L-31 * *": "day-of-month: 'L-31' counts back 31 days",
    "* * 32W * *": "day-of-month: '32' in '32W' is out of range",
    "* * 99999999999 * *": "day-of-month: '99999999999' is not understood",
    "0 0 30 2 *": "never fires: no date has day-of-month '30', day-of-week '*' and a month out of 2 in any year",
    "0 0 31 4,6 *": "never fires: no date has day-of-month '31', day-of-week '*' and a month out of 4, 6 in any year",
    "0 0 L-30 2 *": "never fires",
    "0 0 30W 2 *": "never fires",
    "0 0 L-29W 2 *": "never fires",
    "60 0 2 * * ?": "second: '60' is out of range; allowed are 0-59",
    "? 0 2 * * ?": "second: '?' is not understood",
    "0 0 2 1 * MON": "day-of-month '1' and day-of-week 'MON' are both restricted; with 6 or 7 fields one of them must",
    "0 0 2 ? * 0": "day-of-week: '0' is out of range; allowed are 1-7 or SUN-SAT, ?, L, nL (last), n#k (k-th)",
    "0 0 2 1 1 ? 1969": "year: '1969' is out of range; allowed are 1970-2199",
    "0 0 2 1 1 ? 2030-2027": "year: the range '2030-2027' runs backwards",
    "0 0 2 29 2 ? 2027": "never fires: no date has day-of-month '29', day-of-week '?' and a month out of 2 in the",
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items())
def test_a_refusal_names_the_field_the_part_and_what_is_allowed(text: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(text)
    (error,) = caught.value.errors
    assert (error.field, error.value) == ("schedule", text)
    assert error.message.startswith(message)


def test_29_february_on_a_monday_is_found_decades_ahead() -> None:
    after = datetime(2044, 3, 1, tzinfo=UTC)
    assert upcoming("0 0 29 2 */7", 1, after) == ["2060-02-29 00:00:00"]  # a Sunday: both must match after a star
    assert upcoming("0 0 0 ? 2 MON#5", 1, after) == ["2072-02-29 00:00:00"]


def test_a_century_that_is_not_a_leap_year_is_passed_over() -> None:
    assert upcoming("0 0 29 2 *", 1, datetime(2096, 3, 1, tzinfo=UTC)) == ["2104-02-29 00:00:00"]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize("text", ["0 2 * * *", "*/7 * * * *", "15 10 3 * * ? 1970-2199", "0 0 1 1 *"])
def test_instants_begin_in_1970_and_end_in_2199(text: str, zone: str) -> None:
    schedule = parse(text, zone)
    first, last = datetime(1970, 1, 1, tzinfo=UTC), datetime(2199, 12, 31, 23, 59, 59, tzinfo=UTC)
    far_past, far_future = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    earliest = next_instant(schedule, far_past)
    latest = previous_instant(schedule, far_future)
    assert earliest is not None
    assert first <= earliest < first + timedelta(days=367)
    assert earliest == next_instant(schedule, first - timedelta(seconds=1))
    assert previous_instant(schedule, earliest) == earliest
    assert previous_instant(schedule, earliest - timedelta(seconds=1)) is None
    assert previous_instant(schedule, far_past) is None
    assert latest is not None
    assert last - timedelta(days=367) < latest <= last
    assert next_instant(schedule, latest - timedelta(seconds=1)) == latest
    assert next_instant(schedule, latest) is None
    assert next_instant(schedule, far_future) is None


def test_years_gone_by_leave_a_previous_instant_only() -> None:
    schedule = parse("0 30 6 1 5 ? 1999", "Europe/Berlin")
    assert next_instant(schedule, START) is None
    assert previous_instant(schedule, START) == datetime(1999, 5, 1, 4, 30, tzinfo=UTC)
    assert previous_instant(schedule, datetime(1999, 1, 1, tzinfo=UTC)) is None


def test_years_to_come_have_no_previous_instant_even_for_a_wildcard() -> None:
    schedule = parse("0 * * 1 5 ? 2150", "Europe/Berlin")
    assert previous_instant(schedule, START) is None
    assert next_instant(schedule, START) == datetime(2150, 4, 30, 22, 0, tzinfo=UTC)


def test_parts_of_a_second_are_neither_lost_nor_invented() -> None:
    schedule = parse("0 * * * *")
    noon = datetime(2026, 11, 15, 12, tzinfo=UTC)
    tick = timedelta(microseconds=1)
    assert next_instant(schedule, noon - tick) == noon
    assert next_instant(schedule, noon + tick) == noon + timedelta(hours=1)
    assert previous_instant(schedule, noon - tick) == noon - timedelta(hours=1)
    assert previous_instant(schedule, noon + tick) == noon


@given(st.integers(0, 2**32))
@examples(100)
def test_quartz_days_are_those_a_look_at_every_date_finds(seed: int) -> None:
    random = seeded(seed)
    text = f"0 0 12 {' '.join(random_quartz_days(random))}"
    start = datetime(random.randint(1970, 2190), random.randint(1, 12), 1, tzinfo=UTC)
    days = [start + timedelta(days=number, hours=12) for number in range(500)]
    try:
        parse(text)
    except InvalidInput:
        assert not any(day_matches(text.split(), day.date()) for day in days)
        return
    expected = [day for day in days if day_matches(text.split(), day.date())]
    end = start + timedelta(days=500)
    assert ours(text, "UTC", start, end) == expected
    assert ours_backwards(text, "UTC", start, end) == expected


PIECES = st.sampled_from([*"0123456789*/,-?LW#@:TZ", *DAYS, "JAN", "1-5", "*/2"])
WORDS = st.lists(PIECES, min_size=1, max_size=3).map("".join)


@given(st.lists(st.one_of(st.just("*"), WORDS, st.sampled_from(["@every", "@at"])), max_size=8).map(" ".join))
@examples(500)
def test_anything_that_looks_like_a_schedule_is_read_or_refused_cleanly(text: str) -> None:
    try:
        schedule = parse(text)
    except InvalidInput:
        return
    instant = next_instant(schedule, START, START)
    assert instant is None or instant > START


@given(st.text(max_size=600), st.one_of(st.just("UTC"), st.text(max_size=100)))
@examples(200)
def test_any_text_at_all_is_read_or_refused_cleanly(text: str, zone: str) -> None:
    with contextlib.suppress(InvalidInput):
        parse(text, zone)
