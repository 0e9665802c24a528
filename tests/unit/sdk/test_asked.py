"""What a program asks for is refused in words where no type checker has looked."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hourhand.model.errors import InvalidInput
from hourhand.sdk.asked import Asked
from hourhand.sdk.client import Client


@pytest.mark.parametrize("wrong", ["2026-11-15T09:00", 1_800_000_000])
def test_a_time_that_is_none_is_refused(wrong: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def submit() -> None:
        async with Client(url="http://127.0.0.1:1", token="x") as client:  # noqa: S106
            await client.submit("books", run_at=wrong)

    with pytest.raises(InvalidInput, match=f"run_at: {wrong!r} is not a datetime: give one with a time zone"):
        asyncio.run(submit())


def test_a_datetime_is_taken() -> None:
    moment = datetime(2026, 11, 15, tzinfo=UTC)
    assert Asked(task_name="books", run_at=moment).run_at == moment
