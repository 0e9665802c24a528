"""Contracts: figures over what has ended and what waits."""

from __future__ import annotations

from typing import Protocol


class Statistics(Protocol):
    """Figures, from counters that are folded once and summed when read."""
