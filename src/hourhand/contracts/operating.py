"""Contracts: operations that people start: an approved plan becomes an instance."""

from __future__ import annotations

from typing import Protocol

from hourhand.model.instance import Submitted
from hourhand.model.operation import Start


class Operating(Protocol):
    """What was approved, who asked for it, and the instance that carries it out are written at once."""

    async def start_operation(self, start: Start) -> Submitted:
        """One instance of the built-in task of its kind, which is made if need be.

        In the same transaction: the audit entry with the whole script, and the first lines of the instance log.
        While an instance with the same `key` lives, that one is the answer. What is held waits to be dispatched.
        """

    async def started_before(self) -> Submitted | None:
        """What this very request has started before, if it came with a key (`on_behalf(…, once=…)`) and comes again."""
