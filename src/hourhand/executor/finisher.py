"""Executor: hands outcomes to the store, many at a time, and looks after what follows from them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from prometheus_client import Histogram

from hourhand.contracts.store import Store
from hourhand.executor.attempt import LiveAttempt
from hourhand.model.answers import Aftermath
from hourhand.model.errors import StoreError
from hourhand.model.instance import Ending, Finished, Outcome
from hourhand.service.outage import Outage, persist

logger = logging.getLogger("hourhand.executor")
MOST = 500
FOLLOW_SECONDS = 0.05


class Finisher:
    """Outcomes wait here until the store has them; their attempts stay held, and leased, until then."""

    def __init__(
        self,
        store: Store,
        outage: Outage,
        finished: Callable[[LiveAttempt, Finished | None], None],
        *,
        sizes: Histogram,
    ) -> None:
        self._store = store
        self._sizes = sizes
        self._outage = outage
        self._finished = finished
        self._waiting: dict[tuple[int, int], tuple[LiveAttempt, Outcome]] = {}
        self._wake = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._aftermath = Aftermath()
        self._follow = asyncio.Event()

    def __len__(self) -> int:
        """How many the store does not have yet."""
        return len(self._waiting)

    def add(self, attempt: LiveAttempt, outcome: Outcome) -> None:
        """Take an outcome over."""
        self._waiting[attempt.held.instance_id, attempt.held.fence] = (attempt, outcome)
        self._empty.clear()
        self._wake.set()

    async def emptied(self) -> None:
        """Wait until the store has everything."""
        await self._empty.wait()

    async def step(self) -> float:
        """Wait for outcomes, and hand them on."""
        if not self._waiting:
            await self._wake.wait()
        self._wake.clear()
        while self._waiting:
            await self._flush()
        self._empty.set()
        return 0.0

    async def follow(self) -> float:
        """Release dependents and give permits, coalesced; apart, so that outcomes need not wait for it."""
        await self._follow.wait()
        self._follow.clear()
        await self.follow_now()
        return FOLLOW_SECONDS

    async def follow_now(self) -> None:
        """Look after all there is; the store leaves to the schedulers' sweep what it cannot do."""
        aftermath, self._aftermath = self._aftermath, Aftermath()
        await self._store.follow(aftermath)

    async def _flush(self) -> None:
        batch = dict(list(self._waiting.items())[:MOST])
        self._sizes.observe(len(batch))
        endings = [
            Ending(instance_id=instance_id, fence=fence, outcome=outcome)
            for (instance_id, fence), (_, outcome) in batch.items()
        ]
        try:
            flush = await persist(partial(self._store.flush, endings), self._outage)
        except StoreError as error:
            # Not for now but for good. The attempts' leases run out, and others try.
            logger.error("%d outcomes were refused by the store and are given up: %s", len(batch), error)  # noqa: TRY400
            answers: list[Finished] = []
        else:
            answers = flush.finished
            if flush.aftermath:
                self._aftermath.add(flush.aftermath)
                self._follow.set()
        for answer in answers:
            found = batch.pop((answer.instance_id, answer.fence), None)
            if found is not None:
                del self._waiting[answer.instance_id, answer.fence]
                self._finished(found[0], answer)
        for key, (attempt, _) in batch.items():
            del self._waiting[key]
            self._finished(attempt, None)
