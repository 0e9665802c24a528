"""Rules: callbacks: the address at which work that goes on elsewhere reports its outcome is itself the credential."""

from __future__ import annotations

import hashlib
import hmac

DIGITS = 32
"""Hexadecimal: 128 bits, which nobody guesses and which keep an address short."""


def signature(key: bytes, instance_id: int, fence: int) -> str:
    """What only the store's key can make, for this attempt alone: the next one has another fence."""
    return hmac.new(key, f"{instance_id}/{fence}".encode(), hashlib.sha256).hexdigest()[:DIGITS]


def verify(key: bytes, instance_id: int, fence: int, given: str) -> bool:
    """Whether the signature is right; how long that takes says nothing of how much of it is."""
    return hmac.compare_digest(signature(key, instance_id, fence).encode(), given.encode("utf-8", "replace"))
