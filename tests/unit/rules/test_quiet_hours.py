"""When it is quiet, by the wall clock of a zone."""

from __future__ import annotations

from datetime import UTC, datetime, time

import pytest

from hourhand.model.alert import QuietHours
from hourhand.rules.quiet_hours import quiet

NIGHT = QuietHours(begin=time(22), end=time(7), timezone="UTC")
NOON = QuietHours(begin=time(12), end=time(13), timezone="Asia/Shanghai")
SUNDAY_NIGHT = QuietHours(begin=time(22), end=time(7), timezone="UTC", days=frozenset({6}))
MONDAY_NOON = QuietHours(begin=time(12), end=time(13), timezone="UTC", days=frozenset({0}))


@pytest.mark.parametrize(
    ("hours", "at", "expected"),
    [
        (None, "2026-11-15T23:00", False),
        (NIGHT, "2026-11-15T21:59", False),
        (NIGHT, "2026-11-15T22:00", True),
        (NIGHT, "2026-11-16T06:59", True),
        (NIGHT, "2026-11-16T07:00", False),
        (NOON, "2026-11-15T04:30", True),
        (NOON, "2026-11-15T05:00", False),
        (NOON, "2026-11-15T12:30", False),
        (SUNDAY_NIGHT, "2026-11-15T23:00", True),  # a Sunday
        (SUNDAY_NIGHT, "2026-11-16T06:00", True),  # the morning after belongs to it
        (SUNDAY_NIGHT, "2026-11-16T23:00", False),
        (SUNDAY_NIGHT, "2026-11-15T06:00", False),
        (MONDAY_NOON, "2026-11-16T12:30", True),
        (MONDAY_NOON, "2026-11-17T12:30", False),
    ],
)
def test_quiet_hours_lie_where_the_wall_clock_says(hours: QuietHours | None, at: str, *, expected: bool) -> None:
    assert quiet(hours, datetime.fromisoformat(at).replace(tzinfo=UTC)) is expected
