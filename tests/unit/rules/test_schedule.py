from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.errors import InvalidInput
from hourhand.rules.schedule import (
    After,
    At,
    CronSchedule,
    Every,
    Manual,
    Upstream,
    is_clocked,
    next_instant,
    parse,
    previous_instant,
)
from unit.rules.cron_oracle import examples, ours, ours_backwards

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def instants(text: str, zone: str, start: str, end: str) -> list[str]:
    found = ours(text, zone, utc(start), utc(end))
    assert ours_backwards(text, zone, utc(start), utc(end)) == found
    return [f"{instant:%m-%dT%H:%M}" for instant in found]


@pytest.mark.parametrize(
    ("text", "kind", "clocked"),
    [
        ("0 2 * * *", CronSchedule, True),
        ("@daily", CronSchedule, True),
        ("@every 30s", Every, True),
        ("@after 30s", After, False),
        ("@at 2027-01-01T09:00:00+08:00", At, True),
        ("@upstream", Upstream, False),
        ("@manual", Manual, False),
    ],
)
def test_each_form_is_its_own_type(text: str, kind: type, clocked: bool) -> None:  # noqa: FBT001 — a column of the table
    schedule = parse(f"  {text.replace(' ', '   ')} ", "Asia/Shanghai")
    assert isinstance(schedule, kind)
    assert (schedule.text, schedule.timezone) == (text, "Asia/Shanghai")
    assert is_clocked(schedule) is clocked
    assert schedule == parse(text, "Asia/Shanghai")
    assert hash(schedule) == hash(parse(text, "Asia/Shanghai"))


def test_the_default_zone_is_utc() -> None:
    assert parse("@daily").timezone == "UTC"


def test_a_cron_shows_what_was_written_not_its_bit_sets() -> None:
    assert repr(parse("0 2 * * *")) == "CronSchedule(text='0 2 * * *', timezone='UTC')"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1),
        ("30s", 30),
        ("5m", 300),
        ("1h30m", 5400),
        ("2d", 172_800),
        ("1w", 604_800),
        ("1W2D3H4M5S6MS", 788_645.006),
        ("1500ms", 1.5),
        ("3650d", 315_360_000),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    every, after = parse(f"@every {text}"), parse(f"@AFTER {text}")
    assert isinstance(every, Every)
    assert isinstance(after, After)
    assert every.period == after.delay == timedelta(seconds=seconds)


