"""Store: the verbs of explaining."""

from __future__ import annotations

from hourhand.store.verbs.transactions import Transactions


class Explaining(Transactions):
    """Why."""
