"""Executor: starts attempts on the loop they belong to, and brings their outcomes back to the executor's."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Mapping

from hourhand.contracts.runner import Runner
from hourhand.executor.attempt import LiveAttempt
from hourhand.executor.handler_loop import HandlerLoops
from hourhand.executor.slots import Slots
from hourhand.model.instance import Outcome
from hourhand.model.words import OutcomeKind, TaskType

GATHER_SECONDS = 0.002
Ended = Callable[[LiveAttempt, Outcome | None, float], None]


class Carrier:
    """Users' handlers run on a loop of their own (docs/adr/0008), everything else on the executor's."""

    def __init__(
        self,
        runners: Mapping[TaskType, Runner],
        slots: Slots,
        *,
        begun: Callable[[LiveAttempt], None],
        started: Callable[[LiveAttempt], None],
        ended: Ended,
        settled: Callable[[], None],
    ) -> None:
        self._runners = runners
        self._slots = slots
        self._begun, self._started, self._ended_one, self._settled = begun, started, ended, settled
        self._loop = asyncio.get_running_loop()
        self._handlers = HandlerLoops()
        self._posted: set[LiveAttempt] = set()
        """Handed to a handlers' loop that may not have looked yet."""
        self._ended: deque[tuple[LiveAttempt, Outcome | None, float]] = deque()
        self._crossing = False

    @property
    def busy(self) -> bool:
        """Whether outcomes are on their way back."""
        return bool(self._ended)

    def start(self, attempts: Iterable[LiveAttempt]) -> None:
        """Start these, each where it belongs."""
        handlers = []
        for one in attempts:
            if one.definition.type is TaskType.PYTHON:
                handlers.append(one)
            else:
                self._start(one, self._loop)
        if handlers:
            self._posted.update(handlers)
            self._post(handlers)

    def watch(self) -> None:
        """Look after the handlers' loops; what a blocked one never looked at starts on a fresh one."""
        self._posted = {one for one in self._posted if not one.begun}
        if self._handlers.watch() and self._posted:
            self._post(tuple(self._posted))

    def close(self) -> None:
        """End the handlers' loops."""
        self._handlers.stop()

    def _post(self, attempts: Iterable[LiveAttempt]) -> None:
        loop = self._handlers.loop
        loop.call_soon_threadsafe(self._start_all, attempts, loop)

    def _start_all(self, attempts: Iterable[LiveAttempt], loop: asyncio.AbstractEventLoop) -> None:
        for one in attempts:
            self._start(one, loop)

    def _start(self, attempt: LiveAttempt, loop: asyncio.AbstractEventLoop) -> None:
        """On the loop itself."""
        if not self._slots.begin(attempt):
            return
        attempt.loop = loop
        if attempt.stopped is not None:
            self._end(attempt, None, 0.0)  # asked to stop before there was anything to stop
            return
        attempt.task = loop.create_task(self._carry_out(attempt))
        if attempt.stopped is not None:
            # Asked just now. After the first step, since a task cancelled before that would never tell.
            loop.call_soon(attempt.task.cancel)
        if attempt.definition.timeout_seconds is not None:
            self._loop.call_soon_threadsafe(self._started, attempt)

    async def _carry_out(self, attempt: LiveAttempt) -> None:
        """One attempt, from its start to its outcome; whatever the work does, this ends with an outcome."""
        begun = time.perf_counter()
        self._begun(attempt)
        outcome: Outcome | None
        try:
            runner = self._runners.get(attempt.definition.type)
            outcome = _no_runner(attempt) if runner is None else await runner.run(attempt)
        except asyncio.CancelledError:
            outcome = None
        except BaseException as error:  # noqa: BLE001 - nothing that users' work raises may end the executor
            attempt.log("the runner failed", level="error", exception=traceback.format_exc())
            outcome = Outcome(kind=OutcomeKind.FAILED, error_message=f"{type(error).__name__}: {error}")
        self._end(attempt, outcome, time.perf_counter() - begun)

    def _end(self, attempt: LiveAttempt, outcome: Outcome | None, seconds: float) -> None:
        if attempt.loop is self._loop:
            self._ended_one(attempt, outcome, seconds)
            self._settled()
            return
        self._ended.append((attempt, outcome, seconds))
        # On a handlers' loop the slot is passed on without a crossing, if what waits first is a handler too.
        following = self._slots.pass_on(attempt, _is_handler)
        if following is not None and attempt.loop is not None:
            self._start(following, attempt.loop)
        if not self._crossing:
            self._crossing = True
            self._loop.call_soon_threadsafe(self._arrive)

    def _arrive(self) -> None:
        """Back on the executor's loop. Each crossing wakes a thread: while more wait, what ends next goes along."""
        if self._slots.waiting:
            self._loop.call_later(GATHER_SECONDS, self._conclude)
        else:
            self._conclude()

    def _conclude(self) -> None:
        self._crossing = False  # before they are taken: what comes after this crosses by itself
        while self._ended:
            self._ended_one(*self._ended.popleft())
        self._settled()


def _is_handler(attempt: LiveAttempt) -> bool:
    return attempt.stopped is None and attempt.definition.type is TaskType.PYTHON


def _no_runner(attempt: LiveAttempt) -> Outcome:
    kind = attempt.definition.type.value
    return Outcome(
        kind=OutcomeKind.FAILED, retryable=False, error_message=f"this executor has no runner for {kind} tasks"
    )
