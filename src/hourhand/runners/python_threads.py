"""Runners: threads for handlers that block; one that never returns keeps its thread, but not the process."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Threads(Generic[T]):
    """At most so many, each made when it is first needed.

    Unlike those of concurrent.futures they are daemons: nobody waits for them when the interpreter ends.
    """

    def __init__(self, size: int, name: str) -> None:
        self._size = size
        self._name = name
        self._jobs: queue.SimpleQueue[tuple[Future[T], Callable[[], T]] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._made = 0
        self._unfinished = 0

    @property
    def busy(self) -> bool:
        """Whether whoever comes next has to wait for a thread."""
        return self._unfinished >= self._size

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Run it in a thread; the future can be cancelled until it has begun."""
        future: Future[T] = Future()
        with self._lock:
            self._unfinished += 1
            if self._made < min(self._unfinished, self._size):
                self._made += 1
                threading.Thread(target=self._work, name=f"{self._name}-{self._made}", daemon=True).start()
        self._jobs.put((future, work))
        return future

    def close(self) -> None:
        """Let the threads end, each once it has nothing to do."""
        with self._lock:
            for _ in range(self._made):
                self._jobs.put(None)

    def _work(self) -> None:
        while self._do_next():
            with self._lock:
                self._unfinished -= 1

    def _do_next(self) -> bool:
        """One piece of work; in a function of its own, so that nothing of it is held while waiting for the next."""
        job = self._jobs.get()
        if job is None:
            return False
        future, work = job
        if future.set_running_or_notify_cancel():
            try:
                value = work()
            except BaseException as error:  # noqa: BLE001 - it belongs to who waits for the future
                future.set_exception(error)
            else:
                future.set_result(value)
        return True
