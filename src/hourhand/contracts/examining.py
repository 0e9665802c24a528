"""Contracts: what a store tells of itself to whoever wonders what is wrong."""

from __future__ import annotations

from typing import Protocol

from hourhand.model.diagnosis import DatabaseFacts, Examined


class Examining(Protocol):
    """Facts, and no judgement: that is for `rules.doctor`. Each reads a bounded part of whatever has piled up."""

    async def examine(self) -> Examined:
        """Who works on the store, what of it is left undone, and since when."""

    async def database_facts(self) -> DatabaseFacts:
        """What the database tells of itself: its version, how it is set up, what its user may do."""
