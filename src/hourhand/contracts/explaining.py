"""Contracts: why an instance is where it is."""

from __future__ import annotations

from typing import Protocol

from hourhand.model.explanation import Explanation


class Explaining(Protocol):
    """Why."""

    async def explain(self, instance_id: int) -> Explanation:
        """Why it has not started yet, still runs, or ended as it did; by the predicates that decide.

        Gone after retention, as the instance itself.
        """
