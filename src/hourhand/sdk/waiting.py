"""SDK: patience: how long to rest between looks at an instance, and how long to bear with a server that is away."""

from __future__ import annotations

import time

from hourhand.model.errors import StoreUnavailable


class Patience:
    """Whoever waits by asking again and again: often while there is news, less and less often while there is none.

    What is asked may be away for a while, such as a server that is restarted: after `outage_seconds` without an answer
    that is an error.
    """

    def __init__(self, first_seconds: float, last_seconds: float, outage_seconds: float) -> None:
        self._first = first_seconds
        self._last = last_seconds
        self._outage = outage_seconds
        self._next = first_seconds
        self._answered_at = time.monotonic()

    def rest(self, *, news: bool = False) -> float:
        """How long to rest now, in seconds."""
        delay = self._first if news else self._next
        self._next = min(delay * 1.5, self._last)
        return delay

    def answered(self) -> None:
        """There was an answer."""
        self._answered_at = time.monotonic()

    def bear(self, error: StoreUnavailable) -> None:
        """There was none: raise the error once there has been none for too long."""
        if time.monotonic() - self._answered_at > self._outage:
            raise error
