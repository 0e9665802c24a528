"""Store: the verbs of the audit."""

from __future__ import annotations

from hourhand.model.audit import Change
from hourhand.store import audit
from hourhand.store.verbs.transactions import Transactions


class Auditing(Transactions):
    """Who changed what."""

    async def record(self, change: Change) -> None:
        await self._write(lambda tx: audit.record(tx, self._author, [change]))
