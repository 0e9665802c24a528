"""Rules: quiet hours, in which notices are held back."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from hourhand.model.alert import QuietHours


def quiet(hours: QuietHours | None, now: datetime) -> bool:
    """Whether this moment lies in them, by the wall clock of their zone."""
    if hours is None:
        return False
    local = now.astimezone(ZoneInfo(hours.timezone))
    clock, day = local.time(), local.weekday()
    if hours.begin < hours.end:
        return hours.begin <= clock < hours.end and day in hours.days
    # Over midnight: the evening belongs to today, the morning to the day before.
    return (clock >= hours.begin and day in hours.days) or (clock < hours.end and (day - 1) % 7 in hours.days)
