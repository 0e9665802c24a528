"""Contracts: pauses: nothing starts for a while."""

from __future__ import annotations

from typing import Protocol


class Pausing(Protocol):
    """A task, a group, or everything rests."""
