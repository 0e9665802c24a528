"""Contracts: secrets that are stored sealed, and the key that they are sealed with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

Reseal = Callable[[str, bytes], bytes]
"""Given what a secret belongs to and how it is sealed, seals it anew; it neither waits nor changes anything."""


class Sealing(Protocol):
    """Of the key the store knows a check value only."""

    async def agree_on_key(self, check: str) -> bool:
        """Whether this is the check value of the key that seals the store's secrets; the first one decides."""

    async def key_check(self) -> str | None:
        """The check value of the key that seals the store's secrets; None as long as none was sealed."""

    async def reseal(self, anew: Reseal, *, before: str, after: str) -> int:
        """Seal every secret with another key, all or none; how many.

        `before` and `after` are the keys' check values; a store whose key is another than `before` is refused.
        """