LOOKS_LIKE = (
    "is not a duration; write 30s, 5m, 1h30m, 2d or 1w (units w, d, h, m, s, ms: largest first, each at most once)"
)
REFUSED = {
    "@every": "@every needs a duration, as in @every 30s",
    "@after": "@after needs a duration, as in @after 30s",
    "@at": "@at needs a time, as in @at 2027-01-01T09:00:00+08:00",
    "@every 0s": "@every: '0s' is too short; allowed are 1s to 3650d",
    "@every 999ms": "@every: '999ms' is too short; allowed are 1s to 3650d",
    "@after 3651d": "@after: '3651d' is too long; allowed are 1s to 3650d",
    "@every 999999999999w": "@every: '999999999999w' is too long; allowed are 1s to 3650d",
    "@every -5s": f"@every: '-5s' {LOOKS_LIKE}",
    "@every 30": f"@every: '30' {LOOKS_LIKE}",
    "@every 30s 1h": f"@every: '30s 1h' {LOOKS_LIKE}",
    "@every 1m1h": f"@every: '1m1h' {LOOKS_LIKE}",
    "@at noon": "@at: 'noon' is not a time; write 2027-01-01T09:00:00+08:00 (the offset may be left out)",
    "@at 2027-01-01T09:00+24:00": "@at: '2027-01-01T09:00+24:00' is not a time; write 2027-01-01T09:00:00+08:00",
    "@at 2027-02-30T00:00": "@at: '2027-02-30T00:00' is not a time: day is out of range for month; write 2027-01-01",
    "@at 1969-12-31T23:00Z": "@at: the year 1969 in '1969-12-31T23:00Z' is out of range; allowed are 1970 to 2199",
    "@at 2200-01-01T00:00Z": "@at: the year 2200 in '2200-01-01T00:00Z' is out of range",
    "@daily 5": "@daily stands alone; remove '5'",
    "@upstream x": "@upstream stands alone; remove 'x'",
    "@reboot": "'@reboot' is not known; allowed are @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, "
    "@every 30s, @after 30s, @at 2027-01-01T09:00:00+08:00, @upstream, @manual",
    "0 0 * * *\n": "the character '\\n' is not allowed; a schedule is written in printable ASCII",
    "\N{FULLWIDTH DIGIT ONE} * * * *": "the character '\\uff11' is not allowed",
    "\x00": "the character '\\x00' is not allowed",
    "*" * 501: "501 characters are too many; a schedule has at most 500",
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items())
def test_a_refusal_says_what_would_be_right(text: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(text)
    (error,) = caught.value.errors
    assert (error.field, error.value) == ("schedule", text)
    assert error.message.startswith(message)


@pytest.mark.parametrize(
    ("zone", "message"),
    [
        ("Europe/Berln", "'Europe/Berln' is not an IANA time zone; did you mean Europe/Berlin or "),
        ("asia/shanghai", "'asia/shanghai' is not an IANA time zone; did you mean Asia/Shanghai"),
        ("Shanghai", "'Shanghai' is not an IANA time zone; did you mean Asia/Shanghai?"),
        ("", "'' is not an IANA time zone; write one like Europe/Berlin"),
        ("localtime", "'localtime' is not an IANA time zone; "),
        ("../etc/passwd", "'../etc/passwd' is not an IANA time zone; "),
        ("z" * 5000, f"'{'z' * 64}…' is not an IANA time zone; write one like Europe/Berlin"),
    ],
)
def test_an_unknown_zone_suggests_the_closest(zone: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse("@daily", zone)
    (error,) = caught.value.errors
    assert (error.field, error.value) == ("timezone", zone)
    assert error.message.startswith(message)


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("2027-01-01T09:00:00+08:00", "UTC", "2027-01-01T01:00:00"),
        ("2027-01-01T09:00:00Z", "Asia/Shanghai", "2027-01-01T09:00:00"),
        ("2027-01-01t09:00z", "Asia/Shanghai", "2027-01-01T09:00:00"),
        ("2027-01-01T09:00", "Asia/Shanghai", "2027-01-01T01:00:00"),
        ("2027-01-01 09:00:00.25", "Asia/Shanghai", "2027-01-01T01:00:00.25"),
        ("2027-03-28T02:30:00.5", "Europe/Berlin", "2027-03-28T01:00:00"),
        ("2027-10-31T02:30", "Europe/Berlin", "2027-10-31T00:30:00"),
        ("2190-07-01T02:30", "Europe/Berlin", "2190-07-01T00:30:00"),
        ("1970-01-01T00:00", "Asia/Tokyo", "1969-12-31T15:00:00"),
        ("2199-12-31T23:59:59", "Etc/GMT+12", "2200-01-01T11:59:59"),
    ],
)
def test_at_is_one_instant_after_a_gap_and_in_the_first_pass_of_a_fold(text: str, zone: str, expected: str) -> None:
    schedule = parse(f"@at {text}", zone)
    instant = utc(expected)
    assert schedule == At(f"@at {text}", zone, instant)
    before = instant - timedelta(microseconds=1)
    assert next_instant(schedule, before) == instant
    assert next_instant(schedule, instant) is None
    assert previous_instant(schedule, instant) == instant
    assert previous_instant(schedule, before) is None


def test_every_counts_from_its_anchor_and_never_fires_at_it() -> None:
    schedule = parse("@every 90s")
    anchor = NOW + timedelta(microseconds=7)
    first = anchor + timedelta(seconds=90)
    assert next_instant(schedule, anchor - timedelta(days=9), anchor) == first
    assert next_instant(schedule, anchor, anchor) == first
    assert next_instant(schedule, first, anchor) == first + timedelta(seconds=90)
    assert previous_instant(schedule, first, anchor) == first
    assert previous_instant(schedule, first - timedelta(microseconds=1), anchor) is None
    assert next_instant(schedule, datetime.max.replace(tzinfo=UTC), anchor) is None


@given(
    st.integers(1, 10**9),
    st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 — given by the strategy
    st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 — given by the strategy
)
@examples(100)
def test_previous_mirrors_next_for_every(seconds: int, anchor: datetime, moment: datetime) -> None:
    schedule = Every("@every", "UTC", timedelta(seconds=seconds))
    later = next_instant(schedule, moment, anchor)
    assert later is not None
    assert later > moment
    assert previous_instant(schedule, later, anchor) == later
    earlier = previous_instant(schedule, moment, anchor)
    assert previous_instant(schedule, later - timedelta(microseconds=1), anchor) == earlier
    assert earlier is None or next_instant(schedule, earlier, anchor) == later


def test_every_follows_elapsed_time_whatever_zone_its_anchor_is_given_in() -> None:
    anchor = datetime(2027, 3, 27, 12, tzinfo=ZoneInfo("Europe/Berlin"))  # the day before the clock changes
    schedule = parse("@every 1d", "Europe/Berlin")
    later = next_instant(schedule, anchor, anchor)
    assert later == utc("2027-03-28T11:00")
    assert previous_instant(schedule, anchor + timedelta(days=1), anchor) is None
    assert previous_instant(schedule, utc("2027-03-28T11:00"), anchor) == later


