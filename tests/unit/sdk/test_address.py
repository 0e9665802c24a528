"""The server that a client speaks to."""

from __future__ import annotations

import ssl

import pytest

from hourhand.sdk.address import Address


def test_without_tls_nobody_is_looked_up_to_be_believed() -> None:
    given = Address("http://127.0.0.1:8420", None).verify
    assert isinstance(given, ssl.SSLContext)
    assert given.get_ca_certs() == []
    assert given.verify_mode is ssl.CERT_REQUIRED  # so that it believes nobody, rather than everybody


@pytest.mark.parametrize("url", ["https://127.0.0.1:8420", "HTTPS://localhost", "http://hours.example", "https://x"])
def test_elsewhere_whom_the_system_believes_is_believed(url: str) -> None:
    assert Address(url, None).verify is True
