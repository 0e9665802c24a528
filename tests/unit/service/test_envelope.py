"""What is sealed is opened with the same key for the same purpose, and otherwise not at all."""

from __future__ import annotations

import base64

import pytest

from hourhand.service.envelope import KEY_BYTES, Envelope, Unsealable, key_from

KEY, OTHER = b"k" * KEY_BYTES, b"o" * KEY_BYTES


def test_a_secret_comes_back() -> None:
    sealed = Envelope(KEY).seal(b"secret", belongs_to="x")
    assert b"secret" not in sealed
    assert Envelope(KEY).open(sealed, belongs_to="x") == b"secret"
    assert Envelope(KEY).seal(b"secret", belongs_to="x") != sealed


def test_another_key_another_owner_and_a_changed_byte_open_nothing() -> None:
    sealed = Envelope(KEY).seal(b"secret", belongs_to="x")
    for envelope, text, owner in [
        (Envelope(OTHER), sealed, "x"),
        (Envelope(KEY), sealed, "y"),
        (Envelope(KEY), sealed[:-1] + bytes([sealed[-1] ^ 1]), "x"),
        (Envelope(KEY), b"\x02" + sealed[1:], "x"),
        (Envelope(KEY), sealed[:5], "x"),
        (Envelope(KEY), b"", "x"),
    ]:
        with pytest.raises(Unsealable):
            envelope.open(text, belongs_to=owner)


def test_a_check_value_tells_keys_apart_and_nothing_of_them() -> None:
    assert Envelope(KEY).check == Envelope(KEY).check != Envelope(OTHER).check
    assert KEY.hex() not in Envelope(KEY).check


def test_a_key_is_32_bytes_in_base64() -> None:
    assert key_from(f" {base64.b64encode(KEY).decode()}\n") == KEY
    for wrong, told in [("canary!", "is not base64"), (base64.b64encode(b"canary").decode(), "holds 6 bytes")]:
        with pytest.raises(ValueError, match=told) as caught:
            key_from(wrong)
        assert "canary" not in str(caught.value)
    with pytest.raises(ValueError, match="32 bytes"):
        Envelope(b"short")
