"""Store: the verb that explains an instance."""

from __future__ import annotations

from hourhand.model.explanation import Explanation
from hourhand.store import explain
from hourhand.store.verbs.transactions import Transactions


class Explaining(Transactions):
    """Why."""

    async def explain(self, instance_id: int) -> Explanation:
        return await self._read(
            lambda tx: explain.explain(
                tx, self._versions, instance_id, lease_seconds=self.lease_seconds, author=self._author
            )
        )
