"""Store: the verbs of whoever wonders what is wrong."""

from __future__ import annotations

from dataclasses import replace

from hourhand.model.diagnosis import DatabaseFacts, Examined
from hourhand.store import examine
from hourhand.store.verbs.transactions import Transactions


class Examining(Transactions):
    """Facts, and no judgement."""

    async def examine(self) -> Examined:
        found = await self._read(lambda tx: examine.examine(tx, lease_seconds=self.lease_seconds))
        return replace(found, days_ahead=await self.database.days_ahead())

    async def database_facts(self) -> DatabaseFacts:
        return await self.database.facts()
