"""Model: what a handler may raise to say what is to follow from its attempt."""

from __future__ import annotations

from datetime import timedelta

from hourhand.model.errors import InvalidInput, shown

LONGEST_WAIT = timedelta(days=3660)


class Retry(Exception):
    """The attempt failed, and is to be tried again after a while of the handler's own choice.

    It counts as any other failure does: once `max_retries` are used up the instance fails, with this message.
    """

    def __init__(self, message: str = "", *, after: float | timedelta) -> None:
        self.after = _wait(after)
        super().__init__(message or f"to be tried again after {self.after.total_seconds():g} s")


class Fail(Exception):
    """The attempt failed, and trying again is of no use: the instance fails, whatever `max_retries` says."""


def _wait(after: float | timedelta) -> timedelta:
    if isinstance(after, int | float) and not isinstance(after, bool) and 0 <= after <= LONGEST_WAIT.total_seconds():
        return timedelta(seconds=after)
    if isinstance(after, timedelta) and timedelta() <= after <= LONGEST_WAIT:
        return after
    raise InvalidInput.one(
        "after", after, f"{shown(after)} is no time to wait: give seconds or a timedelta, from 0 to ten years"
    )
