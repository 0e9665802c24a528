from __future__ import annotations

import pytest

from hourhand.cli.moments import read
from hourhand.model.errors import InvalidInput


@pytest.mark.parametrize(
    ("typed", "zone", "meant"),
    [
        ("2027-03-28T02:30", "Europe/Berlin", "2027-03-28T01:00:00Z"),  # skipped: the first moment after it
        ("2027-10-31T02:30", "Europe/Berlin", "2027-10-31T00:30:00Z"),  # twice: the first time
        ("2027-06-01T12:00", "Europe/Berlin", "2027-06-01T10:00:00Z"),
        ("2027-06-01", "Asia/Shanghai", "2027-05-31T16:00:00Z"),
        ("2027-03-28T02:30", "UTC", "2027-03-28T02:30:00Z"),
        ("2027-03-28T02:30+08:00", "Europe/Berlin", "2027-03-27T18:30:00Z"),
        ("1950-06-01T12:00", "Europe/Berlin", "1950-06-01T11:00:00Z"),
        ("2500-01-01T12:00", "Europe/Berlin", "2500-01-01T11:00:00Z"),
    ],
)
def test_a_time_without_an_offset_is_read_in_the_zone(typed: str, zone: str, meant: str) -> None:
    assert read(typed, "--run-at", zone) == meant


@pytest.mark.parametrize("typed", ["soon", "9999-12-31T23:59"])
def test_what_is_no_time_is_refused(typed: str) -> None:
    with pytest.raises(InvalidInput, match="is not a time"):
        read(typed, "--run-at", "Pacific/Niue")