def test_every_at_the_ends_of_time_has_no_instants() -> None:
    schedule = parse("@every 30s")
    for edge in (
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=5))),
    ):
        assert next_instant(schedule, edge, edge) is None
        assert previous_instant(schedule, edge, edge) is None


def test_every_needs_an_anchor() -> None:
    schedule = parse("@every 30s")
    with pytest.raises(ValueError, match="'@every 30s' counts from an anchor, but none was given"):
        next_instant(schedule, NOW)
    with pytest.raises(ValueError, match="none was given"):
        previous_instant(schedule, NOW)


@pytest.mark.parametrize("text", ["@after 30s", "@upstream", "@manual"])
def test_what_the_clock_does_not_decide_has_no_instants(text: str) -> None:
    assert next_instant(parse(text), NOW) is None
    assert previous_instant(parse(text), NOW) is None


def test_any_zone_may_ask_but_the_answer_is_utc() -> None:
    asked = NOW.astimezone(timezone(timedelta(hours=8)))
    for text in ("0 * * * *", "@every 1h", "@at 2026-11-15T13:00Z"):
        answer = next_instant(parse(text), asked, asked)
        assert answer == NOW + timedelta(hours=1)
        assert answer.tzinfo is UTC


GAPS_AND_FOLDS = [
    # Berlin skips 02:00-03:00 on 2027-03-28 (01:00Z) and repeats it on 2027-10-31 (00:00Z and 01:00Z).
    ("30 2 * * *", "Europe/Berlin", "2027-03-27", "2027-03-30", ["03-27T01:30", "03-28T01:00", "03-29T00:30"]),
    ("15,30,45 2 * * *", "Europe/Berlin", "2027-03-28", "2027-03-29", ["03-28T01:00"]),
    ("0 2,3 * * *", "Europe/Berlin", "2027-03-28", "2027-03-28T22", ["03-28T01:00"]),
    ("*/30 2 * * *", "Europe/Berlin", "2027-03-28", "2027-03-28T22", []),
    ("30 * * * *", "Europe/Berlin", "2027-03-28", "2027-03-28T03", ["03-28T00:30", "03-28T01:30", "03-28T02:30"]),
    ("30 2 * * *", "Europe/Berlin", "2027-10-31", "2027-11-01", ["10-31T00:30"]),
    ("30 */2 * * *", "Europe/Berlin", "2027-10-31", "2027-10-31T04", ["10-31T00:30", "10-31T01:30", "10-31T03:30"]),
    ("0 30 2 * * ?", "Europe/Berlin", "2027-10-31", "2027-11-01", ["10-31T00:30"]),
    ("*/30 30 2 * * ?", "Europe/Berlin", "2027-03-28", "2027-03-29", ["03-28T01:00"]),
    # Lord Howe moves by half an hour, Troll by two hours.
    ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03", "2026-10-04", ["10-03T15:30"]),
    ("45 1 * * *", "Australia/Lord_Howe", "2027-04-03", "2027-04-04", ["04-03T14:45"]),
    ("45 */1 * * *", "Australia/Lord_Howe", "2027-04-03T14", "2027-04-03T16", ["04-03T14:45", "04-03T15:15"]),
    ("0 1,2 * * *", "Antarctica/Troll", "2027-03-28", "2027-03-28T22", ["03-28T01:00"]),
    # São Paulo's days used to begin at 01:00 in spring; Apia skipped 2011-12-30.
    ("0 0 * * *", "America/Sao_Paulo", "2018-11-04", "2018-11-05", ["11-04T03:00"]),
    ("0 12 * * *", "Pacific/Apia", "2011-12-30", "2012-01-01", ["12-30T10:00", "12-30T22:00", "12-31T22:00"]),
    ("0 * 30 12 *", "Pacific/Apia", "2011-12-29", "2012-01-02", []),
    ("0 0 30 12 *", "Pacific/Apia", "2011-12-29", "2012-01-02", ["12-30T10:00"]),
    # Casablanca leaves its summer time for Ramadan, Shanghai had one from 1986 to 1991.
    ("30 2 * * *", "Africa/Casablanca", "2027-02-07", "2027-02-08", ["02-07T01:30"]),
    ("30 2 * * *", "Africa/Casablanca", "2027-03-14", "2027-03-15", ["03-14T02:00"]),
    ("30 2 * * *", "Asia/Shanghai", "1987-04-11", "1987-04-13", ["04-11T18:00", "04-12T17:30"]),
]


@pytest.mark.parametrize(("text", "zone", "start", "end", "expected"), GAPS_AND_FOLDS)
def test_gaps_and_folds(text: str, zone: str, start: str, end: str, expected: list[str]) -> None:
    assert instants(text, zone, start, end) == expected
