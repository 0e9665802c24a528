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


Heard = Callable[[frozenset[int]], None]
"""Called on the listener's loop with the ids that the hint names; none means: look for yourself."""
