"""Which name was probably meant: found among thousands without holding anybody up."""

from __future__ import annotations

import time

from hourhand.rules.closest import FEW, Closest


def test_the_closest_name_is_found_and_far_ones_are_not() -> None:
    close = Closest(["extract", "load", "loads", ""])
    assert close.to("laod") == "load"
    assert close.to("zzz") is None
    assert Closest([""]).to("") == ""


def test_the_closest_of_many_that_are_alike_is_found() -> None:
    names = [f"daily_report_{number:05}" for number in range(5_000)]
    assert Closest(names).to("daily_rpeort_04321") == "daily_report_04321"


def test_only_the_first_few_are_looked_for() -> None:
    close = Closest(["load"])
    assert [close.to("laod") for _ in range(FEW + 2)] == ["load"] * FEW + [None] * 2


def test_thousands_of_misspelt_names_take_no_minutes() -> None:
    close = Closest(f"daily_report_{number:05}" for number in range(10_000))
    begun = time.monotonic()
    for number in range(5_000):
        close.to(f"daily_rpeort_{number:05}")
    assert time.monotonic() - begun < 20  # it was ten minutes
