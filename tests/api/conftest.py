"""One served process for the tests that only ask it questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from serving import Served

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("served")) as process:
        yield process


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    with served.client() as opened:
        yield opened


@pytest.fixture
def visitor(served: Served) -> Iterator[httpx.Client]:
    with served.visitor() as opened:
        yield opened
