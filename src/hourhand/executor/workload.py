"""Executor: the attempts in hand: which wait for a slot, which run, and what came of those that ended."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from hourhand.contracts.runner import Runner
from hourhand.executor.attempt import LiveAttempt, Why
from hourhand.executor.finisher import Finisher
from hourhand.executor.handler_loop import HandlerLoops
from hourhand.executor.scribe import Scribe
from hourhand.model.instance import Outcome
from hourhand.model.words import ExecutorLossPolicy, OutcomeKind, TaskType
from hourhand.rules.lifecycle import isolated

logger = logging.getLogger("hourhand.executor")
BATCH = 500
UNFINISHED = 2 * BATCH
AHEAD_SECONDS = 0.1
"""What can be done in this time is claimed ahead, so that slots do not stand empty while the next is claimed."""
LONG_SECONDS = 0.25
"""Nothing is claimed ahead of work that takes longer: another executor may have a slot for it now."""
QUEUED_SECONDS = 2.0
GIVE_UP_SECONDS = 10.0
CROSSING = 100
CROSSING_SECONDS = 0.002


class Workload:
    """Everything this executor holds, under its own bounds."""

    def __init__(
        self,
        runners: Mapping[TaskType, Runner],
        scribe: Scribe,
        finisher: Finisher,
        *,
        capacity: int,
        grace_seconds: float,
        sure: Callable[[], bool],
    ) -> None:
        self._runners = runners
        self._scribe = scribe
        self._finisher = finisher
        self._capacity = capacity
        self._grace = grace_seconds
        self._sure = sure
        self._loop = asyncio.get_running_loop()
        self._handlers = HandlerLoops()
        self._ended: deque[tuple[LiveAttempt, Outcome | None, float]] = deque()
        self._queue: deque[LiveAttempt] = deque()
        self._running: set[LiveAttempt] = set()
        self._slots = threading.Lock()
        """Held while one moves from the queue to a slot, or out of it."""
        self._seconds = LONG_SECONDS
        """How long attempts take of late."""
        self._closing: set[asyncio.Task[None]] = set()
        self.held: dict[int, LiveAttempt] = {}
        self._moved = asyncio.Event()
        self.room_made = asyncio.Event()

    # Room

    @property
    def has_lost(self) -> bool:
        """Whether something in hand has lost two executors: one such at a time."""
        return any(isolated(one.assignment.loss_count) for one in self.held.values())

    @property
    def running(self) -> int:
        """How many slots are taken."""
        return len(self._running)

    def room(self) -> int:
        """How many more to claim."""
        ahead = 0 if self._seconds >= LONG_SECONDS else int(self._capacity * AHEAD_SECONDS / max(self._seconds, 1e-6))
        ahead = min(ahead, max(0, 2 * BATCH - self._capacity))
        room = self._capacity + ahead - len(self._running) - len(self._queue)
        if len(self._finisher) > UNFINISHED or (self._queue and room < ahead // 2):
            return 0
        return max(0, min(BATCH, room))

    def take(self, attempts: Iterable[LiveAttempt]) -> None:
        """Hold what was claimed, and start as much of it as there are slots for."""
        for one in attempts:
            self.held[one.held.instance_id] = one
            with self._slots:
                (self._queue.appendleft if isolated(one.assignment.loss_count) else self._queue.append)(one)
        self.start_more()

    def start_more(self) -> None:
        """Fill the free slots."""
        on_handlers: list[LiveAttempt] = []
        while True:
            with self._slots:
                attempt = self._next()
            if attempt is None:
                break
            if attempt.stopped is not None:
                self._conclude(attempt, None, 0.0)
            elif attempt.definition.type is TaskType.PYTHON:
                on_handlers.append(attempt)
            else:
                self._start(attempt, self._loop)
        if on_handlers:
            loop = self._handlers.loop
            loop.call_soon_threadsafe(self._start_all, on_handlers, loop)

    def _next(self) -> LiveAttempt | None:
        """Give a free slot to the first that waits."""
        if not self._queue or len(self._running) >= self._capacity:
            return None
        if self._queue[0].stopped is None and not self._sure():
            return None  # its lease may have run out; the next good beat tells
        attempt = self._queue.popleft()
        self._running.add(attempt)
        return attempt

    def _next_handler(self, ended: LiveAttempt) -> LiveAttempt | None:
        """On a handlers' loop: pass the slot on without a crossing, if what waits first is a handler too."""
        with self._slots:
            self._running.discard(ended)
            first = self._queue[0] if self._queue else None
            if first is None or first.stopped is not None or first.definition.type is not TaskType.PYTHON:
                return None
            return self._next()

    def _start_all(self, attempts: Iterable[LiveAttempt], loop: asyncio.AbstractEventLoop) -> None:
        for one in attempts:
            self._start(one, loop)

    def _start(self, attempt: LiveAttempt, loop: asyncio.AbstractEventLoop) -> None:
        attempt.loop = loop
        attempt.task = loop.create_task(self._carry_out(attempt))
        if attempt.stopped is not None:
            attempt.task.cancel()  # asked to stop before there was anything to stop
        if attempt.definition.timeout_seconds is not None:
            self._loop.call_soon_threadsafe(self._time, attempt, attempt.definition.timeout_seconds)

    def _time(self, attempt: LiveAttempt, seconds: float) -> None:
        if not attempt.done:
            attempt.stop_timer = self._loop.call_later(seconds, self.stop, attempt, Why.TIMED_OUT)

    # Carrying out

    async def _carry_out(self, attempt: LiveAttempt) -> None:
        """One attempt, from its start to its outcome; whatever the work does, this ends with an outcome."""
        begun = time.perf_counter()
        outcome: Outcome | None
        try:
            runner = self._runners.get(attempt.definition.type)
            outcome = _no_runner(attempt) if runner is None else await runner.run(attempt)
        except asyncio.CancelledError:
            outcome = None
        except BaseException as error:  # noqa: BLE001 - nothing that users' work raises may end the executor
            attempt.log("the runner failed", level="error", exception=traceback.format_exc())
            outcome = Outcome(kind=OutcomeKind.FAILED, error_message=f"{type(error).__name__}: {error}")
        seconds = time.perf_counter() - begun
        if attempt.loop is self._loop:
            self._conclude(attempt, outcome, seconds)
            self._slot_freed()
            return
        self._ended.append((attempt, outcome, seconds))
        following = self._next_handler(attempt)
        if following is not None and attempt.loop is not None:
            self._start(following, attempt.loop)
        if len(self._ended) in (1, CROSSING):
            # Each crossing wakes a thread: while more is under way, what ends shortly after this goes along.
            asyncio.get_running_loop().call_later(CROSSING_SECONDS if following else 0, self._cross)

    def _cross(self) -> None:
        if self._ended:
            self._loop.call_soon_threadsafe(self._conclude_all)

    def _conclude_all(self) -> None:
        """Back on the executor's loop: many at once, since each crossing costs."""
        while self._ended:
            self._conclude(*self._ended.popleft())
        self._slot_freed()

    def _slot_freed(self) -> None:
        self.start_more()
        if self.room():
            self.room_made.set()

    def _conclude(self, attempt: LiveAttempt, outcome: Outcome | None, seconds: float) -> None:
        self._moved.set()
        with self._slots:
            self._running.discard(attempt)
        self._seconds += (seconds - self._seconds) * 0.05
        if not attempt.done:
            self._hand_on(attempt, outcome, seconds)

    def _hand_on(self, attempt: LiveAttempt, outcome: Outcome | None, seconds: float) -> None:
        attempt.done = True
        if attempt.stop_timer is not None:
            attempt.stop_timer.cancel()
        verdict = _verdict(attempt, outcome)
        if verdict is None:
            self.drop(attempt)
            return
        verdict = replace(verdict, duration_ms=round(seconds * 1_000))
        if not attempt.unwritten:
            self._finisher.add(attempt, verdict)
            return
        closing = self._loop.create_task(self._after_its_lines(attempt, verdict))
        self._closing.add(closing)
        closing.add_done_callback(self._closed)

    async def _after_its_lines(self, attempt: LiveAttempt, outcome: Outcome) -> None:
        await self._scribe.written(attempt)
        self._finisher.add(attempt, outcome)

    def _closed(self, closing: asyncio.Task[None]) -> None:
        self._closing.discard(closing)
        self._moved.set()

    def drop(self, attempt: LiveAttempt) -> None:
        """Hold it no longer: the store has its outcome, or wants none."""
        if self.held.get(attempt.held.instance_id) is attempt:
            del self.held[attempt.held.instance_id]
        self._scribe.forget(attempt.held)
        if len(self._finisher) == UNFINISHED:
            self.room_made.set()  # what had to wait for the store to take outcomes may be claimed again

    # Stopping

    def stop(self, attempt: LiveAttempt, why: Why) -> None:
        """Ask an attempt to stop; what does not, is given up after the grace and a while."""
        if attempt.stopped is None and not attempt.done:
            attempt.stop(why)
            self._loop.call_later(2 * self._grace + GIVE_UP_SECONDS, self._give_up, attempt)

    def _give_up(self, attempt: LiveAttempt) -> None:
        """Guarantee 10, for what cannot be killed: its outcome is reported all the same. It keeps its slot."""
        if not attempt.done:
            message = "it did not stop when it was asked to, and may still be running in its executor"
            attempt.log(message, level="error")
            logger.warning("attempt %s: %s", attempt.held, message)
            self._hand_on(attempt, Outcome(kind=OutcomeKind.CANCELLED, error_message=message), 0.0)
            self._moved.set()

    def tend(self) -> None:
        """What has to be looked after from time to time."""
        self._handlers.watch()
        self.start_more()
        self.hand_back(claimed_before=time.monotonic() - QUEUED_SECONDS)

    def hand_back(self, *, claimed_before: float = math.inf) -> None:
        """Give unstarted ones back for others to take."""
        with self._slots:
            unstarted = [one for one in self._queue if one.claimed_at < claimed_before]
            for one in unstarted:
                self._queue.remove(one)
        for one in unstarted:
            self._hand_on(one, Outcome(kind=OutcomeKind.HANDED_BACK), 0.0)

    async def wind_up(self, hurry: asyncio.Event) -> None:
        """Drain: what runs gets the grace, then it is stopped."""
        self.hand_back()
        waits = [asyncio.create_task(self._until(lambda: not self._running)), asyncio.create_task(hurry.wait())]
        await asyncio.wait(waits, timeout=self._grace, return_when=asyncio.FIRST_COMPLETED)
        for one in waits:
            one.cancel()
        for attempt in tuple(self._running):
            self.stop(attempt, Why.SHUTDOWN)
        await self._until(lambda: all(one.done for one in tuple(self._running)) and not self._closing)

    async def _until(self, reached: Callable[[], bool]) -> None:
        while not reached():
            self._moved.clear()
            await self._moved.wait()

    def close(self) -> None:
        """End the handlers' loops."""
        self._handlers.stop()


