"""Store: the verbs of many at once."""

from __future__ import annotations

from hourhand.store.verbs.transactions import Transactions


class Bulk(Transactions):
    """Many at once."""
