"""Store: the verbs of alerts."""

from __future__ import annotations

from hourhand.store.verbs.transactions import Transactions


class Alerting(Transactions):
    """Who is told of what, at least once."""
