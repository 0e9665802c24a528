"""Times on the command line: what may be typed, and how they are shown."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from hourhand.model.errors import InvalidInput

_AGO = re.compile(r"(\d{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_FORM = "use a form such as 2026-11-15T09:00 or 2026-11-15T08:00:00Z"
MINUTE, HOUR, DAY = 60, 3_600, 86_400


def read(text: str, option: str, zone: str = "UTC") -> str:
    """A typed time as the API takes it; without an offset it is read in the zone."""
    try:
        moment = datetime.fromisoformat(text)
        where: tzinfo = UTC if zone == "UTC" else ZoneInfo(zone)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=where)
        return aware.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        raise InvalidInput.one(option, text, f"{text!r} is not a time: {_FORM}") from None


def read_since(text: str, option: str) -> str:
    """The same, or how long ago: 90s, 30m, 2h, 7d, 1w."""
    ago = _AGO.fullmatch(text)
    if ago is None:
        try:
            return read(text, option)
        except InvalidInput:
            raise InvalidInput.one(
                option, text, f"{text!r} is not a time: {_FORM}, or say how long ago: 90s, 30m, 2h, 7d"
            ) from None
    try:
        begin = datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    except OverflowError:
        raise InvalidInput.one(option, text, f"{text!r} is longer ago than there are dates") from None
    return begin.isoformat().replace("+00:00", "Z")


def shown(moment: str | None) -> str:
    """A time of the API, to the second, in UTC."""
    if moment is None:
        return ""
    return datetime.fromisoformat(moment).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def ago(moment: str | None) -> str:
    """How long ago a time of the API was."""
    if moment is None:
        return ""
    return f"{length((datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds())} ago"


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