def _no_runner(attempt: LiveAttempt) -> Outcome:
    kind = attempt.definition.type.value
    return Outcome(
        kind=OutcomeKind.FAILED, retryable=False, error_message=f"this executor has no runner for {kind} tasks"
    )


def _verdict(attempt: LiveAttempt, outcome: Outcome | None) -> Outcome | None:
    """What is reported of an attempt that may have been stopped; None for one that is no longer this executor's."""
    why = attempt.stopped
    if why is Why.SUPERSEDED:
        logger.warning(
            "instance %d: the attempt under fence %d was superseded; what came of it is not reported",
            attempt.held.instance_id,
            attempt.held.fence,
        )
        return None
    outcome = outcome or Outcome(kind=OutcomeKind.CANCELLED)
    if why is None or outcome.kind is OutcomeKind.SUCCESS:
        return outcome
    match why:
        case Why.TIMED_OUT:
            message = f"timed out after {attempt.definition.timeout_seconds} s"
            return replace(outcome, kind=OutcomeKind.TIMED_OUT, error_message=message, retryable=True)
        case Why.SHUTDOWN:
            if attempt.definition.executor_loss_policy is ExecutorLossPolicy.FAIL:
                return replace(outcome, kind=OutcomeKind.LOST, error_message=why.value)
            # Not counted as a loss: a deployment is no sign of poison, and a checkpoint is kept.
            return Outcome(kind=OutcomeKind.HANDED_BACK)
        case _:
            return replace(outcome, kind=OutcomeKind.CANCELLED)
