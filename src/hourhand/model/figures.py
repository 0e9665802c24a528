"""Model: figures of a cluster at one moment, and the signs of whether it does its work."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFigures:
    """What one group has before it, and who is there to do it."""

    group: str
    due: int = 0
    """Pending, and it could be claimed now."""
    later: int = 0
    """Pending, and its time has not come."""
    planned: int = 0
    running: int = 0
    zombies: int = 0
    """Running, by the store, although the lease has run out."""
    oldest_due_seconds: float = 0.0
    """How long the oldest of those due has been waiting to be claimed."""
    executors: int = 0
    """Those that have beaten within a lease."""
    slots: int = 0
    slots_used: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What the store knows of those who work on it."""

    cycle_seconds: float | None
    """How long ago some scheduler last completed a cycle; None when none ever has."""
    days_ahead: int | None
    """For how many days after today there are partitions; None where there need be none."""
