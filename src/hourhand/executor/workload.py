"""Executor: the attempts in hand, from the claim until the store has their outcomes."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from hourhand.contracts.runner import Runner
from hourhand.executor.attempt import LiveAttempt, Why
from hourhand.executor.carrier import Carrier
from hourhand.executor.finisher import Finisher
from hourhand.executor.pace import Pace
from hourhand.executor.scribe import Scribe
from hourhand.executor.slots import Slots
from hourhand.executor.verdict import verdict
from hourhand.model.instance import Outcome
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.rules.lifecycle import isolated

logger = logging.getLogger("hourhand.executor")
BATCH = 500
UNFINISHED = 2 * BATCH
QUEUED_SECONDS = 2.0
GIVE_UP_SECONDS = 10.0


class Workload:
    """Everything this executor holds, under its own bounds; used on the executor's loop only."""

    def __init__(
        self,
        runners: Mapping[TaskType, Runner],
        scribe: Scribe,
        finisher: Finisher,
        *,
        capacity: int,
        grace_seconds: float,
        sure: Callable[[], bool],
        begun: Callable[[LiveAttempt], None],
    ) -> None:
        self._scribe = scribe
        self._finisher = finisher
        self._grace = grace_seconds
        self._loop = asyncio.get_running_loop()
        self._slots = Slots(capacity, sure)
        self._carrier = Carrier(
            runners,
            self._slots,
            begun=begun,
            started=self._started,
            ended=self._ended,
            settled=self._slots_freed,
        )
        self._pace = Pace()
        self._closing: set[asyncio.Task[None]] = set()
        """They have ended, and their last lines are being written."""
        self._moved = asyncio.Event()
        self.held: dict[int, LiveAttempt] = {}
        self.room_made = asyncio.Event()

    # Claimed

    @property
    def has_lost(self) -> bool:
        """Whether something in hand has lost two executors: one such at a time."""
        return any(isolated(one.assignment.loss_count) for one in self.held.values())

    @property
    def running(self) -> int:
        """How many have been started and have not ended."""
        return self._slots.taken

    def room(self) -> int:
        """How many more to claim."""
        ahead = min(self._pace.ahead(), max(0, 2 * BATCH - self._slots.capacity))
        in_hand = self._slots.taken + self._slots.waiting + len(self._closing)
        room = self._slots.capacity + ahead - in_hand
        if len(self._finisher) > UNFINISHED or (self._slots.waiting and room < ahead // 2):
            return 0
        return max(0, min(BATCH, room))

    def take(self, attempts: Iterable[LiveAttempt]) -> None:
        """Hold what was claimed, and start as much of it as there are slots for."""
        for one in attempts:
            older = self.held.get(one.held.instance_id)
            if older is not None:
                self.stop(older, Why.SUPERSEDED)  # the store would not have given it out again otherwise
            self.held[one.held.instance_id] = one
            self._slots.enqueue(one)
        self.start_more()

    def start_more(self) -> None:
        """Fill the free slots."""
        starting = []
        while (attempt := self._slots.next()) is not None:
            if attempt.stopped is None:
                starting.append(attempt)
            else:
                self._ended(attempt, None, 0.0)
        self._carrier.start(starting)

    def give_back(self, attempt: LiveAttempt, delay_seconds: float = 0.0) -> None:
        """Hand one back that has not started, for others to take."""
        self.held.setdefault(attempt.held.instance_id, attempt)
        self._hand_on(attempt, Outcome(kind=OutcomeKind.HANDED_BACK, delay_seconds=delay_seconds), 0.0)

    # Ended

    def _started(self, attempt: LiveAttempt) -> None:
        if not attempt.done and attempt.definition.timeout_seconds is not None:
            attempt.stop_timer = self._loop.call_later(
                attempt.definition.timeout_seconds, self.stop, attempt, Why.TIMED_OUT
            )

    def _ended(self, attempt: LiveAttempt, outcome: Outcome | None, seconds: float) -> None:
        self._slots.free(attempt)
        self._pace.done()
        self._moved.set()
        if not attempt.done:
            self._hand_on(attempt, outcome, seconds)

    def _slots_freed(self) -> None:
        self.start_more()
        self._moved.set()
        if self.room():
            self.room_made.set()

    def _hand_on(self, attempt: LiveAttempt, outcome: Outcome | None, seconds: float) -> None:
        attempt.done = True
        if attempt.stop_timer is not None:
            attempt.stop_timer.cancel()
        reported = verdict(attempt, outcome)
        if reported is None:
            self.drop(attempt)
            return
        reported = replace(reported, duration_ms=round(seconds * 1_000))
        if not attempt.unwritten:
            self._finisher.add(attempt, reported)
            return
        closing = self._loop.create_task(self._after_its_lines(attempt, reported))
        self._closing.add(closing)
        closing.add_done_callback(self._closed)

    async def _after_its_lines(self, attempt: LiveAttempt, outcome: Outcome) -> None:
        await self._scribe.written(attempt)
        self._finisher.add(attempt, outcome)

    def _closed(self, closing: asyncio.Task[None]) -> None:
        self._closing.discard(closing)
        self._slots_freed()

    def drop(self, attempt: LiveAttempt) -> None:
        """Hold it no longer: the store has its outcome, or wants none."""
        if self.held.get(attempt.held.instance_id) is attempt:
            del self.held[attempt.held.instance_id]
        self._scribe.forget(attempt.held)
        if len(self._finisher) == UNFINISHED:
            self.room_made.set()  # what had to wait for the store to take outcomes may be claimed again

    # Stopped

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
        self._carrier.watch()
        self.start_more()
        self.hand_back(claimed_before=time.monotonic() - QUEUED_SECONDS)

    def hand_back(self, *, claimed_before: float = math.inf) -> None:
        """Give unstarted ones back for others to take."""
        for one in self._slots.withdraw(claimed_before):
            self.give_back(one)

    async def wind_up(self, hurry: asyncio.Event) -> None:
        """Drain: what runs gets the grace, then it is stopped."""
        self.hand_back()
        waits = [asyncio.create_task(self._until(self._idle)), asyncio.create_task(hurry.wait())]
        await asyncio.wait(waits, timeout=self._grace, return_when=asyncio.FIRST_COMPLETED)
        for one in waits:
            one.cancel()
        for attempt in self._slots.holders():
            self.stop(attempt, Why.SHUTDOWN)
        await self._until(self._reported)

    def _idle(self) -> bool:
        return not self._slots.taken and not self._carrier.busy

    def _reported(self) -> bool:
        return all(one.done for one in self._slots.holders()) and not self._carrier.busy and not self._closing

    async def _until(self, reached: Callable[[], bool]) -> None:
        while not reached():
            self._moved.clear()
            await self._moved.wait()

    def close(self) -> None:
        """End the handlers' loops."""
        self._carrier.close()
