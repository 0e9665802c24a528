"""Scheduler: forgets executors that have long been silent."""

from __future__ import annotations

import logging

from hourhand.contracts.store import Store

logger = logging.getLogger("hourhand.scheduler")
EVERY_SECONDS = 30.0


class Registrar:
    """Keeps the registry true."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def step(self) -> float:
        """Forget the silent."""
        for executor_id in await self._store.forget_executors():
            logger.warning("executor %s has been silent for long and is forgotten", executor_id)
        return EVERY_SECONDS
