"""What the guides say of the schedules of APScheduler and Celery is so: where they agree with ours, and where not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from apscheduler.triggers.cron import CronTrigger
from celery.schedules import crontab, crontab_parser

from unit.rules.cron_oracle import ours

if TYPE_CHECKING:
    from collections.abc import Iterator

BERLIN = ZoneInfo("Europe/Berlin")
BEGIN = datetime(2026, 11, 15, tzinfo=UTC)


def theirs(trigger: CronTrigger, begin: datetime, end: datetime) -> Iterator[datetime]:
    moment = trigger.get_next_fire_time(None, begin)
    while moment is not None and moment <= end:
        yield moment.astimezone(UTC)
        moment = trigger.get_next_fire_time(moment, moment + timedelta(seconds=1))


@pytest.mark.parametrize(
    "expression",
    [
        "30 9 * * mon-fri",
        "0 3 * * *",
        "*/10 8-18 * * mon,wed,fri",
        "0 0 1 */3 *",
        "15,45 6 1-7 * *",
        "0 12 * jan,jul sun",
        "0 0 29 2 *",
    ],
)
@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai"])
def test_apscheduler_fires_at_the_same_instants(expression: str, zone: str) -> None:
    end = BEGIN + timedelta(days=800)
    trigger = CronTrigger.from_crontab(expression, timezone=zone)
    assert list(theirs(trigger, BEGIN, end)) == ours(expression, zone, BEGIN - timedelta(seconds=1), end)


@pytest.mark.parametrize(
    ("keywords", "expression"),
    [
        ({"second": "*/10"}, "*/10 * * * * ?"),
        ({"day": "last", "hour": 0, "minute": 0}, "0 0 L * *"),
        ({"day": "3rd fri", "hour": 0, "minute": 0}, "0 0 * * fri#3"),
    ],
)
def test_what_apscheduler_says_by_keywords_can_be_said_here(keywords: dict[str, str | int], expression: str) -> None:
    end = BEGIN + (timedelta(hours=2) if "second" in keywords else timedelta(days=800))
    trigger = CronTrigger(timezone="UTC", **keywords)
    assert list(theirs(trigger, BEGIN, end)) == ours(expression, "UTC", BEGIN - timedelta(seconds=1), end)


def test_apscheduler_counts_weekdays_from_monday() -> None:
    (first, *_) = theirs(CronTrigger.from_crontab("0 9 * * 1", timezone="UTC"), BEGIN, BEGIN + timedelta(days=7))
    assert first.strftime("%A") == "Tuesday"
    assert ours("0 9 * * 1", "UTC", BEGIN, BEGIN + timedelta(days=7))[0].strftime("%A") == "Monday"


def test_apscheduler_wants_both_day_fields_to_match() -> None:
    end = BEGIN + timedelta(days=365)
    found = list(theirs(CronTrigger.from_crontab("0 9 13 * fri", timezone="UTC"), BEGIN, end))
    assert {(one.day, one.strftime("%a")) for one in found} == {(13, "Fri")}
    assert len(ours("0 9 13 * fri", "UTC", BEGIN, end)) > 52


def test_apscheduler_fires_twice_when_the_clock_is_set_back() -> None:
    begin, end = datetime(2026, 10, 24, 12, tzinfo=BERLIN), datetime(2026, 10, 25, 12, tzinfo=BERLIN)
    trigger = CronTrigger.from_crontab("30 2 * * *", timezone="Europe/Berlin")
    moments: list[datetime] = []
    moment = trigger.get_next_fire_time(None, begin)
    while moment is not None and moment < end and len(moments) < 2:
        moments.append(moment.astimezone(UTC))
        moment = trigger.get_next_fire_time(moment, moment + timedelta(seconds=1))
    assert len(moments) == 2
    assert len(ours("30 2 * * *", "Europe/Berlin", begin.astimezone(UTC), end.astimezone(UTC))) == 1


@pytest.mark.parametrize(("field", "low", "size"), [("*/5", 0, 60), ("1-5", 0, 7), ("0-30/10,45", 0, 60)])
def test_celery_reads_a_field_as_we_do(field: str, low: int, size: int) -> None:
    place = 4 if size == 7 else 0
    fields = ["0", "0", "*", "*", "*"]
    fields[place] = field
    if place == 0:
        fields[1] = "*"
    found = ours(" ".join(fields), "UTC", BEGIN, BEGIN + timedelta(days=14))
    values = {one.isoweekday() % 7 if place == 4 else one.minute for one in found}
    assert values == crontab_parser(size, low).parse(field)


def test_celery_wants_both_day_fields_to_match() -> None:
    schedule = crontab(minute=0, hour=0, day_of_month=13, day_of_week="fri", nowfun=lambda: BEGIN)
    due = BEGIN + schedule.remaining_estimate(BEGIN)
    assert (due.day, due.strftime("%A")) == (13, "Friday")
    assert (due - BEGIN).days > 200


def test_what_is_left_out_of_a_crontab_of_celery_is_any() -> None:
    assert crontab(hour=9).minute == set(range(60))
