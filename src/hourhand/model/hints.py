"""Model: hints: what may be worth a look; they make things fast, and nothing depends on them."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class Hint(StrEnum):
    """What may have happened."""

    PENDING = "pending"
    """Something may be claimed, now or soon."""
    CANCEL = "cancel"
    """Instances (by id) are to be stopped."""
    WAKE = "wake"
    """A task may have to be looked at earlier than was known."""
    TASKS = "tasks"
    """Tasks (by id) were made, edited or deleted."""
    INSTANCES = "instances"
    """Instances (by id) came to be, moved on, or ended."""
    EXECUTORS = "executors"
    """The registry of executors has changed."""
    GROUPS = "groups"
    """Groups (by id) were made, edited or deleted."""
    PAUSES = "pauses"
    """Something was paused or goes on."""
    ALERTS = "alerts"
    """Alert rules or alerts have changed."""
    LINES = "lines"
    """Instances (by id) have written lines."""
    ACCESS = "access"
    """Users (by id) or tokens (by the negative of theirs) may no longer do what they could, or not in all sessions."""


Heard = Callable[[frozenset[int]], None]
"""Called on the listener's loop with the ids that the hint names; none means: look for yourself."""
Round = dict[Hint, frozenset[int]]
"""What was rung or heard, by hint; no ids means: look for yourself."""
MOST_IDS = 300
"""Whoever would hear of more is told to look for itself."""


def gather(heard: Round, hint: Hint, ids: frozenset[int]) -> None:
    """Add to what was heard; of too many ids none is kept."""
    if hint in heard and heard[hint] and ids:
        ids |= heard[hint]
    elif hint in heard:
        ids = frozenset()
    heard[hint] = ids if len(ids) <= MOST_IDS else frozenset()
