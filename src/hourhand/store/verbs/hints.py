"""Store: the verb of whoever waits for something to do."""

from __future__ import annotations

from collections.abc import Callable

from hourhand.model.hints import Heard, Hint
from hourhand.store.verbs.transactions import Transactions


class Hints(Transactions):
    """What may be worth a look."""

    def listen(self, hint: Hint, heard: Heard) -> Callable[[], None]:
        return self._hints.listen(hint, heard)
