"""Fixtures of the engine's suite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from engine.engines import Engine


@pytest.fixture
async def engine(store_url: str, tmp_path: Path) -> AsyncIterator[Engine]:
    """Return an engine on a fresh store of each kind; nothing of it runs yet."""
    from engine.engines import engine_on  # noqa: PLC0415  # tests of a runner alone need no engine

    async with engine_on(store_url, tmp_path) as one:
        yield one
