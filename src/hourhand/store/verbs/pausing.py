"""Store: the verbs of pauses."""

from __future__ import annotations

from hourhand.store.verbs.transactions import Transactions


class Pausing(Transactions):
    """A task, a group, or everything rests."""
