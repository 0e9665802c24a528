from __future__ import annotations

import pytest

from hourhand.rules.callback import signature, verify

KEY = bytes(range(32))


def test_a_signature_is_the_beginning_of_an_hmac_sha256_that_other_programs_can_make() -> None:
    # printf 7/3 | openssl dgst -sha256 -mac HMAC -macopt hexkey:000102…1f
    assert signature(KEY, 7, 3) == "5e06015070d5048b2ff1d72e5c1444f2"


def test_a_signature_is_good_for_one_attempt_of_one_instance_of_one_store() -> None:
    signed = signature(KEY, 7, 3)
    assert verify(KEY, 7, 3, signed)
    assert not verify(KEY, 7, 4, signed)
    assert not verify(KEY, 8, 3, signed)
    assert not verify(bytes(32), 7, 3, signed)
    assert signature(KEY, 1, 11) != signature(KEY, 11, 1)


@pytest.mark.parametrize("given", ["", "0" * 32, "ü" * 32, "\ud800", "\x00"])
def test_whatever_is_no_signature_is_refused(given: str) -> None:
    assert not verify(KEY, 7, 3, given)


def test_a_signature_in_other_letters_or_with_more_behind_it_is_refused() -> None:
    signed = signature(KEY, 7, 3)
    assert not verify(KEY, 7, 3, signed.upper())
    assert not verify(KEY, 7, 3, signed + "0")
    assert not verify(KEY, 7, 3, signed[:-1])
