"""Store: the verbs of the audit."""

from __future__ import annotations

from functools import partial

from hourhand.model.audit import AuditEntry, AuditFilter, Change, Verification
from hourhand.model.page import Page
from hourhand.store import audit, audit_chain
from hourhand.store.verbs.transactions import Transactions


class Auditing(Transactions):
    """Who changed what."""

    async def record(self, change: Change) -> None:
        await self._write(lambda tx: audit.record(tx, self._author, [change]))

    async def get_audit(self, entry_id: int) -> AuditEntry:
        return await self._read(lambda tx: audit.get_audit(tx, entry_id))

    async def list_audit(
        self, wanted: AuditFilter | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Page[AuditEntry]:
        return await self._read(lambda tx: audit.list_audit(tx, wanted or AuditFilter(), limit=limit, cursor=cursor))

    async def seal_audit(self, *, limit: int = 1_000) -> int:
        sealed = 0
        while sealed < limit and (some := await self._write(partial(audit_chain.seal_audit, limit=limit - sealed))):
            sealed += some  # as many as one page holds: others write in between
        return sealed

    async def verify_audit(self, *, noted: str | None = None) -> Verification:
        return await audit_chain.verify_audit(self.database, noted=noted)

    async def retain_audit(self, *, days: int) -> int:
        return await audit_chain.retain_audit(self.database, days=days, now=await self.now())
