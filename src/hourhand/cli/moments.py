"""Times on the command line: what may be typed, and how they are shown."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hourhand.model.errors import InvalidInput

_LENGTH = re.compile(r"(\d{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_FORM = "use a form such as 2026-11-15T09:00 or 2026-11-15T08:00:00Z"
_FIRST_YEAR, _LAST_YEAR = 1971, 2198
"""Those of which clock changes are known in any zone."""
MINUTE, HOUR, DAY = 60, 3_600, 86_400
SECOND_MS = 1_000


def read(text: str, option: str, zone: str = "UTC") -> str:
    """A typed time as the API takes it; without an offset it is read in the zone."""
    try:
        moment = datetime.fromisoformat(text)
        aware = moment if moment.tzinfo else _local(moment, zone)
        return aware.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        raise InvalidInput.one(option, text, f"{text!r} is not a time: {_FORM}") from None


def _local(moment: datetime, zone: str) -> datetime:
    """By the rule of `@at`: a time that the clock skips is the first moment after it, one shown twice the first."""
    if zone == "UTC":
        return moment.replace(tzinfo=UTC)
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        return moment.replace(tzinfo=ZoneInfo(zone))
    from hourhand.rules import zones

    return zones.EPOCH + zones.first_pass(zone, moment.replace(tzinfo=UTC) - zones.EPOCH)


def read_since(text: str, option: str) -> str:
    """The same, or how long ago: 90s, 30m, 2h, 7d, 1w."""
    return _read_from_now(text, option, -1, "ago")


def read_until(text: str, option: str) -> str:
    """The same, or how long from now: 90s, 30m, 2h, 90d."""
    return _read_from_now(text, option, 1, "from now")


def read_length(text: str, option: str) -> str:
    """The end of a length of time that begins now: 90s, 30m, 2h, 90d."""
    if _LENGTH.fullmatch(text) is None:
        raise InvalidInput.one(option, text, f"{text!r} is not a length of time: use a form such as 30m, 2h or 7d")
    return read_until(text, option)


def _read_from_now(text: str, option: str, sign: int, words: str) -> str:
    given = _LENGTH.fullmatch(text)
    if given is None:
        try:
            return read(text, option)
        except InvalidInput:
            raise InvalidInput.one(
                option, text, f"{text!r} is not a time: {_FORM}, or say how long {words}: 90s, 30m, 2h, 7d"
            ) from None
    try:
        moment = datetime.now(UTC) + sign * timedelta(**{_UNITS[given[2]]: int(given[1])})
    except OverflowError:
        far = "longer ago" if sign < 0 else "further away"
        raise InvalidInput.one(option, text, f"{text!r} is {far} than there are dates") from None
    return moment.isoformat().replace("+00:00", "Z")


def shown(moment: str | None) -> str:
    """A time of the API, to the second, in UTC."""
    if moment is None:
        return ""
    return datetime.fromisoformat(moment).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def ago(moment: str | None) -> str:
    """How long ago a time of the API was."""
    seconds = seconds_since(moment)
    return "" if seconds is None else f"{length(seconds)} ago"


def seconds_since(moment: str | None) -> float | None:
    """The same as a number; None where there is no time."""
    return None if moment is None else (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()


def between(begin: str | None, end: str | None) -> str:
    """How long it was from one time of the API to another; empty where one is missing."""
    if begin is None or end is None:
        return ""
    return length((datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds())


def length(seconds: float) -> str:
    """A length of time in its two largest units, such as 1 h 5 min."""
    whole = max(0, round(seconds))
    if whole < MINUTE:
        return f"{max(0.0, seconds):.1f} s" if seconds < MINUTE / 6 else f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE} s"
    if whole < DAY:
        return f"{whole // HOUR} h {whole % HOUR // MINUTE} min"
    return f"{whole // DAY} d {whole % DAY // HOUR} h"


def took(milliseconds: float | None) -> str:
    """The same of milliseconds, in which what is short is told too; nothing of what did not run."""
    if milliseconds is None:
        return ""
    return length(milliseconds / 1_000) if milliseconds >= SECOND_MS else f"{milliseconds:.0f} ms"
