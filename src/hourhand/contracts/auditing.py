"""Contracts: the audit: who changed what, in a chain that shows whether anybody meddled with it."""

from __future__ import annotations

from typing import Protocol

from hourhand.model.audit import Change


class Auditing(Protocol):
    """Who changed what."""

    async def record(self, change: Change) -> None:
        """Keep what changed nothing, such as a refusal, in a transaction of its own."""
