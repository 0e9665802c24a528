"""Executor: its life: register, claim and carry out until told to stop, drain, leave."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from hourhand.contracts.runner import Runner
from hourhand.contracts.store import Store
from hourhand.executor.attempt import LiveAttempt
from hourhand.executor.claimer import CallbackUrl, Claimer
from hourhand.executor.finisher import Finisher
from hourhand.executor.heart import Heart, Pulse
from hourhand.executor.scribe import Scribe
from hourhand.executor.workload import Workload
from hourhand.model import registry
from hourhand.model.errors import StoreError
from hourhand.model.hints import Hint
from hourhand.model.instance import Finished
from hourhand.model.words import TaskType
from hourhand.service.loop import repeat
from hourhand.service.metrics import of_executor
from hourhand.service.outage import Outage, persist

logger = logging.getLogger("hourhand.executor")
TEND_SECONDS = 1.0
LAST_WORDS_SECONDS = 10.0
LEAVE_SECONDS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How often it beats, how long a lease lasts, and how long what is being stopped may take."""

    heartbeat_seconds: float = 5.0
    lease_seconds: float = 15.0
    grace_seconds: float = 10.0


class Executor:
    """A process's right hand; build it, then `await run(stop)`."""

    def __init__(
        self,
        store: Store,
        runners: Mapping[TaskType, Runner],
        identity: registry.Executor,
        timing: Timing,
        *,
        outage: Outage,
        callback_url: CallbackUrl | None = None,
    ) -> None:
        self._store = store
        self._outage = outage
        self._timing = timing
        self._identity = identity
        self._metrics = of_executor(identity.group)
        self._scribe = Scribe(store, outage)
        self._finisher = Finisher(store, outage, self._finished, sizes=self._metrics.finished)
        pulse = self._pulse = Pulse(heartbeat_seconds=timing.heartbeat_seconds, lease_seconds=timing.lease_seconds)
        self._workload = Workload(
            runners,
            self._scribe,
            self._finisher,
            capacity=identity.capacity,
            grace_seconds=timing.grace_seconds,
            sure=pulse.sure,
            begun=self._begun,
        )
        self._heart = Heart(store, outage, identity, pulse, self._workload)
        self._claimer = Claimer(
            store,
            outage,
            self._heart,
            self._workload,
            self._scribe,
            sure=pulse.sure,
            lease_seconds=timing.lease_seconds,
            callback_url=callback_url,
        )

    async def run(self, stop: asyncio.Event, hurry: asyncio.Event | None = None) -> None:
        """Work until `stop`, then drain; `hurry` cuts the grace short."""
        await persist(self._heart.register, self._outage)
        unlisten = [
            self._store.listen(Hint.PENDING, lambda _: self._claimer.hint()),
            self._store.listen(Hint.CANCEL, self._told_to_cancel),
        ]
        lasting = [
            asyncio.create_task(repeat("the heartbeat", self._beat, self._outage, wake=self._heart.early)),
            asyncio.create_task(repeat("the upkeep of attempts", self._tend, self._outage)),
            asyncio.create_task(repeat("writing logs", self._scribe.step, self._outage)),
            asyncio.create_task(repeat("reporting outcomes", self._finisher.step, self._outage)),
            asyncio.create_task(repeat("following outcomes up", self._finisher.follow, self._outage)),
        ]
        claiming = asyncio.create_task(repeat("the claim", self._claimer.step, self._outage, wake=self._claimer.wake))
        try:
            await stop.wait()
            self._say_what_is_waited_for()
            for quiet in unlisten:
                quiet()
            await self._leave()
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORDS_SECONDS):
                    await self._claimer.finished()
            claiming.cancel()
            await asyncio.wait((claiming,), timeout=LEAVE_SECONDS)
            await self._workload.wind_up(hurry or asyncio.Event())
            await self._last_words()
        finally:
            for task in (claiming, *lasting):
                task.cancel()
            # A driver may wait for a server that says nothing; the process ends all the same.
            await asyncio.wait((claiming, *lasting), timeout=LEAVE_SECONDS)
            self._workload.close()

    async def _beat(self) -> float:
        rest = await self._heart.beat()
        self._workload.start_more()
        return rest

    async def _tend(self) -> float:
        self._workload.tend()
        return TEND_SECONDS

    def _told_to_cancel(self, ids: frozenset[int]) -> None:
        if not ids or not ids.isdisjoint(self._workload.held):
            self._heart.early.set()  # the store knows which attempt is meant

    def _begun(self, attempt: LiveAttempt) -> None:
        """On whichever loop it runs; the first attempt tells how late its instance is."""
        one = attempt.assignment
        if one.fence == 1:
            due = max(one.scheduled_time, one.available_at).timestamp()
            self._metrics.lateness.observe(max(0.0, self._pulse.store_time() - due))

    def _finished(self, attempt: LiveAttempt, answer: Finished | None) -> None:
        """The store has an outcome, or has refused it."""
        self._workload.drop(attempt)
        if answer is not None and answer.fenced:
            # Guarantee 6: it changed nothing, and that is said.
            self._metrics.fenced.inc()
            logger.warning(
                "instance %d: the outcome under fence %d was refused: it was superseded, or stored before",
                answer.instance_id,
                answer.fence,
            )

    def _say_what_is_waited_for(self) -> None:
        """At once: whoever has pressed Ctrl-C would wait without knowing for what."""
        if running := self._workload.running:
            what, they = ("1 instance has", "it is") if running == 1 else (f"{running} instances have", "they are")
            logger.warning(
                "stopping: %s up to %g s to end, then %s stopped and handed back (Ctrl-C again: at once)",
                what,
                self._timing.grace_seconds,
                they,
            )

    async def _leave(self) -> None:
        """Guarantee for the others: gone from the registry at once, so that nothing is sent here any more."""
        self._heart.leaving, self._heart.lanes = True, ()
        try:
            async with asyncio.timeout(LEAVE_SECONDS):
                await self._store.deregister(self._identity.id)
        except (StoreError, TimeoutError) as error:
            logger.warning("could not leave the registry, which will notice by itself: %s", error or "no answer")

    async def _last_words(self) -> None:
        """Everything that was said and done reaches the store, unless that stays away."""
        try:
            async with asyncio.timeout(LAST_WORDS_SECONDS):
                await self._finisher.emptied()
                await self._scribe.flush()
                await self._finisher.follow_now()
                # A claim may have been answered to nobody.
                await self._store.hand_back_unheld(self._identity.id, list(self._workload.held))
        except (TimeoutError, StoreError) as error:
            left = len(self._finisher)
            logger.warning("%d outcomes could not be stored; their leases will run out (%s)", left, error)
