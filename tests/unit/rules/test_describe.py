from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.errors import InvalidInput
from hourhand.rules.schedule import parse, preview
from unit.rules.cron_oracle import ZONES, examples, random_quartz, random_vixie, seeded

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)

SENTENCES = {
    "0 2 L * *": "At 02:00 on the last day of every month",
    "30 2 * * *": "At 02:30 every day",
    "0 9,17 * * *": "At 09:00 and 17:00 every day",
    "0,30 9,17 * * *": "At 09:00, 09:30, 17:00 and 17:30 every day",
    "30 2 * 6-8 *": "At 02:30 every day in June to August",
    "* * * * *": "Every minute",
    "*/5 * * * *": "Every 5 minutes",
    "*/5 * * 1 *": "Every 5 minutes in January",
    "@hourly": "Every hour",
    "15 * * * *": "At minute 15 of every hour",
    "*/7 * * * *": "At minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour",
    "0 */2 * * *": "Every 2 hours from 00:00",
    "5,6 */3 * * *": "At minutes 5 and 6 of hours 00, 03, 06, 09, 12, 15, 18 and 21",
    "*/5 9-17 * * *": "Every 5 minutes from 09:00 to 17:55",
    "30 8-18 * * MON-FRI": "Every hour from 08:30 to 18:30 on Monday to Friday",
    "*/10 3 * * *": "At 03:00, 03:10, 03:20, 03:30, 03:40 and 03:50 every day",
    "*/5 3,15 * * *": "Every 5 minutes of hours 03 and 15",
    "@weekly": "At 00:00 on Sunday",
    "@monthly": "At 00:00 on day 1 of every month",
    "@yearly": "At 00:00 on day 1 of January",
    "0 0 1,15 * *": "At 00:00 on days 1 and 15 of every month",
    "0 0 * 3 1,3": "At 00:00 on Monday and Wednesday in March",
    "0 0 13 * 5": "At 00:00 on day 13 of every month or on Friday",
    "0 0 1-31 * 5": "At 00:00 on days 1 to 31 of every month or on Friday",
    "0 0 1 * 0-6": "At 00:00 on day 1 of every month or on Sunday to Saturday",
    "0 0 */10 * 1": "At 00:00 on days 1, 11, 21 and 31 of every month, but only on Monday",
    "0 0 2 ? * MON-FRI": "At 02:00 on Monday to Friday",
    "30 0 2 * * ?": "At 02:00:30 every day",
    "0 0 2 L * ? 2027": "At 02:00 on the last day of every month in 2027",
    "0 0 2 L-1 * ? 2027-2029": "At 02:00 on 1 day before the last day of every month in 2027 to 2029",
    "0 0 2 L-3 6 ?": "At 02:00 on 3 days before the last day of June",
    "0 0 2 LW * ?": "At 02:00 on the last weekday of every month",
    "0 0 2 L-2W * ?": "At 02:00 on the weekday nearest to 2 days before the last day of every month",
    "0 0 2 1,15W * ?": "At 02:00 on day 1 and the weekday nearest to day 15 of every month",
    "0 0 2 ? * 6#3": "At 02:00 on the third Friday of every month",
    "0 0 2 ? 1,7 6L": "At 02:00 on the last Friday of January and July",
    "0 0 2 ? * MON,6#3": "At 02:00 on Monday and the third Friday of every month",
    "*/10 * * * * ?": "Every 10 seconds",
    "5,6 * * * * ?": "At seconds 5 and 6 of every minute",
    "7 * * * * ?": "At second 7 of every minute",
    "*/10 0-29 * * * ?": "Every 10 seconds of minutes 0 to 29 of every hour",
    "*/10 * 9 * * ?": "Every 10 seconds of every minute of hour 09",
    "*/10 */30 9-17 * * ?": "Every 10 seconds of minutes 0 and 30 of hours 09 to 17",
}


@pytest.mark.parametrize(("text", "sentence"), SENTENCES.items())
def test_a_cron_is_said_in_one_sentence(text: str, sentence: str) -> None:
    assert preview(parse(text), NOW, 0).description == f"{sentence}, UTC"
    assert preview(parse(text, "Asia/Shanghai"), NOW, 0).description == f"{sentence}, Asia/Shanghai time"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("@every 30s", "Every 30 seconds, counted from its creation or the last edit of its schedule"),
        ("@every 1h", "Every hour, counted from its creation or the last edit of its schedule"),
        ("@every 1h30m", "Every 1 hour and 30 minutes, counted from its creation or the last edit of its schedule"),
        ("@after 1w2d1s5ms", "Always 1 week, 2 days, 1 second and 5 milliseconds after the last instance has ended"),
        ("@at 2027-01-01T09:00+08:00", "Once, at 02:00:00 on 2027-01-01, Europe/Berlin time"),
        ("@upstream", "When its dependencies have ended for an instant"),
        ("@manual", "Only when somebody or something starts it"),
    ],
)
def test_every_other_form_too(text: str, sentence: str) -> None:
    assert preview(parse(text, "Europe/Berlin"), NOW, 2).description == sentence


