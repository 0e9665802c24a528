"""Runners: threads for handlers that block; one that never returns keeps neither its place nor the process."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Threads(Generic[T]):
    """So many at a time, each made when it is first needed.

    A thread cannot be stopped. One whose work is given up does not count any more, so that others find a place; but
    there are never more than twice as many as there should be. Unlike the threads of concurrent.futures these are
    daemons: nobody waits for them when the interpreter ends.
    """

    def __init__(self, size: int, name: str) -> None:
        self._size = size
        self._name = name
        self._asked: queue.SimpleQueue[tuple[Future[T], Callable[[], T]] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._made = 0
        self._unfinished: set[Future[T]] = set()
        self._given_up: set[Future[T]] = set()

    @property
    def given_up(self) -> int:
        """How many still run what was given up."""
        return len(self._given_up)

    @property
    def busy(self) -> bool:
        """Whether whoever comes next has to wait for a thread."""
        return len(self._unfinished) >= self._most

    @property
    def short(self) -> bool:
        """Whether more were given up than could be replaced, and whoever comes next has to wait, perhaps for ever."""
        return self.given_up > self._size and self.busy

    @property
    def _most(self) -> int:
        return min(self._size + self.given_up, 2 * self._size)

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Run it in a thread; the future can be cancelled until it has begun."""
        future: Future[T] = Future()
        with self._lock:
            self._unfinished.add(future)
            self._make()
        self._asked.put((future, work))
        return future

    def give_up(self, future: Future[T]) -> None:
        """Replace the thread in which this runs; once it returns after all, there is one fewer again."""
        with self._lock:
            if future in self._unfinished:
                self._given_up.add(future)
                self._make()

    def close(self) -> None:
        """Let the threads end, each once it has nothing to do."""
        with self._lock:
            for _ in range(self._made):
                self._asked.put(None)

    def _make(self) -> None:
        if self._made < min(len(self._unfinished), self._most):
            self._made += 1
            name = f"{self._name}-{next(self._numbers)}"
            threading.Thread(target=self._work, name=name, daemon=True).start()

    def _work(self) -> None:
        while self._do_next():
            pass

    def _do_next(self) -> bool:
        """One piece of work; in a function of its own, so that nothing of it is held while waiting for the next."""
        asked = self._asked.get()
        if asked is None:
            return False
        future, work = asked
        if not future.set_running_or_notify_cancel():
            return self._finished(future)
        # Its place is free before anybody hears of its end, so that who comes next on this news finds it.
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001 - it belongs to who waits for the future
            goes_on = self._finished(future)
            future.set_exception(error)
        else:
            goes_on = self._finished(future)
            future.set_result(value)
        return goes_on

    def _finished(self, future: Future[T]) -> bool:
        """Free its place; whether this thread is still needed."""
        with self._lock:
            self._unfinished.discard(future)
            self._given_up.discard(future)
            needed = self._made <= self._most
            self._made -= not needed
            return needed
