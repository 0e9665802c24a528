from __future__ import annotations

import time

import pytest

from hourhand.store.clock import Clock


def test_both_clocks_begin_together() -> None:
    clock = Clock()
    assert abs(clock.wall_micros() - clock.lease_micros()) < 1_000_000


@pytest.mark.parametrize("step_seconds", [3_600, -3_600])
def test_a_step_of_the_wall_clock_is_adopted_for_schedules_and_not_for_leases(
    monkeypatch: pytest.MonkeyPatch, step_seconds: int
) -> None:
    """Guarantee 9."""
    clock = Clock()
    lease, wall, real = clock.lease_micros(), clock.wall_micros(), time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + step_seconds * 1_000_000_000)
    assert abs(clock.wall_micros() - wall - step_seconds * 1_000_000) < 5_000_000
    assert 0 <= clock.lease_micros() - lease < 5_000_000


def test_the_clock_of_leases_never_goes_back() -> None:
    clock = Clock()
    readings = [clock.lease_micros() for _ in range(1_000)]
    assert readings == sorted(readings)
