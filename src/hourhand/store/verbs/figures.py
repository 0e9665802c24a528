"""Store: the verbs of whoever watches a cluster."""

from __future__ import annotations

from hourhand.model.figures import GroupFigures, Signs
from hourhand.store import figures
from hourhand.store.verbs.transactions import Transactions


class Figures(Transactions):
    """Figures of this very moment."""

    async def figures(self) -> list[GroupFigures]:
        return await self._read(lambda tx: figures.figures(tx, lease_seconds=self.lease_seconds))

    async def sign_cycle(self, scheduler: str) -> None:
        # One statement, and no loss if it is lost: the next comes soon.
        await self.database.write(lambda tx: figures.sign_cycle(tx, scheduler), durable=False)

    async def signs(self) -> Signs:
        seconds = await self._read(figures.cycle_seconds)
        return Signs(cycle_seconds=seconds, days_ahead=await self.database.days_ahead())
