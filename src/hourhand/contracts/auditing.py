"""Contracts: the audit: who changed what, in a chain that shows whether anybody meddled with it."""

from __future__ import annotations

from typing import Protocol

from hourhand.model.audit import AuditEntry, AuditFilter, Change, Verification
from hourhand.model.page import Page


class Auditing(Protocol):
    """Who changed what; without its secrets, which are masked before anything is kept."""

    async def record(self, change: Change) -> None:
        """Keep what changed nothing, such as a refusal, in a transaction of its own."""

    async def get_audit(self, entry_id: int) -> AuditEntry:
        """One entry; NotFound also once retention has removed it."""

    async def list_audit(
        self, wanted: AuditFilter | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Page[AuditEntry]:
        """Newest first. A page may have fewer items than its limit, or none, and still have a next one."""

    async def seal_audit(self, *, limit: int = 1_000) -> int:
        """Make up to so many entries part of the chain, the oldest first; how many.

        Any number of processes may do this at once. Refused while there are entries behind the chain's head: going on
        would hide that somebody has meddled with it.
        """

    async def verify_audit(self, *, noted: str | None = None) -> Verification:
        """Go along the chain from the first entry that is kept; the first fault, and what is wrong there.

        `noted` is a head of an earlier verification, `number:hash`, which must still be part of the chain.
        """

    async def retain_audit(self, *, days: int) -> int:
        """Remove the entries of more than `days` days ago that are part of the chain; how many.

        The hash of the last of them stays, so that the chain can be verified from there.
        """
