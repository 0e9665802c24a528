"""Rules: the signature by which receivers of webhooks know that a notice is ours, and new."""

from __future__ import annotations

import hashlib
import hmac


def webhook_signature(secret: str, timestamp: str, body: bytes) -> str:
    """The value of `X-Hourhand-Signature`; the timestamp is signed along, so that nobody can send it again later."""
    return f"sha256={hmac.new(secret.encode(), timestamp.encode() + b'.' + body, hashlib.sha256).hexdigest()}"
