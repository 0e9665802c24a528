"""Executor: which attempts wait for a slot and which have one; used from the executor's loop and the handlers'."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from hourhand.executor.attempt import LiveAttempt
from hourhand.rules.lifecycle import isolated


class Slots:
    """A queue in the order of the claim, and at most `capacity` that have left it."""

    def __init__(self, capacity: int, sure: Callable[[], bool]) -> None:
        self.capacity = capacity
        self._sure = sure
        self._queue: deque[LiveAttempt] = deque()
        self._taken: set[LiveAttempt] = set()
        self._lock = threading.Lock()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._queue)

    @property
    def taken(self) -> int:
        """How many have a slot."""
        return len(self._taken)

    def holders(self) -> tuple[LiveAttempt, ...]:
        """Those that have a slot."""
        with self._lock:
            return tuple(self._taken)

    def enqueue(self, attempt: LiveAttempt) -> None:
        """At the end; what must not wait beside others goes first."""
        with self._lock:
            (self._queue.appendleft if isolated(attempt.assignment.loss_count) else self._queue.append)(attempt)

    def next(self) -> LiveAttempt | None:
        """Give a free slot to the first that waits."""
        with self._lock:
            return self._next()

    def pass_on(self, ended: LiveAttempt, fits: Callable[[LiveAttempt], bool]) -> LiveAttempt | None:
        """Free a slot and give it to the first that waits, if that one fits."""
        with self._lock:
            self._taken.discard(ended)
            return self._next() if self._queue and fits(self._queue[0]) else None

    def free(self, attempt: LiveAttempt) -> None:
        """Its slot is free, if it had one."""
        with self._lock:
            self._taken.discard(attempt)

    def withdraw(self, claimed_before: float) -> list[LiveAttempt]:
        """Take out of the queue what was claimed so long ago."""
        with self._lock:
            withdrawn = [one for one in self._queue if one.claimed_at < claimed_before]
            for one in withdrawn:
                self._queue.remove(one)
        return withdrawn

    def begin(self, attempt: LiveAttempt) -> bool:
        """Whether this is the first to start it: it may have been posted to two loops."""
        with self._lock:
            first, attempt.begun = not attempt.begun, True
        return first

    def _next(self) -> LiveAttempt | None:
        if not self._queue or len(self._taken) >= self.capacity:
            return None
        if self._queue[0].stopped is None and not self._sure():
            return None  # its lease may have run out; the next good beat tells
        attempt = self._queue.popleft()
        self._taken.add(attempt)
        return attempt
