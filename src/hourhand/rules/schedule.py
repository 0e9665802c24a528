"""Rules: when a task is due, from its one-string `schedule` and its `timezone`.

    5 fields                     Vixie cron                  `*/5 * * * *`
    6 or 7 fields                Quartz, seconds first       `0 0 2 ? * MON-FRI`, `0 0 2 L * ? 2027`
    @hourly … @yearly            macros
    @every 30s                   fixed rate from an anchor
    @after 30s                   fixed delay after the end of the last instance
    @at 2027-01-01T09:00+08:00   once
    @upstream, @manual           the clock alone never makes them due

Instants lie between 1970 and 2199. How gaps and folds are treated: see `zones`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final, TypeAlias, assert_never

from hourhand.model.errors import InvalidInput
from hourhand.rules import describe, zones
from hourhand.rules.cron import Cron, compile_cron
from hourhand.rules.cron_fields import Refused
from hourhand.rules.notes import cron_notes

LONGEST_TEXT: Final = 500
SHORTEST_PERIOD: Final = timedelta(seconds=1)
LONGEST_PERIOD: Final = timedelta(days=3650)

_MACROS: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_EXAMPLES: Final = {"@every": "30s", "@after": "30s", "@at": "2027-01-01T09:00:00+08:00"}
_FORMS: Final = ", ".join(
    (*_MACROS, *(f"{form} {example}" for form, example in _EXAMPLES.items()), "@upstream", "@manual")
)
_DURATION: Final = re.compile(
    r"(?:([0-9]{1,12})w)?(?:([0-9]{1,12})d)?(?:([0-9]{1,12})h)?(?:([0-9]{1,12})m)?(?:([0-9]{1,12})s)?(?:([0-9]{1,12})ms)?",
    re.IGNORECASE,
)
_UNITS_MS: Final = (604_800_000, 86_400_000, 3_600_000, 60_000, 1_000, 1)
_MOMENT: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?",
    re.IGNORECASE,
)
_FIRST_YEAR: Final = 1970
_LAST_YEAR: Final = 2199


@dataclass(frozen=True, slots=True)
class CronSchedule:
    """Due at the local times of a cron expression (macros included)."""

    text: str
    timezone: str
    cron: Cron = field(repr=False)


@dataclass(frozen=True, slots=True)
class Every:
    """Due at anchor + k x period, k >= 1."""

    text: str
    timezone: str
    period: timedelta


@dataclass(frozen=True, slots=True)
class After:
    """Due `delay` after the end of the last instance."""

    text: str
    timezone: str
    delay: timedelta


@dataclass(frozen=True, slots=True)
class At:
    """Due once, at `instant` (UTC)."""

    text: str
    timezone: str
    instant: datetime


@dataclass(frozen=True, slots=True)
class Upstream:
    """Due when its dependencies have ended for an instant."""

    text: str
    timezone: str


@dataclass(frozen=True, slots=True)
class Manual:
    """Never due by itself."""

    text: str
    timezone: str


Schedule: TypeAlias = CronSchedule | Every | After | At | Upstream | Manual

_WORDS: Final[dict[str, type[Upstream | Manual]]] = {"@upstream": Upstream, "@manual": Manual}


@dataclass(frozen=True, slots=True)
class Preview:
    """What a schedule will do: its next instants, one sentence, and what to know about its days and clock changes."""

    instants: tuple[datetime, ...]
    description: str
    notes: tuple[str, ...]


def parse(text: str, timezone: str = "UTC") -> Schedule:
    """Read a schedule.

    Raises:
        InvalidInput: for the field `schedule` or `timezone`, saying what is wrong and what is allowed.
    """
    return _parse(text, timezone)


def next_instant(schedule: Schedule, after: datetime, anchor: datetime | None = None) -> datetime | None:
    """Return the first instant (UTC) strictly after `after`, or None when nothing follows.

    Raises:
        ValueError: `@every` without an anchor.
    """
    match schedule:
        case CronSchedule(timezone=zone, cron=cron):
            gone = after - zones.EPOCH
            # The whole second `after` lies in is over for a cron: the next candidate is the second that follows.
            found = zones.next_second(cron, zone, gone.days * 86_400 + gone.seconds, fixed=cron.fixed)
            return None if found is None else zones.EPOCH + timedelta(seconds=found)
        case Every(period=period):
            try:
                origin = _anchor(schedule, anchor)
                return origin + max((after - origin) // period + 1, 1) * period
            except OverflowError:
                return None
        case At(instant=instant):
            return instant if instant > after else None
        case After() | Upstream() | Manual():
            return None
        case _:  # pragma: no cover
            assert_never(schedule)


def previous_instant(schedule: Schedule, at: datetime, anchor: datetime | None = None) -> datetime | None:
    """Return the latest instant (UTC) not after `at`, or None when there was none: the mirror of `next_instant`.

    Raises:
        ValueError: `@every` without an anchor.
    """
    match schedule:
        case CronSchedule(timezone=zone, cron=cron):
            gone = at - zones.EPOCH
            found = zones.previous_second(cron, zone, gone.days * 86_400 + gone.seconds, fixed=cron.fixed)
            return None if found is None else zones.EPOCH + timedelta(seconds=found)
        case Every(period=period):
            try:
                origin = _anchor(schedule, anchor)
            except OverflowError:
                return None
            periods = (at - origin) // period
            return origin + periods * period if periods >= 1 else None
        case At(instant=instant):
            return instant if instant <= at else None
        case After() | Upstream() | Manual():
            return None
        case _:  # pragma: no cover
            assert_never(schedule)


def count_instants(schedule: Schedule, begin: datetime, end: datetime, anchor: datetime | None = None) -> int:
    """Return how many instants lie from `begin` up to `end`, which is no part of it, without going through them.

    Raises:
        ValueError: `@every` without an anchor.
    """
    if end <= begin:
        return 0
    match schedule:
        case CronSchedule(timezone=zone, cron=cron):
            # Rounded up: a whole second lies before a time if it lies before the next whole second.
            first, last = (-((zones.EPOCH - one) // zones.SECOND) for one in (begin, end))
            return zones.count_seconds(cron, zone, first, last, fixed=cron.fixed)
        case Every():
            return number_from(schedule, end, anchor) - number_from(schedule, begin, anchor)
        case At(instant=instant):
            return int(begin <= instant < end)
        case After() | Upstream() | Manual():
            return 0
        case _:  # pragma: no cover
            assert_never(schedule)


def number_from(schedule: Every, at: datetime, anchor: datetime | None) -> int:
    """Return which instant of a fixed rate is the first that is not before `at`; they are numbered from 1."""
    return max(-((_anchor(schedule, anchor) - at) // schedule.period), 1)


def is_clocked(schedule: Schedule) -> bool:
    """Tell whether the instants follow from the clock alone."""
    return isinstance(schedule, CronSchedule | Every | At)


def preview(schedule: Schedule, after: datetime, count: int, anchor: datetime | None = None) -> Preview:
    """Show the next `count` instants after `after` and explain them; `@every` without an anchor starts at `after`."""
    instants: list[datetime] = []
    while len(instants) < count:
        instant = next_instant(schedule, instants[-1] if instants else after, anchor or after)
        if instant is None:
            break
        instants.append(instant)
    notes: tuple[str, ...] = ()
    match schedule:
        case CronSchedule(timezone=zone, cron=cron):
            sentence = describe.cron_sentence(cron, zone)
            notes = cron_notes(cron, zone, after, instants[-1] if instants else after)
        case Every(period=period):
            sentence = f"{describe.period(period)}, counted from its creation or the last edit of its schedule"
        case After(delay=delay):
            sentence = f"Always {describe.duration(delay)} after the last instance has ended"
        case At(timezone=zone, instant=instant):
            sentence = f"Once, at {describe.moment(instant, zone)}"
        case Upstream():
            sentence = "When its dependencies have ended for an instant"
        case Manual():
            sentence = "Only when somebody or something starts it"
        case _:  # pragma: no cover
            assert_never(schedule)
    return Preview(tuple(instants), sentence, notes)


@lru_cache(maxsize=8192)
def _parse(text: str, timezone: str) -> Schedule:
    try:
        zone = zones.check(timezone)
    except Refused as refused:
        raise InvalidInput.one("timezone", timezone, str(refused)) from None
    try:
        return _read(_words(text), zone)
    except Refused as refused:
        raise InvalidInput.one("schedule", text, str(refused)) from None


def _words(text: str) -> list[str]:
    if len(text) > LONGEST_TEXT:
        raise Refused(f"{len(text)} characters are too many; a schedule has at most {LONGEST_TEXT}")
    for character in text:
        if not " " <= character <= "~" and character != "\t":
            raise Refused(f"the character {character!a} is not allowed; a schedule is written in printable ASCII")
    return text.split()


def _read(words: list[str], zone: str) -> Schedule:
    text = " ".join(words)
    if not text:
        raise Refused(f"it is empty; write a cron expression (0 2 * * *) or one of {_FORMS}")
    if not text.startswith("@"):
        return CronSchedule(text, zone, compile_cron(tuple(words)))
    form, argument = words[0].lower(), " ".join(words[1:])
    text = f"{form} {argument}".rstrip()
    if form in _MACROS or form in _WORDS:
        if argument:
            raise Refused(f"{form} stands alone; remove {argument!r}")
        if form in _WORDS:
            return _WORDS[form](text, zone)
        return CronSchedule(text, zone, compile_cron(tuple(_MACROS[form].split())))
    if form not in _EXAMPLES:
        raise Refused(f"{words[0]!r} is not known; allowed are {_FORMS}")
    return _read_argument(text, zone, form, argument)


def _read_argument(text: str, zone: str, form: str, argument: str) -> Schedule:
    if not argument:
        raise Refused(f"{form} needs {'a time' if form == '@at' else 'a duration'}, as in {form} {_EXAMPLES[form]}")
    if form == "@every":
        return Every(text, zone, _duration(form, argument))
    if form == "@after":
        return After(text, zone, _duration(form, argument))
    return At(text, zone, _moment(argument, zone))


def _duration(form: str, text: str) -> timedelta:
    found = _DURATION.fullmatch(text)
    if not found:
        raise Refused(
            f"{form}: {text!r} is not a duration; write 30s, 5m, 1h30m, 2d or 1w "
            "(units w, d, h, m, s, ms: largest first, each at most once)"
        )
    total = sum(int(number or 0) * unit for number, unit in zip(found.groups(), _UNITS_MS, strict=True))
    shortest, longest = SHORTEST_PERIOD // timedelta(milliseconds=1), LONGEST_PERIOD // timedelta(milliseconds=1)
    if not shortest <= total <= longest:
        raise Refused(f"{form}: {text!r} is too {'short' if total < shortest else 'long'}; allowed are 1s to 3650d")
    return timedelta(milliseconds=total)


def _moment(text: str, zone: str) -> datetime:
    """Read the time of `@at`; without an offset it is the zone's local time, a time in a gap meaning the gap's end."""
    if not _MOMENT.fullmatch(text):
        raise Refused(f"@at: {text!r} is not a time; write 2027-01-01T09:00:00+08:00 (the offset may be left out)")
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError as error:
        raise Refused(f"@at: {text!r} is not a time: {error}; write 2027-01-01T09:00:00+08:00") from None
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise Refused(f"@at: the year {moment.year} in {text!r} is out of range; allowed are 1970 to 2199")
    if moment.tzinfo is not None:
        return moment.astimezone(UTC)
    local = moment.replace(tzinfo=UTC) - zones.EPOCH
    return zones.EPOCH + zones.first_pass(zone, local)


def _anchor(schedule: Every, anchor: datetime | None) -> datetime:
    if anchor is None:
        raise ValueError(f"{schedule.text!r} counts from an anchor, but none was given")
    # Adding to a local time would follow the wall clock, and a fixed rate must not.
    return anchor.astimezone(UTC)
