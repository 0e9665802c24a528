"""Lines of an instance come in order, across its attempts."""

from __future__ import annotations

from hourhand.rules.lines import line_seq


def test_lines_of_a_later_attempt_come_later() -> None:
    assert line_seq(1, 0) < line_seq(1, 1) < line_seq(2, 0)


def test_a_number_fits_into_javascript() -> None:
    assert line_seq(2**20, 2**32 - 1) < 2**53
