"""Contracts: secrets that are stored sealed, and the key that they are sealed with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from hourhand.model.sealing import Resealed

Reseal = Callable[[str, bytes], bytes | None]
"""Given what a secret belongs to and how it is sealed, seals it anew; None if it cannot be opened.

It neither waits nor changes anything.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSecret:
    """A secret on its way into the store, which alone knows what it will belong to."""

    seal: Callable[[str], bytes] = field(repr=False)
    """Given what it belongs to, seals it; it neither waits nor changes anything."""
    sealed_with: str
    """The check value of the key."""


class Sealing(Protocol):
    """Of the key the store knows a check value only."""

    async def agree_on_key(self, check: str) -> bool:
        """Whether this is the check value of the key that seals the store's secrets; the first one decides."""

    async def key_check(self) -> str | None:
        """The check value of the key that seals the store's secrets; None as long as none was sealed."""

    async def reseal(self, anew: Reseal, *, before: str, after: str) -> Resealed:
        """Seal every secret with another key, all or none; how many.

        What cannot be opened is of no use with either key: it stays as it is, and is named.
        `before` and `after` are the keys' check values; a store whose key is another than `before` is refused.
        """
