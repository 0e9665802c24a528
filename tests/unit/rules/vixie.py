"""An oracle that shares nothing with `hourhand.rules`: when Vixie cron fires, by the rules of its crontab(5)."""

from __future__ import annotations

from datetime import datetime, timedelta

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905
DAYS = "sun mon tue wed thu fri sat".split()  # noqa: SIM905


def _number(text: str, names: list[str], first: int) -> int:
    return int(text) if text.isdigit() else names.index(text.lower()) + first


def _values(field: str, low: int, high: int, names: list[str] | None = None) -> set[int]:
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        begin, dash, end = ("*", "", "") if span == "*" else span.partition("-")
        first = low if begin == "*" else _number(begin, names or [], low)
        last = high if begin == "*" else _number(end, names or [], low) if dash else first
        found |= set(range(first, last + 1, int(step or 1)))
    return found


class Vixie:
    """Five fields; days match either day field, unless one of the two begins with a star."""

    def __init__(self, when: str) -> None:
        minute, hour, month_day, month, week_day = when.split()
        clock = [(h, m) for h in sorted(_values(hour, 0, 23)) for m in sorted(_values(minute, 0, 59))]
        self.minutes = [timedelta(hours=h, minutes=m) for h, m in clock]
        self._month_days = _values(month_day, 1, 31)
        self._months = _values(month, 1, 12, MONTHS)
        self._week_days = {day % 7 for day in _values(week_day, 0, 7, DAYS)}
        self._both = month_day.startswith("*") or week_day.startswith("*")

    def day(self, midnight: datetime) -> list[datetime]:
        """Return when it fires on that day."""
        by_month, by_week = midnight.day in self._month_days, midnight.isoweekday() % 7 in self._week_days
        fires = by_month and by_week if self._both else by_month or by_week
        return [midnight + minute for minute in self.minutes] if fires and midnight.month in self._months else []
