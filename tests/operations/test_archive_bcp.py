"""Archiving to files: what is deleted from the table is in the files, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from operations.asking import count, fetch
from operations.running import run
from operations.tables import make_orders

if TYPE_CHECKING:
    from pathlib import Path

    from hourhand.model.data_source import Address


@pytest.mark.parametrize("format_", ["parquet", "csv"])
async def test_rows_are_written_verified_and_deleted(source: Address, tmp_path: Path, format_: str) -> None:
    sample = await make_orders(source, rows=1_000)
    config: dict[str, Any] = {
        "table": "orders", "format": format_, "output_dir": str(tmp_path), "rows_per_file": 300,
        "delete_after_verify": True,
    }  # fmt: skip
    ran = await run("archive_bcp", config, {"source": source})
    assert ran.summary["rows"] == ran.summary["deleted"] == 1_000
    assert ran.summary["files"] == 4
    assert await count(source, sample.name) == 0


@pytest.mark.parametrize("format_", ["parquet", "csv"])
async def test_and_they_come_back(source: Address, tmp_path: Path, format_: str) -> None:
    sample = await make_orders(source, rows=1_000)
    before = await fetch(source, f"SELECT * FROM {sample.name} ORDER BY id")
    config: dict[str, Any] = {
        "table": "orders", "format": format_, "output_dir": str(tmp_path), "rows_per_file": 300,
        "delete_after_verify": True,
    }  # fmt: skip
    ran = await run("archive_bcp", config, {"source": source})
    undo = ran.summary["undo"]
    back = await run(undo["kind"], undo["config"], {"source": source})
    assert back.summary["rows"] == 1_000
    assert await fetch(source, f"SELECT * FROM {sample.name} ORDER BY id") == before
