"""Two oracles that share nothing with `hourhand.rules`: cronsim, and a scan of every minute through zoneinfo.

Used by the tests and by `bench/cron.py --oracle`.
"""

from __future__ import annotations

import calendar
import os
import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import islice
from random import Random
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from cronsim import CronSim
from hypothesis import HealthCheck, settings

from hourhand.rules.schedule import next_instant, parse, previous_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

ZONES = (
    "UTC",
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/Asuncion",
    "America/Havana",
    "America/Los_Angeles",
    "America/New_York",
    "America/Nuuk",
    "America/Santiago",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Antarctica/Troll",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Kathmandu",
    "Asia/Kolkata",
    "Asia/Shanghai",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Australia/Sydney",
    "Europe/Berlin",
    "Europe/Dublin",
    "Europe/London",
    "Pacific/Apia",
    "Pacific/Chatham",
)
# Their clocks have changed from, to or by something else than whole hours, or skipped a midnight.
ODD_ZONES = {
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/Asuncion",
    "America/Havana",
    "America/Santiago",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Kathmandu",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Chatham",
}
MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()  # noqa: SIM905
DAYS = "SUN MON TUE WED THU FRI SAT".split()  # noqa: SIM905
MINUTE = timedelta(minutes=1)


def examples(count: int) -> settings:
    """Multiply a property test by HOURHAND_EXAMPLES for the long run; without it, repeat the same examples."""
    factor = os.environ.get("HOURHAND_EXAMPLES")
    return settings(
        max_examples=max(int(count * float(factor or 1)), 1),
        derandomize=factor is None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def seeded(seed: int) -> Random:
    """Return a reproducible source of random expressions."""
    return Random(seed)  # noqa: S311 — nothing here is secret


# --- random expressions -------------------------------------------------------------------------------------------


def _number(random: Random, low: int, high: int, names: list[str], first: int) -> str:
    value = random.randint(low, high)
    if names and random.random() < 0.3 and 0 <= value - first < len(names):
        name = names[value - first]
        return random.choice((name, name.lower(), name.title()))
    return str(value)


def random_field(
    random: Random, low: int, high: int, *, names: list[str] | None = None, first: int = 0, wraps: bool = False
) -> str:
    """Return a field of one to three parts of any form."""
    names = names or []
    parts = []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        form = random.randrange(6)
        step = random.randint(1, max(high // 2, 2))
        start, end = random.randint(low, high), random.randint(low, high)
        if not wraps and end < start:
            start, end = end, start
        if form == 0:
            parts.append(random.choice(("*", f"*/{step}")))
        elif form == 1:
            parts.append(f"{start}-{end}")
        elif form == 2:
            parts.append(f"{start}-{end}/{step}")
        elif form == 3:
            parts.append(f"{start}/{step}")
        else:
            parts.append(_number(random, low, high, names, first))
    return ",".join(parts)


def _sometimes(random: Random, text: str, otherwise: str = "*", chance: float = 0.4) -> str:
    return text if random.random() < chance else otherwise


def random_vixie(random: Random) -> str:
    """Return 5 fields; the days and months are often `*`, so that the time of day gets tested too."""
    return " ".join(
        (
            random_field(random, 0, 59),
            random_field(random, 0, 23),
            _sometimes(random, random.choice((random_field(random, 1, 31), "L", "LW"))),
            _sometimes(random, random_field(random, 1, 12, names=MONTHS, first=1), chance=0.2),
            _sometimes(
                random,
                random.choice(
                    (
                        random_field(random, 0, 7, names=DAYS),
                        f"{random.randint(0, 7)}L",
                        f"{_number(random, 0, 7, DAYS, 0)}#{random.randint(1, 5)}",
                    )
                ),
            ),
        )
    )


def random_quartz_days(random: Random) -> tuple[str, str, str]:
    """Return day-of-month, month and day-of-week of a Quartz expression."""
    month = _sometimes(random, random_field(random, 1, 12, names=MONTHS, first=1, wraps=True), chance=0.3)
    if random.random() < 0.5:
        month_day = random.choice(
            (
                random_field(random, 1, 31, wraps=True),
                "L",
                "LW",
                f"L-{random.randint(1, 30)}",
                f"L-{random.randint(1, 30)}W",
                f"{random.randint(1, 31)}W",
                f"{random.randint(1, 31)}W,{random.randint(1, 31)}",
            )
        )
        return month_day, month, random.choice("?*")
    week_day = random.choice(
        (
            random_field(random, 1, 7, names=DAYS, first=1, wraps=True),
            "L",
            f"{_number(random, 1, 7, DAYS, 1)}L",
            f"{_number(random, 1, 7, DAYS, 1)}#{random.randint(1, 5)}",
            f"{random.randint(1, 7)}#{random.randint(1, 5)},{random.randint(1, 7)}",
        )
    )
    return random.choice("?*"), month, week_day


def random_quartz(random: Random) -> str:
    """Return 6 or 7 fields whose days are mostly free, so that a window of days has something in it."""
    days = ("?", "*", "*") if random.random() < 0.7 else random_quartz_days(random)
    fields = [
        random.choice(("0", "30", "*/20", "58-3", str(random.randint(0, 59)))),
        random_field(random, 0, 59, wraps=True),
        random_field(random, 0, 23, wraps=True),
        *days,
    ]
    return " ".join(fields) + random.choice(("", "", " *", " 1970-2199", " */2"))


@lru_cache(maxsize=64)
def changes(zone: str) -> tuple[datetime, ...]:
    """Return the days (UTC midnight) between 1971 and 2045 on which the zone's offset changes."""
    info = ZoneInfo(zone)
    found = []
    moment = datetime(1971, 1, 1, tzinfo=UTC)
    offset = moment.astimezone(info).utcoffset()
    while moment.year < 2045:
        after = moment + timedelta(days=1)
        new = after.astimezone(info).utcoffset()
        if new != offset:
            found.append(moment)
        moment, offset = after, new
    return tuple(found)


def random_moment(random: Random, zone: str) -> datetime:
    """Return an instant, mostly within two days of a clock change."""
    if changes(zone) and random.random() < 0.8:
        return random.choice(changes(zone)) + timedelta(seconds=random.randint(-86_400, 2 * 86_400))
    return datetime(1972, 1, 1, tzinfo=UTC) + timedelta(seconds=random.randint(0, 70 * 365 * 86_400))


# --- brute force --------------------------------------------------------------------------------------------------


def _value(text: str, names: list[str], first: int) -> int:
    return names.index(text.upper()) + first if text.upper() in names else int(text)


def _field_has(text: str, value: int, low: int, high: int, *, names: list[str] | None = None, first: int = 0) -> bool:
    for part in text.split(","):
        base, _, step = part.partition("/")
        if base in {"*", "?"}:
            start, end = low, high
        elif "-" in base:
            start, end = (_value(side, names or [], first) for side in base.split("-"))
        else:
            start = end = _value(base, names or [], first)
            if step:
                end = high
        ring = list(range(low, high + 1))
        walk = ring[start - low : end - low + 1] if start <= end else ring[start - low :] + ring[: end - low + 1]
        if value in walk[:: int(step or 1)]:
            return True
    return False


def _month_day_has(text: str, day: date) -> bool:
    length = calendar.monthrange(day.year, day.month)[1]
    for part in text.upper().split(","):
        if "L" in part or "W" in part:
            plain = part.rstrip("W")
            target = length - int(plain[2:] or 0) if plain.startswith("L") else int(plain)
            if not 1 <= target <= length:
                continue
            if part.endswith("W"):
                around = (target + delta for delta in (0, -1, 1, -2, 2))
                target = next(d for d in around if 1 <= d <= length and day.replace(day=d).weekday() < 5)
            if day.day == target:
                return True
        elif _field_has(part, day.day, 1, 31):
            return True
    return False


def _week_day_has(text: str, day: date, *, quartz: bool) -> bool:
    low, high = (1, 7) if quartz else (0, 7)
    numbers = {day.isoweekday() % 7 + 1} if quartz else {day.isoweekday(), day.isoweekday() % 7}
    for part in text.upper().split(","):
        if part == "L":
            part = "7"  # noqa: PLW2901 — Quartz: the week's last day
        if "#" in part:
            name, nth = part.split("#")
            if _value(name, DAYS, low) in numbers and (day.day - 1) // 7 + 1 == int(nth):
                return True
        elif part.endswith("L"):
            if _value(part[:-1], DAYS, low) in numbers and (day + timedelta(days=7)).month != day.month:
                return True
        elif any(_field_has(part, number, low, high, names=DAYS, first=low) for number in numbers):
            return True
    return False


def day_matches(fields: list[str], day: date) -> bool:
    """Tell whether a date matches, straight from the text."""
    quartz = len(fields) > 5
    month_day, month, week_day = fields[3:6] if quartz else fields[2:5]
    if len(fields) == 7 and not _field_has(fields[6], day.year, 1970, 2199):
        return False
    if not _field_has(month, day.month, 1, 12, names=MONTHS, first=1):
        return False
    both = _month_day_has(month_day, day), _week_day_has(week_day, day, quartz=quartz)
    if not quartz and month_day[0] != "*" and week_day[0] != "*":
        return any(both)
    return all(both)


class BruteForce:
    """Every instant of an expression in a window, by trying each minute of it."""

    def __init__(self, text: str, zone: str) -> None:
        self.fields = text.split()
        self.zone = ZoneInfo(zone)
        self.second, self.minute, self.hour = self.fields[:3] if len(self.fields) > 5 else ("0", *self.fields[:2])
        self.seconds = [second for second in range(60) if _field_has(self.second, second, 0, 59)]
        self.minutes = {minute for minute in range(60) if _field_has(self.minute, minute, 0, 59)}
        self.hours = {hour for hour in range(24) if _field_has(self.hour, hour, 0, 23)}
        self.fixed = not self.minute.startswith("*") and not self.hour.startswith("*")
        self._day = lru_cache(maxsize=64)(lambda day: day_matches(self.fields, day))

    def instants(self, start: datetime, end: datetime) -> list[datetime]:
        """Return the instants after `start` and up to `end`, both whole minutes."""
        found = set(self._fixed(start, end) if self.fixed else self._elapsed(start, end))
        return sorted(instant for instant in found if start < instant <= end)

    def _matches(self, local: datetime) -> bool:
        return local.minute in self.minutes and local.hour in self.hours and bool(self._day(local.date()))

    def _elapsed(self, start: datetime, end: datetime) -> Iterator[datetime]:
        moment = start
        while moment <= end:
            if self._matches(moment.astimezone(self.zone)):
                yield from (moment + timedelta(seconds=second) for second in self.seconds)
            moment += MINUTE

    def _fixed(self, start: datetime, end: datetime) -> Iterator[datetime]:
        # A day more at either side: a gap or fold may move local times by as much (Pacific/Apia).
        local = (start.astimezone(self.zone) - timedelta(days=1.5)).replace(tzinfo=None)
        last = (end.astimezone(self.zone) + timedelta(days=1.5)).replace(tzinfo=None)
        while local <= last:
            if self._matches(local):
                for second in self.seconds:
                    yield self._first_pass(local.replace(second=second))
            local += MINUTE

    def _first_pass(self, local: datetime) -> datetime:
        def real(moment: datetime) -> bool:
            aware = moment.replace(tzinfo=self.zone)
            return aware.astimezone(UTC).astimezone(self.zone).replace(tzinfo=None) == moment

        if not real(local):
            local = local.replace(second=0)
            while not real(local):
                local += MINUTE
        return local.replace(tzinfo=self.zone).astimezone(UTC)


# --- the comparisons ----------------------------------------------------------------------------------------------


def ours(text: str, zone: str, start: datetime, end: datetime) -> list[datetime]:
    """Return our instants after `start` and up to `end`, by `next_instant`."""
    schedule = parse(text, zone)
    found: list[datetime] = []
    moment = next_instant(schedule, start)
    while moment is not None and moment <= end:
        found.append(moment)
        moment = next_instant(schedule, moment)
    return found


def ours_backwards(text: str, zone: str, start: datetime, end: datetime) -> list[datetime]:
    """Return the same by `previous_instant`, in ascending order."""
    schedule = parse(text, zone)
    found: list[datetime] = []
    moment = previous_instant(schedule, end)
    while moment is not None and moment > start:
        found.append(moment)
        moment = previous_instant(schedule, moment - timedelta(microseconds=1))
    return found[::-1]


def cronsim_is_right(text: str, zone: str) -> bool:
    """Tell whether cronsim can be an oracle here; it has three faults, which brute force covers.

    It reads the one-value range `5-5/6` as `5/6`; and an expression that follows elapsed time loses part of an hour
    when it walks hour by hour over a change that is not on, or not by, a whole hour, and lands on midnights that do
    not exist.
    """
    elapsed = any(field.startswith("*") for field in text.split()[:2])
    return not re.search(r"\b([0-9]+)-\1/", text) and not (elapsed and zone in ODD_ZONES)


def cronsim_instants(text: str, zone: str, after: datetime, count: int) -> list[datetime]:
    """Return cronsim's next instants, without two kinds that it repeats.

    It maps each missed local time of a gap to the gap's end (ours is one instant); and asked from the second pass of a
    fold it answers with the first pass, which is over.
    """
    found: list[datetime] = []
    for moment in islice(CronSim(text, after.astimezone(ZoneInfo(zone))), count):
        instant = moment.astimezone(UTC)
        if instant > (found[-1] if found else after):
            found.append(instant)
    return found
