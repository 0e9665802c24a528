"""The signature of a webhook."""

from __future__ import annotations

from hourhand.rules.signature import webhook_signature


def test_a_signature_depends_on_secret_time_and_body() -> None:
    signed = webhook_signature("s", "1", b"{}")
    assert signed == "sha256=b253639bcd705ed1cda3073f66104f16988bd40272584dea7d0d345ae93e61cc"
    others = {webhook_signature(*one) for one in [("t", "1", b"{}"), ("s", "2", b"{}"), ("s", "1", b"[]")]}
    assert signed not in others
    assert len(others) == 3
