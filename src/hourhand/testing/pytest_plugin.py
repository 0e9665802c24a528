"""Testing: fixtures for pytest, loaded in every project that has Hourhand: so it imports nothing until one is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hourhand.sdk.app import App
    from hourhand.testing.servers import TestServer


@pytest.fixture(scope="session")
def hourhand_app() -> App | str | None:
    """The app that `hourhand_server` serves: a fixture of this name in your conftest.py says which."""
    return None


@pytest.fixture(scope="session")
def hourhand_server(hourhand_app: App | str | None) -> Iterator[TestServer]:
    """One server for the whole run, with the app of `hourhand_app`."""
    from hourhand.testing.servers import serving  # noqa: PLC0415 - see above

    with serving(hourhand_app) as server:
        yield server