def test_a_preview_lists_the_next_instants() -> None:
    def hours(*numbers: int) -> tuple[datetime, ...]:
        return tuple(NOW + timedelta(hours=number) for number in numbers)

    assert preview(parse("@hourly"), NOW, 3).instants == hours(1, 2, 3)
    assert preview(parse("@every 2h"), NOW, 2).instants == hours(2, 4)
    assert preview(parse("@every 2h"), NOW, 2, NOW - timedelta(hours=1)).instants == hours(1, 3)
    assert preview(parse("@at 2026-11-15T13:00Z"), NOW, 5).instants == hours(1)
    assert preview(parse("@manual"), NOW, 5).instants == ()
    assert preview(parse("@hourly"), NOW, 0).instants == ()


EITHER = "both day fields restricted (day-of-month 13, day-of-week FRI): either matches"


@pytest.mark.parametrize(
    ("text", "zone", "notes"),
    [
        (
            "30 2 * * *",
            "Europe/Berlin",
            [
                "02:30 does not exist on 2027-03-28 in Europe/Berlin: fires at 03:00 instead",
                "02:30 occurs twice on 2027-10-31 in Europe/Berlin: fires once",
            ],
        ),
        (
            "*/15 2 * * *",
            "Europe/Berlin",
            [
                "02:00 to 02:45 do not exist on 2027-03-28 in Europe/Berlin: does not fire then",
                "02:00 to 02:45 occur twice on 2027-10-31 in Europe/Berlin: fires twice",
            ],
        ),
        ("0 2 * * *", "UTC", []),
        ("0 12 * * *", "Europe/Berlin", []),
        ("*/5 * * * *", "Europe/Berlin", []),
        ("0 0 13 * FRI", "UTC", [EITHER]),
        ("0 0 13 * *", "UTC", []),
    ],
)
def test_notes_tell_what_the_clock_changes_of_the_next_year_do(text: str, zone: str, notes: list[str]) -> None:
    assert list(preview(parse(text, zone), NOW, 3).notes) == notes


def test_a_gap_over_midnight_names_the_day_it_ends() -> None:
    notes = preview(parse("0 12 * * *", "Pacific/Apia"), datetime(2011, 12, 1, tzinfo=UTC), 1).notes
    assert notes == ("12:00 does not exist on 2011-12-30 in Pacific/Apia: fires at 00:00 on 2011-12-31 instead",)


def test_notes_cover_the_whole_preview_but_stay_readable() -> None:
    notes = preview(parse("30 2 28 3 ?".replace("?", "*"), "Europe/Berlin"), NOW, 12).notes
    assert notes == (
        "02:30 does not exist on 2027-03-28 in Europe/Berlin: fires at 03:00 instead",
        "02:30 does not exist on 2032-03-28 in Europe/Berlin: fires at 03:00 instead",
        "02:30 does not exist on 2038-03-28 in Europe/Berlin: fires at 03:00 instead",
    )
    assert len(preview(parse("30 2 1-7 * *", "Europe/Berlin"), NOW, 1000).notes) <= 12
    assert len(preview(parse("30 2 * * *", "Europe/Berlin"), NOW, 5000).notes) == 12


@pytest.mark.parametrize("text", ["30 2 * * *", "*/15 2 * * *", "@every 1h", "@at 2027-01-01T00:00", "@manual"])
@pytest.mark.parametrize("moment", [datetime.min, datetime(1970, 1, 1), datetime(2199, 12, 31, 23), datetime.max])  # noqa: DTZ001, DTZ901 — the zone is given below
@pytest.mark.parametrize("hours", [-12, 0, 14])
def test_any_moment_can_be_previewed(text: str, moment: datetime, hours: int) -> None:
    after = moment.replace(tzinfo=timezone(timedelta(hours=hours)))
    assert all(instant > after for instant in preview(parse(text, "Europe/Berlin"), after, 3).instants)


@given(st.integers(0, 2**32), st.sampled_from(ZONES), st.booleans())
@examples(200)
def test_every_cron_can_be_said(seed: int, zone: str, quartz: bool) -> None:  # noqa: FBT001 — a drawn value
    random = seeded(seed)
    try:
        schedule = parse(random_quartz(random) if quartz else random_vixie(random), zone)
    except InvalidInput:
        return
    sentence = preview(schedule, NOW, 2).description
    assert sentence.startswith(("At ", "Every "))
    assert "  " not in sentence
