"""Rules: the order of an instance's log lines."""

from __future__ import annotations


def line_seq(fence: int, counter: int) -> int:
    """Lines of a later attempt come after those of an earlier one; below 2⁵³, so that JavaScript can hold it."""
    return fence * 2**32 + counter
