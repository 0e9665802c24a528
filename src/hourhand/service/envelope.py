"""Service: secrets in the store are sealed with AES-256-GCM under one key that the store does not know."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
_NONCE_BYTES = 12
_FORM = b"\x01"
_CHECK = b"hourhand: the check value of the key of secrets"


class Unsealable(Exception):
    """What was sealed cannot be opened: with another key, for something else, or it was tampered with."""


class Envelope:
    """Seals and opens; each secret is bound to what it belongs to, so that none can be put in another's place."""

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes, and this one {len(key)}")
        self._cipher = AESGCM(key)
        self.check = hmac.new(key, _CHECK, hashlib.sha256).hexdigest()
        """Tells whether two keys are the same; of the key it tells nothing."""

    def seal(self, secret: bytes, *, belongs_to: str) -> bytes:
        """Encrypt; never twice the same."""
        nonce = os.urandom(_NONCE_BYTES)
        return _FORM + nonce + self._cipher.encrypt(nonce, secret, belongs_to.encode())

    def open(self, sealed: bytes, *, belongs_to: str) -> bytes:
        """Decrypt what was sealed for the same purpose."""
        nonce, text = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
        if sealed[:1] != _FORM or len(nonce) < _NONCE_BYTES:
            raise Unsealable(f"the secret of {belongs_to} has no form that this release knows")
        try:
            return self._cipher.decrypt(nonce, text, belongs_to.encode())
        except InvalidTag:
            raise Unsealable(
                f"the secret of {belongs_to} was sealed with another key: start with the HOURHAND_SECRET_KEY "
                "that it was written under, or write it again"
            ) from None


def key_from(text: str) -> bytes:
    """Read a key: 32 bytes in base64; raises ValueError in words that do not hold it."""
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(f"is not base64: give {KEY_BYTES} random bytes, as `{NEW_KEY}` writes them") from None
    if len(key) != KEY_BYTES:
        raise ValueError(f"holds {len(key)} bytes: give {KEY_BYTES} random ones, as `{NEW_KEY}` writes them")
    return key


NEW_KEY = "openssl rand -base64 32"
