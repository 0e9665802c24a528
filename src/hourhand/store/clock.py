"""Store: SQLite's two clocks."""

from __future__ import annotations

import time


class Clock:
    """Wall time for schedules; for leases wall time at open advanced by the monotonic clock.

    Guarantee 9: a step of the wall clock is adopted for schedules, but neither ends nor prolongs a lease.
    """

    def __init__(self) -> None:
        self._offset_ns = time.time_ns() - time.monotonic_ns()

    def wall_micros(self) -> int:
        """The time of day."""
        return time.time_ns() // 1_000

    def lease_micros(self) -> int:
        """The clock of leases."""
        return (time.monotonic_ns() + self._offset_ns) // 1_000
