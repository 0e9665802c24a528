"""Store: the verbs of figures."""

from __future__ import annotations

from hourhand.store.verbs.transactions import Transactions


class Statistics(Transactions):
    """Figures, from counters that are folded once and summed when read."""
